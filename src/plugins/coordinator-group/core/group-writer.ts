import { type RecordDraft } from '../../../kernel/model/replay-machine.ts'
import {
  encodeGroupMetadataKey, encodeGroupMetadataValue, encodeOffsetCommitKey, encodeOffsetCommitValue, type GroupMetadataValue, type OffsetCommitValue,
} from '../../../wire/group-records.ts'
import { ClassicGroup, metadataOf, type Member } from './classic-group.ts'
import { type OffsetToCommit } from './group-commands.ts'

/** What a group has committed for one partition. */
export interface CommittedOffset {
  readonly offset: number
  readonly leaderEpoch: number
  readonly metadata: string
  readonly committedAtMs: number
  /** -1: when the broker's retention says so. */
  readonly expiresAtMs: number
  /** Zero where it is not known. */
  readonly topicId: string
}

/** The generation of a group, its members and what is assigned to them. */
export function groupRecord(group: ClassicGroup): RecordDraft {
  return {
    key: encodeGroupMetadataKey(group.groupId),
    value: encodeGroupMetadataValue({
      protocolType: group.protocolType ?? '',
      generation: group.generation,
      protocol: group.protocol,
      leader: group.leader,
      currentStateTimestamp: group.stateSinceMs,
      members: Array.from(group.members.values(), (member) => ({
        memberId: member.memberId,
        groupInstanceId: member.instanceId,
        clientId: member.clientId,
        clientHost: member.clientHost,
        rebalanceTimeout: member.rebalanceTimeoutMs,
        sessionTimeout: member.sessionTimeoutMs,
        subscription: metadataOf(member, group.protocol),
        assignment: member.assignment,
      })),
    }),
  }
}

/** A generation without its members: that its number was given, and is not given again. */
export function generationRecord(group: ClassicGroup): RecordDraft {
  const bare = new ClassicGroup(group.groupId, group.stateSinceMs)
  bare.generation = group.generation
  bare.protocolType = group.protocolType
  return groupRecord(bare)
}

export const groupTombstone = (groupId: string): RecordDraft => ({ key: encodeGroupMetadataKey(groupId), value: null })

export function offsetRecord(group: string, { topic, partition, topicId, offset, leaderEpoch, metadata }: OffsetToCommit, committedAtMs: number, expiresAtMs: number): RecordDraft {
  return {
    key: encodeOffsetCommitKey({ group, topic, partition }),
    value: encodeOffsetCommitValue({ offset, leaderEpoch, metadata, commitTimestamp: committedAtMs, expireTimestamp: expiresAtMs, topicId }),
  }
}

export const offsetTombstone = (group: string, topic: string, partition: number): RecordDraft => ({ key: encodeOffsetCommitKey({ group, topic, partition }), value: null })

/** A group as a record has it. Its members have all the time in the world until the load has ended. */
export function groupFromRecord(groupId: string, value: GroupMetadataValue): ClassicGroup {
  const group = new ClassicGroup(groupId, value.currentStateTimestamp)
  group.state = value.members.length === 0 ? 'Empty' : 'Stable'
  group.generation = value.generation
  group.protocolType = value.protocolType === '' ? null : value.protocolType
  group.protocol = value.protocol
  for (const { memberId, groupInstanceId, clientId, clientHost, rebalanceTimeout, sessionTimeout, subscription, assignment } of value.members) {
    const member: Member = {
      memberId, instanceId: groupInstanceId, clientId, clientHost,
      rebalanceTimeoutMs: rebalanceTimeout === -1 ? sessionTimeout : rebalanceTimeout,
      sessionTimeoutMs: sessionTimeout,
      protocols: [{ name: value.protocol ?? '', metadata: subscription.slice() }],
      assignment: assignment.slice(),
      deadlineMs: Infinity, joinAsker: undefined, syncAsker: undefined, isNew: false,
    }
    group.add(member)
  }
  group.leader = value.leader
  return group
}

export function offsetFromRecord(value: OffsetCommitValue): CommittedOffset {
  return {
    offset: value.offset, leaderEpoch: value.leaderEpoch, metadata: value.metadata, committedAtMs: value.commitTimestamp, expiresAtMs: value.expireTimestamp,
    topicId: value.topicId,
  }
}
