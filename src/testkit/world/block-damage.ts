import { type Prng } from '../../base/prng.ts'
import { type DiskContent } from './disk-content.ts'
import { type DiskFile } from './disk-file.ts'
import { type ReadDamageFault } from './file-faults.ts'

/** Bytes that a read has given, and where they come from. */
export interface ReadBytes {
  readonly target: Uint8Array
  readonly at: number
  readonly position: number
  readonly bytes: number
}

/** Where the bytes of a misdirected read or write may come from, or go to. */
export interface OtherPlace {
  readonly file: DiskFile
  readonly position: number
}

export interface DamageSource {
  readonly prng: Prng
  readonly blockBytes: number
  readonly file: DiskFile
  /** A place that is not this one. */
  readonly elsewhere: () => OtherPlace | undefined
}

/** Damages what a read has given. False where nothing came of it: the place holds such bytes already, or there are no others. */
export function damageRead(read: ReadBytes, fault: ReadDamageFault, source: DamageSource): boolean {
  if (read.bytes === 0) return false
  const { prng, blockBytes } = source
  const drawn = read.position + prng.below(read.bytes)
  if (fault.damage === 'bit flipped') {
    const inRead = (fault.place?.position ?? drawn) - read.position
    if (inRead < 0 || inRead >= read.bytes) return false
    read.target[read.at + inRead]! ^= 1 << (fault.place?.bit ?? prng.below(8))
    return true
  }
  const position = fault.place?.position ?? drawn - drawn % blockBytes
  const bytes = fault.place?.bytes ?? blockBytes
  if (fault.damage === 'block zeroed') return overlay(read, position, new Uint8Array(bytes))
  if (fault.damage === 'block stale') {
    return staleVersions(source.file, position, bytes).some(stale => overlay(read, position, stale))
  }
  const other = source.elsewhere()
  return other !== undefined && overlay(read, position, other.file.content().slice(other.position, bytes))
}

/** What a place held before, newest first: as synced, then as of earlier syncs. */
export function staleVersions(file: DiskFile, position: number, bytes: number): Uint8Array[] {
  return [file.syncedContent(), ...file.earlierContents()].map((content: DiskContent) => content.slice(position, bytes))
}

/** Puts bytes that lie at a position of the file over those that were read from there; false if that changes nothing. */
function overlay(read: ReadBytes, position: number, bytes: Uint8Array): boolean {
  let changed = false
  const from = Math.max(position, read.position)
  const to = Math.min(position + bytes.length, read.position + read.bytes)
  for (let each = from; each < to; each++) {
    const index = read.at + each - read.position
    const byte = bytes[each - position]!
    changed ||= read.target[index] !== byte
    read.target[index] = byte
  }
  return changed
}
