import { isMillraceError } from '../../../../kernel/errors/index.ts'
import { type MachineTime } from '../../../../kernel/model/replay-machine.ts'
import { decodeAssignment, decodeSubscription, encodeAssignment, type ConsumerAssignment, type ConsumerSubscription } from '../../../../wire/consumer-protocol.ts'
import { ClassicGroup, noBytes } from '../classic-group.ts'
import { type GroupRules } from '../group-commands.ts'
import { electProtocol } from '../protocol-vote.ts'
import { assignedOf, those, union, type Assigned } from './assigned.ts'
import { ConsumerGroup, newMember, type ConsumerMember } from './consumer-group.ts'
import { type TopicDirectory } from './topic-directory.ts'

/** Why a classic group with members cannot become one of the consumer protocol; undefined where it can. */
export function upgradeFault(group: ClassicGroup, rules: GroupRules): string | undefined {
  if (group.protocolType !== 'consumer') return 'it is no group of consumers'
  if (!rules.consumer.canUpgrade) return 'group.consumer.migration.policy does not allow it'
  if (group.members.size > rules.consumer.groupSizeMax) return `it has more members than group.consumer.max.size=${rules.consumer.groupSizeMax} allows`
  for (const member of group.members.values()) {
    if (subscriptionIn(member.protocols[0]?.metadata) === undefined) return 'what a member reads cannot be understood'
    const fault = assignmentFault(member.assignment)
    if (fault !== undefined) return fault
  }
  return undefined
}

/** As in Kafka: the coordinator would not know what to do with user data of the leader's assignor, and members that rest on them would go without. */
function assignmentFault(bytes: Uint8Array): string | undefined {
  const assignment = assignmentIn(bytes)
  if (assignment === undefined) return 'what a member is assigned cannot be understood'
  return (assignment.userData?.length ?? 0) > 0 ? 'what a member is assigned has user data of an assignor of its own: let its members go first' : undefined
}

/** What a member of the classic protocol has said of itself; undefined where it cannot be read. */
export const subscriptionIn = (metadata: Uint8Array | undefined): ConsumerSubscription | undefined => metadata === undefined ? undefined : readable(decodeSubscription, metadata)

/** What a member of the classic protocol is assigned; undefined where it cannot be read. */
const assignmentIn = (bytes: Uint8Array): ConsumerAssignment | undefined => readable(decodeAssignment, bytes)

function readable<T>(decode: (data: Uint8Array) => T, bytes: Uint8Array): T | undefined {
  try {
    return decode(bytes)
  } catch (error) {
    if (!isMillraceError(error)) throw error
    return undefined
  }
}

/** Partitions by name, of topics that are there. */
export const assignedByName = (topics: TopicDirectory, lists: readonly { readonly topic: string, readonly partitions: readonly number[] }[]): Assigned =>
  assignedOf(lists.flatMap(({ topic, partitions }) => {
    const known = topics.byName(topic)
    return known === undefined ? [] : [{ topicId: known.id, partitions }]
  }))

/**
 * Online migration: the group with the same members, each in its generation with what it was assigned, which it may still have. Its epochs go on
 * from the generations. A group without members is one whose epochs do.
 */
export function consumerFrom(classic: ClassicGroup, topics: TopicDirectory, nowMs: number): ConsumerGroup {
  const group = new ConsumerGroup(classic.groupId)
  group.epoch = classic.generation
  group.assignmentEpoch = classic.generation
  for (const { memberId, instanceId, clientId, clientHost, rebalanceTimeoutMs, sessionTimeoutMs, protocols, assignment } of classic.members.values()) {
    const subscription = subscriptionIn(protocols.find(({ name }) => name === classic.protocol)?.metadata) ?? subscriptionIn(protocols[0]?.metadata)
    const member = newMember({
      memberId, instanceId, rackId: subscription?.rackId ?? null, clientId, clientHost, topics: [...new Set(subscription?.topics)].sort(), pattern: null, serverAssignor: null, rebalanceTimeoutMs,
      classic: { sessionTimeoutMs, protocols },
    })
    const said = assignedByName(topics, (assignment.length === 0 ? subscription?.ownedPartitions : assignmentIn(assignment)?.assignedPartitions) ?? [])
    // A leader may have given a partition twice: nobody can say whose it is then, but it is only one's.
    const assigned = those(said, (topicId, partition) => group.ownerOf(topicId, partition) === undefined)
    group.put({ ...member, current: { epoch: group.epoch, previousEpoch: group.epoch, state: 'stable', assigned, revoking: new Map() }, sessionDeadlineMs: nowMs + sessionTimeoutMs })
    group.targets.set(memberId, assigned)
  }
  return group
}

/** The bytes in which a member of the classic protocol is told what it has, in the version that it speaks itself. */
export function assignmentBytes({ about: { classic } }: ConsumerMember, assigned: Assigned, topics: TopicDirectory): Uint8Array {
  const metadata = classic!.protocols[0]!.metadata
  const version = Math.min(3, metadata.length < 2 ? 0 : metadata[0]! << 8 | metadata[1]!)
  const assignedPartitions = Array.from(assigned, ([topicId, partitions]) => ({ topic: topics.nameOf(topicId), partitions }))
    .filter((each): each is { topic: string, partitions: readonly number[] } => each.topic !== undefined)
  return encodeAssignment(version, { assignedPartitions, userData: null })
}

/** Online migration back: the group with the same members, in the generation that follows its epochs. All of them speak the classic protocol. */
export function classicFrom(group: ConsumerGroup, topics: TopicDirectory, { wallMs, judgedMs }: MachineTime): ClassicGroup {
  const classic = new ClassicGroup(group.groupId, wallMs)
  classic.generation = group.epoch
  classic.protocolType = 'consumer'
  if (group.members.size === 0) return classic
  classic.enter('Stable', wallMs)
  for (const member of group.members.values()) {
    const { memberId, instanceId, clientId, clientHost, rebalanceTimeoutMs, classic: spoken } = member.about
    const { sessionTimeoutMs, protocols } = spoken!
    // Also what it has not given up yet: nobody else is to have that, should the group be upgraded again.
    const held = union(member.current.assigned, member.current.revoking)
    classic.add({
      memberId, instanceId, clientId, clientHost, rebalanceTimeoutMs, sessionTimeoutMs, protocols,
      assignment: held.size === 0 ? noBytes : assignmentBytes(member, held, topics),
      deadlineMs: judgedMs + sessionTimeoutMs, joinAsker: undefined, syncAsker: undefined, isNew: false,
    })
  }
  classic.protocol = electProtocol(classic) ?? null
  return classic
}
