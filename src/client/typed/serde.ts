/** Whose bytes a serde is asked for. */
export interface SerdePlace {
  readonly topic: string
  /** Which of the two the bytes are. */
  readonly part: 'key' | 'value'
}

/**
 * Makes bytes of a value and a value of bytes. `In` is what may be sent, `Out` what is read; they differ where a validator changes what it is given.
 *
 * Both answer at once where they can: a promise a record costs more than most formats do. They never see null, which is a record without a key, or a
 * tombstone. They are called in the order of the records, from any number of producers and consumers. What they throw or reject with becomes
 * MR_CLIENT_RECORD_INVALID or MR_CLIENT_RECORD_UNDECODABLE, with the error's message as the reason and its property `path`, if that is a text, as the
 * place inside of the value. A MillraceError that is not of the kind `request` (a registry that cannot be reached) stays what it is: the record is not at fault.
 */
export interface Serde<In, Out = In> {
  /** The bytes are the caller's from now on: they must not change any more. */
  encode(value: In, place: SerdePlace): Uint8Array | PromiseLike<Uint8Array>
  /** The bytes are a view of what was fetched: they must not be changed, and what is kept of them keeps up to a whole fetch in memory. */
  decode(bytes: Uint8Array, place: SerdePlace): Out | PromiseLike<Out>
}

/** What is wrong with a value or with bytes, and where inside of the value. */
export class SerdeFault extends Error {
  /** Always `SerdeFault`. */
  override readonly name = 'SerdeFault'
  /** Such as `items[2].price`; empty for the whole value. */
  readonly path: string

  constructor(reason: string, path = '', cause?: unknown) {
    super(reason, cause === undefined ? undefined : { cause })
    this.path = path
  }
}

/** The path that an error of a serde names; empty where it names none. */
export function pathOf(error: unknown): string {
  const path = typeof error === 'object' && error !== null ? (error as { readonly path?: unknown }).path : undefined
  return typeof path === 'string' ? path : ''
}

export function isPromise<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && typeof (value as { readonly then?: unknown }).then === 'function'
}

const plainName = /^[A-Za-z_$][\w$]*$/

/** One step deeper: `items`, then 2, then `price` is `items[2].price`. */
export function deeper(path: string, step: PropertyKey): string {
  if (typeof step === 'number') return `${path}[${step}]`
  const name = String(step)
  if (plainName.test(name)) return path === '' ? name : `${path}.${name}`
  return /^\d{1,15}$/.test(name) ? `${path}[${name}]` : `${path}[${JSON.stringify(name)}]`
}
