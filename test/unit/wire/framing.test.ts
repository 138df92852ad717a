import { describe, expect, test } from 'vitest'
import { BytesWriter } from '../../../src/base/bytes-writer.ts'
import { Prng } from '../../../src/base/prng.ts'
import { beginFrame, endFrame, FrameMemory, FrameSplitter } from '../../../src/wire/index.ts'

const seed = Number(process.env['SEED'] ?? 31)

function frame(body: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(body.length + 4)
  new DataView(bytes.buffer).setInt32(0, body.length)
  bytes.set(body, 4)
  return bytes
}

const concat = (parts: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts))
const copyOf = (splitter: FrameSplitter): Uint8Array => splitter.buffer.slice(splitter.offset, splitter.offset + splitter.length)

describe('splitting a stream into frames', () => {
  test(`gives the same frames whatever the chunks, from memory that the receiver reuses (seed ${seed})`, () => {
    const prng = new Prng(seed)
    for (let round = 0; round < 200; round++) {
      const bodies = Array.from({ length: prng.between(1, 12) }, () => prng.bytes(prng.pick([0, 1, 3, 20, 300, 5000, 9000])))
      const stream = concat(bodies.map(frame))
      const splitter = new FrameSplitter({ frameBytesMax: 9000 })
      const received = new Uint8Array(16_384)
      const found: Uint8Array[] = []
      for (let at = 0; at < stream.length;) {
        const count = Math.min(stream.length - at, prng.pick([1, 2, 3, 5, 50, 4000, 16_384]))
        const start = prng.below(received.length - count + 1)
        received.fill(0xee)
        received.set(stream.subarray(at, at + count), start)
        splitter.feed(received, start, start + count)
        // All frames of a chunk stay valid together until the next feed.
        const views: [Uint8Array, number, number][] = []
        while (splitter.next()) views.push([splitter.buffer, splitter.offset, splitter.length])
        for (const [buffer, offset, length] of views) found.push(buffer.slice(offset, offset + length))
        at += count
      }
      expect(found.length).toBe(bodies.length)
      found.forEach((body, index) => expect(Buffer.from(body).equals(bodies[index]!)).toBe(true))
      expect(splitter.pendingBytes).toBe(0)
    }
  })

  test('gives a frame that lies within a chunk as a range of it, without a copy', () => {
    const splitter = new FrameSplitter({ frameBytesMax: 100 })
    const chunk = concat([frame(new Uint8Array([1, 2])), frame(new Uint8Array([3]))])
    splitter.feed(chunk)
    expect(splitter.next()).toBe(true)
    expect([splitter.buffer === chunk, splitter.offset, splitter.length]).toEqual([true, 4, 2])
    expect(splitter.next()).toBe(true)
    expect([splitter.buffer === chunk, splitter.offset, splitter.length]).toEqual([true, 10, 1])
    expect(splitter.next()).toBe(false)
  })

  test('keeps the rest of a chunk whose memory is reused before all of its frames were read', () => {
    const splitter = new FrameSplitter({ frameBytesMax: 100 })
    const chunk = concat([frame(new Uint8Array([1])), frame(new Uint8Array([2, 3])), new Uint8Array([0, 0])])
    splitter.feed(chunk)
    expect(splitter.next()).toBe(true)
    expect(splitter.keepRest()).toBe(true)
    chunk.fill(0xee)
    expect(splitter.next()).toBe(true)
    expect([...copyOf(splitter)]).toEqual([2, 3])
    expect(splitter.next()).toBe(false)
    expect(splitter.keepRest()).toBe(false)
    splitter.feed(new Uint8Array([0, 1, 4]))
    expect(splitter.next()).toBe(true)
    expect([...copyOf(splitter)]).toEqual([4])
  })

  test('may be stopped between two frames and go on later', () => {
    const splitter = new FrameSplitter({ frameBytesMax: 100 })
    splitter.feed(concat([frame(new Uint8Array([1])), frame(new Uint8Array([2]))]))
    expect(splitter.next()).toBe(true)
    expect(splitter.pendingBytes).toBe(5)
    expect(splitter.next()).toBe(true)
    expect(copyOf(splitter)).toEqual(new Uint8Array([2]))
  })

  test('refuses a chunk while frames of the last one are unread', () => {
    const splitter = new FrameSplitter({ frameBytesMax: 100 })
    splitter.feed(concat([frame(new Uint8Array([1])), frame(new Uint8Array([2]))]))
    splitter.next()
    expect(() => splitter.feed(new Uint8Array(1))).toThrow('invariant broken')
  })

  test('refuses a size above the limit or below 0, whole or in pieces', () => {
    for (const size of [101, 0x7fff_ffff, -1, -0x8000_0000]) {
      const bytes = new Uint8Array(5)
      new DataView(bytes.buffer).setInt32(0, size)
      const whole = new FrameSplitter({ frameBytesMax: 100 })
      whole.feed(bytes)
      expect(() => whole.next()).toThrow(`a frame of ${size} bytes is outside [0, 100]`)
      const pieces = new FrameSplitter({ frameBytesMax: 100 })
      pieces.feed(bytes, 0, 2)
      expect(pieces.next()).toBe(false)
      pieces.feed(bytes, 2, 5)
      expect(() => pieces.next()).toThrow(`a frame of ${size} bytes is outside [0, 100]`)
    }
  })

  test('a limit raised after authentication holds for the next frame', () => {
    const splitter = new FrameSplitter({ frameBytesMax: 2 })
    splitter.feed(frame(new Uint8Array(2)))
    expect(splitter.next()).toBe(true)
    splitter.frameBytesMax = 50
    expect(splitter.next()).toBe(false)
    splitter.feed(frame(new Uint8Array(50)))
    expect(splitter.next()).toBe(true)
  })

  test('holds memory for what has arrived, not for what a size promises', () => {
    const splitter = new FrameSplitter({ frameBytesMax: 100 << 20 })
    const head = new Uint8Array(14)
    new DataView(head.buffer).setInt32(0, 100 << 20)
    splitter.feed(head)
    expect(splitter.next()).toBe(false)
    expect(splitter.pendingBytes).toBe(14)
    expect(splitter['partial'].length).toBeLessThan(8192)
    splitter.feed(new Uint8Array(100_000))
    expect(splitter.next()).toBe(false)
    expect(splitter['partial'].length).toBeLessThan(300_000)
  })

  test('connections share the memory of frames that come in pieces; a frame keeps it until it is released', () => {
    const memory = new FrameMemory()
    const [left, right] = [new FrameSplitter({ frameBytesMax: 10 << 20, memory }), new FrameSplitter({ frameBytesMax: 10 << 20, memory })]
    const inTwo = (splitter: FrameSplitter, size: number, content: number): Uint8Array => {
      const bytes = frame(new Uint8Array(size).fill(content))
      splitter.feed(bytes, 0, 10)
      splitter.next()
      splitter.feed(bytes, 10)
      expect(splitter.next()).toBe(true)
      expect(copyOf(splitter).every((byte) => byte === content)).toBe(true)
      const { buffer } = splitter
      expect(splitter.next()).toBe(false)
      return buffer
    }
    const first = inTwo(left, 3000, 1)
    const second = inTwo(right, 3000, 2)
    expect(second).not.toBe(first)
    expect(copyOf(left)[0]).toBe(1)
    left.release()
    left.release()
    expect([first, second]).toContain(inTwo(right, 3000, 3))
    expect([first, second]).toContain(inTwo(left, 3000, 4))
    // What begins to arrive and never ends is given back with the connection.
    left.feed(frame(new Uint8Array(3000)), 0, 100)
    left.next()
    left.close()
    expect(left.pendingBytes).toBe(0)
  })

  test('what is kept for later frames is bounded, and in powers of two', () => {
    const memory = new FrameMemory(20_000)
    const pieces = [1, 4096, 4097, 9000, 8 << 20, (8 << 20) + 1].map((bytes) => memory.take(bytes))
    expect(pieces.map(({ length }) => length)).toEqual([4096, 4096, 8192, 16_384, 8 << 20, (8 << 20) + 1])
    for (const piece of pieces) memory.give(piece)
    const again = [memory.take(4000), memory.take(4000), memory.take(5000), memory.take(10_000)]
    expect(again.map((piece) => pieces.includes(piece))).toEqual([true, true, true, false])
  })
})

describe('writing frames', () => {
  test('several frames may follow one another, with pieces in between', () => {
    const writer = new BytesWriter(8)
    const pieces = [new Uint8Array(10).fill(1), new Uint8Array(5000).fill(2), new Uint8Array(0)]
    for (const piece of pieces) {
      const start = beginFrame(writer)
      writer.int8(9)
      writer.piece(piece)
      endFrame(writer, start)
    }
    const splitter = new FrameSplitter({ frameBytesMax: 10_000 })
    splitter.feed(writer.finish())
    for (const piece of pieces) {
      expect(splitter.next()).toBe(true)
      expect(copyOf(splitter)).toEqual(concat([new Uint8Array([9]), piece]))
    }
  })
})
