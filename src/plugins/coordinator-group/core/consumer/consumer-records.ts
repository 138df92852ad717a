import { type RecordDraft } from '../../../../kernel/model/replay-machine.ts'
import { decodeConsumerValue, encodeConsumerKey, encodeConsumerValue, type ConsumerGroupRecordKey } from '../../../../wire/consumer-group-records.ts'
import { assignedOf, isSame, listsOf, type Assigned } from './assigned.ts'
import { ConsumerGroup, newMember, type CurrentAssignment, type MemberAbout, type ResolvedPattern } from './consumer-group.ts'

const stateNumbers = { stable: 0, unrevoked: 1, unreleased: 2 } as const
const statesByNumber: readonly CurrentAssignment['state'][] = ['stable', 'unrevoked', 'unreleased']

/**
 * The records that lead from one state of a group to another; those of members that are gone come first, so that no reader sees a partition twice. Undefined
 * before: there was no such group.
 */
export function recordsBetween(before: ConsumerGroup | undefined, after: ConsumerGroup): RecordDraft[] {
  const { groupId } = after
  const old = before ?? new ConsumerGroup(groupId)
  const records: RecordDraft[] = []
  for (const memberId of old.members.keys()) if (!after.members.has(memberId)) records.push(...memberTombstones(old, memberId))
  for (const pattern of old.patterns.keys()) if (!after.patterns.has(pattern)) records.push({ key: encodeConsumerKey.pattern(groupId, pattern), value: null })
  for (const [memberId, { about }] of after.members) if (old.members.get(memberId)?.about !== about) records.push(memberRecord(groupId, about))
  for (const [pattern, resolved] of after.patterns) if (!isSamePattern(old.patterns.get(pattern), resolved)) records.push(patternRecord(groupId, pattern, resolved))
  if (before === undefined || old.epoch !== after.epoch || old.metadataHash !== after.metadataHash) records.push(groupRecord(after))
  for (const [memberId, target] of after.targets) {
    const last = old.targets.get(memberId)
    if (last === undefined || !isSame(last, target)) records.push(targetRecord(groupId, memberId, target))
  }
  if (old.assignmentEpoch !== after.assignmentEpoch) records.push(assignmentRecord(after))
  for (const [memberId, { current }] of after.members) if (old.members.get(memberId)?.current !== current) records.push(currentRecord(groupId, memberId, current))
  return records
}

/** All that a group has written, taken back. */
export function groupTombstones(group: ConsumerGroup): RecordDraft[] {
  const { groupId } = group
  return [
    ...Array.from(group.members.keys(), (memberId) => memberTombstones(group, memberId)).flat(),
    ...Array.from(group.patterns.keys(), (pattern): RecordDraft => ({ key: encodeConsumerKey.pattern(groupId, pattern), value: null })),
    { key: encodeConsumerKey.target(groupId), value: null },
    { key: encodeConsumerKey.group(groupId), value: null },
  ]
}

function memberTombstones(group: ConsumerGroup, memberId: string): RecordDraft[] {
  const { groupId } = group
  return [
    { key: encodeConsumerKey.current(groupId, memberId), value: null },
    ...group.targets.has(memberId) ? [{ key: encodeConsumerKey.memberTarget(groupId, memberId), value: null }] : [],
    { key: encodeConsumerKey.member(groupId, memberId), value: null },
  ]
}

const isSamePattern = (left: ResolvedPattern | undefined, right: ResolvedPattern): boolean =>
  left !== undefined && (left.topics === right.topics || (left.topics.length === right.topics.length && left.topics.every((topic, index) => topic === right.topics[index])))

const groupRecord = ({ groupId, epoch, metadataHash }: ConsumerGroup): RecordDraft => ({ key: encodeConsumerKey.group(groupId), value: encodeConsumerValue.group({ epoch, metadataHash }) })

const assignmentRecord = ({ groupId, assignmentEpoch, assignedAtMs }: ConsumerGroup): RecordDraft => ({
  key: encodeConsumerKey.target(groupId), value: encodeConsumerValue.target({ assignmentEpoch, assignmentTimestamp: Math.max(0, assignedAtMs) }),
})

const targetRecord = (groupId: string, memberId: string, target: Assigned): RecordDraft => ({
  key: encodeConsumerKey.memberTarget(groupId, memberId), value: encodeConsumerValue.memberTarget({ topicPartitions: listsOf(target) }),
})

const patternRecord = (groupId: string, pattern: string, { topics, version, atMs }: ResolvedPattern): RecordDraft => ({
  key: encodeConsumerKey.pattern(groupId, pattern), value: encodeConsumerValue.pattern({ topics, version, timestamp: atMs }),
})

function memberRecord(groupId: string, about: MemberAbout): RecordDraft {
  const { memberId, instanceId, rackId, clientId, clientHost, topics, pattern, rebalanceTimeoutMs, serverAssignor, classic } = about
  return {
    key: encodeConsumerKey.member(groupId, memberId),
    value: encodeConsumerValue.member({
      instanceId, rackId, clientId, clientHost, subscribedTopicNames: topics, subscribedTopicRegex: pattern, rebalanceTimeoutMs, serverAssignor,
      classicMemberMetadata: classic === null ? null : { sessionTimeoutMs: classic.sessionTimeoutMs, supportedProtocols: classic.protocols },
    }),
  }
}

const currentRecord = (groupId: string, memberId: string, { epoch, previousEpoch, state, assigned, revoking }: CurrentAssignment): RecordDraft => ({
  key: encodeConsumerKey.current(groupId, memberId),
  value: encodeConsumerValue.current({
    memberEpoch: epoch, previousMemberEpoch: previousEpoch, state: stateNumbers[state], assignedPartitions: listsOf(assigned), partitionsPendingRevocation: listsOf(revoking),
  }),
})

/** Takes a record into the group that it is of. Members have all the time in the world until the load has ended. Not for the tombstone of a group. */
export function takeRecord(group: ConsumerGroup, key: ConsumerGroupRecordKey, value: Uint8Array | null): void {
  switch (key.type) {
    case 'consumerGroup': if (value !== null) Object.assign(group, decodeConsumerValue.group(value)); break
    case 'consumerTarget': {
      const { assignmentEpoch, assignmentTimestamp } = value === null ? { assignmentEpoch: 0, assignmentTimestamp: -1 } : decodeConsumerValue.target(value)
      group.assignmentEpoch = assignmentEpoch
      group.assignedAtMs = assignmentTimestamp
      break
    }
    case 'consumerMember': takeMember(group, key.memberId, value); break
    case 'consumerMemberTarget':
      if (value === null) group.targets.delete(key.memberId)
      else group.targets.set(key.memberId, assignedOf(decodeConsumerValue.memberTarget(value).topicPartitions))
      break
    case 'consumerCurrent': takeCurrent(group, key.memberId, value); break
    case 'consumerPattern':
      if (value === null) group.patterns.delete(key.pattern)
      else {
        const { topics, version, timestamp } = decodeConsumerValue.pattern(value)
        group.patterns.set(key.pattern, { topics, version, atMs: timestamp })
      }
  }
}

function takeMember(group: ConsumerGroup, memberId: string, value: Uint8Array | null): void {
  if (value === null) {
    group.remove(memberId)
    return
  }
  const { instanceId, rackId, clientId, clientHost, subscribedTopicNames, subscribedTopicRegex, rebalanceTimeoutMs, serverAssignor, classicMemberMetadata } = decodeConsumerValue.member(value)
  const about: MemberAbout = {
    memberId, instanceId, rackId, clientId, clientHost, topics: subscribedTopicNames, pattern: subscribedTopicRegex, rebalanceTimeoutMs, serverAssignor,
    classic: classicMemberMetadata === null ? null : {
      sessionTimeoutMs: classicMemberMetadata.sessionTimeoutMs,
      protocols: classicMemberMetadata.supportedProtocols.map(({ name, metadata }) => ({ name, metadata: metadata.slice() })),
    },
  }
  group.put({ ...group.members.get(memberId) ?? newMember(about), about })
}

/** That of a member that is not there says nothing: its own record is in front of it, or has been taken back. */
function takeCurrent(group: ConsumerGroup, memberId: string, value: Uint8Array | null): void {
  const member = group.members.get(memberId)
  if (member === undefined) return
  if (value === null) {
    group.put({ ...member, current: newMember(member.about).current })
    return
  }
  const { memberEpoch, previousMemberEpoch, state, assignedPartitions, partitionsPendingRevocation } = decodeConsumerValue.current(value)
  group.put({
    ...member,
    current: {
      epoch: memberEpoch, previousEpoch: previousMemberEpoch, state: statesByNumber[state] ?? 'unreleased', assigned: assignedOf(assignedPartitions), revoking: assignedOf(partitionsPendingRevocation),
    },
  })
}
