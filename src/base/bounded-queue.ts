import { assert } from './assert.ts'

/** First in, first out, up to a capacity; a full queue says no. Push and shift allocate nothing once the ring has grown. */
export class BoundedQueue<T> {
  readonly capacity: number
  private ring: (T | undefined)[]
  private head = 0
  private count = 0

  constructor(capacity: number) {
    assert(Number.isInteger(capacity) && capacity > 0, 'a queue has a capacity of one or more')
    this.capacity = capacity
    this.ring = new Array<T | undefined>(Math.min(capacity, 16))
  }

  get size(): number {
    return this.count
  }

  get isFull(): boolean {
    return this.count === this.capacity
  }

  /** False, and nothing changed, when the queue is full. */
  push(value: T): boolean {
    if (this.count === this.capacity) return false
    if (this.count === this.ring.length) this.grow()
    this.ring[this.slot(this.count)] = value
    this.count++
    return true
  }

  shift(): T | undefined {
    if (this.count === 0) return undefined
    const value = this.ring[this.head]
    this.ring[this.head] = undefined
    this.head = this.slot(1)
    this.count--
    return value
  }

  peek(): T | undefined {
    return this.count === 0 ? undefined : this.ring[this.head]
  }

  /** The value at `index` from the front. */
  at(index: number): T | undefined {
    return index >= 0 && index < this.count ? this.ring[this.slot(index)] : undefined
  }

  clear(): void {
    this.ring.fill(undefined)
    this.head = 0
    this.count = 0
  }

  *[Symbol.iterator](): IterableIterator<T> {
    for (let index = 0; index < this.count; index++) yield this.ring[this.slot(index)] as T
  }

  private slot(index: number): number {
    const at = this.head + index
    return at < this.ring.length ? at : at - this.ring.length
  }

  private grow(): void {
    const larger = new Array<T | undefined>(Math.min(this.capacity, this.ring.length * 2))
    for (let index = 0; index < this.count; index++) larger[index] = this.ring[this.slot(index)]
    this.ring = larger
    this.head = 0
  }
}
