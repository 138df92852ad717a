/**
 * Judges what members of a group were told and what they have said, without a look into the coordinator (S16 and S17 of docs/simulation.md). Events are those that the coordinator has
 * decided and not lost again, in their order.
 */
export type GroupEvent = { readonly atMs: number } & (
  /** A member that begins, with its timeouts. */
  | { readonly type: 'started', readonly member: string, readonly sessionMs: number, readonly rebalanceMs: number, readonly isStaticClassic: boolean }
  /** It has nothing any more: its process is gone, or it has been told that it is out. With `partitions`, it has stopped to read those, as its leader wanted. */
  | { readonly type: 'dropped', readonly member: string, readonly partitions?: readonly string[] }
  /** It is out at once, as decision 9 allows in a rebalance of a classic group that a failover interrupts. */
  | { readonly type: 'fenced', readonly member: string }
  /** What it says. `owned`: null where it does not say; what a heartbeat leaves out though it is assigned, it has not been told of yet. */
  | { readonly type: 'said', readonly member: string, readonly what: 'join' | 'rejoin' | 'heartbeat' | 'leave', readonly epoch: number, readonly owned: readonly string[] | null, readonly accepted: boolean }
  /** What it is told. `assigned`: null where it is not told. `asked`: whether it is to do something; null where that is left as it was. */
  | { readonly type: 'told', readonly member: string, readonly epoch: number, readonly assigned: readonly string[] | null, readonly asked: boolean | null }
  /** Members are to do something from now on. */
  | { readonly type: 'rebalance' }
  | { readonly type: 'commit', readonly member: string, readonly epoch: number, readonly partition: string, readonly offset: number, readonly accepted: boolean }
  /** What somebody has been told: that an offset is committed, or which one is. */
  | { readonly type: 'acknowledged' | 'fetched', readonly partition: string, readonly offset: number }
)

interface Known {
  readonly sessionMs: number
  readonly rebalanceMs: number
  /** It stays a member when its time to join again is over, though others have what it had. */
  readonly isStaticClassic: boolean
  heardMs: number
  /** When it was first to do something that it has not done yet. */
  askedMs: number
  epoch: number
  /** It has left, or somebody else has what it had. */
  isOut: boolean
  /** It takes nothing that it is told before it has joined again. */
  hasDropped: boolean
  /** Told, and not given up yet. */
  readonly held: Set<string>
  /** As last told. */
  assigned: readonly string[]
  /** As it has said last. */
  owned: readonly string[] | null
}

/** What is wrong with a history, in words; nothing where it is as it should be. */
export function faultsOf(events: readonly GroupEvent[]): string[] {
  const judge = new Judge()
  for (const event of events) judge.take(event)
  return judge.faults
}

class Judge {
  readonly faults: string[] = []
  private readonly members = new Map<string, Known>()
  private readonly committed = new Map<string, number>()
  private readonly promised = new Map<string, number>()
  private atMs = 0

  take(event: GroupEvent): void {
    if (event.atMs < this.atMs) this.fault('time goes back')
    this.atMs = event.atMs
    switch (event.type) {
      case 'started':
        this.members.set(event.member, { ...event, heardMs: this.atMs, askedMs: Infinity, epoch: 0, isOut: false, hasDropped: false, held: new Set(), assigned: [], owned: null })
        break
      case 'rebalance': for (const known of this.members.values()) known.askedMs = Math.min(known.askedMs, this.atMs); break
      case 'dropped': this.drop(event.member, event.partitions); break
      case 'fenced': this.fence(event.member); break
      case 'said': this.said(event); break
      case 'told': this.told(event); break
      case 'commit': this.commit(event); break
      case 'acknowledged': this.acknowledged(event.partition, event.offset); break
      case 'fetched': this.fetched(event.partition, event.offset); break
    }
  }

  private drop(member: string, partitions: readonly string[] | undefined): void {
    const known = this.known(member)
    for (const partition of partitions ?? []) known.held.delete(partition)
    if (partitions !== undefined) return
    known.held.clear()
    known.hasDropped = true
  }

  private fence(member: string): void {
    const known = this.members.get(member)
    known?.held.clear()
    if (known !== undefined) known.isOut = true
  }

  private said({ member, what, epoch, owned, accepted }: Extract<GroupEvent, { type: 'said' }>): void {
    const known = this.known(member)
    if (what === 'leave' || (what === 'join' && accepted)) {
      known.isOut = what === 'leave'
      known.epoch = 0
      known.hasDropped = false
      if (what === 'leave') known.held.clear()
    } else if (accepted && known.isOut) this.fault(`${member} is heard in epoch ${epoch} though it is out`)
    if (!accepted) return
    known.heardMs = this.atMs
    known.owned = owned
    if (what === 'join' || what === 'rejoin') known.assigned = []
    this.release(known)
  }

  /** What it says not to have, and is not to have, is free. */
  private release({ held, owned, assigned }: Known): void {
    if (owned !== null) for (const partition of held) if (!owned.includes(partition) && !assigned.includes(partition)) held.delete(partition)
  }

  private told({ member, epoch, assigned, asked }: Extract<GroupEvent, { type: 'told' }>): void {
    const known = this.known(member)
    if (epoch < known.epoch) this.fault(`${member} is told of epoch ${epoch} after ${known.epoch}`)
    known.epoch = epoch
    for (const partition of assigned ?? []) {
      this.give(member, partition)
      if (!known.hasDropped) known.held.add(partition)
    }
    if (assigned !== null && new Set(assigned).size < assigned.length) this.fault(`${member} is told of a partition twice`)
    if (assigned !== null) known.assigned = assigned
    this.release(known)
    if (asked === null) return
    const isToGiveUp = asked || [...known.held].some((partition) => !known.assigned.includes(partition))
    if (!isToGiveUp) known.askedMs = Infinity
    else known.askedMs = Math.min(known.askedMs, this.atMs)
  }

  /** Nobody else has it: who had it has said that it does not, or was given its time. */
  private give(member: string, partition: string): void {
    for (const [other, known] of this.members) {
      if (other === member || !known.held.has(partition)) continue
      const isLate = this.atMs - known.heardMs >= known.sessionMs || this.atMs - known.askedMs >= known.rebalanceMs
      if (!isLate) this.fault(`${member} is given ${partition}, which ${other} has not given up and still has time for: it was heard ${this.atMs - known.heardMs} ms ago, and asked ${this.atMs - known.askedMs} ms ago`)
      // Its time is over as a whole.
      known.held.clear()
      known.isOut = !known.isStaticClassic
    }
  }

  private commit({ member, epoch, partition, offset, accepted }: Extract<GroupEvent, { type: 'commit' }>): void {
    if (!accepted) return
    const known = this.known(member)
    if (known.isOut) {
      this.fault(`${member}, which is out, commits ${offset} of ${partition}`)
      return
    }
    if (epoch < known.epoch) this.fault(`${member} commits in epoch ${epoch}, and was told of ${known.epoch}`)
    for (const [other, { held }] of this.members) if (other !== member && held.has(partition)) this.fault(`${member} commits ${offset} of ${partition}, which ${other} has`)
    const last = this.committed.get(partition) ?? -1
    if (offset < last) this.fault(`${member} takes ${partition} back from ${last} to ${offset}`)
    this.committed.set(partition, Math.max(last, offset))
  }

  private acknowledged(partition: string, offset: number): void {
    if (offset > (this.committed.get(partition) ?? -1)) this.fault(`${offset} of ${partition} is acknowledged, and was never committed`)
    this.promised.set(partition, Math.max(offset, this.promised.get(partition) ?? -1))
  }

  private fetched(partition: string, offset: number): void {
    const promised = this.promised.get(partition) ?? -1
    if (offset < promised) this.fault(`${offset} of ${partition} is told after ${promised} was`)
    if (offset > (this.committed.get(partition) ?? -1)) this.fault(`${offset} of ${partition} is told, and was never committed`)
    this.promised.set(partition, Math.max(offset, promised))
  }

  private known(member: string): Known {
    const known = this.members.get(member)
    if (known === undefined) throw new Error(`${member} has not started`)
    return known
  }

  private fault(text: string): void {
    this.faults.push(`at ${this.atMs} ms ${text}`)
  }
}
