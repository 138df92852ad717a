import { describe, expect, it } from 'vitest'
import { SipHash } from '../../../src/base/sip-hash.ts'

const counting = (length: number): Uint8Array => Uint8Array.from({ length }, (_, index) => index)

describe('SipHash', () => {
  it('gives what the reference implementation gives, for inputs that end at each place of a word', () => {
    const hash = new SipHash(counting(16))
    const expected: Readonly<Record<number, string>> = {
      0: 'a3817f04ba25a8e66df67214c7550293', 1: 'da87c1d86b99af44347659119b22fc45', 7: 'a1f1ebbed8dbc153c0b84aa61ff08239', 8: '3b62a9ba6258f5610f83e264f31497b4',
      9: '264499060ad9baabc47f8b02bb6d71ed', 15: '5493e99933b0a8117e08ec0f97cfc3d9', 16: '6ee2a4ca67b054bbfd3315bf85230577', 31: '2939b0183223fafc1723de4f52c43d35', 63: '5150d1772f50834a503e069a973fbd7c',
    }
    for (const [length, digest] of Object.entries(expected)) {
      hash.hash(counting(Number(length)), 0, Number(length))
      expect(Buffer.from(hash.words.buffer).toString('hex'), `${length} bytes`).toBe(digest)
    }
  })

  it('looks at its range alone', () => {
    const hash = new SipHash(counting(16))
    hash.hash(counting(63).subarray(0, 9), 0, 9)
    const alone = hash.words.slice()
    hash.hash(Uint8Array.from([9, 9, ...counting(9), 7]), 2, 11)
    expect(hash.words).toEqual(alone)
  })
})
