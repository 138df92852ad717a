import { arrayOf, bytes, int32, string, struct } from './schema/definition.ts'
import { defineMessage, type DraftOf, type MessageOf } from './schema/message.ts'
import { decodeVersioned, encodeVersioned } from './versioned-data.ts'

/**
 * What members of a classic group with protocol type `consumer` put into the opaque bytes of JoinGroup and SyncGroup. It is an agreement
 * among clients, which brokers pass on unread (quirk 46). Each blob begins with its version; fields are only ever appended.
 */

/**
 * Subscription (in JoinGroup):
 * - v0: topics, user data
 * - v1: the partitions that the member owns, for cooperative rebalancing (KIP-429)
 * - v2: the generation in which it owned them (KIP-792)
 * - v3: its rack (KIP-881)
 */
export const consumerSubscription = defineMessage({ name: 'ConsumerProtocolSubscription', versions: '0-3' }, {
  topics: arrayOf('0+', 'string'),
  userData: bytes('0+', { nullable: '0+', default: null }),
  ownedPartitions: arrayOf('1+', struct('TopicPartition', {
    topic: string('1+'),
    partitions: arrayOf('1+', 'int32'),
  }), { ignorable: true }),
  generationId: int32('2+', { default: -1, ignorable: true }),
  rackId: string('3+', { nullable: '3+', default: null, ignorable: true }),
})

/** Assignment (in SyncGroup): the same fields in versions 0 to 3. */
export const consumerAssignment = defineMessage({ name: 'ConsumerProtocolAssignment', versions: '0-3' }, {
  assignedPartitions: arrayOf('0+', struct('TopicPartition', {
    topic: string('0+'),
    partitions: arrayOf('0+', 'int32'),
  })),
  userData: bytes('0+', { nullable: '0+', default: null }),
})

export type ConsumerSubscription = MessageOf<typeof consumerSubscription>
export type ConsumerAssignment = MessageOf<typeof consumerAssignment>

/** The bytes of a subscription, in an array that the caller owns. */
export function encodeSubscription(version: number, subscription: DraftOf<typeof consumerSubscription>): Uint8Array {
  return encodeVersioned(consumerSubscription, version, subscription)
}

/** Throws MR_PROTOCOL_MALFORMED. `userData` is a view. */
export function decodeSubscription(data: Uint8Array): ConsumerSubscription {
  return decodeVersioned(consumerSubscription, data)
}

/** The bytes of an assignment, in an array that the caller owns. */
export function encodeAssignment(version: number, assignment: DraftOf<typeof consumerAssignment>): Uint8Array {
  return encodeVersioned(consumerAssignment, version, assignment)
}

/** No bytes at all, which a member without assignment is given, are an empty assignment. Throws MR_PROTOCOL_MALFORMED. `userData` is a view. */
export function decodeAssignment(data: Uint8Array): ConsumerAssignment {
  return data.length === 0 ? { assignedPartitions: [], userData: null } : decodeVersioned(consumerAssignment, data)
}
