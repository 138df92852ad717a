import { cursor, longer, recordLengthMin, skipHeaders, varint, varlong } from './record-varint.ts'

/**
 * Walks over the records of a batch without making an object, a view or a closure: some nanoseconds a record. This is the broker's look at
 * what it stores and does not read, so it has to be strict: what passes here is readable by every client.
 */

/** What the last skim found; one object, overwritten by the next call. */
export const skim = {
  /** Index of the record that is wrong, when the skim said false. */
  problemIndex: -1,
  problem: '',
  /** Smallest and largest timestamp delta; 0 and 0 for no records. */
  deltaMin: 0,
  deltaMax: 0,
  /** How many records have no key, and the first of them. */
  keylessCount: 0,
  keylessFirst: -1,
}

/**
 * Whether `bytes[start, end)` are exactly `count` records with offset deltas 0 to count - 1, each of a sound structure. Fills `skim`.
 * One and two bytes of a varint are written out, since calls would double the time.
 */
export function skimRecords(bytes: Uint8Array, start: number, end: number, count: number): boolean {
  let at = start
  let deltaMin = 0
  let deltaMax = 0
  let keylessCount = 0
  let keylessFirst = -1
  for (let index = 0; index < count; index++) {
    let raw = bytes[at++]!
    if (raw >= 0x80) {
      const second = bytes[at++]!
      raw = (raw & 0x7f) | (second << 7)
      if (second >= 0x80) [raw, at] = [longer(bytes, at, raw & 0x3fff, 14), cursor]
    }
    const length = (raw >>> 1) ^ -(raw & 1)
    if (length < recordLengthMin || length > end - at) return wrong(index, 'its length does not fit the batch')
    const recordEnd = at + length

    at++ // attributes, of which no bit has a meaning yet
    raw = bytes[at++]!
    let delta = (raw >>> 1) ^ -(raw & 1)
    if (raw >= 0x80) {
      delta = varlong(bytes, at - 1)
      at = cursor
    }
    if (index === 0) deltaMin = deltaMax = delta
    else if (delta < deltaMin) deltaMin = delta
    else if (delta > deltaMax) deltaMax = delta

    raw = bytes[at++]!
    if (raw >= 0x80) {
      const second = bytes[at++]!
      raw = (raw & 0x7f) | (second << 7)
      if (second >= 0x80) [raw, at] = [longer(bytes, at, raw & 0x3fff, 14), cursor]
    }
    if (raw !== index * 2) return wrong(index, 'its offset delta is not its index in the batch')

    raw = bytes[at++]!
    if (raw >= 0x80) [raw, at] = [longer(bytes, at, raw & 0x7f, 7), cursor]
    if ((raw & 1) === 0) at += raw >>> 1
    else if (raw !== 1) return wrong(index, 'the length of its key is negative')
    else if (keylessCount++ === 0) keylessFirst = index

    raw = bytes[at++]!
    if (raw >= 0x80) {
      const second = bytes[at++]!
      raw = (raw & 0x7f) | (second << 7)
      if (second >= 0x80) [raw, at] = [longer(bytes, at, raw & 0x3fff, 14), cursor]
    }
    if ((raw & 1) === 0) at += raw >>> 1
    else if (raw !== 1) return wrong(index, 'the length of its value is negative')

    raw = bytes[at++]!
    if (raw !== 0) at = skipHeaders(bytes, at - 1, recordEnd)
    if (at !== recordEnd) return wrong(index, 'its parts do not fit its length')
  }
  if (at !== end) return wrong(count, 'bytes follow the last record')
  skim.deltaMin = deltaMin
  skim.deltaMax = deltaMax
  skim.keylessCount = keylessCount
  skim.keylessFirst = keylessFirst
  return true
}

/**
 * Calls `look` with each record of a region that has passed `skimRecords`. Not for the hot path: it is how the records are named that
 * made a batch be refused.
 */
export function lookAtRecords(
  bytes: Uint8Array, start: number, count: number, look: (index: number, timestampDelta: number, hasKey: boolean) => void,
): void {
  let at = start
  for (let index = 0; index < count; index++) {
    const length = varint(bytes, at)
    at = cursor + length
    const delta = varlong(bytes, cursor + 1)
    varint(bytes, cursor)
    look(index, delta, varint(bytes, cursor) >= 0)
  }
}

function wrong(index: number, problem: string): false {
  skim.problemIndex = index
  skim.problem = problem
  return false
}
