import { describe, expect, it } from 'vitest'
import { parseFrom } from '../../../src/cli/from-option.ts'

const nowMs = Date.UTC(2026, 2, 1, 12)
const from = (text: string): unknown => parseFrom(text, nowMs)

describe('--from', () => {
  it('takes the ends of the log and offsets', () => {
    expect([from('beginning'), from('end'), from('0'), from('9007199254740991')]).toEqual(['beginning', 'end', 0, 2 ** 53 - 1])
  })

  it('takes times: milliseconds, dates in UTC or with a zone, and how long ago', () => {
    expect(from('@1772352000000')).toEqual({ timestamp: 1_772_352_000_000 })
    expect(from('@2026-03-01')).toEqual({ timestamp: Date.UTC(2026, 2, 1) })
    expect(from('@2026-03-01T08:00')).toEqual({ timestamp: Date.UTC(2026, 2, 1, 8) })
    expect(from('@2026-03-01 08:00:01.5')).toEqual({ timestamp: Date.UTC(2026, 2, 1, 8, 0, 1, 500) })
    expect(from('@2026-03-01T08:00+02:00')).toEqual({ timestamp: Date.UTC(2026, 2, 1, 6) })
    expect(from('@-15m')).toEqual({ timestamp: nowMs - 900_000 })
    expect(from('@-2d')).toEqual({ timestamp: nowMs - 172_800_000 })
    expect(from('@-99999d')).toEqual({ timestamp: 0 })
  })

  it.each(['', 'start', '-1', '1.5', '9007199254740993', '@', '@yesterday', '@2026-13-01', '@-5', '@2026-03-01T25:00', '2026-03-01'])('refuses %j and says what it takes', (text) => {
    expect(() => from(text)).toThrow(/--from .*: it takes beginning, end, an offset, or @/)
  })
})
