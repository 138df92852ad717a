import { clusterWide, fixed, row } from './broker-row.ts'
import { longMax, none, refused, type BrokerConfigRow } from './config-row.ts'

const noTiering = 'no tiered storage is set up'
const nothing = none(noTiering)

/** Tiered storage, as Kafka names it. */
export const brokerRemoteRows: readonly BrokerConfigRow[] = [
  row('follower.fetch.last.tiered.offset.enable', 'boolean', 'false', clusterWide, nothing, 'Whether an empty follower begins at the end of the tier.'),
  row('log.local.retention.bytes', 'long', '-2', clusterWide, nothing, 'Default of the topics\' local.retention.bytes.', { min: -2 }),
  row('log.local.retention.ms', 'long', '-2', clusterWide, nothing, 'Default of the topics\' local.retention.ms.', { min: -2 }),
  row('log.remote.copy.lag.bytes', 'long', '-1', clusterWide, nothing, 'Default of the topics\' remote.copy.lag.bytes.', { min: -1 }),
  row('log.remote.copy.lag.ms', 'long', '0', clusterWide, nothing, 'Default of the topics\' remote.copy.lag.ms.', { min: -1 }),
  row('remote.fetch.max.wait.ms', 'int', '500', clusterWide, nothing, 'Longest wait of a fetch for the tier.', { min: 1 }),
  row('remote.list.offsets.request.timeout.ms', 'long', '30000', clusterWide, nothing, 'Longest wait of a look-up of offsets in the tier.', { min: 1 }),
  row('remote.log.index.file.cache.total.size.bytes', 'long', '1073741824', clusterWide, nothing, 'Disk space for indexes fetched from the tier.', { min: 1 }),
  row('remote.log.index.file.cache.ttl.ms', 'long', '900000', fixed, nothing, 'Time that an unused index from the tier is kept.', { min: -1, internal: true }),
  row('remote.log.manager.copier.thread.pool.size', 'int', '10', clusterWide, nothing, 'Threads that copy segments to the tier.', { min: 1 }),
  row('remote.log.manager.copy.max.bytes.per.second', 'long', longMax, clusterWide, nothing, 'Bytes a second that may be copied to the tier.', { min: 1 }),
  row('remote.log.manager.copy.quota.window.num', 'int', '11', fixed, nothing, 'Samples kept to measure the copying.', { min: 1 }),
  row('remote.log.manager.copy.quota.window.size.seconds', 'int', '1', fixed, nothing, 'Length of a sample of the copying.', { min: 1 }),
  row('remote.log.manager.expiration.thread.pool.size', 'int', '10', clusterWide, nothing, 'Threads that delete from the tier.', { min: 1 }),
  row('remote.log.manager.fetch.max.bytes.per.second', 'long', longMax, clusterWide, nothing, 'Bytes a second that may be read from the tier.', { min: 1 }),
  row('remote.log.manager.fetch.quota.window.num', 'int', '11', fixed, nothing, 'Samples kept to measure the reading.', { min: 1 }),
  row('remote.log.manager.fetch.quota.window.size.seconds', 'int', '1', fixed, nothing, 'Length of a sample of the reading.', { min: 1 }),
  row('remote.log.manager.follower.thread.pool.size', 'int', '2', clusterWide, nothing, 'Threads that look after tiered partitions on followers.', { min: 1 }),
  row('remote.log.manager.task.interval.ms', 'long', '30000', fixed, nothing, 'Time between two looks for segments to copy or delete.', { min: 1 }),
  row('remote.log.manager.task.retry.backoff.max.ms', 'long', '30000', fixed, nothing, 'Longest pause before a failed task is tried again.', { min: 1, internal: true }),
  row('remote.log.manager.task.retry.backoff.ms', 'long', '500', fixed, nothing, 'First pause before a failed task is tried again.', { min: 1, internal: true }),
  row('remote.log.manager.task.retry.jitter', 'double', '0.2', fixed, nothing, 'Share of that pause that is random.', { min: 0, max: 0.5, internal: true }),
  row('remote.log.manager.thread.pool.size', 'int', '2', fixed, nothing, 'Former number of threads of the tier.', { min: 1 }),
  row('remote.log.metadata.custom.metadata.max.bytes', 'int', '128', fixed, nothing, 'Bytes that a storage plugin may keep with a segment.', { min: 0 }),
  row('remote.log.metadata.manager.class.name', 'string', 'org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager', fixed,
    none('Java classes cannot be loaded'), 'Class that keeps the list of segments in the tier.', { filled: true }),
  row('remote.log.metadata.manager.class.path', 'string', undefined, fixed, none('Java classes cannot be loaded'), 'Where that class is found.'),
  row('remote.log.metadata.manager.impl.prefix', 'string', 'rlmm.config.', fixed, nothing, 'Prefix of that class\'s own settings.', { filled: true }),
  row('remote.log.metadata.manager.listener.name', 'string', undefined, fixed, nothing, 'Listener that this class connects to.', { filled: true }),
  row('remote.log.reader.max.pending.tasks', 'int', '100', fixed, nothing, 'Reads of the tier that may wait.', { min: 1 }),
  row('remote.log.reader.threads', 'int', '10', clusterWide, nothing, 'Threads that read from the tier.', { min: 1 }),
  row('remote.log.storage.manager.class.name', 'string', undefined, fixed, none('Java classes cannot be loaded'), 'Class that talks to the object store.', { filled: true }),
  row('remote.log.storage.manager.class.path', 'string', undefined, fixed, none('Java classes cannot be loaded'), 'Where that class is found.'),
  row('remote.log.storage.manager.impl.prefix', 'string', 'rsm.config.', fixed, nothing, 'Prefix of that class\'s own settings.', { filled: true }),
  row('remote.log.storage.system.enable', 'boolean', 'false', fixed, refused(noTiering, 'false'), 'Turns tiered storage on for the broker.'),
]
