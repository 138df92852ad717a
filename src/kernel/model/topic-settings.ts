/**
 * What a topic's settings come to, typed: overrides of the topic over the broker's defaults over Kafka's. Resolved once a change,
 * shared by all partitions of the topic, never mutated. Names in Kafka's spelling stand behind each field.
 */
export interface TopicSettings {
  /** `durability`: what an acknowledgement and the high watermark promise. `flush.messages=1` means `fsync`. */
  readonly durability: 'fsync' | 'os'
  /** `cleanup.policy` */
  readonly compact: boolean
  readonly delete: boolean
  /** `delete.retention.ms` */
  readonly deleteRetentionMs: number
  /** `min.compaction.lag.ms` */
  readonly minCompactionLagMs: number
  /** `max.compaction.lag.ms`; Infinity when unbounded */
  readonly maxCompactionLagMs: number
  /** `min.cleanable.dirty.ratio`, 0 to 1 */
  readonly minCleanableDirtyRatio: number
  /** `retention.ms`, -1 for ever */
  readonly retentionMs: number
  /** `retention.bytes` a partition, -1 unbounded */
  readonly retentionBytes: number
  /** `segment.bytes` */
  readonly segmentBytes: number
  /** `segment.ms` */
  readonly segmentMs: number
  /** `segment.jitter.ms` */
  readonly segmentJitterMs: number
  /** `segment.index.bytes` */
  readonly segmentIndexBytes: number
  /** `index.interval.bytes` */
  readonly indexIntervalBytes: number
  /** `file.delete.delay.ms` */
  readonly fileDeleteDelayMs: number
  /** `max.message.bytes`, of a batch as stored */
  readonly maxMessageBytes: number
  /** `compression.type` */
  readonly compressionType: 'producer' | 'uncompressed' | 'gzip' | 'snappy' | 'lz4' | 'zstd'
  /** `compression.<codec>.level` of the codec above; undefined takes the codec's default */
  readonly compressionLevel: number | undefined
  /** `message.timestamp.type` */
  readonly timestampType: 'CreateTime' | 'LogAppendTime'
  /** `message.timestamp.before.max.ms` and `…after.max.ms`; Infinity when unbounded */
  readonly timestampBeforeMaxMs: number
  readonly timestampAfterMaxMs: number
  /** `min.insync.replicas` */
  readonly minInsyncReplicas: number
  /** `batch.check`: how much of a produced batch is looked at. `header` trusts the producers with its records. */
  readonly batchCheck: 'records' | 'header'
}
