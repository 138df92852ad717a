import {
  longMax, none, refused, works,
  type BrokerSynonym, type ConfigEffect, type ConfigType, type RowExtras, type TopicConfigRow,
} from './config-row.ts'

const noTiering = 'no tiered storage is set up'
const syncedByDurability = 'when bytes are synced is decided by `durability`'

/** `from`: the broker's settings that supply the default, nearest first; text is a name in the topic's unit. */
const row = (name: string, type: ConfigType, value: string, from: readonly (string | BrokerSynonym)[], effect: ConfigEffect,
  doc: string, extras: RowExtras = {}): TopicConfigRow => ({
  name, type, default: value, doc, effect, synonyms: from.map((synonym) => typeof synonym === 'string' ? { name: synonym } : synonym), ...extras,
})

const hours = (name: string): BrokerSynonym => ({ name, scale: 3_600_000 })
const minutes = (name: string): BrokerSynonym => ({ name, scale: 60_000 })

/**
 * Every setting of a topic: those of Apache Kafka 4.4 under their names and defaults, and ours (`durability`, `batch.check`).
 * Sorted by name. docs/config.md is made from it.
 */
export const topicConfigTable: readonly TopicConfigRow[] = [
  row('batch.check', 'string', 'records', ['batch.check'], works,
    'How much of a produced batch is looked at: the structure of every record, or the batch header and its checksum alone.',
    { values: ['records', 'header'] }),
  row('cleanup.policy', 'list', 'delete', ['log.cleanup.policy'], works,
    'What happens to old records: `delete` drops them by age and size, `compact` keeps the last of each key; both may be given, or neither.',
    { values: ['compact', 'delete'], needs: { capability: 'compaction', unless: ['delete', ''] } }),
  row('compression.gzip.level', 'int', '-1', ['compression.gzip.level'], works,
    'Level used when the broker compresses with gzip; -1 is the codec\'s default.', { min: 1, max: 9, also: -1 }),
  row('compression.lz4.level', 'int', '9', ['compression.lz4.level'], works,
    'Level used when the broker compresses with lz4.', { min: 1, max: 17 }),
  row('compression.type', 'string', 'producer', ['compression.type'], works,
    'Codec of stored batches: `producer` keeps what was sent, any other is applied by the broker.',
    { values: ['uncompressed', 'zstd', 'lz4', 'snappy', 'gzip', 'producer'] }),
  row('compression.zstd.level', 'int', '3', ['compression.zstd.level'], works,
    'Level used when the broker compresses with zstd.', { min: -131_072, max: 22 }),
  row('delete.retention.ms', 'long', '86400000', ['log.cleaner.delete.retention.ms'], works,
    'How long a tombstone stays readable in a compacted topic.', { min: 0 }),
  row('durability', 'string', 'fsync', ['durability'], works,
    'What an acks=all reply and the high watermark promise: `fsync` survives a power cut, `os` a crash of the process; a store in memory keeps neither.',
    { values: ['fsync', 'os'], needs: { capability: 'durable', unless: ['os'] } }),
  row('errors.deadletterqueue.group.enable', 'boolean', 'false', [], none('share groups are not served'),
    'Whether the topic may take the dead letters of share groups.'),
  row('file.delete.delay.ms', 'long', '60000', ['log.segment.delete.delay.ms'], works,
    'How long the files of a deleted segment stay on disk under another name.', { min: 0 }),
  row('flush.messages', 'long', longMax, ['log.flush.interval.messages'], works,
    'With 1 every append is synced before it is acknowledged, which is `durability=fsync`.',
    {
      min: 1, caveat: { text: `only 1, which means durability=fsync, has an effect; else ${syncedByDurability}`, unless: ['1'] },
      needs: { capability: 'durable', unless: [longMax] },
    }),
  row('flush.ms', 'long', longMax, ['log.flush.interval.ms', 'log.flush.scheduler.interval.ms'], none(syncedByDurability),
    'In Kafka the longest time until an append is synced.', { min: 0 }),
  row('follower.replication.throttled.replicas', 'list', '', [], none('replication is not throttled'),
    'Replicas whose copying is throttled on the follower.', { replicaList: true }),
  row('index.interval.bytes', 'int', '4096', ['log.index.interval.bytes'], works,
    'Bytes of batches between two entries of the offset index.', { min: 0 }),
  row('internal.segment.bytes', 'int', '-1', [], works,
    'Replaces segment.bytes, without its lower bound, in tests.', { min: 1024, also: -1, internal: true, differs: 'Kafka has no value instead of -1' }),
  row('leader.replication.throttled.replicas', 'list', '', [], none('replication is not throttled'),
    'Replicas whose copying is throttled on the leader.', { replicaList: true }),
  row('local.retention.bytes', 'long', '-2', ['log.local.retention.bytes'], none(noTiering),
    'Size of a partition on local disk beyond which tiered segments are dropped here; -2 takes retention.bytes.', { min: -2 }),
  row('local.retention.ms', 'long', '-2', ['log.local.retention.ms'], none(noTiering),
    'Age beyond which tiered segments are dropped from local disk; -2 takes retention.ms.', { min: -2 }),
  row('max.compaction.lag.ms', 'long', longMax, ['log.cleaner.max.compaction.lag.ms'], works,
    'Longest time that a record may stay uncompacted.', { min: 1 }),
  row('max.decompressed.message.bytes', 'int', '2147483639', ['max.decompressed.message.bytes'], none('a fixed limit on decompressed size holds for all topics'),
    'Largest size that a compressed batch may decompress to.', { min: 1, max: 2_147_483_639 }),
  row('max.message.bytes', 'int', '1048588', ['message.max.bytes'], works,
    'Largest batch that is accepted, in bytes as stored.', { min: 68, stricter: 'no batch is smaller than 68 bytes, a header with one empty record' }),
  row('message.timestamp.after.max.ms', 'long', '3600000', ['log.message.timestamp.after.max.ms'], works,
    'How far a record\'s timestamp may lie in the future.', { min: 0 }),
  row('message.timestamp.before.max.ms', 'long', longMax, ['log.message.timestamp.before.max.ms'], works,
    'How far a record\'s timestamp may lie in the past.', { min: 0 }),
  row('message.timestamp.type', 'string', 'CreateTime', ['log.message.timestamp.type'], works,
    'Whether records keep the producer\'s timestamp or get the time of the append.', { values: ['CreateTime', 'LogAppendTime'] }),
  row('min.cleanable.dirty.ratio', 'double', '0.5', ['log.cleaner.min.cleanable.ratio'], works,
    'Share of a log that must be uncompacted before it is compacted again.', { min: 0, max: 1 }),
  row('min.compaction.lag.ms', 'long', '0', ['log.cleaner.min.compaction.lag.ms'], works,
    'Time during which a record is not compacted.', { min: 0 }),
  row('min.insync.replicas', 'int', '1', ['min.insync.replicas'], works,
    'In-sync replicas that an acks=all append needs.', { min: 1 }),
  row('preallocate', 'boolean', 'false', ['log.preallocate'], none('segments end with their last batch'),
    'Whether the space of a new segment is taken at once.'),
  row('remote.copy.lag.bytes', 'long', '-1', ['log.remote.copy.lag.bytes'], none(noTiering),
    'Bytes that a closed segment may lie behind the log end before it is copied to the tier.', { min: -1 }),
  row('remote.copy.lag.ms', 'long', '0', ['log.remote.copy.lag.ms'], none(noTiering),
    'Time before a closed segment is copied to the tier.', { min: -1 }),
  row('remote.log.copy.disable', 'boolean', 'false', [], refused(noTiering, 'false'),
    'Makes the tier of the topic read-only.'),
  row('remote.log.delete.on.disable', 'boolean', 'false', [], refused(noTiering, 'false'),
    'Deletes what is in the tier when tiering is turned off.'),
  row('remote.storage.enable', 'boolean', 'false', [], refused(noTiering, 'false'),
    'Moves closed segments to an object store.'),
  row('retention.bytes', 'long', '-1', ['log.retention.bytes'], works,
    'Size of a partition beyond which its oldest segments are dropped; -1 is without bound.'),
  row('retention.ms', 'long', '604800000', ['log.retention.ms', minutes('log.retention.minutes'), hours('log.retention.hours')], works,
    'Age beyond which segments are dropped; -1 is for ever.', { min: -1 }),
  row('segment.bytes', 'int', '1073741824', ['log.segment.bytes'], works,
    'Size at which a segment is closed and the next begun.', { min: 1_048_576 }),
  row('segment.index.bytes', 'int', '10485760', ['log.index.size.max.bytes'], works,
    'Largest size of an index file; the segment is closed when it is full.', { min: 24, stricter: 'a smaller index holds no entry' }),
  row('segment.jitter.ms', 'long', '0', ['log.roll.jitter.ms', hours('log.roll.jitter.hours')], works,
    'At most so much earlier, at random, a segment is closed by age, so that many do not close at once.', { min: 0 }),
  row('segment.ms', 'long', '604800000', ['log.roll.ms', hours('log.roll.hours')], works,
    'Age at which a segment is closed, though it is not full.', { min: 1 }),
  row('unclean.leader.election.enable', 'boolean', 'false', ['unclean.leader.election.enable'], none('a partition has one replica, which is always in sync'),
    'Whether a replica that is not in sync may lead when no other is left.'),
]

/** By name. */
export const topicConfigs: ReadonlyMap<string, TopicConfigRow> = new Map(topicConfigTable.map((entry) => [entry.name, entry]))
