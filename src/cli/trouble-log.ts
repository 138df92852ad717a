import { type Logger } from '../kernel/ports/telemetry.ts'
import { printWarning } from './output.ts'

const pauseMs = 10_000

/** What a client says about trouble, for somebody who waits at a terminal: the first of its kind at once, the same again after ten seconds at the earliest. */
export class TroubleLog implements Logger {
  readonly #print: (text: string) => void
  readonly #nowMs: () => number
  readonly #saidMs = new Map<string, number>()
  /** Nothing is said before: what a first attempt meets is the command's to report. */
  isShown = false

  constructor(write: (text: string) => void = printWarning, nowMs: () => number = () => performance.now()) {
    this.#print = write
    this.#nowMs = nowMs
  }

  debug(): void {
    // Not for people who wait.
  }

  info(): void {
    // Not for people who wait.
  }

  warn(message: string, fields: Readonly<Record<string, unknown>> = {}): void {
    if (!this.isShown) return
    const nowMs = this.#nowMs()
    if (nowMs - (this.#saidMs.get(message) ?? -Infinity) < pauseMs) return
    this.#saidMs.set(message, nowMs)
    const { error } = fields
    this.#print(error instanceof Error ? `${error.message}; trying again` : message)
  }

  error(message: string, fields?: Readonly<Record<string, unknown>>): void {
    this.warn(message, fields)
  }

  child(): Logger {
    return this
  }
}
