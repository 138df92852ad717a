import { describe, expect, it } from 'vitest'
import { MillraceError } from '../../../../../src/kernel/errors/index.ts'
import { detachBytes } from '../../../../../src/plugins/protocol-kafka/core/detach-bytes.ts'
import { epochAt } from '../../../../../src/plugins/protocol-kafka/core/epoch-at.ts'
import { codeForVersion, codeOf } from '../../../../../src/plugins/protocol-kafka/core/error-code.ts'

describe('error codes', () => {
  it('an error of the table has its code, any other is UNKNOWN_SERVER_ERROR', () => {
    expect(codeOf(new MillraceError('MR_TOPIC_UNKNOWN', { topic: 'x' }), 3, 0)).toBe(3)
    expect(codeOf(new TypeError('oops'), 3, 0)).toBe(-1)
    expect(codeOf(undefined, 3, 0)).toBe(-1)
  })

  it('a client is not sent a code that its version does not know where that would make it give up', () => {
    expect(codeForVersion(56, 0, 3)).toBe(6)
    expect(codeForVersion(56, 0, 4)).toBe(56)
    expect(codeForVersion(56, 1, 5)).toBe(6)
    expect(codeForVersion(56, 1, 6)).toBe(56)
    expect(codeForVersion(56, 2, 1)).toBe(56)
    expect(codeForVersion(90, 22, 3)).toBe(47)
    expect(codeForVersion(90, 22, 4)).toBe(90)
  })
})

describe('the epoch of an offset', () => {
  // Epoch 2 has offsets 10 to 19, epoch 5 has 20 to 29; the log ends at 30.
  const log = {
    epochEnd: (epoch: number) => epoch < 2 ? { leaderEpoch: -1, endOffset: -1 } : epoch < 5 ? { leaderEpoch: 2, endOffset: 20 } : { leaderEpoch: 5, endOffset: 30 },
  }
  it('is the first one that ends above it', () => {
    expect([10, 19, 20, 29].map((offset) => epochAt(log, offset, 9))).toEqual([2, 2, 5, 5])
  })
  it('is the current one at the log end', () => {
    expect(epochAt(log, 30, 9)).toBe(9)
  })
  it('is the current one of a log without any', () => {
    expect(epochAt({ epochEnd: () => ({ leaderEpoch: -1, endOffset: -1 }) }, 0, 4)).toBe(4)
  })
})

describe('keeping the bytes of a request', () => {
  it('copies the ranges that lie in the memory given, at any depth, and no others', () => {
    const memory = new Uint8Array([1, 2, 3, 4])
    const other = new Uint8Array([9])
    const message = { name: 'x', none: null, list: [{ records: memory.subarray(1, 3) }, { records: other }], ids: [1, 2], empty: memory.subarray(0, 0) }
    expect(detachBytes(message, memory.buffer)).toBe(2)
    memory.fill(0)
    expect([...message.list[0]!.records]).toEqual([2, 3])
    expect(message.list[1]!.records).toBe(other)
  })
})
