import { describe, expect, it } from 'vitest'
import {
  decodeGroupMetadataValue, decodeGroupRecordKey, decodeOffsetCommitValue, encodeGroupMetadataKey, encodeGroupMetadataValue, encodeOffsetCommitKey, encodeOffsetCommitValue,
} from '../../../src/wire/group-records.ts'
import { groupPartition, javaHash } from '../../../src/plugins/coordinator-group/core/group-partition.ts'

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const unhex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'))
const topicId = 'AAECAwQFBgcICQoLDA0ODw'

describe('records of __consumer_offsets', () => {
  it('of an offset have the key that Kafka gives them, and value version 4, or 1 where the offset has a time of its own', () => {
    expect(hex(encodeOffsetCommitKey({ group: 'g', topic: 'orders', partition: 2 }))).toBe(hex(unhex('0001 0001 67 0006 6f7264657273 00000002')))
    expect(hex(encodeOffsetCommitValue({ offset: 5, leaderEpoch: 3, metadata: 'm', commitTimestamp: 258, topicId })))
      .toBe(hex(unhex('0004 0000000000000005 00000003 02 6d 0000000000000102 01 00 10 000102030405060708090a0b0c0d0e0f')))
    expect(hex(encodeOffsetCommitValue({ offset: 5, leaderEpoch: 3, metadata: 'm', commitTimestamp: 258, expireTimestamp: 514, topicId })))
      .toBe(hex(unhex('0001 0000000000000005 0001 6d 0000000000000102 0000000000000202')))
  })

  it('of a group have key type 2 and value version 3', () => {
    expect(hex(encodeGroupMetadataKey('g'))).toBe(hex(unhex('0002 0001 67')))
    const member = { memberId: 'm', groupInstanceId: null, clientId: 'c', clientHost: '/h', rebalanceTimeout: 1, sessionTimeout: 2, subscription: new Uint8Array([7]), assignment: new Uint8Array(0) }
    expect(hex(encodeGroupMetadataValue({ protocolType: 'p', generation: 4, protocol: 'r', leader: null, currentStateTimestamp: 258, members: [member] })))
      .toBe(hex(unhex('0003 0001 70 00000004 0001 72 ffff 0000000000000102 00000001 0001 6d ffff 0001 63 0002 2f68 00000001 00000002 00000001 07 00000000')))
  })

  it('are read in all versions, also as brokers of long ago wrote them', () => {
    expect(decodeGroupRecordKey(unhex('0000 0001 67 0001 74 00000002'))).toEqual({ type: 'offsetCommit', key: { group: 'g', topic: 't', partition: 2 } })
    expect(decodeOffsetCommitValue(unhex('0000 0000000000000005 0001 6d 0000000000000102'))).toMatchObject({ offset: 5, metadata: 'm', commitTimestamp: 258, expireTimestamp: -1, leaderEpoch: -1 })
    expect(decodeOffsetCommitValue(unhex('0003 0000000000000005 00000009 0001 6d 0000000000000102'))).toMatchObject({ leaderEpoch: 9 })
    expect(decodeGroupMetadataValue(unhex('0000 0001 70 00000004 ffff ffff 00000000'))).toMatchObject({ protocolType: 'p', generation: 4, protocol: null, leader: null, currentStateTimestamp: -1, members: [] })
  })

  it('of another type are told apart, and of another version refused', () => {
    expect(decodeGroupRecordKey(unhex('0063 0001 67'))).toEqual({ type: 'unknown', number: 99 })
    expect(() => decodeOffsetCommitValue(unhex('0005 00'))).toThrow('its version is 5, and 0 to 4 are known')
    expect(() => decodeGroupMetadataValue(unhex('0005 00'))).toThrow('its version is 5')
    expect(() => decodeGroupRecordKey(unhex('00'))).toThrow('cannot read the type of a group record')
  })
})

describe('the partition of a group', () => {
  it.each([['my-group', -1_906_497_762, 12], ['group', 98_629_247, 47], ['test', 3_556_498, 48], ['polygenelubricants', -2_147_483_648, 0]])('is where Kafka finds it: %s', (groupId, hash, partition) => {
    expect(javaHash(groupId)).toBe(hash)
    expect(groupPartition(groupId, 50)).toBe(partition)
  })
})
