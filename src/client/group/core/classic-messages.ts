import { isMillraceError } from '../../../kernel/errors/index.ts'
import {
  decodeAssignment, decodeSubscription, encodeAssignment, encodeSubscription, type joinGroupApi, type RequestDraftOf, type syncGroupApi,
} from '../../../wire/index.ts'
import { type Assignor, type GroupAssignment, type GroupMember, type OwnState } from './assignor.ts'
import { type GroupResponse, type MemberIdentity, type MemberSettings } from './member-machine.ts'
import { byTopic, fromTopics, type TopicPartition } from './topic-partitions.ts'

/** Readers of older formats pass over what newer ones append. */
const subscriptionVersion = 3
/** Fields are the same in all. */
const assignmentVersion = 0

/** What classic groups of consumers call themselves. */
export const consumerProtocolType = 'consumer'

export interface JoinParts {
  readonly settings: MemberSettings
  readonly assignors: readonly Assignor[]
  readonly topics: readonly string[]
  readonly identity: MemberIdentity
  /** What the member keeps through the rebalance. */
  readonly owned: readonly TopicPartition[]
  /** What it was given last, and in which generation. */
  readonly last: OwnState
  readonly reason: string
}

export function joinDraft(parts: JoinParts): RequestDraftOf<typeof joinGroupApi> {
  const { settings, assignors, topics, identity, owned, last, reason } = parts
  const { generation } = identity
  return {
    groupId: settings.groupId, sessionTimeoutMs: settings.sessionTimeoutMs, rebalanceTimeoutMs: settings.pollIntervalMsMax,
    memberId: identity.memberId, groupInstanceId: identity.instanceId, protocolType: consumerProtocolType, reason,
    protocols: assignors.map(assignor => ({
      name: assignor.name,
      metadata: encodeSubscription(subscriptionVersion, {
        topics: [...topics].sort(), userData: assignor.userData(assignor.isCooperative ? { owned, generation } : last),
        ownedPartitions: byTopic(owned).map(({ topic, partitions }) => ({ topic, partitions })), generationId: generation, rackId: settings.rack,
      }),
    })),
  }
}

/** The members as an assignor sees them. One whose subscription cannot be read gets nothing; who it is goes to `unreadable`. */
export function membersOf(response: GroupResponse<'join'>, assignor: Assignor, unreadable: string[]): GroupMember[] {
  return response.members.map(({ memberId, groupInstanceId, metadata }): GroupMember => {
    try {
      const { topics, userData, ownedPartitions, generationId, rackId } = decodeSubscription(metadata)
      const told = userData === null ? undefined : assignor.ownedFrom?.(userData)
      const { owned, generation } = told ?? { owned: fromTopics(ownedPartitions), generation: generationId }
      return { memberId, instanceId: groupInstanceId, topics, owned, generation, rack: rackId }
    } catch (error) {
      if (!isMillraceError(error)) throw error
      unreadable.push(memberId)
      return { memberId, instanceId: groupInstanceId, topics: [], owned: [], generation: -1, rack: null }
    }
  })
}

export function syncDraft(
  settings: MemberSettings, identity: MemberIdentity, protocolName: string, assignment: GroupAssignment,
): RequestDraftOf<typeof syncGroupApi> {
  return {
    groupId: settings.groupId, generationId: identity.generation, memberId: identity.memberId, groupInstanceId: identity.instanceId,
    protocolType: consumerProtocolType, protocolName,
    assignments: [...assignment].map(([memberId, partitions]) => ({
      memberId,
      assignment: encodeAssignment(assignmentVersion, { assignedPartitions: byTopic(partitions).map(({ topic, partitions: numbers }) => ({ topic, partitions: numbers })), userData: null }),
    })),
  }
}

/** Throws MR_PROTOCOL_MALFORMED. */
export function assignedIn(response: GroupResponse<'sync'>): TopicPartition[] {
  return fromTopics(decodeAssignment(response.assignment).assignedPartitions)
}
