import { crc32c } from '../../../base/crc32c.ts'
import { decodeEntry, emptyLog, type LogEntry, type LogPosition } from '../../../kernel/consensus-log/log-entry.ts'
import {
  allKeys, allSnapshots, decodeFirstHardState, decodeHardState, decodePointer, entriesFrom, formatOf, hardStateKey, indexOfKey, pointerKey,
  previousPointerKey, storeFormat, type FirstHardState, type HardState, type SnapshotPointer,
} from '../../../kernel/consensus-log/store-layout.ts'
import { MillraceError } from '../../../kernel/errors/millrace-error.ts'
import { type KeyValueStore } from '../../../kernel/ports/key-value-store.ts'

/** Entries read in one go. */
const pageEntries = 1000

/** What a store holds, each part intact in itself; how it stands to the witness is for the caller. */
export interface StoreContent {
  readonly isEmpty: boolean
  readonly state: { readonly format: 1, readonly value: FirstHardState } | { readonly format: 2, readonly value: HardState } | undefined
  readonly pointer: SnapshotPointer | undefined
  readonly previous: SnapshotPointer | undefined
  readonly snapshot: { readonly index: number, readonly bytes: Uint8Array } | undefined
  /** Those after the snapshot, without a gap. */
  readonly entries: readonly LogEntry[]
  readonly last: LogPosition
  /** Bytes of the commands of `entries`. */
  readonly entryBytes: number
  /** Of the oldest entry that is stored, before the snapshot or after it; 0 where there is none. */
  readonly oldestIndex: number
  /** Pieces of a snapshot that was not finished. */
  readonly leftovers: readonly Uint8Array[]
}

/** Reads everything. Rejects with MR_CLUSTER_METADATA_CORRUPT that names the index, or MR_CLUSTER_METADATA_NEWER. */
export async function readStore(store: KeyValueStore, path: string): Promise<StoreContent> {
  const state = await readState(store, path)
  const pointer = await readPointer(store, path, pointerKey)
  const previous = await readPointer(store, path, previousPointerKey)
  const { snapshot, leftovers } = await readSnapshot(store, path, pointer, previous)
  const { entries, last, entryBytes } = await readEntries(store, path, pointer ?? emptyLog)
  const [[oldest] = []] = await store.range({ ...entriesFrom(0), limit: 1 })
  return {
    isEmpty: (await store.range({ ...allKeys, limit: 1 })).length === 0,
    state, pointer, previous, snapshot, entries, last, entryBytes, oldestIndex: oldest === undefined ? 0 : indexOfKey(oldest), leftovers,
  }
}

export function corruptMetadata(path: string, index: number, reason: string): MillraceError {
  return new MillraceError('MR_CLUSTER_METADATA_CORRUPT', { path, index, reason })
}

async function readState(store: KeyValueStore, path: string): Promise<StoreContent['state']> {
  const stored = await store.get(hardStateKey)
  if (stored === undefined) return undefined
  const format = formatOf(stored)
  if (format !== undefined && format > storeFormat) {
    throw new MillraceError('MR_CLUSTER_METADATA_NEWER', { what: `the store in ${path} has format ${format}, this release reads 1 to ${storeFormat}` })
  }
  if (format === 1) return { format: 1, value: intact(decodeFirstHardState(stored), path) }
  return { format: 2, value: intact(decodeHardState(stored), path) }
}

async function readPointer(store: KeyValueStore, path: string, key: Uint8Array): Promise<SnapshotPointer | undefined> {
  const stored = await store.get(key)
  return stored === undefined ? undefined : intact(decodePointer(stored), path)
}

function intact<T>(decoded: T | string, path: string): T {
  if (typeof decoded === 'string') throw corruptMetadata(path, 0, decoded)
  return decoded
}

async function readSnapshot(
  store: KeyValueStore, path: string, pointer: SnapshotPointer | undefined, previous: SnapshotPointer | undefined,
): Promise<Pick<StoreContent, 'snapshot' | 'leftovers'>> {
  const leftovers: Uint8Array[] = []
  const bytes = new Uint8Array(pointer?.bytes ?? 0)
  let found = 0
  for (const [key, value] of await store.range(allSnapshots)) {
    const index = indexOfKey(key)
    if (index === pointer?.index) {
      if (found + value.length <= bytes.length) bytes.set(value, found)
      found += value.length
    } else if (index !== previous?.index) leftovers.push(key)
  }
  if (pointer === undefined) return { snapshot: undefined, leftovers }
  if (found !== bytes.length || crc32c(bytes) !== pointer.crc) throw corruptMetadata(path, pointer.index, 'the snapshot fails its checksum')
  return { snapshot: { index: pointer.index, bytes }, leftovers }
}

async function readEntries(store: KeyValueStore, path: string, start: LogPosition): Promise<Pick<StoreContent, 'entries' | 'last' | 'entryBytes'>> {
  const entries: LogEntry[] = []
  let last = start
  let entryBytes = 0
  for (;;) {
    const page = await store.range({ ...entriesFrom(last.index + 1), limit: pageEntries })
    for (const [key, value] of page) {
      const entry = decodeEntry(last, indexOfKey(key), value)
      if (typeof entry === 'string') throw corruptMetadata(path, last.index + 1, entry)
      entries.push(entry)
      entryBytes += entry.command.length
      last = entry
    }
    if (page.length < pageEntries) return { entries, last, entryBytes }
  }
}
