import { type TopicPartition } from './topic-partitions.ts'

/** What the leader of a classic group knows of one member. */
export interface GroupMember {
  readonly memberId: string
  readonly instanceId: string | null
  readonly topics: readonly string[]
  /** What it says it has. */
  readonly owned: readonly TopicPartition[]
  /** The generation in which it had that; -1 unknown. */
  readonly generation: number
  readonly rack: string | null
}

/** How many partitions each topic has; a topic that does not exist is missing. */
export type PartitionCounts = ReadonlyMap<string, number>

/** By member id. Every member has an entry. */
export type GroupAssignment = Map<string, TopicPartition[]>

/** What a member tells of itself in its subscription besides its topics. */
export interface OwnState {
  readonly owned: readonly TopicPartition[]
  readonly generation: number
}

/** Shares partitions out among the members of a classic group. Pure: equal members and partitions give an equal assignment. */
export interface Assignor {
  /** What members agree upon; Java's names. */
  readonly name: string
  /** Whether members keep what they have through a rebalance, and give up only what goes to others (KIP-429). */
  readonly isCooperative: boolean
  /** The user data of this member's subscription. */
  userData(own: OwnState): Uint8Array | null
  /** What a member has, where the assignor keeps that in its user data and not in the subscription. */
  ownedFrom?(userData: Uint8Array): OwnState | undefined
  assign(members: readonly GroupMember[], counts: PartitionCounts): GroupAssignment
}

/** Static members by their instance ids, before the others by their member ids: so that a restart changes no order. */
export function inOrder(members: readonly GroupMember[]): GroupMember[] {
  const rank = ({ instanceId }: GroupMember): number => instanceId === null ? 1 : 0
  const name = ({ instanceId, memberId }: GroupMember): string => instanceId ?? memberId
  return [...members].sort((a, b) => rank(a) - rank(b) || (name(a) < name(b) ? -1 : name(a) > name(b) ? 1 : 0))
}

export function emptyAssignment(members: readonly GroupMember[]): GroupAssignment {
  return new Map(members.map(({ memberId }) => [memberId, []]))
}

/** The topics that somebody wants and that exist, by name. */
export function wantedTopics(members: readonly GroupMember[], counts: PartitionCounts): string[] {
  return [...new Set(members.flatMap(({ topics }) => topics))].filter(topic => (counts.get(topic) ?? 0) > 0).sort()
}
