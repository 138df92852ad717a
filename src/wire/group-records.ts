import { BytesReader } from '../base/bytes-reader.ts'
import { codecFor } from './schema/compile-codec.ts'
import { decodeConsumerGroupKey, type ConsumerGroupRecordKey } from './consumer-group-records.ts'
import { decodeValue, encodeKey, readInt16 } from './record-parts.ts'
import { arrayOf, bytes, int32, int64, string, struct, uuid } from './schema/definition.ts'
import { defineMessage, type DraftOf, type MessageOf } from './schema/message.ts'
import { encodeVersioned } from './versioned-data.ts'

/**
 * The records of `__consumer_offsets` that classic groups and committed offsets need, as Kafka 4.4 lays them out; those of the consumer protocol are in
 * `consumer-group-records`. A key begins with the type of the record, a value with its version; a null value deletes its key.
 */

/** Types of keys. 0 and 1 are the same key: what was committed by brokers of long ago has 0. */
export const groupRecordTypes = { legacyOffsetCommit: 0, offsetCommit: 1, groupMetadata: 2 } as const

const offsetCommitKey = defineMessage({ name: 'OffsetCommitKey', versions: '0' }, {
  group: string('0+'),
  topic: string('0+'),
  partition: int32('0+'),
})

/** v1: with an expiry of its own. v2: without. v3: leader epoch. v4: flexible, the topic's id. */
const offsetCommitValue = defineMessage({ name: 'OffsetCommitValue', versions: '0-4', flexible: '4+' }, {
  offset: int64('0+'),
  leaderEpoch: int32('3+', { default: -1, ignorable: true }),
  metadata: string('0+'),
  commitTimestamp: int64('0+'),
  expireTimestamp: int64('1', { default: -1, ignorable: true }),
  topicId: uuid('4+', { tag: 0, ignorable: true }),
})

const groupMetadataKey = defineMessage({ name: 'GroupMetadataKey', versions: '0' }, {
  group: string('0+'),
})

/** v1: rebalance timeouts. v2: when the group came into its state. v3: static members. v4: flexible. */
const groupMetadataValue = defineMessage({ name: 'GroupMetadataValue', versions: '0-4', flexible: '4+' }, {
  protocolType: string('0+'),
  generation: int32('0+'),
  protocol: string('0+', { nullable: '0+' }),
  leader: string('0+', { nullable: '0+' }),
  currentStateTimestamp: int64('2+', { default: -1, ignorable: true }),
  members: arrayOf('0+', struct('MemberMetadata', {
    memberId: string('0+'),
    groupInstanceId: string('3+', { nullable: '3+', default: null, ignorable: true }),
    clientId: string('0+'),
    clientHost: string('0+'),
    rebalanceTimeout: int32('1+', { default: -1, ignorable: true }),
    sessionTimeout: int32('0+'),
    subscription: bytes('0+'),
    assignment: bytes('0+'),
  })),
})

export type OffsetCommitKey = MessageOf<typeof offsetCommitKey>
export type OffsetCommitValue = MessageOf<typeof offsetCommitValue>
export type GroupMetadataValue = MessageOf<typeof groupMetadataValue>
export type GroupMetadataDraft = DraftOf<typeof groupMetadataValue>

export type GroupRecordKey =
  | { readonly type: 'offsetCommit', readonly key: OffsetCommitKey }
  | { readonly type: 'groupMetadata', readonly group: string }
  | ConsumerGroupRecordKey
  /** Of a protocol that is not known here: to be skipped. */
  | { readonly type: 'unknown', readonly number: number }

export const encodeOffsetCommitKey = (key: DraftOf<typeof offsetCommitKey>): Uint8Array => encodeKey(groupRecordTypes.offsetCommit, offsetCommitKey, key)
export const encodeGroupMetadataKey = (group: string): Uint8Array => encodeKey(groupRecordTypes.groupMetadata, groupMetadataKey, { group })

/** Version 4, or 1 where the offset has an expiry of its own, as Kafka writes them. */
export function encodeOffsetCommitValue(value: DraftOf<typeof offsetCommitValue>): Uint8Array {
  return encodeVersioned(offsetCommitValue, (value.expireTimestamp ?? -1) >= 0 ? 1 : 4, value)
}

/** Version 3, as Kafka writes it. */
export const encodeGroupMetadataValue = (value: GroupMetadataDraft): Uint8Array => encodeVersioned(groupMetadataValue, 3, value)

/** Throws MR_PROTOCOL_MALFORMED. */
export function decodeGroupRecordKey(data: Uint8Array): GroupRecordKey {
  const reader = new BytesReader(data)
  const type = readInt16(reader, 'the type of a group record')
  switch (type) {
    case groupRecordTypes.legacyOffsetCommit:
    case groupRecordTypes.offsetCommit: return { type: 'offsetCommit', key: codecFor(offsetCommitKey, 0).read(reader) }
    case groupRecordTypes.groupMetadata: return { type: 'groupMetadata', group: codecFor(groupMetadataKey, 0).read(reader).group }
    default: return decodeConsumerGroupKey(type, reader) ?? { type: 'unknown', number: type }
  }
}

/** Throws MR_PROTOCOL_MALFORMED, for a version that is not known too: what it says must not be guessed. */
export const decodeOffsetCommitValue = (data: Uint8Array): OffsetCommitValue => decodeValue(offsetCommitValue, data)

/** See decodeOffsetCommitValue. Bytes fields are views of `data`. */
export const decodeGroupMetadataValue = (data: Uint8Array): GroupMetadataValue => decodeValue(groupMetadataValue, data)
