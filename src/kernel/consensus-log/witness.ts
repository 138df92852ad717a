import { BytesReader } from '../../base/bytes-reader.ts'
import { BytesWriter } from '../../base/bytes-writer.ts'
import { crc32c } from '../../base/crc32c.ts'
import { decodeHardState, encodeHardState, storeFormat, type HardState } from './store-layout.ts'

/*
 * The witness of a voter's store: a file of two slots, each of two equal copies in blocks of their own, so that what damages one block leaves the other.
 * Write n goes to slot n mod 2, so that a torn write leaves write n - 1 as it was. docs/decisions/0006 says which damage is a crash's.
 *   block = magic(4) format(1) slot(1) copy(1) length(2) hard state(length) CRC-32C of all that(4), then zeros
 */
const magic = 0x4d52_5754
const witnessFormat = 1
const headerBytes = 9
const slotCount = 2
const copyCount = 2

/** What is written whole, or damaged, together: a copy has one block. */
export const witnessBlockBytes = 4096
/** A slot has two equal copies. */
export const witnessSlotBytes = copyCount * witnessBlockBytes
/** The size of the file, which never changes. */
export const witnessBytes = slotCount * witnessSlotBytes

/** What the file says. */
export interface WitnessReading {
  /** The newest that can be read. Undefined: nothing can. */
  readonly newest: HardState | undefined
  /** Why the slot beside the newest does not hold the write before it, as it does after a stop; undefined when it does. */
  readonly damage: string | undefined
  /** A newer release wrote it: its format. */
  readonly newerFormat: number | undefined
}

/** Where the slot of a write begins, for its bytes from `encodeWitnessSlot`. */
export const witnessSlotAt = (sequence: number): number => (sequence % slotCount) * witnessSlotBytes

/** Both copies of a slot. */
export function encodeWitnessSlot(state: HardState): Uint8Array {
  const slot = new Uint8Array(witnessSlotBytes)
  const content = encodeHardState(state)
  for (let copy = 0; copy < copyCount; copy++) slot.set(encodeBlock(state.sequence % slotCount, copy, content), copy * witnessBlockBytes)
  return slot
}

/** A whole file. The write before the first is the same with the sequence before. */
export function encodeWitness(state: HardState): Uint8Array {
  const file = new Uint8Array(witnessBytes)
  for (const each of [{ ...state, sequence: state.sequence - 1 }, state]) file.set(encodeWitnessSlot(each), witnessSlotAt(each.sequence))
  return file
}

/** Reads a whole file. A copy that is unreadable beside a readable one of its slot is no damage. */
export function readWitness(file: Uint8Array): WitnessReading {
  if (file.length !== witnessBytes) return { newest: undefined, damage: `it has ${file.length} bytes in place of ${witnessBytes}`, newerFormat: undefined }
  const slots: (HardState | undefined)[] = []
  let newerFormat: number | undefined
  for (let slot = 0; slot < slotCount; slot++) {
    let best: HardState | undefined
    for (let copy = 0; copy < copyCount; copy++) {
      const read = decodeBlock(file.subarray(slot * witnessSlotBytes + copy * witnessBlockBytes), slot, copy)
      if (typeof read === 'number') newerFormat = read
      else if (read !== undefined && (best === undefined || read.sequence > best.sequence)) best = read
    }
    slots.push(best)
  }
  const newest = slots.reduce((best, each) => (each !== undefined && (best === undefined || each.sequence > best.sequence) ? each : best), undefined)
  return { newest, damage: newest === undefined ? 'neither of its two slots can be read' : damageBeside(newest, slots), newerFormat }
}

function damageBeside(newest: HardState, slots: readonly (HardState | undefined)[]): string | undefined {
  const other = slots[(newest.sequence + 1) % slotCount]
  if (other === undefined) return 'one of its two slots can not be read'
  return other.sequence === newest.sequence - 1 ? undefined : `it has write ${other.sequence} beside write ${newest.sequence}`
}

function encodeBlock(slot: number, copy: number, content: Uint8Array): Uint8Array {
  const writer = new BytesWriter(headerBytes + content.length + 4)
  writer.uint32(magic)
  writer.uint8(witnessFormat)
  writer.uint8(slot)
  writer.uint8(copy)
  writer.uint16(content.length)
  writer.raw(content)
  writer.uint32(crc32c(writer.bytes, 0, writer.position))
  return writer.finish()
}

/** Undefined when it is damaged or of another place, its format when that is newer. */
function decodeBlock(bytes: Uint8Array, slot: number, copy: number): HardState | number | undefined {
  const reader = new BytesReader(bytes, 0, witnessBlockBytes)
  if (reader.uint32() !== magic) return undefined
  const format = reader.uint8()
  if (reader.uint8() !== slot || reader.uint8() !== copy) return undefined
  const length = reader.uint16()
  if (length > witnessBlockBytes - headerBytes - 4) return undefined
  const content = reader.slice(length)
  if (reader.uint32() !== crc32c(bytes, 0, headerBytes + length)) return undefined
  if (format > witnessFormat) return format
  const state = decodeHardState(content)
  if (typeof state !== 'string') return state.sequence % slotCount === slot ? state : undefined
  const inner = content[0]!
  return inner > storeFormat ? inner : undefined
}
