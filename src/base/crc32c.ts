/**
 * CRC-32C (Castagnoli, RFC 3720 appendix B.4; reflected polynomial 0x82f63b78), eight bytes a step from eight tables. For long ranges a
 * native function may be installed; it changes the speed and nothing else.
 */
const tables = makeTables()

/** Continues from `seed`, the CRC of what came before, and gives the CRC as an unsigned 32-bit integer. */
export type Crc32cFunction = (bytes: Uint8Array, seed: number) => number

/** Below this many bytes the call of a native function costs more than the work. */
const acceleratedBytesMin = 200

let accelerator: Crc32cFunction | undefined

/**
 * The CRC-32C of `bytes` from `start` to `end`, unsigned. `seed` is the CRC of the bytes before, so that
 * crc32c(b, 0, b.length, crc32c(a)) is the CRC of a and b joined.
 */
export function crc32c(bytes: Uint8Array, start = 0, end = bytes.length, seed = 0): number {
  if (accelerator !== undefined && end - start >= acceleratedBytesMin) return accelerator(bytes.subarray(start, end), seed) >>> 0
  return crc32cTables(bytes, start, end, seed)
}

/** Installs a native CRC-32C for long ranges. It is tried first; one that gives another result is refused with `false`. */
export function installCrc32c(candidate: Crc32cFunction): boolean {
  const sample = new Uint8Array(1027)
  for (let index = 0; index < sample.length; index++) sample[index] = (index * 151 + 7) & 0xff
  for (const seed of [0, 1, 0x8000_0000, 0xffff_ffff]) {
    if (candidate(sample, seed) >>> 0 !== crc32cTables(sample, 0, sample.length, seed)) return false
  }
  accelerator = candidate
  return true
}

/** Goes back to the tables. */
export function uninstallCrc32c(): void {
  accelerator = undefined
}

function crc32cTables(bytes: Uint8Array, start: number, end: number, seed: number): number {
  let crc = ~seed
  let at = start
  for (const last = end - 7; at < last; at += 8) {
    const low = crc ^ (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24))
    crc =
      tables[1792 + (low & 0xff)]! ^
      tables[1536 + ((low >>> 8) & 0xff)]! ^
      tables[1280 + ((low >>> 16) & 0xff)]! ^
      tables[1024 + (low >>> 24)]! ^
      tables[768 + bytes[at + 4]!]! ^
      tables[512 + bytes[at + 5]!]! ^
      tables[256 + bytes[at + 6]!]! ^
      tables[bytes[at + 7]!]!
  }
  for (; at < end; at++) crc = (crc >>> 8) ^ tables[(crc ^ bytes[at]!) & 0xff]!
  return ~crc >>> 0
}

function makeTables(): Int32Array {
  const all = new Int32Array(8 * 256)
  for (let index = 0; index < 256; index++) {
    let crc = index
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 0 ? crc >>> 1 : (crc >>> 1) ^ 0x82f6_3b78
    all[index] = crc
  }
  for (let table = 1; table < 8; table++) {
    for (let index = 0; index < 256; index++) {
      const before = all[(table - 1) * 256 + index]!
      all[table * 256 + index] = (before >>> 8) ^ all[before & 0xff]!
    }
  }
  return all
}
