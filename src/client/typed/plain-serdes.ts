import { kindOf } from '../arguments.ts'
import { SerdeFault, type Serde } from './serde.ts'

const encoder = new TextEncoder()
/** A mark of byte order at the front is part of the text: what was sent is what is read. */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const loneSurrogate = /\p{Surrogate}/u

const textSerde: Serde<string> = {
  encode(value) {
    if (typeof value !== 'string') throw new SerdeFault(`it is ${kindOf(value)}, and text is wanted`)
    if (loneSurrogate.test(value)) throw new SerdeFault('it has half of a surrogate pair, which UTF-8 has no bytes for')
    return encoder.encode(value)
  },
  decode: bytes => decodeUtf8(decoder, bytes),
}

const bytesSerde: Serde<Uint8Array> = {
  encode(value) {
    if (!(value instanceof Uint8Array)) throw new SerdeFault(`it is ${kindOf(value)}, and bytes are wanted`)
    return value
  },
  decode: bytes => bytes,
}

/** Text as UTF-8, and nothing else: bytes that are no UTF-8, and halves of surrogate pairs, are refused. What is sent is read, character by character. */
export function text(): Serde<string> {
  return textSerde
}

/** The bytes as they are. Those that are read are a view of what was fetched: copy what has to last. */
export function bytes(): Serde<Uint8Array> {
  return bytesSerde
}

/** Throws a SerdeFault without the bytes in it. */
export function decodeUtf8(strict: InstanceType<typeof TextDecoder>, given: Uint8Array): string {
  try {
    return strict.decode(given)
  } catch {
    throw new SerdeFault('it is no UTF-8')
  }
}
