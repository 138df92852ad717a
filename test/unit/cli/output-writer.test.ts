import fc from 'fast-check'
import { expect, it } from 'vitest'
import { OutputWriter, type ByteSink } from '../../../src/cli/output-writer.ts'

class Sink implements ByteSink {
  readonly pieces: Buffer[] = []
  readonly waiting: (() => void)[] = []
  takes = true
  write(bytes: Uint8Array): boolean {
    this.pieces.push(Buffer.from(bytes))
    return this.takes
  }
  once(_event: 'drain', listener: () => void): void {
    this.waiting.push(listener)
  }
}

it('everything comes out in order, whatever its size, in few pieces', async () => {
  await fc.assert(fc.asyncProperty(fc.array(fc.oneof(fc.string({ maxLength: 30 }), fc.integer({ min: 0, max: 255 }), fc.constantFrom(1, 30_000, 65_536, 200_000).map((length) => Buffer.alloc(length, 7))), { maxLength: 30 }), async (parts) => {
    const sink = new Sink()
    const writer = new OutputWriter(sink)
    for (const part of parts) {
      if (typeof part === 'string') writer.text(part)
      else if (typeof part === 'number') writer.byte(part)
      else writer.bytes(part)
    }
    await writer.flush()
    const expected = Buffer.concat(parts.map((part) => typeof part === 'number' ? Buffer.of(part) : Buffer.from(part as string)))
    expect(Buffer.concat(sink.pieces).equals(expected)).toBe(true)
    expect(sink.pieces.length).toBeLessThanOrEqual(2 * Math.ceil(expected.length / 65_536) + 1)
  }), { numRuns: 60 })
})

it('bytes may be used again at once', async () => {
  const sink = new Sink()
  const writer = new OutputWriter(sink)
  for (const length of [3, 100_000]) {
    const bytes = Buffer.alloc(length, 1)
    writer.bytes(bytes)
    bytes.fill(2)
  }
  await writer.flush()
  expect(Buffer.concat(sink.pieces).every((byte) => byte === 1)).toBe(true)
})

it('flush waits for a reader who is slow', async () => {
  const sink = new Sink()
  sink.takes = false
  const writer = new OutputWriter(sink)
  writer.text('x')
  let isThrough = false
  const flushed = writer.flush().then(() => { isThrough = true })
  await Promise.resolve()
  expect([isThrough, sink.waiting.length]).toEqual([false, 1])
  sink.waiting[0]!()
  await flushed
  await writer.flush()
  expect(sink.waiting.length).toBe(1)
})
