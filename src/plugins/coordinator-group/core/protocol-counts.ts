interface Named {
  readonly name: string
}

/**
 * How many members support each protocol. Brought up to date by what has changed since it was asked last, so that a member that joins costs its own names and not
 * everybody's; it is right for whatever members it is asked about, so copies of a group share it.
 */
export class ProtocolCounts {
  private readonly counted = new Map<string, readonly Named[]>()
  private readonly counts = new Map<string, number>()

  /** Of these members alone from now on. */
  follow(members: ReadonlyMap<string, readonly Named[]>): this {
    for (const [memberId, protocols] of [...this.counted]) if (members.get(memberId) !== protocols) this.leave(memberId, protocols)
    for (const [memberId, protocols] of members) if (!this.counted.has(memberId)) this.join(memberId, protocols)
    return this
  }

  /** Whether every member supports it. */
  isCommon(name: string): boolean {
    return (this.counts.get(name) ?? 0) === this.counted.size
  }

  private join(memberId: string, protocols: readonly Named[]): void {
    this.counted.set(memberId, protocols)
    for (const name of namesOf(protocols)) this.counts.set(name, (this.counts.get(name) ?? 0) + 1)
  }

  private leave(memberId: string, protocols: readonly Named[]): void {
    this.counted.delete(memberId)
    for (const name of namesOf(protocols)) {
      const left = this.counts.get(name)! - 1
      if (left === 0) this.counts.delete(name)
      else this.counts.set(name, left)
    }
  }
}

/** A protocol that is named twice is supported once. */
const namesOf = (protocols: readonly Named[]): ReadonlySet<string> => new Set(protocols.map(({ name }) => name))
