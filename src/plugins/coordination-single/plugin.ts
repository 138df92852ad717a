import { definePlugin } from '../../kernel/plugin/define-plugin.ts'
import { BrokerIdentity } from '../../kernel/ports/broker-identity.ts'
import { BrokerSettings } from '../../kernel/ports/broker-settings.ts'
import { Clock, Random } from '../../kernel/ports/clock.ts'
import { Consensus } from '../../kernel/ports/consensus.ts'
import { FileSystem } from '../../kernel/ports/file-system.ts'
import { KeyValueEngine } from '../../kernel/ports/key-value-store.ts'
import { FatalErrors, Lifecycle } from '../../kernel/ports/lifecycle.ts'
import { Logger, Metrics } from '../../kernel/ports/telemetry.ts'
import { coordinationSingleConfig } from './config.ts'
import { SingleVoter } from './single-voter.ts'

/** Beside the partitions, under a name that no partition can have. */
export const metadataDirectoryName = '__millrace_metadata'

export const plugin = definePlugin({
  name: 'coordination-single',
  contract: 1,
  summary: 'Agrees on one log of commands with one voter: what is durable here is agreed.',
  provides: [Consensus],
  requires: [BrokerIdentity, BrokerSettings, KeyValueEngine, FileSystem, FatalErrors, Clock, Random, Metrics, Logger],
  config: coordinationSingleConfig,
  register({ provide }, { path, snapshotEntries, snapshotBytes, reserveBytes }) {
    provide([Consensus, Lifecycle], [BrokerIdentity, BrokerSettings, KeyValueEngine, FileSystem, FatalErrors, Clock, Random, Metrics, Logger],
      (identity, settings, engine, files, fatal, clock, random, metrics, log) => new SingleVoter({
        // The cluster is not known while objects are made, where the metadata itself is to say it.
        nodeId: identity.nodeId, get clusterId() { return identity.clusterId }, foundPartition: identity.foundPartition,
        path: path ?? `${firstDataDirectory(settings)}/${metadataDirectoryName}`, snapshotEntries, snapshotBytes, reserveBytes,
      }, { engine, files, fatal, clock, random, metrics, log }))
  },
})

function firstDataDirectory(settings: BrokerSettings): string {
  return settings.list('log.dirs')[0] ?? settings.list('log.dir')[0]!
}
