import { contractVersion } from '../../kernel/plugin/contract-version.ts'
import { definePlugin } from '../../kernel/plugin/define-plugin.ts'
import { BrokerIdentity } from '../../kernel/ports/broker-identity.ts'
import { BrokerSettings } from '../../kernel/ports/broker-settings.ts'
import { Clock, Random, Timers } from '../../kernel/ports/clock.ts'
import { ClusterMetadata } from '../../kernel/ports/cluster-metadata.ts'
import { Compression } from '../../kernel/ports/compression.ts'
import { Controller } from '../../kernel/ports/controller.ts'
import { CoordinatorFinder } from '../../kernel/ports/coordinator-finder.ts'
import { HealthCheck, Lifecycle } from '../../kernel/ports/lifecycle.ts'
import { ProtocolHandler } from '../../kernel/ports/protocol-handler.ts'
import { Replicator } from '../../kernel/ports/replicator.ts'
import { Logger, Metrics } from '../../kernel/ports/telemetry.ts'
import { token } from '../../kernel/plugin/token.ts'
import { coordinatorGroupConfig } from './config.ts'
import { GroupService } from './group-service.ts'
import { handlerMakers } from './make-handlers.ts'
import { observeLag } from './lag-metrics.ts'
import { groupObserver, observeGroups } from './metrics.ts'

/** Of this plugin alone: what its handlers share. */
const Groups = token<GroupService>('Groups')

/** In the order in which `register` takes them. */
const needs = [BrokerSettings, BrokerIdentity, ClusterMetadata, Controller, Replicator, Compression, Clock, Timers, Logger, Metrics] as const

export const plugin = definePlugin({
  name: 'coordinator-group',
  contract: contractVersion,
  summary: 'Coordinates consumer groups of both protocols, and keeps the offsets that they commit.',
  provides: [Groups],
  contributes: [CoordinatorFinder, HealthCheck, ProtocolHandler],
  requires: [...needs, Random],
  config: coordinatorGroupConfig,
  register({ provide }, config) {
    provide([Groups, CoordinatorFinder, HealthCheck, Lifecycle], needs, (settings, identity, metadata, controller, replicator, compression, clock, timers, logger, metrics) => {
      const service = new GroupService({
        settings, identity, metadata, controller, replicator, compression, clock, timers, logger, observer: groupObserver(logger, metrics),
      })
      observeGroups(metrics, () => service.machines())
      observeLag(metrics, { machines: () => service.machines(), metadata, replicator }, config.lagSeriesMax)
      return service
    })
    for (const make of handlerMakers) {
      provide([ProtocolHandler], [Groups, ClusterMetadata, Random, Logger, BrokerSettings],
        (groups, metadata, random, logger, settings) => make({ groups, metadata, random, logger, assignors: settings.list('group.consumer.assignors') }))
    }
  },
})
