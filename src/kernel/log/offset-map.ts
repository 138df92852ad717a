import { assert } from '../../base/assert.ts'
import { SipHash } from '../../base/sip-hash.ts'

/** Of a key: a hash of 16 bytes and an offset of 8. */
export const offsetMapEntryBytes = 24

/**
 * For each key of the dirty part of a log the offset of its last record, in memory of a fixed size: keys are kept as hashes of 128 bits under
 * a secret of this process, so that neither chance nor a producer makes two keys meet. What no longer fits is refused, and everything below
 * `endOffset` is then still known wholly: a round of compaction goes up to there, the next one goes on behind it.
 */
export class OffsetMap {
  /** Every key of the records from where the map began up to here, exclusive, is in it with its last offset below. Moves forward only. */
  endOffset: number
  private readonly hash: SipHash
  private readonly slots: number
  private readonly keysMax: number
  /** Of each slot six words: the four of the hash, and two that are its place in `offsets`, so that all of it is in one line of the caches. */
  private readonly hashes: Int32Array
  /** Every third number is the offset of a slot, plus one. 0: free. */
  private readonly offsets: Float64Array
  private used = 0
  private readonly begin: number
  /** A bit for each offset from `begin` on: that a later record of the same key was put. It grows to an eighth of what the map may have. */
  private overtaken = new Uint8Array(0)
  private readonly overtakenBytesMax: number

  /**
   * `bytes`: of memory, for a key at least. `loadFactor`: up to which share of it is used, above 0 and at most 1. `secret`: 16 random bytes. `begin`: where the dirty
   * part begins.
   */
  constructor({ bytes, loadFactor, secret, begin }: { readonly bytes: number, readonly loadFactor: number, readonly secret: Uint8Array, readonly begin: number }) {
    // A free slot ends each search.
    this.slots = Math.max(2, Math.floor(bytes / offsetMapEntryBytes))
    this.keysMax = Math.max(1, Math.min(this.slots - 1, Math.floor(this.slots * loadFactor)))
    this.hash = new SipHash(secret)
    this.hashes = new Int32Array(this.slots * 6)
    this.offsets = new Float64Array(this.hashes.buffer)
    this.begin = begin
    this.endOffset = begin
    this.overtakenBytesMax = Math.ceil(bytes / 8)
  }

  /** Keys in the map. */
  get size(): number { return this.used }
  /** 0 to 1: how much of what may be used is. */
  get utilization(): number { return this.used / this.keysMax }

  /** The key `bytes[start, end)` has a record at `offset`, above all that were put before. False, and nothing changed, when there is no room for another key. */
  put(bytes: Uint8Array, start: number, end: number, offset: number): boolean {
    assert(offset >= this.endOffset, 'offsets are put in their order')
    const slot = this.find(bytes, start, end)
    const before = this.offsets[slot * 3 + 2]! - 1
    if (before < 0) {
      if (this.used === this.keysMax) return false
      const { hashes, hash: { words } } = this
      for (let word = 0; word < 4; word++) hashes[slot * 6 + word] = words[word]!
      this.used++
    } else {
      this.overtake(before - this.begin)
    }
    this.offsets[slot * 3 + 2] = offset + 1
    this.endOffset = offset + 1
    return true
  }

  /** All records below `offset` have been put. */
  reached(offset: number): void {
    if (offset > this.endOffset) this.endOffset = offset
  }

  /** The last offset of the key; -1 when the map has none. */
  get(bytes: Uint8Array, start: number, end: number): number {
    return this.offsets[this.find(bytes, start, end) * 3 + 2]! - 1
  }

  /**
   * Whether no record of the key `bytes[start, end)` was put behind that at `offset`, which is below `endOffset`. Of one that was put itself a bit knows: then no key is hashed, and
   * none looked for in a table that is larger than the caches of the processor.
   */
  isLast(offset: number, bytes: Uint8Array, start: number, end: number): boolean {
    const index = offset - this.begin
    if (index < 0 || index >= this.overtakenBytesMax * 8) return offset >= this.get(bytes, start, end)
    return index >= this.overtaken.length * 8 || (this.overtaken[Math.floor(index / 8)]! & (1 << (index & 7))) === 0
  }

  private overtake(index: number): void {
    const at = Math.floor(index / 8)
    if (at >= this.overtakenBytesMax) return
    if (at >= this.overtaken.length) {
      const larger = new Uint8Array(Math.min(this.overtakenBytesMax, Math.max(1024, at + 1, this.overtaken.length * 2)))
      larger.set(this.overtaken)
      this.overtaken = larger
    }
    this.overtaken[at]! |= 1 << (index & 7)
  }

  /** The slot of the key, or the free one that it would take. */
  private find(bytes: Uint8Array, start: number, end: number): number {
    const { hashes, offsets, slots } = this
    const { words } = this.hash
    this.hash.hash(bytes, start, end)
    const [a, b, c, d] = [words[0]!, words[1]!, words[2]!, words[3]!]
    let slot = (d >>> 0) % slots
    while (offsets[slot * 3 + 2]! > 0) {
      const at = slot * 6
      if (hashes[at] === a && hashes[at + 1] === b && hashes[at + 2] === c && hashes[at + 3] === d) return slot
      slot = slot + 1 === slots ? 0 : slot + 1
    }
    return slot
  }
}

/** Memory for a map of so many keys at most, within `bytesMax`: a small topic takes little. */
export function offsetMapBytes(keysMost: number, loadFactor: number, bytesMax: number): number {
  return Math.min(bytesMax, (Math.ceil(keysMost / loadFactor) + 2) * offsetMapEntryBytes)
}
