import { type Intended } from './intended.ts'

/** What is meant to differ in the APIs of groups and coordinators. */
export const intendedOfGroups: readonly Intended[] = [
  {
    api: 'FindCoordinator', step: /^a transactional id/, path: /(errorCode|nodeId|host)$/,
    why: 'there are no transactions yet: up to v2 this broker is named, which refuses in InitProducerId, since clients make nothing of a refusal here',
  },
  {
    api: 'FindCoordinator', step: /^a share group/, path: /(errorCode|nodeId|host)$/,
    why: 'share groups are not served: UNSUPPORTED_VERSION',
  },
  {
    api: 'OffsetCommit', step: /^no partitions$/, path: /length$/,
    why: 'one answer for each entry asked for; Kafka leaves out a topic without partitions',
  },
  {
    api: 'OffsetCommit', step: /^text of bytes too long/, path: /./,
    why: 'offset.metadata.max.bytes counts bytes of UTF-8, as its name says; Kafka counts characters',
  },
  {
    api: 'OffsetDelete', step: /^no partitions$/, path: /length$/,
    why: 'one answer for each entry asked for; Kafka leaves out a topic without partitions',
  },
  {
    api: 'ConsumerGroupHeartbeat', step: /^joined again$/, path: /^epochs$/,
    why: 'a member that joins again comes into another epoch, so that what it may still send of its former self is refused; Kafka keeps the epoch',
  },
  {
    api: 'ConsumerGroupDescribe', step: /^empty$/, path: /assignmentEpoch$/,
    why: 'no targets are computed for a group without members; Kafka takes the epoch as assigned',
  },
]
