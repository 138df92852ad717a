import { type HashAlgorithm, type Hashing } from '../../kernel/ports/hashing.ts'
import { check, checkEqual, type DeclareTest } from './kit.ts'

/** A Hashing to examine. */
export interface HashingConformance {
  readonly test: DeclareTest
  readonly create: () => Hashing
}

const text = (value: string): Uint8Array => new TextEncoder().encode(value)
const hex = (bytes: Uint8Array): string => Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')
const algorithms: readonly (readonly [HashAlgorithm, number])[] = [['sha256', 32], ['sha512', 64]]

/** From FIPS 180-4 (its examples), RFC 4231 (test cases 1 and 6) and RFC 7914 (section 11), in this order. */
const known = {
  abc: {
    sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    sha512: 'ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f',
  },
  hiThere: {
    sha256: 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
    sha512: '87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cdedaa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854',
  },
  longKey: '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
  pbkdf2: '55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc',
} as const

/** What every Hashing promises. */
export function hashingConformance({ test, create }: HashingConformance): void {
  const claim = (title: string, body: (hashing: Hashing) => Promise<void>): void => {
    test(title, () => body(create()))
  }

  claim('hashes are those of the standard, of nothing and of much too', async hashing => {
    for (const [algorithm, length] of algorithms) {
      checkEqual(hex(hashing.digest(algorithm, text('abc'))), known.abc[algorithm], `${algorithm} of abc`)
      for (const bytes of [new Uint8Array(0), new Uint8Array(1_000_000)]) checkEqual(hashing.digest(algorithm, bytes).length, length, `bytes of ${algorithm}`)
    }
  })
  claim('HMACs are those of the standard, also under a key that is longer than a block', async hashing => {
    for (const [algorithm] of algorithms) {
      checkEqual(hex(hashing.hmac(algorithm, new Uint8Array(20).fill(0x0b), text('Hi There'))), known.hiThere[algorithm], `HMAC with ${algorithm}`)
    }
    checkEqual(hex(hashing.hmac('sha256', new Uint8Array(131).fill(0xaa), text('Test Using Larger Than Block-Size Key - Hash Key First'))), known.longKey, 'HMAC under a long key')
  })
  claim('PBKDF2 is that of the standard, has the length of the hash, and rejects where there is nothing to repeat', async hashing => {
    checkEqual(hex(await hashing.pbkdf2('sha256', text('passwd'), text('salt'), 1)), known.pbkdf2, 'PBKDF2, once')
    for (const [algorithm, length] of algorithms) {
      const [password, salt] = [text('pencil'), text('of a user')]
      // By its definition: the first block is the first HMAC over the salt and the number of the block, each further one over the one before, all XORed.
      let block = hashing.hmac(algorithm, password, Uint8Array.of(...salt, 0, 0, 0, 1))
      const expected = Uint8Array.from(block)
      for (let round = 2; round <= 5; round++) {
        block = hashing.hmac(algorithm, password, block)
        block.forEach((byte, at) => { expected[at]! ^= byte })
      }
      checkEqual([expected.length, hex(await hashing.pbkdf2(algorithm, password, salt, 5))], [length, hex(expected)], `PBKDF2 with ${algorithm}, five times`)
    }
    const outcome = await Promise.resolve().then(() => hashing.pbkdf2('sha256', text('passwd'), text('salt'), 0)).then(() => 'a key', () => 'rejected')
    checkEqual(outcome, 'rejected', 'PBKDF2 without an iteration')
  })
  claim('equal compares contents, whatever the lengths', async hashing => {
    const bytes = text('0123456789abcdef')
    checkEqual(hashing.equal(bytes, bytes.slice()), true, 'equal bytes')
    checkEqual(hashing.equal(new Uint8Array(0), new Uint8Array(0)), true, 'no bytes')
    for (let at = 0; at < bytes.length; at++) {
      const other = bytes.slice()
      other[at]! ^= 1
      checkEqual(hashing.equal(bytes, other), false, `bytes that differ at ${at}`)
    }
    for (const length of [0, 15]) checkEqual([hashing.equal(bytes, bytes.subarray(0, length)), hashing.equal(bytes.subarray(0, length), bytes)], [false, false], `a prefix of ${length}`)
  })
  claim('results are the caller\'s, and what is given is left as it was', async hashing => {
    const [key, bytes] = [text('key'), text('bytes')]
    const calls: readonly (() => Uint8Array | Promise<Uint8Array>)[] = [
      () => hashing.digest('sha256', bytes), () => hashing.hmac('sha512', key, bytes), () => hashing.pbkdf2('sha256', key, bytes, 2),
    ]
    for (const call of calls) {
      const first = await call()
      const kept = Uint8Array.from(first)
      first.fill(0)
      checkEqual(Uint8Array.from(await call()), kept, 'the same again, after the first result was overwritten')
    }
    check(String(key) === String(text('key')) && String(bytes) === String(text('bytes')), 'the arguments are as they were')
  })
}
