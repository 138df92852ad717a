import { expect, test } from 'vitest'
import { BytesReader } from '../../../../src/base/bytes-reader.ts'
import { Prng } from '../../../../src/base/prng.ts'
import { readText } from '../../../../src/wire/schema/text-cache.ts'

const seed = Number(process.env['SEED'] ?? 5)

test(`reads what the decoder reads, however many texts share a slot (seed ${seed})`, () => {
  const prng = new Prng(seed)
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const texts = Array.from({ length: 5000 }, (_, index) => {
    const kinds = [`topic-${index}`, 'ü'.repeat(index % 40), '', 'x'.repeat(index % 100), 'y'.repeat(64), 'z'.repeat(65)]
    return new TextEncoder().encode(prng.pick(kinds))
  })
  for (let round = 0; round < 20_000; round++) {
    const bytes = prng.chance(0.1) ? prng.bytes(prng.below(70)) : prng.pick(texts)
    const reader = new BytesReader(bytes)
    expect(readText(reader, bytes.length)).toBe(decoder.decode(bytes))
    expect(reader.remaining).toBe(0)
  }
})

test('a length beyond the end is refused and not looked up', () => {
  const bytes = new TextEncoder().encode('abcdef')
  readText(new BytesReader(bytes), 6)
  expect(() => readText(new BytesReader(bytes, 0, 5), 6)).toThrow('6 bytes are needed and 5 are left')
})
