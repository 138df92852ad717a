import { every, maybe } from '../../kernel/plugin/token.ts'
import { definePlugin } from '../../kernel/plugin/define-plugin.ts'
import { Clock } from '../../kernel/ports/clock.ts'
import { AdminRoute } from '../../kernel/ports/http.ts'
import { BrokerState, HealthCheck } from '../../kernel/ports/lifecycle.ts'
import { ProcessStats } from '../../kernel/ports/process-stats.ts'
import { Logger, LogSink, Metrics } from '../../kernel/ports/telemetry.ts'
import { observabilityConfig } from './config.ts'
import { Instruments } from './core/instruments.ts'
import { healthRoute, readyRoute } from './health-routes.ts'
import { addProcessMetrics } from './core/process-metrics.ts'
import { PinoLogger } from './io/pino-logger.ts'
import { PrometheusExposition } from './io/prometheus-exposition.ts'

export const plugin = definePlugin({
  name: 'observability',
  contract: 1,
  summary: 'Structured logs, metrics for Prometheus, and health for load balancers.',
  provides: [Logger, Metrics],
  contributes: [AdminRoute],
  requires: [Clock, LogSink, every(HealthCheck), maybe(BrokerState), maybe(ProcessStats)],
  config: observabilityConfig,
  register({ provide }, config) {
    const instruments = new Instruments()
    const exposition = new PrometheusExposition(instruments)
    provide([Logger], [Clock, LogSink], (clock, sink) => PinoLogger.create(config.logLevel, clock, sink))
    provide([Metrics], [maybe(ProcessStats)], (stats): Metrics => {
      if (stats !== undefined) addProcessMetrics(instruments, stats)
      return {
        counter: (name, help, labels = {}) => instruments.counter(name, help, labels),
        histogram: (name, help, buckets, labels = {}) => instruments.histogram(name, help, buckets, labels),
        forget: (name, labels) => { instruments.forget(name, labels) },
        gauge: (name, help, read) => { instruments.gauge(name, help, read) },
        counted: (name, help, read) => { instruments.reading(name, 'counter', help, read) },
      }
    })
    provide([AdminRoute], [], (): AdminRoute => ({
      method: 'GET', path: '/metrics', summary: 'metrics in the text format of Prometheus',
      handle: async () => ({ status: 200, contentType: exposition.contentType, body: await exposition.text() }),
    }))
    provide([AdminRoute], [every(HealthCheck)], healthRoute)
    provide([AdminRoute], [every(HealthCheck), maybe(BrokerState)], readyRoute)
  },
})
