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

/** Position after the varint read last; -1 when there was none within the limit. Module-level, so that two results need no object. */
let cursor = 0

/**
 * Whether `bytes[start, end)` are exactly `count` records with offset deltas 0 to count - 1, each of a sound structure. Fills `skim`.
 */
export function skimRecords(bytes: Uint8Array, start: number, end: number, count: number): boolean {
  let at = start
  let deltaMin = 0
  let deltaMax = 0
  let keylessCount = 0
  let keylessFirst = -1
  for (let index = 0; index < count; index++) {
    const length = varint(bytes, at, end)
    if (cursor < 0 || length < 6 || length > end - cursor) return wrong(index, 'its length does not fit the batch')
    const recordEnd = cursor + length
    // One byte of attributes, of which no bit has a meaning yet.
    const delta = varlong(bytes, cursor + 1, recordEnd)
    if (cursor < 0) return wrong(index, 'its timestamp is cut off or too large')
    if (index === 0) deltaMin = deltaMax = delta
    else if (delta < deltaMin) deltaMin = delta
    else if (delta > deltaMax) deltaMax = delta
    const offsetDelta = varint(bytes, cursor, recordEnd)
    if (cursor < 0 || offsetDelta !== index) return wrong(index, 'its offset delta is not its index in the batch')
    const keyLength = varint(bytes, cursor, recordEnd)
    if (cursor < 0 || keyLength < -1) return wrong(index, 'its key length is cut off or negative')
    at = cursor
    if (keyLength < 0) {
      if (keylessCount++ === 0) keylessFirst = index
    } else {
      at += keyLength
    }
    const valueLength = varint(bytes, at, recordEnd)
    if (cursor < 0 || valueLength < -1) return wrong(index, 'its key or value length does not fit')
    at = valueLength < 0 ? cursor : cursor + valueLength
    const headersCount = varint(bytes, at, recordEnd)
    if (cursor < 0 || headersCount < 0) return wrong(index, 'its value or the number of its headers does not fit')
    at = headersCount === 0 ? cursor : skipHeaders(bytes, cursor, recordEnd, headersCount)
    if (at !== recordEnd) return wrong(index, at < 0 ? 'its headers do not fit' : 'its length is not that of its parts')
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
    const length = varint(bytes, at, bytes.length)
    at = cursor + length
    const delta = varlong(bytes, cursor + 1, at)
    varint(bytes, cursor, at)
    look(index, delta, varint(bytes, cursor, at) >= 0)
  }
}

/** Position after the headers, or -1. */
function skipHeaders(bytes: Uint8Array, start: number, end: number, count: number): number {
  // A header takes two bytes at least; without this a made-up count would keep the loop busy for nothing.
  if (count > (end - start) >> 1) return -1
  let at = start
  for (let index = 0; index < count; index++) {
    const keyLength = varint(bytes, at, end)
    if (cursor < 0 || keyLength < 0) return -1
    const valueLength = varint(bytes, cursor + keyLength, end)
    if (cursor < 0 || valueLength < -1) return -1
    at = valueLength < 0 ? cursor : cursor + valueLength
  }
  return at
}

function wrong(index: number, problem: string): false {
  skim.problemIndex = index
  skim.problem = problem
  return false
}

/** A zigzag varint of 32 bits. Sets `cursor` behind it, or to -1 when it is malformed or not wholly before `end`. */
function varint(bytes: Uint8Array, at: number, end: number): number {
  if (at < end) {
    const first = bytes[at]!
    if (first < 0x80) {
      cursor = at + 1
      return (first >>> 1) ^ -(first & 1)
    }
    if (at + 1 < end) {
      const second = bytes[at + 1]!
      if (second < 0x80) {
        cursor = at + 2
        const value = (first & 0x7f) | (second << 7)
        return (value >>> 1) ^ -(value & 1)
      }
      return longVarint(bytes, at, end)
    }
  }
  cursor = -1
  return 0
}

function longVarint(bytes: Uint8Array, start: number, end: number): number {
  let value = 0
  for (let at = start, shift = 0; at < end && shift < 35; at++, shift += 7) {
    const byte = bytes[at]!
    value |= (byte & 0x7f) << shift
    if (byte < 0x80) {
      cursor = shift === 28 && byte > 0x0f ? -1 : at + 1
      return (value >>> 1) ^ -(value & 1)
    }
  }
  cursor = -1
  return 0
}

/** A zigzag varlong as a number; `cursor` becomes -1 also when it is beyond ±(2^53 - 1). */
function varlong(bytes: Uint8Array, start: number, end: number): number {
  let low = 0
  let at = start
  for (let shift = 0; shift < 28; shift += 7, at++) {
    if (at >= end) {
      cursor = -1
      return 0
    }
    const byte = bytes[at]!
    low |= (byte & 0x7f) << shift
    if (byte < 0x80) {
      cursor = at + 1
      return (low >>> 1) ^ -(low & 1)
    }
  }
  return longVarlong(bytes, at, end, low)
}

function longVarlong(bytes: Uint8Array, start: number, end: number, low: number): number {
  let high = 0
  let scale = 1
  // Past 26 bits of `high` the value is beyond 2^53; four bytes hold 28.
  for (let at = start; at < end && at < start + 4; at++) {
    const byte = bytes[at]!
    high += (byte & 0x7f) * scale
    if (byte < 0x80) {
      const magnitude = high * 0x800_0000 + (low >>> 1)
      cursor = magnitude > Number.MAX_SAFE_INTEGER - (low & 1) ? -1 : at + 1
      return (low & 1) === 0 ? magnitude : -magnitude - 1
    }
    scale *= 128
  }
  cursor = -1
  return 0
}
