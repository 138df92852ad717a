import pc from 'picocolors'

const barWidth = 28

/** A bar on standard error where that is a terminal; elsewhere a line every five seconds. */
export class ProgressLine {
  readonly #label: string
  readonly #total: number
  readonly #isTerminal = process.stderr.isTTY
  #shownMs = performance.now()

  constructor(label: string, total: number) {
    this.#label = label.padEnd(8)
    this.#total = total
  }

  at(done: number, text = ''): void {
    if (performance.now() - this.#shownMs < (this.#isTerminal ? 100 : 5_000)) return
    this.#show(done, text)
  }

  end(done: number, text = ''): void {
    if (!this.#isTerminal) return
    this.#show(done, text)
    process.stderr.write('\n')
  }

  #show(done: number, text: string): void {
    this.#shownMs = performance.now()
    const share = Math.min(1, done / this.#total)
    const counts = `${done.toLocaleString('en').padStart(9)} ${text}`
    if (!this.#isTerminal) {
      process.stderr.write(`${this.#label}${counts} (${Math.floor(share * 100)}%)\n`)
      return
    }
    const filled = Math.round(share * barWidth)
    process.stderr.write(`\r\u001b[2K${this.#label}${pc.cyan('━'.repeat(filled))}${pc.dim('─'.repeat(barWidth - filled))} ${String(Math.floor(share * 100)).padStart(3)}%  ${counts}`)
  }
}
