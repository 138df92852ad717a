/** Bytes that grow when written past their end; a gap reads as zeros. */
export class GrowingBytes {
  private store: Uint8Array
  private length = 0

  constructor(content: Uint8Array = new Uint8Array(0)) {
    this.store = content.slice()
    this.length = content.length
  }

  get size(): number {
    return this.length
  }

  read(target: Uint8Array, at: number, length: number, position: number): number {
    const end = Math.min(this.length, position + length)
    if (end <= position) return 0
    target.set(this.store.subarray(position, end), at)
    return end - position
  }

  write(bytes: Uint8Array, position: number): void {
    const end = position + bytes.length
    if (bytes.length === 0) return
    if (end > this.store.length) this.reserve(end)
    this.store.set(bytes, position)
    if (end > this.length) this.length = end
  }

  truncate(size: number): void {
    if (size > this.store.length) this.reserve(size)
    if (size < this.length) this.store.fill(0, size, this.length)
    this.length = size
  }

  flipBit(position: number, bit: number): void {
    this.store[position]! ^= 1 << bit
  }

  /** The content; not to be changed. */
  view(): Uint8Array {
    return this.store.subarray(0, this.length)
  }

  private reserve(size: number): void {
    const larger = new Uint8Array(Math.max(size, this.store.length * 2, 64))
    larger.set(this.store.subarray(0, this.length))
    this.store = larger
  }
}
