import { describe, expect, test } from 'vitest'
import { CheckpointTextError } from '../../../../src/kernel/log/checkpoint-text.ts'
import { EpochHistory } from '../../../../src/kernel/log/epoch-history.ts'

const history = (...entries: readonly (readonly [number, number])[]): EpochHistory => {
  const made = new EpochHistory()
  for (const [epoch, startOffset] of entries) made.append(epoch, startOffset)
  return made
}

const pairs = (made: EpochHistory): number[][] => made.all.map(entry => [entry.epoch, entry.startOffset])

describe('EpochHistory', () => {
  test('an epoch gets one entry, at its first batch', () => {
    expect(pairs(history([0, 0], [0, 5], [2, 9], [2, 12]))).toEqual([[0, 0], [2, 9]])
  })

  test('an epoch that begins at the offset of another one replaces it', () => {
    expect(pairs(history([0, 0], [1, 5], [2, 5]))).toEqual([[0, 0], [2, 5]])
  })

  test('entries that contradict a new one go', () => {
    expect(pairs(history([0, 0], [3, 5], [4, 9], [2, 7]))).toEqual([[0, 0], [2, 7]])
  })

  test('batches without an epoch leave no entry', () => {
    expect(pairs(history([-1, 0]))).toEqual([])
    expect(history().lastEpoch).toBe(-1)
  })

  test('quirk 43: an epoch ends where the next begins, the last one at the log end', () => {
    const made = history([1, 0], [3, 10], [4, 20])
    expect(made.endOf(1, 25)).toEqual({ leaderEpoch: 1, endOffset: 10 })
    expect(made.endOf(3, 25)).toEqual({ leaderEpoch: 3, endOffset: 20 })
    expect(made.endOf(4, 25)).toEqual({ leaderEpoch: 4, endOffset: 25 })
  })

  test('quirk 43: an epoch without records answers with the largest epoch below it', () => {
    expect(history([1, 0], [3, 10], [4, 20]).endOf(2, 25)).toEqual({ leaderEpoch: 1, endOffset: 10 })
  })

  test('quirk 43: an epoch below the first ends where the first begins; above the last, or none, is (-1, -1)', () => {
    const made = history([2, 7], [3, 10])
    expect(made.endOf(1, 25)).toEqual({ leaderEpoch: 1, endOffset: 7 })
    expect(made.endOf(4, 25)).toEqual({ leaderEpoch: -1, endOffset: -1 })
    expect(made.endOf(-1, 25)).toEqual({ leaderEpoch: -1, endOffset: -1 })
    expect(history().endOf(0, 25)).toEqual({ leaderEpoch: -1, endOffset: -1 })
  })

  test('the epoch of an offset is that of the last entry at or below it', () => {
    const made = history([2, 7], [3, 10])
    expect([6, 7, 9, 10, 99].map(offset => made.epochOf(offset))).toEqual([-1, 2, 2, 3, 3])
  })

  test('a log of which nothing is left keeps the epoch at its end, unless it has never had a record below', () => {
    const made = history([0, 0], [1, 5], [2, 9])
    made.fit(5, 8)
    expect(pairs(made)).toEqual([[1, 5]])
    made.fit(5, 5)
    made.fit(5, 5)
    expect(pairs(made)).toEqual([[1, 5]])
    made.fit(3, 3)
    expect(pairs(made)).toEqual([])
    const fresh = history([4, 0])
    fresh.fit(0, 0)
    expect(pairs(fresh)).toEqual([])
  })

  test('a truncation takes the entries at and above the new end', () => {
    const made = history([0, 0], [1, 5], [2, 9])
    made.truncateEnd(9)
    expect(pairs(made)).toEqual([[0, 0], [1, 5]])
    made.truncateEnd(0)
    expect(pairs(made)).toEqual([])
  })

  test('a new log start keeps the newest entry at or below it, which then begins there', () => {
    const made = history([0, 0], [1, 5], [2, 9])
    made.truncateStart(7)
    expect(pairs(made)).toEqual([[1, 7], [2, 9]])
    made.truncateStart(9)
    expect(pairs(made)).toEqual([[2, 9]])
  })

  test('a log start at or below all entries changes nothing, and changes are counted', () => {
    const made = history([1, 5])
    const before = made.changes
    made.truncateStart(3)
    made.truncateStart(5)
    made.append(1, 9)
    expect(made.changes).toBe(before)
    made.append(2, 9)
    expect(made.changes).toBeGreaterThan(before)
  })

  test('the text is that of a leader-epoch-checkpoint and is read back', () => {
    const made = history([0, 0], [3, 12])
    expect(made.format()).toBe('0\n2\n0 0\n3 12\n')
    const loaded = new EpochHistory()
    loaded.load(made.format())
    expect(pairs(loaded)).toEqual([[0, 0], [3, 12]])
    loaded.load('')
    expect(pairs(loaded)).toEqual([])
  })

  test('a text that is cut, out of order or of another version is refused and leaves the entries as they were', () => {
    const made = history([0, 0])
    for (const text of ['0\n2\n0 0\n', '0\n2\n3 0\n1 5\n', '0\n2\n1 5\n2 5\n', '1\n0\n', '0\n1\n0 0 0\n', '0\n1\n0 x\n', 'rubbish']) {
      expect(() => made.load(text), text).toThrow(CheckpointTextError)
      expect(pairs(made)).toEqual([[0, 0]])
    }
  })
})
