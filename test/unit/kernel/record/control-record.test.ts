import { describe, expect, test } from 'vitest'
import { putBaseOffset, putLeaderEpoch } from '../../../../src/kernel/record/batch-header.ts'
import { controlAbort, controlCommit, controlTypeOf, coordinatorEpochOf, endTransactionBatch } from '../../../../src/kernel/record/control-record.ts'
import { RecordBatch } from '../../../../src/kernel/record/record-batch.ts'

// A COMMIT marker as Apache Kafka stores it: offset 42, leader epoch 5.
const stored = '000000000000002a000000420000000502dbc180da0030000000000000018bcfe568000000018bcfe5680000000000000003e80000ffffffff000000012000000008000000010c00000000000700'

describe('control records', () => {
  test('a commit marker is byte for byte what Kafka writes', () => {
    const bytes = endTransactionBatch({ commit: true, coordinatorEpoch: 7, producerId: 1000, producerEpoch: 0, timestamp: 1_700_000_000_000 })
    putBaseOffset(bytes, 0, 42)
    putLeaderEpoch(bytes, 0, 5)
    expect(Buffer.from(bytes).toString('hex')).toBe(stored)
  })

  test('what Kafka wrote is read: one record, transactional and control, its type and coordinator epoch', () => {
    const batch = new RecordBatch(Uint8Array.from(Buffer.from(stored, 'hex')))
    expect(batch).toMatchObject({ isControl: true, isTransactional: true, baseSequence: -1, producerId: 1000, lastOffset: 42, isWhole: true })
    expect(batch.crcValid()).toBe(true)
    const [record] = [...batch.records()]
    expect([controlTypeOf(record!.key), coordinatorEpochOf(record!.value)]).toEqual([controlCommit, 7])
  })

  test('an abort marker is one, and the batch before it stays as it was', () => {
    const commit = endTransactionBatch({ commit: true, coordinatorEpoch: 1, producerId: 1, producerEpoch: 0, timestamp: 1 })
    const copy = commit.slice()
    const abort = new RecordBatch(endTransactionBatch({ commit: false, coordinatorEpoch: -1, producerId: 2, producerEpoch: 3, timestamp: 2 }))
    const [record] = [...abort.records()]
    expect([controlTypeOf(record!.key), coordinatorEpochOf(record!.value), abort.producerEpoch]).toEqual([controlAbort, -1, 3])
    expect(commit).toEqual(copy)
  })

  test('a short key or a negative version is no control record, a newer version is read', () => {
    expect(controlTypeOf(null)).toBeUndefined()
    expect(controlTypeOf(Uint8Array.of(0, 0, 0))).toBeUndefined()
    expect(controlTypeOf(Uint8Array.of(0xff, 0xff, 0, 1))).toBeUndefined()
    expect(controlTypeOf(Uint8Array.of(0, 9, 0, 1, 4))).toBe(1)
    expect(coordinatorEpochOf(Uint8Array.of(0, 0, 0, 0))).toBeUndefined()
  })
})
