import { expect, test } from 'vitest'
import { BytesIndex } from '../../../../../src/plugins/coordinator-group/core/bytes-index.ts'
import { Prng } from '../../../../../src/base/prng.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

test('keys are numbered in the order in which they come, each once, and found by their bytes whatever lies around them', () => {
  const index = new BytesIndex(10)
  expect([index.add(bytes('a')), index.add(bytes('')), index.add(bytes('ab')), index.add(bytes('a'))]).toEqual([0, 1, 2, 0])
  expect([index.find(bytes('xabx').subarray(1, 3)), index.find(bytes('b')), index.find(bytes(''))]).toEqual([2, -1, 1])
})

test('bytes that are written over behind the back of the index change nothing in it', () => {
  const index = new BytesIndex(10)
  const key = bytes('key')
  index.add(key)
  key.fill(0)
  expect([index.find(bytes('key')), index.find(key)]).toEqual([0, -1])
})

test('no more keys are taken than it is made for, and those that are there are still found', () => {
  const index = new BytesIndex(2)
  expect(['a', 'b', 'c', 'a'].map((key) => index.add(bytes(key)))).toEqual([0, 1, -1, 0])
})

test('random keys: a number means one key for ever, and of those that may be there nearly all are', () => {
  const seed = 20_261_201
  const random = new Prng(seed)
  const index = new BytesIndex(100_000)
  const numbers = new Map<string, number>()
  const keys = new Map<number, string>()
  let refused = 0
  for (let step = 0; step < 200_000; step++) {
    const key = `${random.uint32() % 30_000}`.repeat(1 + random.uint32() % 3)
    const number = index.add(bytes(key))
    if (number < 0) refused++
    else {
      // A key may be lost when the table grows, and come back under another number; a number never comes back under another key.
      if ((keys.get(number) ?? key) !== key) throw new Error(`seed ${seed}: ${number} is ${key}, and was ${keys.get(number)}`)
      keys.set(number, key)
      numbers.set(key, number)
    }
    const asked = `${random.uint32() % 30_000}`
    const found = index.find(bytes(asked))
    if (found >= 0 && found !== numbers.get(asked)) throw new Error(`seed ${seed}: ${asked} is found as ${found}, and was ${numbers.get(asked)}`)
  }
  expect(refused).toBeLessThan(1000)
})

/** Two blocks of eight bytes that bring the hash from one state to the same other one, and that state. */
function collision(state: number, random: Prng): readonly [readonly Uint8Array[], number] {
  const seen = new Map<number, Uint8Array>()
  for (let count = 0; count < 2_000_000; count++) {
    const block = Uint8Array.from({ length: 8 }, () => random.uint32())
    const next = block.reduce((hash, byte) => Math.imul(hash ^ byte, 0x0100_0193), state)
    const other = seen.get(next)
    if (other !== undefined) return [[other, block], next]
    seen.set(next, block)
  }
  throw new Error('no two blocks collide')
}

test('of keys that somebody has chosen for their hash only a few are taken, so that no search gets long; others are not hindered', () => {
  const blocks = 4
  const random = new Prng(1)
  let state = blocks * 8
  let keys: readonly (readonly number[])[] = [[]]
  for (let block = 0; block < blocks; block++) {
    const [pair, next] = collision(state, random)
    state = next
    keys = keys.flatMap((key) => pair.map((bytesOfBlock) => [...key, ...bytesOfBlock]))
  }
  const index = new BytesIndex(1000)
  const taken = keys.map((key) => index.add(Uint8Array.from(key))).filter((number) => number >= 0)
  expect([keys.length, taken]).toEqual([16, [0, 1, 2, 3, 4, 5, 6, 7]])
  for (let key = 0; key < 500; key++) index.add(bytes(`key ${key}`))
  expect(Array.from({ length: 500 }, (_, key) => index.find(bytes(`key ${key}`))).filter((number) => number < 0).length).toBeLessThan(10)
})
