import { contractVersion } from '../../kernel/plugin/contract-version.ts'
import { definePlugin } from '../../kernel/plugin/define-plugin.ts'
import { every, maybe } from '../../kernel/plugin/token.ts'
import { BrokerIdentity } from '../../kernel/ports/broker-identity.ts'
import { BrokerSettings } from '../../kernel/ports/broker-settings.ts'
import { Clock, Timers } from '../../kernel/ports/clock.ts'
import { ClusterMetadata } from '../../kernel/ports/cluster-metadata.ts'
import { Compression } from '../../kernel/ports/compression.ts'
import { Controller } from '../../kernel/ports/controller.ts'
import { CoordinatorFinder } from '../../kernel/ports/coordinator-finder.ts'
import { FatalErrors, Lifecycle, ServedEndpoint } from '../../kernel/ports/lifecycle.ts'
import { LogStore } from '../../kernel/ports/log-store.ts'
import { Network } from '../../kernel/ports/network.ts'
import { ProcessStats } from '../../kernel/ports/process-stats.ts'
import { ProtocolHandler, RequestDispatcher } from '../../kernel/ports/protocol-handler.ts'
import { Replicator } from '../../kernel/ports/replicator.ts'
import { Logger, Metrics } from '../../kernel/ports/telemetry.ts'
import { protocolKafkaConfig } from './config.ts'
import { Deadlines } from './deadlines.ts'
import { makeHandlers } from './make-handlers.ts'
import { ProtocolMetrics } from './metrics.ts'
import { ProtocolServer } from './protocol-server.ts'
import { ServingTools } from './serving-tools.ts'
import { TopicLookup } from './topic-lookup.ts'

/** In the order in which `register` takes them. */
const needs = [
  BrokerSettings, BrokerIdentity, Clock, Timers, Network, ClusterMetadata, Controller, Replicator, LogStore, Compression, FatalErrors, Logger, Metrics,
  every(ProtocolHandler), every(CoordinatorFinder), maybe(ProcessStats),
] as const

export const plugin = definePlugin({
  name: 'protocol-kafka',
  contract: contractVersion,
  summary: 'Serves the Kafka protocol on listeners, and to clients in the process.',
  provides: [RequestDispatcher],
  contributes: [ServedEndpoint],
  requires: needs,
  config: protocolKafkaConfig,
  register({ provide }, config) {
    provide([RequestDispatcher, Lifecycle, ServedEndpoint], needs, (
      settings, identity, clock, timers, network, metadata, controller, replicator, store, compression, fatal, logger, metrics, contributed, finders, process,
    ) => {
      const instruments = new ProtocolMetrics(metrics)
      const tools = new ServingTools({
        clock, timers, metrics: instruments, deadlines: new Deadlines(clock, timers), topics: new TopicLookup(metadata, replicator, identity.nodeId, instruments),
      })
      const own = makeHandlers({ config, tools, settings, identity, metadata, controller, store, compression, logger, finders })
      return new ProtocolServer(config, { settings, identity, network, controller, store, handlers: [...own, ...contributed], compression, fatal, logger, metrics, tools, ...(process && { process }) })
    })
  },
})
