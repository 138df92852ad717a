import { type ClassicGroup } from './classic-group.ts'
import { type ConsumerGroup } from './consumer/consumer-group.ts'
import { groupTombstones } from './consumer/consumer-records.ts'
import { type TopicDirectory } from './consumer/topic-directory.ts'
import { type GroupRules } from './group-commands.ts'
import { type GroupOffsets } from './group-offsets.ts'
import { groupTombstone, type CommittedOffset } from './group-writer.ts'
import { type Visit } from './offset-walk.ts'
import { subscribedTopics } from './subscribed-topics.ts'

/**
 * Finds a group's offsets whose time is over, and the group when it has neither members nor offsets left (KIP-211):
 * - of a group without members, all offsets, so long after it lost the last one;
 * - of a group of consumers, those of topics that it reads no more, so long after they were committed;
 * - of a group that never had members, each so long after it was committed.
 * What was committed with a time of its own (requests up to v4) goes by that, once the group does not need it.
 */
export function expiryVisit(group: ClassicGroup, offsets: GroupOffsets, wallMs: number, rules: GroupRules): Visit {
  let since: ReturnType<typeof retentionStart> | null = null
  return {
    steps: group.members.size,
    topics: () => offsets.topicsOf(group.groupId),
    isOver: (topic, offset) => {
      if (since === null) since = retentionStart(group)
      const fromMs = since?.(topic, offset)
      return fromMs !== undefined && isPast(offset, fromMs, wallMs, rules)
    },
    end: (left) => left === 0 && group.state === 'Empty' && group.pending.size === 0 ? [groupTombstone(group.groupId)] : [],
  }
}

/** The same of a group of the consumer protocol: what its members do not read goes so long after it was committed, as in Kafka. */
export function expiryVisitOfConsumers(group: ConsumerGroup, offsets: GroupOffsets, wallMs: number, rules: GroupRules): Visit {
  let subscribed: ReadonlySet<string> | undefined
  return {
    steps: group.members.size,
    topics: () => offsets.topicsOf(group.groupId),
    isOver: (topic, offset) => isPast(offset, offset.committedAtMs, wallMs, rules) && !(subscribed ??= group.subscribed).has(topic),
    end: (left) => left === 0 && group.members.size === 0 ? groupTombstones(group) : [],
  }
}

/** Finds a group's offsets of topics that are gone. Those of a topic that is there again under the name are kept. */
export function deletionVisit(groupId: string, offsets: GroupOffsets, deleted: ReadonlySet<string>, topics: TopicDirectory): Visit {
  const committed = offsets.topicsOf(groupId)
  return {
    steps: committed.length,
    topics: () => committed.filter((topic) => deleted.has(topic)),
    isOver: (topic, { topicId }) => topicId !== topics.byName(topic)?.id,
    end: () => [],
  }
}

const isPast = ({ expiresAtMs }: CommittedOffset, fromMs: number, wallMs: number, { offsetsRetentionMs }: GroupRules): boolean =>
  expiresAtMs >= 0 ? wallMs >= expiresAtMs : wallMs - fromMs >= offsetsRetentionMs

/** From when on an offset is kept for so long; undefined as a whole while the group needs all of them, or for those that it needs. */
function retentionStart(group: ClassicGroup): ((topic: string, offset: CommittedOffset) => number | undefined) | undefined {
  if (group.protocolType === null) return (_topic, { committedAtMs }) => committedAtMs
  if (group.state === 'Empty') return (_topic, { committedAtMs }) => group.stateSinceMs >= 0 ? group.stateSinceMs : committedAtMs
  const subscribed = group.state === 'Stable' ? subscribedTopics(group) : undefined
  return subscribed === undefined ? undefined : (topic, { committedAtMs }) => subscribed.has(topic) ? undefined : committedAtMs
}
