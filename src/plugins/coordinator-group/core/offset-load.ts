import { BytesIndex } from './bytes-index.ts'
import { plainOffsetCommit, readPlainOffsetCommit } from '../../../wire/plain-offset-commit-value.ts'
import { type OffsetCell } from './group-offsets.ts'

/** Keys that are known by their bytes, at most: a larger table would grow for longer than a turn may take. Of others each record is decoded. */
const keysMost = 131_072

/**
 * Shortens a load: nearly all records of a log that is not compacted yet commit an offset for which there was one before. Of those the key is found by its bytes, and the value is read into
 * the cell that is there; nothing else follows from them.
 */
export class OffsetLoad {
  private readonly index: BytesIndex
  /** By the number of the key. */
  private readonly cells: (OffsetCell | undefined)[] = []
  private readonly numbers = new Map<OffsetCell, number>()

  constructor(keysMax = keysMost) {
    this.index = new BytesIndex(keysMax)
  }

  /** Takes a record. False for one that is not known to be no more than a later offset in the place of one: that is replayed as any other. */
  overwrite(key: Uint8Array, value: Uint8Array): boolean {
    const number = this.index.find(key)
    const cell = number < 0 ? undefined : this.cells[number]
    if (cell === undefined || !readPlainOffsetCommit(value)) return false
    cell.offset = plainOffsetCommit.offset
    cell.leaderEpoch = plainOffsetCommit.leaderEpoch
    cell.metadata = plainOffsetCommit.metadata
    cell.committedAtMs = plainOffsetCommit.commitTimestamp
    cell.expiresAtMs = -1
    cell.topicId = plainOffsetCommit.topicId
    return true
  }

  /** The offset of this key is kept there. A cell is known by one key, the last: those of long ago say the same in other bytes. */
  kept(key: Uint8Array, cell: OffsetCell): void {
    const number = this.index.add(key)
    const before = this.numbers.get(cell)
    if (number < 0 || number === before) return
    if (before !== undefined) this.cells[before] = undefined
    this.cells[number] = cell
    this.numbers.set(cell, number)
  }

  /** The offset that was kept there is deleted. */
  deleted(cell: OffsetCell): void {
    const number = this.numbers.get(cell)
    if (number === undefined) return
    this.cells[number] = undefined
    this.numbers.delete(cell)
  }
}
