const mark = Symbol.for('millrace.bytes-error')

/**
 * Why bytes could not be read. `short`: they end too early. `malformed`: no writer makes such bytes. `range`: a valid value that
 * this program does not carry (a 64-bit integer outside ±(2^53 - 1)).
 */
export type BytesErrorKind = 'short' | 'malformed' | 'range'

/**
 * The one error of the readers in base. It knows no protocol: callers translate it into an error of their own, with what they were
 * reading. `what` is the primitive that was being read, `position` the index in the reader's bytes at which it starts.
 */
export class BytesError extends Error {
  override readonly name = 'BytesError'
  readonly [mark] = true
  readonly kind: BytesErrorKind
  readonly what: string
  readonly position: number
  readonly reason: string

  constructor(kind: BytesErrorKind, what: string, position: number, reason: string) {
    super(`cannot read ${what} at byte ${position}: ${reason}`)
    this.kind = kind
    this.what = what
    this.position = position
    this.reason = reason
  }
}

/** Whether bytes could not be read, or a value not be written, as the format has it. True across two copies of the package. */
export function isBytesError(error: unknown): error is BytesError {
  return typeof error === 'object' && error !== null && mark in error
}
