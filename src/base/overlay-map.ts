/** Changes beyond this many are folded into a new base; so one change costs a copy of at most so many entries, and seldom of all. */
const overlayMax = 256

/**
 * An immutable map for many versions that differ by little: a large base that versions share, and few changes over it. A look-up costs at
 * most two of a Map. Iteration is in the order of first insertion, but for keys that were removed and set again, which come last.
 */
export class OverlayMap<K, V> implements ReadonlyMap<K, V> {
  private readonly base: ReadonlyMap<K, V>
  /** Undefined: removed. */
  private readonly overlay: ReadonlyMap<K, V | undefined>
  readonly size: number

  constructor(base: ReadonlyMap<K, V> = new Map(), overlay: ReadonlyMap<K, V | undefined> = new Map()) {
    this.base = base
    this.overlay = overlay
    let size = base.size
    for (const [key, value] of overlay) {
      if (value === undefined) size--
      else if (!base.has(key)) size++
    }
    this.size = size
  }

  /** This map with the changes; undefined removes. The map itself stays as it is. */
  with(changes: ReadonlyMap<K, V | undefined>): OverlayMap<K, V> {
    if (changes.size === 0) return this
    if (this.overlay.size + changes.size > overlayMax) return new OverlayMap(this.folded(changes))
    const overlay = new Map(this.overlay)
    for (const [key, value] of changes) {
      if (value !== undefined) overlay.set(key, value)
      else if (this.base.has(key)) overlay.set(key, undefined)
      else overlay.delete(key)
    }
    return new OverlayMap(this.base, overlay)
  }

  get(key: K): V | undefined {
    const value = this.overlay.get(key)
    if (value !== undefined) return value
    return this.overlay.has(key) ? undefined : this.base.get(key)
  }

  has(key: K): boolean {
    return this.get(key) !== undefined
  }

  forEach(callback: (value: V, key: K, map: ReadonlyMap<K, V>) => void): void {
    for (const [key, value] of this) callback(value, key, this)
  }

  *entries(): MapIterator<[K, V]> {
    for (const [key, value] of this.base) {
      const changed = this.overlay.get(key)
      if (changed !== undefined) yield [key, changed]
      else if (!this.overlay.has(key)) yield [key, value]
    }
    for (const [key, value] of this.overlay) if (value !== undefined && !this.base.has(key)) yield [key, value]
  }

  *keys(): MapIterator<K> {
    for (const [key] of this) yield key
  }

  *values(): MapIterator<V> {
    for (const [, value] of this) yield value
  }

  [Symbol.iterator](): MapIterator<[K, V]> {
    return this.entries()
  }

  private folded(changes: ReadonlyMap<K, V | undefined>): Map<K, V> {
    const all = new Map<K, V>(this)
    for (const [key, value] of changes) {
      if (value === undefined) all.delete(key)
      else all.set(key, value)
    }
    return all
  }
}
