import { UsageError } from './output.ts'

const newline = 10
/** Longer than any record that a broker takes by default, by a lot. */
const lineBytesMax = 256 << 20

/**
 * Cuts a stream of bytes at its newlines. Lines are views of the pieces given, without the newline and otherwise as they are; only a line that
 * reaches over several pieces is copied.
 */
export class LineSplitter {
  #begun: Uint8Array[] = []
  #begunBytes = 0

  /** Calls `line` for each line that ends in this piece, in order. */
  push(piece: Uint8Array, line: (bytes: Uint8Array) => void): void {
    let from = 0
    for (;;) {
      const at = piece.indexOf(newline, from)
      if (at < 0) break
      const end = piece.subarray(from, at)
      from = at + 1
      line(this.#begunBytes === 0 ? end : this.#complete(end))
    }
    if (from < piece.length) this.#keep(piece.subarray(from))
  }

  /** The last line, where the input does not end with a newline. */
  end(line: (bytes: Uint8Array) => void): void {
    if (this.#begunBytes > 0) line(this.#complete(new Uint8Array(0)))
  }

  #keep(bytes: Uint8Array): void {
    if (this.#begunBytes + bytes.length > lineBytesMax) throw new UsageError(`a line of the input is longer than ${lineBytesMax} bytes; is it text?`)
    this.#begun.push(bytes)
    this.#begunBytes += bytes.length
  }

  #complete(end: Uint8Array): Uint8Array {
    const whole = new Uint8Array(this.#begunBytes + end.length)
    let at = 0
    for (const piece of [...this.#begun, end]) {
      whole.set(piece, at)
      at += piece.length
    }
    this.#begun = []
    this.#begunBytes = 0
    return whole
  }
}
