const blockBytes = 1 << 16

/** Where `OutputWriter` writes: standard output, as a rule. */
export interface ByteSink {
  write(bytes: Uint8Array): boolean
  once(event: 'drain', listener: () => void): unknown
}

/** Bytes and text to standard output in large pieces, never faster than the reader takes them. */
export class OutputWriter {
  readonly #sink: ByteSink
  #block = Buffer.allocUnsafe(blockBytes)
  #used = 0
  #full = false

  constructor(sink: ByteSink = process.stdout) {
    this.#sink = sink
  }

  bytes(bytes: Uint8Array): void {
    if (bytes.length > this.#block.length - this.#used) this.#send()
    if (bytes.length > this.#block.length) {
      // Larger than a block: a copy of its own, since the caller may use its bytes again.
      this.#give(Buffer.from(bytes))
      return
    }
    this.#block.set(bytes, this.#used)
    this.#used += bytes.length
  }

  text(text: string): void {
    // UTF-8 has at most three bytes for a unit of UTF-16.
    if (text.length * 3 <= this.#block.length - this.#used) this.#used += this.#block.write(text, this.#used)
    else this.bytes(Buffer.from(text))
  }

  byte(value: number): void {
    if (this.#used === this.#block.length) this.#send()
    this.#block[this.#used++] = value
  }

  /** Everything so far is given on. Resolves when more may come. */
  async flush(): Promise<void> {
    this.#send()
    if (!this.#full) return
    await new Promise<void>((resolve) => { this.#sink.once('drain', resolve) })
    this.#full = false
  }

  #send(): void {
    if (this.#used === 0) return
    this.#give(this.#block.subarray(0, this.#used))
    this.#block = Buffer.allocUnsafe(blockBytes)
    this.#used = 0
  }

  #give(bytes: Uint8Array): void {
    if (!this.#sink.write(bytes)) this.#full = true
  }
}
