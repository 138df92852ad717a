import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LineSplitter } from '../../../src/cli/line-splitter.ts'

function split(pieces: readonly Uint8Array[]): string[] {
  const lines: string[] = []
  const keep = (bytes: Uint8Array): void => { lines.push(Buffer.from(bytes).toString('latin1')) }
  const splitter = new LineSplitter()
  for (const piece of pieces) splitter.push(piece, keep)
  splitter.end(keep)
  return lines
}

describe('lines of a stream', () => {
  it('end at newlines, and the last one at the end', () => {
    expect(split([Buffer.from('a\nb\n\nc')])).toEqual(['a', 'b', '', 'c'])
    expect(split([Buffer.from('a\n')])).toEqual(['a'])
    expect(split([])).toEqual([])
    expect(split([Buffer.from('\n')])).toEqual([''])
  })

  it('keep every other byte, carriage returns too', () => {
    expect(split([Uint8Array.of(13, 0, 255, 10, 13, 10)])).toEqual(['\r\0\xff', '\r'])
  })

  it('are the same however the bytes come in pieces', () => {
    fc.assert(fc.property(fc.array(fc.constantFrom(10, 65, 66), { maxLength: 40 }), fc.array(fc.nat(40), { maxLength: 6 }), (bytes, cuts) => {
      const whole = Uint8Array.from(bytes)
      const places = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b), bytes.length]
      const pieces = places.slice(1).map((end, index) => whole.slice(places[index]!, end))
      const lines = Buffer.from(whole).toString('latin1').split('\n')
      if (lines.at(-1) === '') lines.pop()
      expect(split(pieces)).toEqual(lines)
    }))
  })
})
