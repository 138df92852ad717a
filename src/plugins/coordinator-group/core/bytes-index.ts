/** Places that are looked at for one key: a key that finds none free is not taken, so that nobody's choice of keys makes a search long. */
const probesMax = 8

const placesMin = 64

/**
 * Numbers short byte strings: 0, 1, 2 … in the order in which they are added. What finds no place is not taken, and neither is anything beyond `keysMax`: for
 * whoever can do without, as a cache can.
 */
export class BytesIndex {
  private readonly keysMax: number
  /** Of each place, a number and one; 0 is free. */
  private places = new Int32Array(placesMin)
  /** Of each number: the hash of its key, and where the key begins in `kept`; it ends where the next one begins. */
  private hashes = new Int32Array(placesMin)
  private starts = new Int32Array(placesMin + 1)
  private kept = new Uint8Array(1024)
  private keys = 0

  constructor(keysMax: number) {
    this.keysMax = keysMax
  }

  /** Its number; -1 where it is not there. */
  find(key: Uint8Array): number {
    const hash = hashOf(key)
    const { places } = this
    const mask = places.length - 1
    for (let probe = 0; probe < probesMax; probe++) {
      const number = places[(hash + probe) & mask]! - 1
      if (number < 0) return -1
      if (this.hashes[number] === hash && this.isKey(number, key)) return number
    }
    return -1
  }

  /** Its number, which is a new one where it was not there; -1 where it is not taken. The bytes are copied. */
  add(key: Uint8Array): number {
    const known = this.find(key)
    if (known >= 0 || this.keys === this.keysMax) return known
    if (this.keys * 2 >= this.places.length) this.grow()
    const hash = hashOf(key)
    if (!this.place(hash, this.keys)) return -1
    this.keep(key, hash)
    return this.keys++
  }

  private isKey(number: number, key: Uint8Array): boolean {
    const { kept } = this
    const start = this.starts[number]!
    const { length } = key
    if (this.starts[number + 1]! - start !== length) return false
    let index = 0
    while (index < length && kept[start + index] === key[index]) index++
    return index === length
  }

  private place(hash: number, number: number): boolean {
    const mask = this.places.length - 1
    for (let probe = 0; probe < probesMax; probe++) {
      const place = (hash + probe) & mask
      if (this.places[place] !== 0) continue
      this.places[place] = number + 1
      return true
    }
    return false
  }

  private keep(key: Uint8Array, hash: number): void {
    const number = this.keys
    const start = this.starts[number]!
    if (number === this.hashes.length) {
      this.hashes = larger(this.hashes, new Int32Array(number * 2))
      this.starts = larger(this.starts, new Int32Array(number * 2 + 1))
    }
    if (start + key.length > this.kept.length) this.kept = larger(this.kept, new Uint8Array((start + key.length) * 2))
    this.hashes[number] = hash
    this.kept.set(key, start)
    this.starts[number + 1] = start + key.length
  }

  private grow(): void {
    this.places = new Int32Array(this.places.length * 2)
    for (let number = 0; number < this.keys; number++) {
      const hash = this.hashes[number]!
      // It may be added anew, under another number: this one is never found again, in whatever place.
      if (!this.place(hash, number)) this.hashes[number] = ~hash
    }
  }
}

function larger<T extends Int32Array | Uint8Array>(from: T, to: T): T {
  to.set(from)
  return to
}

function hashOf(key: Uint8Array): number {
  let hash = key.length
  for (let index = 0; index < key.length; index++) hash = Math.imul(hash ^ key[index]!, 0x0100_0193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b)
  return hash ^ (hash >>> 13)
}
