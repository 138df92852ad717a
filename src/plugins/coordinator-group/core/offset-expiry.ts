import { type RecordDraft } from '../../../kernel/model/replay-machine.ts'
import { type ClassicGroup } from './classic-group.ts'
import { type ConsumerGroup } from './consumer/consumer-group.ts'
import { groupTombstones } from './consumer/consumer-records.ts'
import { type GroupRules } from './group-commands.ts'
import { type GroupOffsets } from './group-offsets.ts'
import { groupTombstone, offsetTombstone, type CommittedOffset } from './group-writer.ts'
import { subscribedTopics } from './subscribed-topics.ts'

/**
 * The tombstones of a group's offsets whose time is over, and of the group when it has neither members nor offsets left (KIP-211):
 * - of a group without members, all offsets, so long after it lost the last one;
 * - of a group of consumers, those of topics that it reads no more, so long after they were committed;
 * - of a group that never had members, each so long after it was committed.
 * What was committed with a time of its own (requests up to v4) goes by that, once the group does not need it.
 */
export function expired(group: ClassicGroup, offsets: GroupOffsets, wallMs: number, rules: GroupRules): RecordDraft[] {
  const records: RecordDraft[] = []
  const since = retentionStart(group)
  let kept = 0
  for (const [topic, partition, offset] of offsets.of(group.groupId)) {
    const fromMs = since?.(topic, offset)
    const isOver = fromMs !== undefined && (offset.expiresAtMs >= 0 ? wallMs >= offset.expiresAtMs : wallMs - fromMs >= rules.offsetsRetentionMs)
    if (isOver) records.push(offsetTombstone(group.groupId, topic, partition))
    else kept++
  }
  if (kept === 0 && group.state === 'Empty' && group.pending.size === 0) records.push(groupTombstone(group.groupId))
  return records
}

/** The same of a group of the consumer protocol: what its members do not read goes so long after it was committed, as in Kafka. */
export function expiredOfConsumers(group: ConsumerGroup, offsets: GroupOffsets, wallMs: number, rules: GroupRules): RecordDraft[] {
  const { subscribed } = group
  const records: RecordDraft[] = []
  let kept = 0
  for (const [topic, partition, offset] of offsets.of(group.groupId)) {
    const isOver = !subscribed.has(topic) && (offset.expiresAtMs >= 0 ? wallMs >= offset.expiresAtMs : wallMs - offset.committedAtMs >= rules.offsetsRetentionMs)
    if (isOver) records.push(offsetTombstone(group.groupId, topic, partition))
    else kept++
  }
  if (kept === 0 && group.members.size === 0) records.push(...groupTombstones(group))
  return records
}

/** From when on an offset is kept for so long; undefined as a whole while the group needs all of them, or for those that it needs. */
function retentionStart(group: ClassicGroup): ((topic: string, offset: CommittedOffset) => number | undefined) | undefined {
  if (group.protocolType === null) return (_topic, { committedAtMs }) => committedAtMs
  if (group.state === 'Empty') return (_topic, { committedAtMs }) => group.stateSinceMs >= 0 ? group.stateSinceMs : committedAtMs
  const subscribed = group.state === 'Stable' ? subscribedTopics(group) : undefined
  return subscribed === undefined ? undefined : (topic, { committedAtMs }) => subscribed.has(topic) ? undefined : committedAtMs
}
