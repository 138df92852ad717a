import { type KeyRange, type KeyValuePut } from '../../kernel/ports/key-value-store.ts'

/** Bytes to bytes, keys in unsigned byte order. Adding at the end costs nothing, elsewhere a move of what lies behind. */
export class SortedBytesMap {
  private readonly keys: Uint8Array[]
  private readonly values: Uint8Array[]

  constructor(from?: SortedBytesMap) {
    this.keys = from === undefined ? [] : [...from.keys]
    this.values = from === undefined ? [] : [...from.values]
  }

  get size(): number {
    return this.keys.length
  }

  get(key: Uint8Array): Uint8Array | undefined {
    const index = this.indexOf(key)
    return index < this.keys.length && compareBytes(this.keys[index]!, key) === 0 ? this.values[index] : undefined
  }

  apply({ key, value }: KeyValuePut): void {
    const index = this.indexOf(key)
    const found = index < this.keys.length && compareBytes(this.keys[index]!, key) === 0
    if (value === undefined) {
      if (!found) return
      this.keys.splice(index, 1)
      this.values.splice(index, 1)
    } else if (found) this.values[index] = value
    else {
      this.keys.splice(index, 0, key)
      this.values.splice(index, 0, value)
    }
  }

  range({ from, to, limit = Infinity, reverse = false }: KeyRange): (readonly [Uint8Array, Uint8Array])[] {
    const low = this.indexOf(from)
    const high = this.indexOf(to)
    const found: (readonly [Uint8Array, Uint8Array])[] = []
    for (let step = 0; step < high - low && found.length < limit; step++) {
      const index = reverse ? high - 1 - step : low + step
      found.push([this.keys[index]!, this.values[index]!])
    }
    return found
  }

  /** Where the first key lies that is not before this one. */
  private indexOf(key: Uint8Array): number {
    let low = 0
    let high = this.keys.length
    // What is written is mostly new and last.
    if (high > 0 && compareBytes(this.keys[high - 1]!, key) < 0) return high
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compareBytes(this.keys[middle]!, key) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}

function compareBytes(left: Uint8Array, right: Uint8Array): number {
  const length = Math.min(left.length, right.length)
  for (let index = 0; index < length; index++) {
    const difference = left[index]! - right[index]!
    if (difference !== 0) return difference
  }
  return left.length - right.length
}
