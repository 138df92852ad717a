import { expect, it } from 'vitest'
import { Prng } from '../../../../src/base/prng.ts'
import { DiskContent } from '../../../../src/testkit/world/disk-content.ts'
import { firstSeed } from './disk-files.ts'

it('a copy shares its bytes with the original, and a change of either is not seen in the other', () => {
  const original = new DiskContent(new Uint8Array(10_000).fill(1))
  const copy = original.copy()
  const copyOfCopy = copy.copy()
  original.write(new Uint8Array(10).fill(2), 4090)
  copy.truncate(100)
  copy.truncate(10_000)
  copyOfCopy.write(Uint8Array.of(129), 9999)
  expect([original, copy, copyOfCopy].map(content => [...content.slice(4088, 4), ...content.slice(9998, 4)])).toEqual([
    [1, 1, 2, 2, 1, 1, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 129, 0, 0],
  ])
})

it('random writes, truncations and copies give what plain arrays give', () => {
  const seed = firstSeed()
  const prng = new Prng(seed)
  const pairs = Array.from({ length: 6 }, () => ({ content: new DiskContent(), plain: new Uint8Array(0) as Uint8Array }))
  for (let step = 0; step < 4000; step++) {
    const pair = prng.pick(pairs)
    const draw = prng.below(10)
    if (draw === 0) pairs[prng.below(6)] = { content: pair.content.copy(), plain: pair.plain.slice() }
    else if (draw < 3) {
      const size = prng.below(20_000)
      const resized = new Uint8Array(size)
      resized.set(pair.plain.subarray(0, size))
      pair.content.truncate(size)
      pair.plain = resized
    } else {
      const bytes = prng.bytes(1 + prng.below(prng.chance(0.1) ? 9000 : 50))
      const position = prng.below(12_000)
      const written = new Uint8Array(Math.max(pair.plain.length, position + bytes.length))
      written.set(pair.plain)
      written.set(bytes, position)
      pair.content.write(bytes, position)
      pair.plain = written
    }
    for (const { content, plain } of step % 20 === 0 ? pairs : [pair]) {
      expect(content.size, `seed ${seed} step ${step}`).toBe(plain.length)
      // What lies past the end reads as zeros.
      const longer = new Uint8Array(plain.length + 10)
      longer.set(plain)
      expect(Buffer.compare(content.slice(0, longer.length), longer), `seed ${seed} step ${step}`).toBe(0)
    }
  }
})
