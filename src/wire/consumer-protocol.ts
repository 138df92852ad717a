import { isBytesError } from '../base/bytes-error.ts'
import { BytesReader } from '../base/bytes-reader.ts'
import { BytesWriter } from '../base/bytes-writer.ts'
import { MillraceError } from '../kernel/errors/index.ts'
import { codecFor } from './schema/compile-codec.ts'
import { arrayOf, bytes, type Fields, int32, string, struct, type DraftOfFields, type ValueOf } from './schema/definition.ts'
import { defineMessage, type DraftOf, type MessageDefinition, type MessageOf } from './schema/message.ts'

/**
 * What members of a classic group with protocol type `consumer` put into the opaque bytes of JoinGroup and SyncGroup. It is an agreement
 * among clients, which brokers pass on unread (quirk 46). Each blob begins with its version; fields are only ever appended, so a newer one
 * is read as the newest that is known, and what is behind it is ignored.
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
  return encode(consumerSubscription, version, subscription)
}

/** Throws MR_PROTOCOL_MALFORMED. `userData` is a view. */
export function decodeSubscription(data: Uint8Array): ConsumerSubscription {
  return decode(consumerSubscription, data)
}

/** The bytes of an assignment, in an array that the caller owns. */
export function encodeAssignment(version: number, assignment: DraftOf<typeof consumerAssignment>): Uint8Array {
  return encode(consumerAssignment, version, assignment)
}

/** No bytes at all, which a member without assignment is given, are an empty assignment. Throws MR_PROTOCOL_MALFORMED. `userData` is a view. */
export function decodeAssignment(data: Uint8Array): ConsumerAssignment {
  return data.length === 0 ? { assignedPartitions: [], userData: null } : decode(consumerAssignment, data)
}

function encode<F extends Fields>(definition: MessageDefinition<F>, version: number, message: DraftOfFields<F>): Uint8Array {
  const writer = new BytesWriter()
  writer.int16(version)
  codecFor(definition, version).write(writer, message)
  return writer.finish()
}

function decode<F extends Fields>(definition: MessageDefinition<F>, data: Uint8Array): ValueOf<F> {
  const reader = new BytesReader(data)
  return codecFor(definition, readVersion(reader, definition)).read(reader)
}

function readVersion(reader: BytesReader, definition: MessageDefinition): number {
  const what = `the version of ${definition.name}`
  let version: number
  try {
    version = reader.int16()
  } catch (error) {
    if (!isBytesError(error)) throw error
    throw new MillraceError('MR_PROTOCOL_MALFORMED', { what, position: 0, reason: error.reason }, error)
  }
  if (version < 0) throw new MillraceError('MR_PROTOCOL_MALFORMED', { what, position: 0, reason: `it is ${version}` })
  return Math.min(version, definition.versions.max)
}
