import { definePlugin } from '../../kernel/plugin/define-plugin.ts'
import { BrokerIdentity } from '../../kernel/ports/broker-identity.ts'
import { Clock, Timers } from '../../kernel/ports/clock.ts'
import { ClusterMetadata } from '../../kernel/ports/cluster-metadata.ts'
import { Controller } from '../../kernel/ports/controller.ts'
import { HealthCheck, Lifecycle } from '../../kernel/ports/lifecycle.ts'
import { LogStore } from '../../kernel/ports/log-store.ts'
import { Replicator } from '../../kernel/ports/replicator.ts'
import { Logger, Metrics } from '../../kernel/ports/telemetry.ts'
import { replicationSingleConfig } from './config.ts'
import { observeReplicas } from './metrics.ts'
import { observePartitions } from './partition-metrics.ts'
import { SingleReplicator } from './single-replicator.ts'

export const plugin = definePlugin({
  name: 'replication-single',
  contract: 1,
  summary: 'One replica a partition: what its log has flushed is what consumers may see.',
  provides: [Replicator],
  contributes: [HealthCheck],
  requires: [BrokerIdentity, ClusterMetadata, Controller, LogStore, Metrics, Logger, Clock, Timers],
  config: replicationSingleConfig,
  register({ provide }, config) {
    provide([Replicator, Lifecycle, HealthCheck], [BrokerIdentity, ClusterMetadata, Controller, LogStore, Metrics, Logger, Clock, Timers],
      (identity, metadata, controller, store, metrics, log, clock, timers) => {
        const replicator = new SingleReplicator({ nodeId: identity.nodeId, metadata, controller, store, log, clock, timers })
        observeReplicas(metrics, () => replicator.replicas(), () => replicator.logsMissing, () => replicator.notServed())
        observePartitions(metrics, () => replicator.replicas(), config.partitionSeriesMax)
        return replicator
      })
  },
})
