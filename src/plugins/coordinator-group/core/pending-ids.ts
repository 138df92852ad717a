/** What all copies of a group share. */
interface Store {
  /** In the order in which they were given, each with the time until which it may be used. */
  readonly ids: Map<string, number>
  /** Before no id's time is over. */
  firstMs: number
}

/**
 * Ids of members that were given and not used yet, with the time until which they may be. A copy costs nothing: it keeps what it changes beside what all copies share, until `settle`. Of
 * copies of the same ids one may be settled, and the others are of no use then.
 */
export class PendingIds {
  private readonly store: Store
  private readonly added = new Map<string, number>()
  private readonly removed = new Set<string>()
  private hasExpired = false

  constructor(store: Store = { ids: new Map(), firstMs: Infinity }) {
    this.store = store
  }

  /** Of one that is settled. */
  copy(): PendingIds {
    return new PendingIds(this.store)
  }

  get size(): number {
    return this.store.ids.size - this.removed.size + this.added.size
  }

  /** The first time that is over may be later, and is never earlier. Of one that is settled. */
  get firstMs(): number {
    return this.store.firstMs
  }

  has(id: string): boolean {
    return this.added.has(id) || (this.store.ids.has(id) && !this.removed.has(id))
  }

  * keys(): IterableIterator<string> {
    for (const id of this.store.ids.keys()) if (!this.removed.has(id)) yield id
    yield* this.added.keys()
  }

  /** Forgets the first that were given where there would be more than `most`. */
  give(id: string, untilMs: number, most: number): void {
    this.delete(id)
    this.added.set(id, untilMs)
    if (this.size <= most) return
    for (const oldest of this.keys()) {
      this.delete(oldest)
      if (this.size <= most) return
    }
  }

  delete(id: string): void {
    if (!this.added.delete(id) && this.store.ids.has(id)) this.removed.add(id)
  }

  /** Forgets those whose time is over. */
  expire(nowMs: number): void {
    if (this.store.firstMs > nowMs) return
    this.hasExpired = true
    for (const [id, untilMs] of this.store.ids) if (untilMs <= nowMs) this.removed.add(id)
  }

  /** What was changed here holds for all from now on. */
  settle(): void {
    const { ids } = this.store
    for (const id of this.removed) ids.delete(id)
    for (const [id, untilMs] of this.added) {
      ids.set(id, untilMs)
      this.store.firstMs = Math.min(this.store.firstMs, untilMs)
    }
    this.removed.clear()
    this.added.clear()
    if (!this.hasExpired) return
    this.hasExpired = false
    let firstMs = Infinity
    for (const untilMs of ids.values()) firstMs = Math.min(firstMs, untilMs)
    this.store.firstMs = firstMs
  }
}
