import { createHash, createHmac, pbkdf2, timingSafeEqual } from 'node:crypto'
import { type HashAlgorithm, type Hashing } from '../kernel/ports/hashing.ts'

const hashBytes: Readonly<Record<HashAlgorithm, number>> = { sha256: 32, sha512: 64 }

/** The hash functions of OpenSSL; PBKDF2 on the thread pool. */
export class NodeHashing implements Hashing {
  digest(algorithm: HashAlgorithm, bytes: Uint8Array): Uint8Array {
    return createHash(algorithm).update(bytes).digest()
  }

  hmac(algorithm: HashAlgorithm, key: Uint8Array, bytes: Uint8Array): Uint8Array {
    return createHmac(algorithm, key).update(bytes).digest()
  }

  pbkdf2(algorithm: HashAlgorithm, password: Uint8Array, salt: Uint8Array, iterations: number): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      pbkdf2(password, salt, iterations, hashBytes[algorithm], algorithm, (error, key) => {
        if (error === null) resolve(key)
        else reject(error)
      })
    })
  }

  equal(a: Uint8Array, b: Uint8Array): boolean {
    return a.length === b.length && timingSafeEqual(a, b)
  }
}
