import pc from 'picocolors'

const barWidth = 28
const redrawMs = 100

/** Progress of long work on standard error: a bar on a terminal, a plain line every few seconds elsewhere. */
export class Progress {
  readonly #label: string
  readonly #total: number
  readonly #terminal = process.stderr.isTTY === true
  readonly #startedMs = performance.now()
  #shownMs = 0
  #done = 0

  /** `total` 0 when it is not known. */
  constructor(label: string, total: number) {
    this.#label = label
    this.#total = total
  }

  /** Sets how much is done; cheap to call for every record. */
  at(done: number): void {
    this.#done = done
    const nowMs = performance.now()
    if (nowMs - this.#shownMs < (this.#terminal ? redrawMs : 5_000)) return
    this.#shownMs = nowMs
    this.#show(nowMs)
  }

  finish(): void {
    this.#show(performance.now())
    if (this.#terminal) process.stderr.write('\n')
  }

  #show(nowMs: number): void {
    const seconds = (nowMs - this.#startedMs) / 1000
    const rate = seconds > 0 ? Math.round(this.#done / seconds) : 0
    const text = `${this.#label} ${this.#done.toLocaleString('en')}${this.#total > 0 ? ` of ${this.#total.toLocaleString('en')}` : ''}  ${rate.toLocaleString('en')}/s`
    if (!this.#terminal) {
      process.stderr.write(`${text}\n`)
      return
    }
    const share = this.#total > 0 ? Math.min(1, this.#done / this.#total) : 0
    const filled = Math.round(share * barWidth)
    const bar = this.#total > 0 ? `${pc.cyan('━'.repeat(filled))}${pc.dim('━'.repeat(barWidth - filled))} ${Math.floor(share * 100)}%  ` : ''
    process.stderr.write(`\r\u001b[2K${bar}${text}`)
  }
}
