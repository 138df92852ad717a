import { describe, expect, it } from 'vitest'
import { Prng } from '../../../../../src/base/prng.ts'
import { uuidBytes, uuidFromBytes } from '../../../../../src/base/uuid.ts'
import {
  groupsIn, redoBlockBytes, RedoGroupBuilder, type GroupStamp, type RedoEntry, type RedoGroup,
} from '../../../../../src/plugins/storage-local/core/redo-group.ts'
import { entriesByLog, holdsBatch, missingFile, orderGroups, planLog, RedoHole } from '../../../../../src/plugins/storage-local/core/redo-history.ts'
import { makeBatch, newTopicId } from '../../../../../src/testkit/conformance/log-store-subject.ts'
import { putBaseOffset } from '../../../../../src/kernel/record/batch-header.ts'

const directoryId = Uint8Array.from(uuidBytes(newTopicId()))
const topicId = newTopicId()
const idBytes = Uint8Array.from(uuidBytes(topicId))
const stamp = (sequence: number, changed: Partial<GroupStamp> = {}): GroupStamp =>
  ({ generation: 1, run: 0, sequence, covered: sequence - 1, firstNeeded: 1, ...changed })

function batchAt(baseOffset: number, records = 1): Uint8Array {
  const batch = makeBatch(records)
  putBaseOffset(batch, 0, baseOffset)
  return batch
}

const builder = (bytesMax = 1 << 20): RedoGroupBuilder => new RedoGroupBuilder(directoryId, bytesMax)
const put = (group: RedoGroupBuilder, baseOffset: number, records = 1, position = 0): boolean => {
  const bytes = batchAt(baseOffset, records)
  return group.addBatch(idBytes, 3, { bytes, at: 0, length: bytes.length, logEnd: baseOffset, segmentBase: 0, position })
}

/** One file of the groups given, each with one batch. */
function fileOf(stamps: readonly GroupStamp[], bytesMax = 1 << 20): Uint8Array {
  const group = builder(bytesMax)
  const parts = stamps.map(each => {
    put(group, each.sequence)
    return Uint8Array.from(group.seal(each))
  })
  return Uint8Array.from(parts.flatMap(part => [...part]))
}

describe('a redo group', () => {
  it('gives back what was put in: batches, barriers, resets and removals', () => {
    const group = builder()
    const batch = batchAt(17, 4)
    group.addBatch(idBytes, 5, { bytes: Uint8Array.from([9, 9, ...batch, 9]), at: 2, length: batch.length, logEnd: 16, segmentBase: 10, position: 3_000_000_000 })
    for (const kind of ['barrier', 'reset', 'removed'] as const) group.addMark(kind, idBytes, 6, 2 ** 40 + 1)
    const bytes = group.seal({ generation: 7, run: 12345, sequence: 2 ** 33, covered: 2 ** 33 - 5, firstNeeded: 12 })
    expect(bytes.length % redoBlockBytes).toBe(0)
    const [read, ...more] = [...groupsIn(bytes, directoryId)]
    expect(more).toEqual([])
    expect(read).toMatchObject({ generation: 7, run: 12345, sequence: 2 ** 33, covered: 2 ** 33 - 5, firstNeeded: 12 })
    expect(read!.entries[0]).toEqual({ kind: 'batch', partition: 5, topicId: idBytes, offset: 16, segmentBase: 10, position: 3_000_000_000, bytes: batch })
    expect(holdsBatch(read!.entries[0]!)).toBe(true)
    expect(read!.entries.slice(1).map(({ kind, partition, offset }) => [kind, partition, offset])).toEqual(
      [['barrier', 6, 2 ** 40 + 1], ['reset', 6, 2 ** 40 + 1], ['removed', 6, 2 ** 40 + 1]])
  })

  it('holds no more than it may, and then takes nothing of a batch', () => {
    const group = builder(4096)
    let count = 0
    while (put(group, count)) count++
    expect(count).toBeGreaterThan(5)
    expect(group.sizeBytes).toBeLessThanOrEqual(4096)
    const [read] = [...groupsIn(group.seal(stamp(1)), directoryId)]
    expect(read!.entries.length).toBe(count)
    expect(group.isEmpty).toBe(true)
  })

  it('is not there when any bit of it is another, and those around it are', () => {
    const whole = fileOf([stamp(1), stamp(2), stamp(3)])
    const second = whole.length / 3
    const length = new DataView(whole.buffer).getInt32(second + 12)
    for (let bit = 0; bit < length * 8; bit++) {
      whole[second + (bit >> 3)]! ^= 1 << (bit & 7)
      expect([...groupsIn(whole, directoryId)].map(({ sequence }) => sequence), `bit ${bit}`).toEqual([1, 3])
      whole[second + (bit >> 3)]! ^= 1 << (bit & 7)
    }
    expect([...groupsIn(whole, directoryId)].length).toBe(3)
  })

  it('of another directory is not there', () => {
    expect([...groupsIn(fileOf([stamp(1)]), Uint8Array.from(uuidBytes(newTopicId())))]).toEqual([])
  })

  it('that is cut off anywhere is not there, and hostile bytes give none', () => {
    const random = new Prng(41)
    const whole = fileOf([stamp(1)])
    for (let bytes = 0; bytes < whole.length - redoBlockBytes; bytes++) expect([...groupsIn(whole.subarray(0, bytes), directoryId)]).toEqual([])
    for (let round = 0; round < 200; round++) {
      const file = Uint8Array.from({ length: 2048 }, () => random.below(256))
      file.set(whole.subarray(0, 72), 512)
      expect([...groupsIn(file, directoryId)], `seed 41, round ${round}`).toEqual([])
    }
  })
})

describe('the groups that count', () => {
  const read = (file: Uint8Array): RedoGroup[] => [...groupsIn(file, directoryId)]
  const sequences = (...files: Uint8Array[]): number[] => orderGroups(files.flatMap(read)).map(({ sequence }) => sequence)

  it('are those from the first needed on, whatever file they are in', () => {
    expect(sequences(fileOf([stamp(4, { firstNeeded: 2 }), stamp(5, { firstNeeded: 3 })]), fileOf([stamp(1), stamp(2), stamp(3)]))).toEqual([3, 4, 5])
    expect(sequences()).toEqual([])
  })

  it('end before the first that a crash tore', () => {
    // Group 3 was torn, group 4 written while nothing behind group 2 was known to be on the disk.
    expect(sequences(fileOf([stamp(1), stamp(2), stamp(4, { covered: 2 })]))).toEqual([1, 2])
  })

  it('are refused when one is missing that was on the disk', () => {
    expect(() => sequences(fileOf([stamp(1), stamp(2), stamp(4)]))).toThrow(RedoHole)
    expect(() => sequences(fileOf([stamp(2), stamp(3)]))).toThrow(/group 1 is missing/)
  })

  it('are refused when files of two runs lie beside each other', () => {
    const [old, later] = [[1, 2, 3].map(sequence => stamp(sequence, { run: 8 })), [4, 5].map(sequence => stamp(sequence, { run: 9 }))]
    expect(() => sequences(fileOf(old), fileOf(later))).toThrow(/two runs/)
    expect(() => sequences(fileOf(later), fileOf(old))).toThrow(RedoHole)
  })

  it('may be in all files that were made: one that was taken away is named, whatever was in it', () => {
    expect(missingFile([])).toBeUndefined()
    expect(missingFile(['00000002.redo', '00000001.redo'])).toBeUndefined()
    expect(missingFile(['00000004.redo', '00000001.redo', '00000003.redo'])).toBe('00000002.redo')
    expect(missingFile(['00000002.redo'])).toBe('00000001.redo')
  })
})

describe('what is redone of a log', () => {
  const entry = (kind: RedoEntry['kind'], offset: number, records = 1): RedoEntry => ({
    kind, offset, partition: 0, topicId: idBytes, segmentBase: 0, position: 0, bytes: kind === 'batch' ? batchAt(offset, records) : new Uint8Array(0),
  })
  const plan = (entries: readonly RedoEntry[], recoveryPoint = 0, startOffset = 0) => {
    const { batches, durableTo, removed } = planLog(entries, { recoveryPoint, startOffset })
    return { offsets: batches.map(({ offset }) => offset), durableTo, removed }
  }

  it('is every batch that reaches above the recovery point and the log start', () => {
    const entries = [entry('batch', 0, 5), entry('batch', 5, 5), entry('batch', 10, 5)]
    expect(plan(entries)).toEqual({ offsets: [0, 5, 10], durableTo: 15, removed: false })
    expect(plan(entries, 7)).toEqual({ offsets: [5, 10], durableTo: 15, removed: false })
    expect(plan(entries.map((each, index) => ({ ...each, segmentBase: index * 5 })), 0, 10)).toEqual({ offsets: [10], durableTo: 15, removed: false })
    expect(plan(entries, 20)).toEqual({ offsets: [], durableTo: 20, removed: false })
  })

  it('is all of a segment that reaches above the log start, so that nothing before it is missing there', () => {
    expect(plan([entry('batch', 0, 5), entry('batch', 5, 5), entry('batch', 10, 5)], 0, 12)).toEqual({ offsets: [0, 5, 10], durableTo: 15, removed: false })
    expect(plan([entry('batch', 0, 5), entry('batch', 5, 5)], 0, 10).offsets).toEqual([])
  })

  it('is nothing below a barrier that came later, and what came before the barrier and lies above it', () => {
    expect(plan([entry('batch', 0, 5), entry('batch', 5, 5), entry('barrier', 5)])).toEqual({ offsets: [5], durableTo: 10, removed: false })
  })

  it('is nothing that a reset cut, and the batches that took its place', () => {
    expect(plan([entry('batch', 0, 5), entry('batch', 5, 5), entry('barrier', 10), entry('reset', 5), entry('batch', 5, 2)]))
      .toEqual({ offsets: [5], durableTo: 7, removed: false })
    expect(plan([entry('batch', 0, 5), entry('reset', 0)], 5)).toEqual({ offsets: [], durableTo: 0, removed: false })
  })

  it('promises nothing behind a gap that was synced in its segment, as long as no barrier says so', () => {
    const gap = [entry('batch', 0, 5), entry('batch', 10, 5)]
    expect(plan(gap)).toEqual({ offsets: [0, 10], durableTo: 5, removed: false })
    expect(plan([...gap, entry('barrier', 10), entry('batch', 15, 1)])).toEqual({ offsets: [10, 15], durableTo: 16, removed: false })
  })

  it('ends with its removal', () => {
    expect(plan([entry('batch', 0), entry('removed', 0)]).removed).toBe(true)
  })

  it('is told apart by topic id and partition', () => {
    const other = Uint8Array.from(uuidBytes(newTopicId()))
    const group: RedoGroup = { ...stamp(1), entries: [entry('batch', 0), { ...entry('batch', 0), partition: 1 }, { ...entry('batch', 0), topicId: other }, entry('batch', 1)] }
    expect([...entriesByLog([group])].map(([key, entries]) => [key, entries.length])).toEqual(
      [[`${topicId}-0`, 2], [`${topicId}-1`, 1], [`${uuidFromBytes(other)}-0`, 1]])
  })
})
