import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FrameAssembler } from '../../../../src/client/channel/frame-assembler.ts'

function framed(bodies: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(bodies.reduce((sum, body) => sum + 4 + body.length, 0))
  let at = 0
  for (const body of bodies) {
    new DataView(all.buffer).setInt32(at, body.length)
    all.set(body, at + 4)
    at += 4 + body.length
  }
  return all
}

describe('a frame assembler', () => {
  it('gives the frames that were sent, however they are cut, and lets the memory of chunks be used again', () => {
    fc.assert(fc.property(
      fc.array(fc.uint8Array({ minLength: 4, maxLength: 50 }), { minLength: 1, maxLength: 8 }), fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 60 }),
      fc.boolean(),
      (bodies, cuts, keeps) => {
        const seen: Uint8Array[] = []
        const kept: Uint8Array[] = []
        const assembler = new FrameAssembler({
          frameBytesMax: 1000, keepNext: () => keeps,
          onFrame: (bytes, start, end) => {
            seen.push(bytes.slice(start, end))
            if (keeps) kept.push(bytes.subarray(start, end))
            return true
          },
        })
        const stream = framed(bodies)
        const landing = new Uint8Array(64)
        for (let at = 0, turn = 0; at < stream.length; turn++) {
          const length = Math.min(cuts[turn % cuts.length]!, stream.length - at)
          landing.set(stream.subarray(at, at + length), 7)
          assembler.feed(landing, 7, length)
          landing.fill(0xee)
          at += length
        }
        expect(seen).toEqual(bodies)
        if (keeps) expect(kept).toEqual(bodies)
      },
    ))
  })

  it('stops when it is told that the connection is gone', () => {
    let frames = 0
    const assembler = new FrameAssembler({ frameBytesMax: 100, keepNext: () => false, onFrame: () => ++frames < 2 })
    const stream = framed([new Uint8Array(4), new Uint8Array(4), new Uint8Array(4)])
    assembler.feed(stream, 0, stream.length)
    expect(frames).toBe(2)
  })

  it('refuses a size that cannot be', () => {
    for (const size of [-1, 3, 101]) {
      const assembler = new FrameAssembler({ frameBytesMax: 100, keepNext: () => false, onFrame: () => true })
      const bytes = new Uint8Array(4)
      new DataView(bytes.buffer).setInt32(0, size)
      expect(() => { assembler.feed(bytes, 0, 4) }).toThrow(expect.objectContaining({ code: 'MR_PROTOCOL_FRAME_SIZE' }))
    }
  })
})
