import { type Prng } from '../../../src/base/prng.ts'

/** The 16 bytes of an id that is printed as base64, or of any. */
export function uuidBytes(text: string | undefined, prng: Prng): Uint8Array {
  return text === undefined ? prng.chance(0.3) ? new Uint8Array(16) : prng.bytes(16) : Uint8Array.from(Buffer.from(text, 'base64url'))
}
