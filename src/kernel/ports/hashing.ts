import { token } from '../plugin/token.ts'

/** SHA-2 (FIPS 180-4) of 32 and of 64 bytes. */
export type HashAlgorithm = 'sha256' | 'sha512'

/** The one-way functions that passwords and signatures need. No call throws, and no bytes are kept or changed; `pbkdf2` rejects where the iterations are no whole number from 1 to 2^31 - 1. */
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
