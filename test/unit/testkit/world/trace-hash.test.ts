import { describe, expect, test } from 'vitest'
import { SimTrace } from '../../../../src/testkit/world/sim-trace.ts'
import { TraceHash } from '../../../../src/testkit/world/trace-hash.ts'

const hashOf = (text: string): string => {
  const hash = new TraceHash()
  hash.addBytes(new TextEncoder().encode(text))
  return hash.digest()
}

describe('TraceHash', () => {
  test('gives the published FNV-1a values of 64 bits', () => {
    expect(hashOf('')).toBe('cbf29ce484222325')
    expect(hashOf('a')).toBe('af63dc4c8601ec8c')
    expect(hashOf('foobar')).toBe('85944171f73967e8')
  })

  test('equals the same arithmetic in big integers on every byte value', () => {
    const hash = new TraceHash()
    let expected = 0xcbf2_9ce4_8422_2325n
    for (let index = 0; index < 5000; index++) {
      const byte = (index * 7919) & 255
      hash.addByte(byte)
      expected = ((expected ^ BigInt(byte)) * 0x100_0000_01b3n) & 0xffff_ffff_ffff_ffffn
      expect(hash.digest()).toBe(expected.toString(16).padStart(16, '0'))
    }
  })
})

test('a trace keeps the last events in order, and its digest tells times and texts apart', () => {
  const trace = new SimTrace()
  for (let index = 0; index < 450; index++) trace.add(index, `event ${index}`)
  expect(trace.lastEvents(3)).toEqual(['447.000 event 447', '448.000 event 448', '449.000 event 449'])
  expect(trace.lastEvents().length).toBe(200)
  const digest = (nowMs: number, event: string): string => {
    const other = new SimTrace()
    other.add(nowMs, event)
    return other.digest()
  }
  expect(new Set([digest(1, 'a'), digest(2, 'a'), digest(1, 'b'), digest(1, 'ab')]).size).toBe(4)
})
