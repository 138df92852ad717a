import { assert } from './assert.ts'

/** How much a cache may hold. */
export interface LruCacheOptions<K, V> {
  /** Sum of weights that the cache may hold; with the default weight of 1 it is a number of entries. */
  readonly weightMax: number
  readonly weigh?: (value: V, key: K) => number
  /** Told of each entry that had to make room, but not of those deleted, cleared or replaced. */
  readonly onEvict?: (key: K, value: V) => void
}

/** Keeps what was used last, within a bound of weight. */
export class LruCache<K, V> {
  // A Map iterates in the order of insertion; taking an entry out and putting it back makes it the youngest.
  private readonly entries = new Map<K, { readonly value: V, readonly weight: number }>()
  private readonly options: LruCacheOptions<K, V>
  private total = 0

  constructor(options: LruCacheOptions<K, V>) {
    assert(options.weightMax > 0, 'a cache may hold something')
    this.options = options
  }

  get size(): number {
    return this.entries.size
  }

  get weight(): number {
    return this.total
  }

  get(key: K): V | undefined {
    const entry = this.entries.get(key)
    if (entry === undefined) return undefined
    this.entries.delete(key)
    this.entries.set(key, entry)
    return entry.value
  }

  /** Looks without counting as use. */
  peek(key: K): V | undefined {
    return this.entries.get(key)?.value
  }

  has(key: K): boolean {
    return this.entries.has(key)
  }

  /** False if the value alone is heavier than the bound: then it is not kept, and neither is an older one under its key. */
  set(key: K, value: V): boolean {
    this.delete(key)
    const weight = this.options.weigh === undefined ? 1 : this.options.weigh(value, key)
    if (weight > this.options.weightMax) return false
    this.entries.set(key, { value, weight })
    this.total += weight
    while (this.total > this.options.weightMax) this.evictOldest()
    return true
  }

  delete(key: K): boolean {
    const entry = this.entries.get(key)
    if (entry === undefined) return false
    this.total -= entry.weight
    return this.entries.delete(key)
  }

  clear(): void {
    this.entries.clear()
    this.total = 0
  }

  /** Keys from the least to the most recently used. */
  keys(): IterableIterator<K> {
    return this.entries.keys()
  }

  private evictOldest(): void {
    for (const [key, entry] of this.entries) {
      this.entries.delete(key)
      this.total -= entry.weight
      this.options.onEvict?.(key, entry.value)
      return
    }
  }
}
