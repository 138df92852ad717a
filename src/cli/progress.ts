import pc from 'picocolors'

const barWidth = 28
const redrawMs = 100
const plainLineMs = 5_000

export interface ProgressOptions {
  /** How much it will be; 0 when that is not known. */
  readonly total?: number
  /** Where it is shown. */
  readonly stream?: Pick<NodeJS.WriteStream, 'write' | 'isTTY' | 'columns'>
  readonly nowMs?: () => number
}

/**
 * Progress of long work on standard error: a bar on a terminal, a plain line every five seconds elsewhere, so that short work leaves a log
 * file alone.
 */
export class Progress {
  readonly #label: string
  readonly #total: number
  readonly #stream: Pick<NodeJS.WriteStream, 'write' | 'isTTY' | 'columns'>
  readonly #nowMs: () => number
  readonly #terminal: boolean
  readonly #startedMs: number
  #shownMs: number
  #drawn = false
  #done = 0
  #text = ''

  constructor(label: string, { total = 0, stream = process.stderr, nowMs = () => performance.now() }: ProgressOptions = {}) {
    this.#label = label
    this.#total = total
    this.#stream = stream
    this.#nowMs = nowMs
    this.#terminal = stream.isTTY === true
    this.#startedMs = nowMs()
    this.#shownMs = this.#startedMs
  }

  /** Sets how much is done, and what is said about it. Cheap enough for every batch of records. */
  at(done: number, text: string): void {
    this.#done = done
    this.#text = text
    const nowMs = this.#nowMs()
    if (nowMs - this.#shownMs < (this.#terminal ? redrawMs : plainLineMs)) return
    this.#shownMs = nowMs
    this.#show()
  }

  get elapsedMs(): number {
    return this.#nowMs() - this.#startedMs
  }

  /** Leaves the bar as it is at the end; on a terminal always, elsewhere only if lines were printed. */
  finish(): void {
    if (this.#terminal || this.#drawn) this.#show()
    if (this.#terminal) this.#stream.write('\n')
  }

  /** Takes the bar away, for what is printed next. */
  clear(): void {
    if (this.#terminal && this.#drawn) this.#stream.write('\r\u001b[2K')
  }

  #show(): void {
    this.#drawn = true
    if (!this.#terminal) {
      this.#stream.write(`${this.#label}: ${this.#text}${this.#total > 0 ? ` (${this.#percent()}%)` : ''}\n`)
      return
    }
    const bar = this.#total > 0 ? `${this.#bar()} ${String(this.#percent()).padStart(3)}%  ` : ''
    const room = (this.#stream.columns ?? 80) - this.#label.length - 1 - (this.#total > 0 ? barWidth + 7 : 0) - 1
    this.#stream.write(`\r\u001b[2K${this.#label} ${bar}${pc.dim(this.#text.slice(0, Math.max(0, room)))}`)
  }

  #percent(): number {
    return Math.floor(this.#share() * 100)
  }

  #share(): number {
    return this.#total > 0 ? Math.min(1, this.#done / this.#total) : 0
  }

  #bar(): string {
    const filled = Math.round(this.#share() * barWidth)
    return pc.cyan('━'.repeat(filled)) + pc.dim('─'.repeat(barWidth - filled))
  }
}
