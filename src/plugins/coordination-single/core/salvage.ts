import { crc32c } from '../../../base/crc32c.ts'
import { zeroUuid, type Uuid } from '../../../base/uuid.ts'
import { decodeEntry, emptyLog, type LogPosition } from '../../../kernel/consensus-log/log-entry.ts'
import {
  chunkCount, chunkKey, decodeFirstHardState, decodeHardState, decodePointer, decodePosition, entriesFrom, entryKey, formatOf, hardStateKey, indexOfKey,
  pointerKey, previousPointerKey, witnessKey, type HardState, type SnapshotPointer,
} from '../../../kernel/consensus-log/store-layout.ts'
import { type WitnessReading } from '../../../kernel/consensus-log/witness.ts'

/** Whatever could be read of a store, keys as hex text. */
export type RawStore = ReadonlyMap<string, Uint8Array>

interface Way {
  /** 0 when it begins with the first command. */
  readonly snapshotIndex: number
  readonly snapshot: Uint8Array | undefined
  readonly commands: readonly Uint8Array[]
  /** Where it ends. */
  readonly last: LogPosition
}

/** What is left of a voter's log: from a snapshot that is intact, or from the beginning, as far as the chain goes. */
export interface Salvage extends Way {
  /** As far as anything that is left knows, the log went up to here, and this was the term. */
  readonly knownIndex: number
  readonly knownTerm: number
  /** Undefined: nothing says. */
  readonly nodeId: number | undefined
  readonly clusterId: Uuid | undefined
  /** All that was acknowledged is in it: a witness that is in order says so. */
  readonly isWhole: boolean
  /** Why it is not known how far the log went; undefined when it is. */
  readonly unknownEnd: string | undefined
}

/** The witness that is read with a store: of this release, or the store that it was in format 1. */
export interface SalvageWitness {
  readonly file: WitnessReading | undefined
  readonly first: RawStore | undefined
}

/** What of one reading of a store can be trusted. Nothing is taken but what the checksums and the chain prove. */
export function salvage(raw: RawStore, witness: SalvageWitness): Salvage {
  const pointers = [pointerKey, previousPointerKey].map((key) => pointerOf(raw, key)).filter((pointer) => pointer !== undefined)
  const ways = [...pointers, undefined].map((pointer) => wayFrom(raw, pointer)).filter((way) => way !== undefined)
  // The first of equals: the newest snapshot.
  const best = ways.reduce((longest, way) => (way.last.index > longest.last.index ? way : longest))
  const { state, nodeId, term } = stateOf(raw)
  const seen = witness.file?.newest
  const first = firstWitnessOf(witness.first)
  const ends = [state?.last.index, seen?.last.index, first?.index].filter((index) => index !== undefined)
  const knownIndex = Math.max(best.last.index, ...pointers.map(({ index }) => index), ...(ends.length > 0 ? ends : [highestEntry(raw)]))
  const unknownEnd = doubtOf(witness.file, first !== undefined, state)
  return {
    ...best, knownIndex, unknownEnd,
    knownTerm: Math.max(best.last.term, term, seen?.term ?? 0, first?.term ?? 0),
    nodeId: nodeId ?? seen?.nodeId,
    clusterId: [state?.clusterId, seen?.clusterId].find((id) => id !== undefined && id !== zeroUuid),
    isWhole: unknownEnd === undefined && seen !== undefined && best.last.index === knownIndex && endsAs(best.last, seen, state),
  }
}

/** Why nothing can say how far the log went. */
function doubtOf(file: WitnessReading | undefined, hasFirst: boolean, state: HardState | undefined): string | undefined {
  if (file?.newest === undefined) return hasFirst ? undefined : 'no witness of what was acknowledged can be read'
  // A torn slot was of the write that the store is ahead by.
  return file.damage === undefined || isAhead(file.newest, state) ? undefined : `the witness of what was acknowledged is damaged: ${file.damage}`
}

const isAhead = (seen: HardState, state: HardState | undefined): boolean => state?.sequence === seen.sequence + 1

function endsAs(last: LogPosition, seen: HardState, state: HardState | undefined): boolean {
  if (last.index === seen.last.index) return last.chain === seen.last.chain
  return state !== undefined && isAhead(seen, state) && state.last.index === last.index && state.last.chain === last.chain
}

/** From a snapshot, or from the beginning, as far as the chain holds. Undefined when the snapshot itself is not intact. */
function wayFrom(raw: RawStore, pointer: SnapshotPointer | undefined): Way | undefined {
  const snapshot = pointer === undefined ? undefined : snapshotOf(raw, pointer)
  if (pointer !== undefined && snapshot === undefined) return undefined
  const commands: Uint8Array[] = []
  let last: LogPosition = pointer ?? emptyLog
  for (;;) {
    const stored = raw.get(hexOf(entryKey(last.index + 1)))
    const entry = stored === undefined ? '' : decodeEntry(last, last.index + 1, stored)
    if (typeof entry === 'string') break
    commands.push(entry.command)
    last = entry
  }
  return { snapshotIndex: pointer?.index ?? 0, snapshot, commands, last: { index: last.index, term: last.term, chain: last.chain } }
}

function snapshotOf(raw: RawStore, pointer: SnapshotPointer): Uint8Array | undefined {
  const bytes = new Uint8Array(pointer.bytes)
  let at = 0
  for (let chunk = 0; chunk < chunkCount(pointer.bytes); chunk++) {
    const piece = raw.get(hexOf(chunkKey(pointer.index, chunk)))
    if (piece === undefined || at + piece.length > bytes.length) return undefined
    bytes.set(piece, at)
    at += piece.length
  }
  return at === bytes.length && crc32c(bytes) === pointer.crc ? bytes : undefined
}

function pointerOf(raw: RawStore, key: Uint8Array): SnapshotPointer | undefined {
  const stored = raw.get(hexOf(key))
  const pointer = stored === undefined ? '' : decodePointer(stored)
  return typeof pointer === 'string' ? undefined : pointer
}

function stateOf(raw: RawStore): { readonly state: HardState | undefined, readonly nodeId: number | undefined, readonly term: number } {
  const stored = raw.get(hexOf(hardStateKey))
  const state = stored === undefined ? '' : decodeHardState(stored)
  if (typeof state !== 'string') return { state, nodeId: state.nodeId, term: state.term }
  const first = stored !== undefined && formatOf(stored) === 1 ? decodeFirstHardState(stored) : ''
  return typeof first === 'string' ? { state: undefined, nodeId: undefined, term: 0 } : { state: undefined, nodeId: first.nodeId, term: first.term }
}

function firstWitnessOf(raw: RawStore | undefined): LogPosition | undefined {
  const stored = raw?.get(hexOf(witnessKey))
  const position = stored === undefined ? '' : decodePosition(stored)
  return typeof position === 'string' ? undefined : position
}

/** A key of this kind says that there was an entry, whatever became of it. Asked where nothing better is left, as keys rot too. */
function highestEntry(raw: RawStore): number {
  const { from, to } = entriesFrom(0)
  const [low, high] = [hexOf(from), hexOf(to)]
  let highest = 0
  for (const key of raw.keys()) if (key.length === low.length && key >= low && key < high) highest = Math.max(highest, indexOfKey(bytesOfHex(key)))
  return highest
}

export function hexOf(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0')
  return text
}

const bytesOfHex = (text: string): Uint8Array => Uint8Array.from({ length: text.length / 2 }, (_, index) => Number.parseInt(text.slice(index * 2, index * 2 + 2), 16))
