import { contractVersion } from '../../kernel/plugin/contract-version.ts'
import { definePlugin } from '../../kernel/plugin/define-plugin.ts'
import { BrokerSettings } from '../../kernel/ports/broker-settings.ts'
import { Clock, Random, Timers } from '../../kernel/ports/clock.ts'
import { AdminRoute } from '../../kernel/ports/http.ts'
import { Lifecycle } from '../../kernel/ports/lifecycle.ts'
import { LogStore } from '../../kernel/ports/log-store.ts'
import { Logger, Metrics } from '../../kernel/ports/telemetry.ts'
import { retentionConfig } from './config.ts'
import { Sweeper } from './sweeper.ts'

export const plugin = definePlugin({
  name: 'retention',
  contract: contractVersion,
  summary: 'Gives up what topics no longer keep: at an interval or a schedule, and when asked.',
  contributes: [Lifecycle, AdminRoute],
  requires: [LogStore, BrokerSettings, Clock, Timers, Random, Logger, Metrics],
  config: retentionConfig,
  register({ provide }, config) {
    provide([Lifecycle, AdminRoute], [LogStore, BrokerSettings, Clock, Timers, Random, Logger, Metrics],
      (store, settings, clock, timers, random, logger, metrics) =>
        new Sweeper({ store, settings, clock, timers, random, metrics, logger: logger.child({ part: 'retention' }) }, config))
  },
})
