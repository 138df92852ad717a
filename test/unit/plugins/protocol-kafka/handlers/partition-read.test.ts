import { describe, expect, it } from 'vitest'
import { emptied } from '../../../../../src/kernel/log/record-sieve.ts'
import { putBaseOffset } from '../../../../../src/kernel/record/batch-header.ts'
import { type PartitionLog, type ReadRequest, type ReadSink } from '../../../../../src/kernel/ports/partition-log.ts'
import { PartitionRead } from '../../../../../src/plugins/protocol-kafka/handlers/partition-read.ts'
import { batchOf } from '../fixture/batches.ts'

const full = (offset: number): Uint8Array => {
  const batch = batchOf(['value'])
  putBaseOffset(batch, 0, offset)
  return batch
}
const empty = (offset: number): Uint8Array => emptied(full(offset), 0)
const joined = (...batches: readonly Uint8Array[]): Uint8Array => Uint8Array.from(batches.flatMap((each) => [...each]))

/** A log of segments: a read gives what one of them has from its offset on, at once or when `answer` is called. */
class Segments {
  readonly asked: number[] = []
  readonly released: number[] = []
  canceled = 0
  private readonly answers: (() => void)[] = []
  private readonly segments: ReadonlyMap<number, Uint8Array | Error>
  private readonly isLate: boolean

  constructor(segments: ReadonlyMap<number, Uint8Array | Error>, isLate = false) {
    this.segments = segments
    this.isLate = isLate
  }

  read({ offset }: ReadRequest, sink: ReadSink): (() => void) | undefined {
    this.asked.push(offset)
    const found = this.segments.get(offset) ?? new Uint8Array(0)
    const give = (): void => {
      if (found instanceof Error) sink.failed(found)
      else sink.read(found, () => { this.released.push(offset) })
    }
    if (!this.isLate) {
      give()
      return undefined
    }
    this.answers.push(give)
    return () => { this.canceled++ }
  }

  answer(): void { this.answers.shift()!() }
}

function readOf(log: Segments, endOffset: number, ends: unknown[]): PartitionRead {
  return new PartitionRead(log as unknown as PartitionLog, { offset: 0, endOffset, maxBytes: 1000, atLeastOneBatch: true }, {
    readEnd: (bytes, release) => { ends.push(bytes, release) }, readFailed: (error) => { ends.push(error) },
  })
}

describe('a read of a partition', () => {
  it('goes on behind segments of which compaction has left no record, and lets go of them', () => {
    const records = joined(empty(2), full(3))
    const log = new Segments(new Map([[0, joined(empty(0))], [1, joined(empty(1))], [2, records]]))
    const ends: unknown[] = []
    expect(readOf(log, 10, ends).start()).toBe(true)
    expect([ends[0], ends.length, log.asked, log.released]).toEqual([records, 2, [0, 1, 2], [0, 1]])
  })

  it('gives what has a record as it is, though it begins with batches that have none', () => {
    const log = new Segments(new Map([[0, joined(empty(0), full(1))]]))
    const ends: unknown[] = []
    readOf(log, 10, ends).start()
    expect([log.asked, log.released, ends.length]).toEqual([[0], [], 2])
  })

  it('gives batches without records where nothing readable follows them, or it cannot be read', () => {
    for (const [endOffset, second, asked] of [[1, undefined, [0]], [10, undefined, [0, 1]], [10, new Error('damaged'), [0, 1]]] as const) {
      const log = new Segments(new Map<number, Uint8Array | Error>([[0, empty(0)], ...second === undefined ? [] : [[1, second] as const]]))
      const ends: unknown[] = []
      expect(readOf(log, endOffset, ends).start()).toBe(true)
      expect([ends[0], ends.length, log.asked, log.released.includes(0)]).toEqual([empty(0), 2, asked, false])
    }
  })

  it('tells the failure of its first read', () => {
    const failure = new Error('damaged')
    const ends: unknown[] = []
    expect(readOf(new Segments(new Map([[0, failure]])), 10, ends).start()).toBe(true)
    expect(ends).toEqual([failure])
  })

  it('of a log that answers later ends later, once, and a cancel lets go of what is held and cancels the read under way', () => {
    const segments = new Map([[0, empty(0)], [1, empty(1)], [2, full(2)]])
    const log = new Segments(segments, true)
    const ends: unknown[] = []
    expect(readOf(log, 10, ends).start()).toBe(false)
    log.answer()
    log.answer()
    expect(ends).toEqual([])
    log.answer()
    expect([ends[0], ends.length, log.released]).toEqual([full(2), 2, [0, 1]])
    const other = new Segments(segments, true)
    const read = readOf(other, 10, ends)
    read.start()
    other.answer()
    read.cancel()
    read.cancel()
    expect([ends.length, other.released, other.canceled]).toEqual([2, [0], 1])
  })
})
