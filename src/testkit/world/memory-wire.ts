import { type Clock, type Timers } from '../../kernel/ports/clock.ts'

export interface WireOptions {
  readonly clock: Clock
  /** Of the process at the far end. */
  readonly receiverTimers: Timers
  readonly latencyMs: () => number
  /** Whether nothing passes now. */
  readonly isCut: () => boolean
  readonly windowBytes: number
  readonly fragments: boolean
  /** Something has waited at a cut for so long that TCP would give up. */
  readonly gaveUp: () => void
  readonly giveUpMs: number
  /** So many bytes arrive, 0 for the sign of the end; for traces. */
  readonly observe: (bytes: number) => void
}

/** The way from one machine to another for one connection: delay, and cuts at which packets wait. */
export class MemoryWire {
  readonly windowBytes: number
  readonly fragments: boolean
  private readonly options: WireOptions
  private held: (() => void) | undefined

  constructor(options: WireOptions) {
    this.options = options
    this.windowBytes = options.windowBytes
    this.fragments = options.fragments
  }

  /** When what is sent now arrives, unless it has to wait behind something earlier. */
  arrivalMs(): number {
    return this.options.clock.monotonicMs() + this.options.latencyMs()
  }

  /** Runs in the receiving process at that time; at a cut, when it has healed. One delivery at a time. */
  deliver(dueMs: number, run: () => void): void {
    const { clock, receiverTimers, isCut } = this.options
    receiverTimers.after(Math.max(0, dueMs - clock.monotonicMs()), () => {
      if (isCut()) this.hold(run)
      else run()
    })
  }

  /** Cuts may have changed: what was held goes on if it can. */
  retry(): void {
    const { held } = this
    if (held === undefined || this.options.isCut()) return
    this.held = undefined
    this.deliver(this.arrivalMs(), held)
  }

  /** For traces. */
  arrived(bytes: number): void {
    this.options.observe(bytes)
  }

  private hold(run: () => void): void {
    this.held = run
    this.options.receiverTimers.after(this.options.giveUpMs, () => {
      if (this.held === run) this.options.gaveUp()
    })
  }
}
