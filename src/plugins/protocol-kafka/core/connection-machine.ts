import { assert } from '../../../base/assert.ts'

/** A request under way on a connection. The machine links them by `next`: a connection with a thousand requests allocates nothing more. */
export interface Turn<T> {
  next: T | undefined
  /** Its reply is there, or it has none: it may leave as soon as all before it have. */
  over: boolean
}

/** Why a connection takes no further request for now. */
export const stopReasons = { starting: 1, output: 2, memory: 4, closing: 8 } as const
export type StopReason = (typeof stopReasons)[keyof typeof stopReasons]

/**
 * The order of one connection: a request may be handled as soon as it has arrived, and replies leave in the order of the requests (quirk 9).
 * Pure: it moves no byte and knows no time.
 */
export class ConnectionMachine<T extends Turn<T>> {
  private first: T | undefined
  private last: T | undefined
  private holds = 0
  private reasons = 0
  private readonly turnsMax: number
  /** Requests that came and whose replies have not left. */
  size = 0

  constructor(turnsMax: number) {
    this.turnsMax = turnsMax
  }

  /** Whether the next request may be handled now. */
  get open(): boolean {
    return this.holds === 0 && this.reasons === 0 && this.size < this.turnsMax
  }

  /** Whether some request holds those behind it. */
  get held(): boolean {
    return this.holds > 0
  }

  /** A request came. Only while open. */
  begin(turn: T): void {
    if (this.last === undefined) this.first = turn
    else this.last.next = turn
    this.last = turn
    this.size++
  }

  /** Whether this request is the next to be answered. */
  isNext(turn: T): boolean {
    return this.first === turn
  }

  /** Takes out the next turn that is over; undefined when the next one is not, or there is none. */
  take(): T | undefined {
    const turn = this.first
    if (turn === undefined || !turn.over) return undefined
    this.first = turn.next
    if (this.first === undefined) this.last = undefined
    turn.next = undefined
    this.size--
    return turn
  }

  /** No further request is handled until the same number of `letGo`. */
  hold(): void {
    this.holds++
  }

  letGo(): void {
    assert(this.holds > 0, 'only what was held is let go')
    this.holds--
  }

  stop(reason: StopReason): void {
    this.reasons |= reason
  }

  goOn(reason: StopReason): void {
    this.reasons &= ~reason
  }

  isStopped(reason: StopReason): boolean {
    return (this.reasons & reason) !== 0
  }

  /** The connection is gone: gives the turns that were under way, in order, and forgets them. */
  clear(): T[] {
    const turns: T[] = []
    for (let turn = this.first; turn !== undefined; turn = turn.next) turns.push(turn)
    this.first = this.last = undefined
    this.size = 0
    return turns
  }
}
