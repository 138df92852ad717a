import { expect, test } from 'vitest'
import { murmur2 } from '../../../src/base/murmur2.ts'

// The pairs that Apache Kafka's own tests fix (UtilsTest.testMurmur2).
const known: readonly (readonly [string, number])[] = [
  ['21', -973932308],
  ['foobar', -790332482],
  ['a-little-bit-long-string', -985981536],
  ['a-little-bit-longer-string', -1486304829],
  ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58897971],
]

test.each(known)('murmur2 of %s is what Kafka computes', (text, hash) => {
  expect(murmur2(new TextEncoder().encode(text))).toBe(hash)
})

test('murmur2 of a, b and c hashes bytes above 127 as unsigned', () => {
  expect(murmur2(new TextEncoder().encode('abc'))).toBe(479470107)
  expect(murmur2(Uint8Array.of(0xff, 0xfe, 0xfd, 0xfc, 0xfb))).not.toBe(murmur2(Uint8Array.of(0x7f, 0x7e, 0x7d, 0x7c, 0x7b)))
})
