import { UsageError } from './output.ts'

/** Where reading begins; the same words as the client's. */
export type From = 'beginning' | 'end' | number | { readonly timestamp: number }

const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/**
 * `beginning`, `end`, an offset, or `@` and a time: milliseconds since 1970, a date (`2026-03-01`, `2026-03-01T08:00`, UTC unless it names a
 * zone) or how long ago (`@-15m`).
 */
export function parseFrom(text: string, nowMs: number): From {
  if (text === 'beginning' || text === 'end') return text
  if (/^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text)
  const timestamp = text.startsWith('@') ? timeOf(text.slice(1), nowMs) : undefined
  if (timestamp === undefined) {
    throw new UsageError(`--from ${text}: it takes beginning, end, an offset, or @ and a time (@2026-03-01T08:00Z, @1772352000000, @-15m)`)
  }
  return { timestamp }
}

/** A date, milliseconds since 1970, or `-15m`: how long before `nowMs`. Undefined for what is none. */
export function timeOf(text: string, nowMs: number): number | undefined {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  const ago = /^-(\d{1,10})(ms|s|m|h|d)$/.exec(text)
  if (ago !== null) return Math.max(0, nowMs - Number(ago[1]) * unitsMs[ago[2]!]!)
  const date = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(Z|[+-]\d\d:?\d\d)?)?$/.exec(text)
  if (date === null) return undefined
  const iso = text.replace(' ', 'T')
  const ms = Date.parse(iso.length === 10 || date[1] !== undefined ? iso : `${iso}Z`)
  return Number.isNaN(ms) || ms < 0 ? undefined : ms
}

/** `15m`, `2h`, `7d`, or as ISO 8601 has it: `PT1H30M`, `P1DT12H`. In milliseconds; undefined for what is none. */
export function durationOf(text: string): number | undefined {
  const short = /^(\d{1,10})(ms|s|m|h|d)$/.exec(text)
  if (short !== null) return Number(short[1]) * unitsMs[short[2]!]!
  const iso = /^P(?:(\d{1,6})D)?(?:T(?:(\d{1,8})H)?(?:(\d{1,9})M)?(?:(\d{1,10})S)?)?$/.exec(text)
  if (iso === null || !/\d/.test(text)) return undefined
  const [, days = '0', hours = '0', minutes = '0', seconds = '0'] = iso
  return Number(days) * unitsMs['d']! + Number(hours) * unitsMs['h']! + Number(minutes) * unitsMs['m']! + Number(seconds) * unitsMs['s']!
}
