import { isMillraceError, MillraceError } from '../../kernel/errors/index.ts'
import {
  consumerGroupDescribeApi, decodeAssignment, decodeSubscription, deleteGroupsApi, describeGroupsApi, kafkaErrors, listGroupsApi, type ResponseOf,
} from '../../wire/index.ts'
import { brokerError } from '../client-error.ts'
import { Coordinator } from '../cluster/coordinator.ts'
import { fromTopics, type TopicPartition } from '../group/core/topic-partitions.ts'
import { type AdminContext, type AdminOptions } from './admin-context.ts'
import { describeCluster } from './partitions.ts'

/** Which groups. */
export interface ListGroupsOptions extends AdminOptions {
  /** Only groups in one of these states, such as `Stable` or `Empty`. Default: all. */
  readonly states?: readonly string[]
  /** Only groups of these types, such as `classic` or `consumer`. Default: all. */
  readonly types?: readonly string[]
}

/** A group that some broker keeps. */
export interface GroupListing {
  /** Unique in the cluster. */
  readonly groupId: string
  /** What its members call themselves: `consumer` for consumers; empty for a group that only has offsets. */
  readonly protocolType: string
  /** Undefined where the broker is too old to tell. */
  readonly state: string | undefined
  /** Such as `classic` or `consumer`; undefined where the broker is too old to tell. */
  readonly type: string | undefined
}

/** A member of a group. */
export interface GroupMemberDescription {
  /** Another at each life of the member. */
  readonly memberId: string
  /** The name that outlives it; undefined for a member without one. */
  readonly groupInstanceId: string | undefined
  /** What it calls itself in its requests. */
  readonly clientId: string
  /** Where it comes from, as the broker sees it. */
  readonly host: string
  /** Undefined where its members are no consumers, or while the group rebalances. */
  readonly topics: readonly string[] | undefined
  /** What it has now; none while a classic group rebalances. */
  readonly assignment: readonly TopicPartition[]
  /** Consumer protocol: what it is to have; undefined otherwise. */
  readonly target: readonly TopicPartition[] | undefined
}

/** A group as its coordinator has it now. */
export interface GroupDescription {
  /** As it was asked for. */
  readonly groupId: string
  /** Which protocol its members speak now. A group may go from one to the other. */
  readonly type: 'classic' | 'consumer'
  /** What its members call themselves: `consumer` for consumers; empty for a group that only has offsets. */
  readonly protocolType: string
  /** In Kafka's words: `Stable`, `Empty`, `PreparingRebalance`, `Assigning` and others; a newer broker may have more. */
  readonly state: string
  /** How partitions are shared out; empty while nobody has. */
  readonly assignor: string
  /** The node id of the broker that keeps it. */
  readonly coordinatorId: number
  /** In the order in which the coordinator names them; none while it is empty. */
  readonly members: readonly GroupMemberDescription[]
}

/** The error that stands for an answer about a group. */
export function groupError(errorCode: number, group: string, what: string, message: string | null = null): MillraceError {
  if (errorCode === kafkaErrors.GROUP_ID_NOT_FOUND) return new MillraceError('MR_CLIENT_GROUP_UNKNOWN', { group })
  if (errorCode === kafkaErrors.NON_EMPTY_GROUP) return new MillraceError('MR_CLIENT_GROUP_NOT_EMPTY', { what, group })
  return brokerError(errorCode, { what, message })
}

/** Each broker knows the groups that it coordinates. */
export async function listGroups(admin: AdminContext, options: ListGroupsOptions): Promise<GroupListing[]> {
  const { brokers } = await describeCluster(admin, options)
  const { states = [], types = [], ...rest } = options
  const oldest = types.length > 0 ? 5 : states.length > 0 ? 4 : 0
  const all = await Promise.all(brokers.map(({ id }) => admin.ask({ nodeId: id }, listGroupsApi, version => ({
    ...(version >= 4 ? { statesFilter: states } : {}), ...(version >= 5 ? { typesFilter: types } : {}),
  }), response => {
    if (response.errorCode !== kafkaErrors.NONE) throw brokerError(response.errorCode, { what: `listing the groups of broker ${id}` })
    return response.groups
  }, { ...rest, oldest })))
  const found = new Map(all.flat().map(group => [group.groupId, group]))
  return [...found.values()].map(({ groupId, protocolType, groupState, groupType }) => ({
    groupId, protocolType, state: groupState === '' ? undefined : groupState, type: groupType === '' ? undefined : groupType.toLowerCase(),
  })).sort((a, b) => a.groupId < b.groupId ? -1 : 1)
}

/** In the order of the names. */
export async function describeGroups(admin: AdminContext, names: readonly string[], options: AdminOptions): Promise<GroupDescription[]> {
  return Promise.all(names.map(name => describeGroup(admin, name, options)))
}

async function describeGroup(admin: AdminContext, groupId: string, options: AdminOptions): Promise<GroupDescription> {
  const coordinator = new Coordinator(admin, groupId)
  const what = `describing group ${groupId}`
  try {
    return await admin.ask({ coordinator }, consumerGroupDescribeApi, () => ({ groupIds: [groupId], includeAuthorizedOperations: false }), ({ groups: [group] }) => {
      if (group?.errorCode !== kafkaErrors.NONE) throw groupError(group?.errorCode ?? kafkaErrors.UNKNOWN_SERVER_ERROR, groupId, what, group?.errorMessage)
      return consumerGroup(group, coordinator.knownNodeId)
    }, options)
  } catch (error) {
    // Brokers answer so, or not at all, for groups of the classic protocol (quirk 54).
    if (!isMillraceError(error, 'MR_CLIENT_GROUP_UNKNOWN') && !isMillraceError(error, 'MR_CLIENT_UNSUPPORTED')) throw error
  }
  return admin.ask({ coordinator }, describeGroupsApi, () => ({ groups: [groupId] }), ({ groups: [group] }) => {
    if (group?.errorCode !== kafkaErrors.NONE) throw groupError(group?.errorCode ?? kafkaErrors.UNKNOWN_SERVER_ERROR, groupId, what, group?.errorMessage)
    if (group.groupState === 'Dead') throw groupError(kafkaErrors.GROUP_ID_NOT_FOUND, groupId, what)
    return classicGroup(group, coordinator.knownNodeId)
  }, options)
}

function consumerGroup(group: ResponseOf<typeof consumerGroupDescribeApi>['groups'][number], coordinatorId: number): GroupDescription {
  const named = (list: readonly { readonly topicName: string, readonly partitions: readonly number[] }[]): TopicPartition[] =>
    fromTopics(list.map(({ topicName, partitions }) => ({ topic: topicName, partitions })))
  return {
    groupId: group.groupId, type: 'consumer', protocolType: 'consumer', state: group.groupState, assignor: group.assignorName, coordinatorId,
    members: group.members.map(member => ({
      memberId: member.memberId, groupInstanceId: member.instanceId ?? undefined, clientId: member.clientId, host: member.clientHost,
      topics: member.subscribedTopicNames, assignment: named(member.assignment.topicPartitions), target: named(member.targetAssignment.topicPartitions),
    })),
  }
}

function classicGroup(group: ResponseOf<typeof describeGroupsApi>['groups'][number], coordinatorId: number): GroupDescription {
  const isOfConsumers = group.protocolType === 'consumer' || group.protocolType === ''
  return {
    groupId: group.groupId, type: 'classic', protocolType: group.protocolType, state: group.groupState, assignor: group.protocolData, coordinatorId,
    members: group.members.map(({ memberId, groupInstanceId, clientId, clientHost, memberMetadata, memberAssignment }) => ({
      memberId, groupInstanceId: groupInstanceId ?? undefined, clientId, host: clientHost, target: undefined,
      topics: !isOfConsumers || memberMetadata.length === 0 ? undefined : readable(() => decodeSubscription(memberMetadata).topics),
      assignment: isOfConsumers ? readable(() => fromTopics(decodeAssignment(memberAssignment).assignedPartitions)) ?? [] : [],
    })),
  }
}

/** Members may put anything into bytes that brokers do not read. */
function readable<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (isMillraceError(error)) return undefined
    throw error
  }
}

/** Of several all that can be are deleted; the first failure is thrown. */
export async function deleteGroups(admin: AdminContext, names: readonly string[], options: AdminOptions): Promise<void> {
  const outcomes = await Promise.allSettled(names.map(name => deleteGroup(admin, name, options)))
  const failed = outcomes.find(outcome => outcome.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

function deleteGroup(admin: AdminContext, groupId: string, options: AdminOptions): Promise<void> {
  return admin.ask({ coordinator: new Coordinator(admin, groupId) }, deleteGroupsApi, () => ({ groupsNames: [groupId] }), ({ results: [result] }) => {
    const errorCode = result?.errorCode ?? kafkaErrors.UNKNOWN_SERVER_ERROR
    if (errorCode !== kafkaErrors.NONE) throw groupError(errorCode, groupId, `deleting group ${groupId}`, result?.errorMessage)
  }, options)
}
