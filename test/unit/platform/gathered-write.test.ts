import { describe, expect, test } from 'vitest'
import { Prng } from '../../../src/base/prng.ts'
import { GatheredWrite } from '../../../src/platform/gathered-write.ts'
import { systemFileCalls, type SystemFileCalls } from '../../../src/platform/system-file-calls.ts'
import { seedOf } from '../../integration/seeds.ts'

const seed = seedOf(1)

/** A file in memory that takes as many bytes at a time as it is told to. */
class GreedyDisk {
  readonly content = new Uint8Array(4 << 20)
  readonly calls: SystemFileCalls
  vectors = 0
  singles = 0

  constructor(take: (offered: number) => number) {
    const put = (piece: NodeJS.ArrayBufferView, position: number, from: number, length: number): void => {
      this.content.set(new Uint8Array(piece.buffer, piece.byteOffset + from, length), position)
    }
    this.calls = {
      ...systemFileCalls,
      writeSync: ((_fd: number, bytes: Uint8Array, offset: number, length: number, position: number) => {
        this.singles++
        const taken = take(length)
        put(bytes, position, offset, taken)
        return taken
      }) as SystemFileCalls['writeSync'],
      writevSync: (_fd, pieces, position) => {
        this.vectors++
        let left = take(pieces.reduce((sum, piece) => sum + piece.byteLength, 0))
        let at = position!
        const taken = left
        for (const piece of pieces) {
          const length = Math.min(left, piece.byteLength)
          put(piece, at, 0, length)
          at += length
          left -= length
        }
        return taken
      },
    }
  }
}

const concat = (pieces: readonly Uint8Array[]): Uint8Array => Buffer.concat(pieces)

describe('GatheredWrite', () => {
  test(`random pieces arrive whole and in place through short writes (seed ${seed})`, () => {
    const random = new Prng(seed)
    for (let round = 0; round < 60; round++) {
      const disk = new GreedyDisk(offered => random.between(1, offered))
      const big = random.chance(0.3) ? 9000 : 300
      const pieces = Array.from({ length: random.between(1, 150) }, () => random.bytes(random.below(big)))
      const position = random.below(1000)
      new GatheredWrite(disk.calls).write(3, pieces, position)
      const expected = concat(pieces)
      const found = disk.content.subarray(position, position + expected.length)
      expect(Buffer.compare(found, expected), `seed ${seed} round ${round}`).toBe(0)
      expect(disk.content[position + expected.length], `seed ${seed}: nothing beyond`).toBe(0)
    }
  })

  test('tiny pieces are copied into one write, larger ones go as a vector', () => {
    const tiny = new GreedyDisk(offered => offered)
    new GatheredWrite(tiny.calls).write(3, Array.from({ length: 50 }, () => new Uint8Array(100)), 0)
    expect([tiny.singles, tiny.vectors]).toEqual([1, 0])

    const large = new GreedyDisk(offered => offered)
    new GatheredWrite(large.calls).write(3, Array.from({ length: 50 }, () => new Uint8Array(1000)), 0)
    expect([large.singles, large.vectors]).toEqual([0, 1])

    const many = new GreedyDisk(offered => offered)
    new GatheredWrite(many.calls).write(3, Array.from({ length: 100 }, () => new Uint8Array(1000)), 0)
    expect([many.singles, many.vectors]).toEqual([1, 0])
  })

  test('more copied bytes than the scratch buffer holds go out in several writes', () => {
    const disk = new GreedyDisk(offered => offered)
    const pieces = Array.from({ length: 3000 }, (_, index) => new Uint8Array(300).fill(index))
    new GatheredWrite(disk.calls).write(3, pieces, 7)
    expect(disk.singles).toBe(Math.ceil(900_000 / (256 * 1024)))
    expect(Buffer.compare(disk.content.subarray(7, 7 + 900_000), concat(pieces))).toBe(0)
  })

  test('an interrupted write is made again, a real error is thrown', () => {
    let refusals = 3
    const interrupted = new GreedyDisk(offered => {
      if (refusals-- > 0) throw Object.assign(new Error('interrupted'), { code: refusals === 1 ? 'EAGAIN' : 'EINTR' })
      return offered
    })
    new GatheredWrite(interrupted.calls).write(3, [Uint8Array.of(1, 2, 3)], 0)
    expect([...interrupted.content.subarray(0, 3)]).toEqual([1, 2, 3])

    const full = new GreedyDisk(() => {
      throw Object.assign(new Error('full'), { code: 'ENOSPC' })
    })
    expect(() => new GatheredWrite(full.calls).write(3, [Uint8Array.of(1)], 0)).toThrow('full')
  })

  test('a file that takes nothing and says nothing does not hang the loop', () => {
    const stuck = new GreedyDisk(() => 0)
    expect(() => new GatheredWrite(stuck.calls).write(3, [new Uint8Array(600)], 0)).toThrow('took no byte')
    expect(() => new GatheredWrite(stuck.calls).write(3, [new Uint8Array(600), new Uint8Array(600)], 0)).toThrow('took no byte')
  })
})
