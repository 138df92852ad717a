import { type BytesReader } from '../base/bytes-reader.ts'
import { type Uuid } from '../kernel/model/ids.ts'
import { decodeValue, encodeKey } from './record-parts.ts'
import { codecFor } from './schema/compile-codec.ts'
import { arrayOf, bytes, float64, int32, int64, int8, nested, string, struct, uuid } from './schema/definition.ts'
import { defineMessage, type DraftOf, type MessageOf } from './schema/message.ts'
import { encodeVersioned } from './versioned-data.ts'

/**
 * The records of `__consumer_offsets` in which groups of the consumer protocol (KIP-848) are kept, as Kafka 4.4 lays them out: all values are version 0.
 * What a later Kafka adds in tagged fields is skipped.
 */

/** 4 (partition metadata) was written by Kafka before 4.4, and says nothing that is needed. */
export const consumerRecordTypes = { group: 3, member: 5, target: 6, memberTarget: 7, current: 8, pattern: 16 } as const

const groupKey = defineMessage({ name: 'ConsumerGroupKey', versions: '0' }, { groupId: string('0+') })
const memberKey = defineMessage({ name: 'ConsumerGroupMemberKey', versions: '0' }, { groupId: string('0+'), memberId: string('0+') })
const patternKey = defineMessage({ name: 'ConsumerGroupRegularExpressionKey', versions: '0' }, { groupId: string('0+'), pattern: string('0+') })

const topicPartitions = struct('TopicPartitions', {
  topicId: uuid('0+'),
  partitions: arrayOf('0+', 'int32'),
})

const groupValue = defineMessage({ name: 'ConsumerGroupMetadataValue', versions: '0', flexible: '0+' }, {
  epoch: int32('0+'),
  /** 64 opaque bits: Kafka calls them a long, of which this keeps every one but those of a NaN. */
  metadataHash: float64('0+', { tag: 0 }),
})

const memberValue = defineMessage({ name: 'ConsumerGroupMemberMetadataValue', versions: '0', flexible: '0+' }, {
  instanceId: string('0+', { nullable: '0+' }),
  rackId: string('0+', { nullable: '0+' }),
  clientId: string('0+'),
  clientHost: string('0+'),
  subscribedTopicNames: arrayOf('0+', 'string'),
  subscribedTopicRegex: string('0+', { nullable: '0+' }),
  rebalanceTimeoutMs: int32('0+', { default: -1 }),
  serverAssignor: string('0+', { nullable: '0+' }),
  classicMemberMetadata: nested('0+', struct('ClassicMemberMetadata', {
    sessionTimeoutMs: int32('0+'),
    supportedProtocols: arrayOf('0+', struct('ClassicProtocol', {
      name: string('0+'),
      metadata: bytes('0+'),
    })),
  }), { nullable: '0+', tag: 0, default: null }),
})

const targetValue = defineMessage({ name: 'ConsumerGroupTargetAssignmentMetadataValue', versions: '0', flexible: '0+' }, {
  assignmentEpoch: int32('0+'),
  assignmentTimestamp: int64('0+', { tag: 0, ignorable: true }),
})

const memberTargetValue = defineMessage({ name: 'ConsumerGroupTargetAssignmentMemberValue', versions: '0', flexible: '0+' }, {
  topicPartitions: arrayOf('0+', topicPartitions),
})

const currentValue = defineMessage({ name: 'ConsumerGroupCurrentMemberAssignmentValue', versions: '0', flexible: '0+' }, {
  memberEpoch: int32('0+'),
  previousMemberEpoch: int32('0+'),
  /** 0 stable, 1 it has partitions to revoke, 2 it waits for partitions of others. */
  state: int8('0+'),
  assignedPartitions: arrayOf('0+', topicPartitions),
  partitionsPendingRevocation: arrayOf('0+', topicPartitions),
})

const patternValue = defineMessage({ name: 'ConsumerGroupRegularExpressionValue', versions: '0', flexible: '0+' }, {
  topics: arrayOf('0+', 'string'),
  version: int64('0+'),
  timestamp: int64('0+'),
})

export interface TopicPartitionsValue {
  readonly topicId: Uuid
  readonly partitions: readonly number[]
}

export type ConsumerMemberValue = MessageOf<typeof memberValue>

export type ConsumerGroupRecordKey =
  | { readonly type: 'consumerGroup' | 'consumerTarget', readonly group: string }
  | { readonly type: 'consumerMember' | 'consumerMemberTarget' | 'consumerCurrent', readonly group: string, readonly memberId: string }
  | { readonly type: 'consumerPattern', readonly group: string, readonly pattern: string }

/** Undefined where the type is none of the consumer protocol. */
export function decodeConsumerGroupKey(type: number, reader: BytesReader): ConsumerGroupRecordKey | undefined {
  const ofGroup = <T extends string>(name: T): { type: T, group: string } => ({ type: name, group: codecFor(groupKey, 0).read(reader).groupId })
  const ofMember = <T extends string>(name: T): { type: T, group: string, memberId: string } => {
    const { groupId, memberId } = codecFor(memberKey, 0).read(reader)
    return { type: name, group: groupId, memberId }
  }
  switch (type) {
    case consumerRecordTypes.group: return ofGroup('consumerGroup')
    case consumerRecordTypes.target: return ofGroup('consumerTarget')
    case consumerRecordTypes.member: return ofMember('consumerMember')
    case consumerRecordTypes.memberTarget: return ofMember('consumerMemberTarget')
    case consumerRecordTypes.current: return ofMember('consumerCurrent')
    case consumerRecordTypes.pattern: {
      const { groupId, pattern } = codecFor(patternKey, 0).read(reader)
      return { type: 'consumerPattern', group: groupId, pattern }
    }
    default: return undefined
  }
}

export const encodeConsumerKey = {
  group: (groupId: string): Uint8Array => encodeKey(consumerRecordTypes.group, groupKey, { groupId }),
  target: (groupId: string): Uint8Array => encodeKey(consumerRecordTypes.target, groupKey, { groupId }),
  member: (groupId: string, memberId: string): Uint8Array => encodeKey(consumerRecordTypes.member, memberKey, { groupId, memberId }),
  memberTarget: (groupId: string, memberId: string): Uint8Array => encodeKey(consumerRecordTypes.memberTarget, memberKey, { groupId, memberId }),
  current: (groupId: string, memberId: string): Uint8Array => encodeKey(consumerRecordTypes.current, memberKey, { groupId, memberId }),
  pattern: (groupId: string, pattern: string): Uint8Array => encodeKey(consumerRecordTypes.pattern, patternKey, { groupId, pattern }),
}

export const encodeConsumerValue = {
  group: (value: DraftOf<typeof groupValue>): Uint8Array => encodeVersioned(groupValue, 0, value),
  target: (value: DraftOf<typeof targetValue>): Uint8Array => encodeVersioned(targetValue, 0, value),
  member: (value: DraftOf<typeof memberValue>): Uint8Array => encodeVersioned(memberValue, 0, value),
  memberTarget: (value: DraftOf<typeof memberTargetValue>): Uint8Array => encodeVersioned(memberTargetValue, 0, value),
  current: (value: DraftOf<typeof currentValue>): Uint8Array => encodeVersioned(currentValue, 0, value),
  pattern: (value: DraftOf<typeof patternValue>): Uint8Array => encodeVersioned(patternValue, 0, value),
}

/** Each throws MR_PROTOCOL_MALFORMED. Bytes fields are views of `data`. */
export const decodeConsumerValue = {
  group: (data: Uint8Array): MessageOf<typeof groupValue> => decodeValue(groupValue, data),
  target: (data: Uint8Array): MessageOf<typeof targetValue> => decodeValue(targetValue, data),
  member: (data: Uint8Array): ConsumerMemberValue => decodeValue(memberValue, data),
  memberTarget: (data: Uint8Array): MessageOf<typeof memberTargetValue> => decodeValue(memberTargetValue, data),
  current: (data: Uint8Array): MessageOf<typeof currentValue> => decodeValue(currentValue, data),
  pattern: (data: Uint8Array): MessageOf<typeof patternValue> => decodeValue(patternValue, data),
}
