import { type Deadline, type Deadlines, type Expiring } from '../deadlines.ts'
import { type ConnectionSetting } from './connection-setting.ts'

/** A connection, as the watch over its time sees it. */
export interface Watched {
  /** No request of it is under way. */
  readonly idle: boolean
  /** Nothing is read from it, whatever its peer sends. */
  readonly paused: boolean
  /** Nothing came for `connections.max.idle.ms`. */
  silent(): void
  /** A request has not arrived in full in its time. */
  slow(): void
  /** Closes now: the peer has not taken the last answers in their time. */
  destroy(): void
}

/** So long a peer may take to read the last answers of a connection that ends. */
const lingerMs = 5000

/**
 * How long a peer was not heard, and since when it sends one request. One entry in the heap a connection, looked at again when it may be due: a
 * busy connection pays nothing for it.
 */
export class ConnectionWatch implements Expiring {
  /** When bytes came last. */
  heardMs: number
  private frameSinceMs = Infinity
  private lingering = false
  private deadline: Deadline | undefined
  private readonly watched: Watched
  private readonly deadlines: Deadlines
  private readonly idleMs: number
  private readonly requestReadTimeoutMs: number

  constructor(watched: Watched, { clock, deadlines, idleMs, requestReadTimeoutMs }: ConnectionSetting) {
    this.watched = watched
    this.deadlines = deadlines
    this.idleMs = idleMs
    this.requestReadTimeoutMs = requestReadTimeoutMs
    this.heardMs = clock.monotonicMs()
    this.lookAgain(this.heardMs)
  }

  /** Part of a request is there, or none. */
  incomplete(isThere: boolean): void {
    if (!isThere) this.frameSinceMs = Infinity
    else if (this.frameSinceMs === Infinity) this.frameSinceMs = this.heardMs
  }

  /** The connection ends as soon as the peer has read what is on its way. */
  linger(): void {
    this.stop()
    this.lingering = true
    this.deadline = this.deadlines.after(lingerMs, this)
  }

  stop(): void {
    if (this.deadline !== undefined) this.deadlines.remove(this.deadline)
    this.deadline = undefined
  }

  expired(nowMs: number, stalledMs: number): void {
    const { watched } = this
    this.deadline = undefined
    if (this.lingering) {
      watched.destroy()
      return
    }
    // While this process stood still nobody could be heard, and when that began is not known: all time counts anew.
    if (stalledMs > 0) this.heardMs = nowMs
    if (stalledMs > 0 || watched.paused) this.frameSinceMs = Math.max(this.frameSinceMs, nowMs)
    if (watched.idle && nowMs - this.heardMs >= this.idleMs) watched.silent()
    else if (nowMs - this.frameSinceMs >= this.requestReadTimeoutMs) watched.slow()
    else this.lookAgain(nowMs)
  }

  private lookAgain(nowMs: number): void {
    const idleIn = this.heardMs + this.idleMs - nowMs
    this.deadline = this.deadlines.after(Math.max(1, Math.min(idleIn, this.requestReadTimeoutMs)), this)
  }
}
