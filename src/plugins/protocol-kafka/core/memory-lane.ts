import { type MemoryHolder } from './memory-holder.ts'

/** After so long a turn is looked at. */
export const turnMs = 1000
/** What a turn brings in that time at the least, or it is over. */
export const headwayBytes = 64 * 1024
/** Longer than this no turn lasts while others wait. */
export const longestTurnMs = 10_000
/** Who holds half a frame and sends nothing for so long, while others wait, is closed. */
export const starvingMs = 5000

interface Member {
  /** When it last had more, or less, than before. */
  movedMs: number
  /** It had its turn and did not get through its frame. */
  lostTurns: number
}

interface Turn {
  readonly sinceMs: number
  lookedAtMs: number
  lookedAtBytes: number
}

/** One queue of the memory budget: who holds memory in it, who waits, and who goes on while it is over its bound. */
export class MemoryLane {
  private usedBytes = 0
  private readonly isOver: (usedBytes: number, slackBytes: number) => boolean
  private readonly overrunBytes: number
  private readonly members = new Map<MemoryHolder, Member>()
  private readonly waiting = new Set<MemoryHolder>()
  private readonly turns = new Map<MemoryHolder, Turn>()
  private readonly turnsMax: number

  /**
   * `isOver`: whether so many bytes in this queue are more than `slackBytes` over its bound. `turnsMax` go on above it at a time.
   */
  constructor(isOver: (usedBytes: number, slackBytes: number) => boolean, overrunBytes: number, turnsMax: number) {
    this.turnsMax = turnsMax
    this.isOver = isOver
    this.overrunBytes = overrunBytes
  }

  get waitingCount(): number {
    return this.waiting.size
  }

  hold(holder: MemoryHolder, before: number, bytes: number, nowMs: number): boolean {
    const less = bytes < before
    this.usedBytes += bytes - before
    if (bytes === 0) this.drop(holder)
    else this.moved(holder, less, nowMs)
    // It got through a frame: the next in the queue goes on.
    if (less) this.turns.delete(holder)
    if (less) this.admit(nowMs)
    if (bytes > 0 && this.isOver(this.usedBytes, 0) && !this.turns.has(holder)) {
      if (this.turns.size >= this.turnsMax || this.waiting.size > 0) {
        this.waiting.add(holder)
        return false
      }
      this.turn(holder, nowMs)
    }
    this.waiting.delete(holder)
    return true
  }

  /** It is gone, or holds memory in the other queue now. */
  leave(holder: MemoryHolder, bytes: number, nowMs: number): void {
    this.usedBytes -= bytes
    this.drop(holder)
    this.admit(nowMs)
  }

  admit(nowMs: number): void {
    while (this.waiting.size > 0) {
      const [next] = this.waiting
      if (this.isOver(this.usedBytes, 0)) {
        if (this.turns.size >= this.turnsMax) return
        this.turn(next!, nowMs)
      }
      this.waiting.delete(next!)
      this.members.get(next!)!.movedMs = nowMs
      next!.memoryFreed()
    }
  }

  sweep(nowMs: number): void {
    if (this.waiting.size === 0) return
    const idle = [...this.members].filter(([holder, { movedMs }]) => !this.waiting.has(holder) && nowMs - movedMs >= starvingMs)
    for (const [holder] of idle) holder.giveUpMemory()
    for (const [holder, turn] of [...this.turns]) this.look(holder, turn, nowMs)
    this.closeLosers()
    this.admit(nowMs)
  }

  pardon(nowMs: number): void {
    for (const member of this.members.values()) member.movedMs = nowMs
    for (const holder of [...this.turns.keys()]) this.turn(holder, nowMs)
  }

  /** Ends a turn that brings nothing, or lasts too long. */
  private look(holder: MemoryHolder, turn: Turn, nowMs: number): void {
    const lastedMs = nowMs - turn.lookedAtMs
    if (lastedMs < turnMs) return
    const gained = holder.heldBytes - turn.lookedAtBytes
    turn.lookedAtMs = nowMs
    turn.lookedAtBytes = holder.heldBytes
    if (gained >= headwayBytes * lastedMs / turnMs && nowMs - turn.sinceMs < longestTurnMs) return
    this.members.get(holder)!.lostTurns++
    this.turns.delete(holder)
  }

  /** Turns that were lost leave half frames behind, and each that follows may add one: beyond a bound those go that had most turns for nothing. */
  private closeLosers(): void {
    const losers = [...this.members].filter(([holder, { lostTurns }]) => lostTurns > 0 && !this.turns.has(holder))
    losers.sort(([, left], [, right]) => right.lostTurns - left.lostTurns || left.movedMs - right.movedMs)
    for (const [holder] of losers) {
      if (!this.isOver(this.usedBytes, this.overrunBytes)) return
      holder.giveUpMemory()
    }
  }

  private turn(holder: MemoryHolder, nowMs: number): void {
    this.turns.set(holder, { sinceMs: nowMs, lookedAtMs: nowMs, lookedAtBytes: holder.heldBytes })
  }

  private moved(holder: MemoryHolder, less: boolean, nowMs: number): void {
    const member = this.members.get(holder)
    if (member === undefined) {
      this.members.set(holder, { movedMs: nowMs, lostTurns: 0 })
      return
    }
    member.movedMs = nowMs
    if (less) member.lostTurns = 0
  }

  private drop(holder: MemoryHolder): void {
    this.members.delete(holder)
    this.waiting.delete(holder)
    this.turns.delete(holder)
  }
}
