import { token } from '../plugin/token.ts'

export type HashAlgorithm = 'sha256' | 'sha512'

/** The one-way functions that passwords and signatures need. */
export interface Hashing {
  /** The hash of the bytes; the result is the caller's. */
  digest(algorithm: HashAlgorithm, bytes: Uint8Array): Uint8Array
  /** HMAC (RFC 2104) of the bytes under the key; the result is the caller's. */
  hmac(algorithm: HashAlgorithm, key: Uint8Array, bytes: Uint8Array): Uint8Array
  /** PBKDF2 (RFC 8018) with HMAC; the result has the length of the hash. Runs beside the event loop: it is slow on purpose. */
  pbkdf2(algorithm: HashAlgorithm, password: Uint8Array, salt: Uint8Array, iterations: number): Promise<Uint8Array>
  /** Whether both are equal, in a time that depends on their lengths alone. */
  equal(a: Uint8Array, b: Uint8Array): boolean
}
export const Hashing = token<Hashing>('Hashing', { digest: true, hmac: true, pbkdf2: true, equal: true })
