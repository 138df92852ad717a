import { crc32c } from '../../../base/crc32c.ts'
import { MillraceError } from '../../../kernel/errors/millrace-error.ts'
import { type KeyValueEngine, type KeyValuePut, type KeyValueStore } from '../../../kernel/ports/key-value-store.ts'
import { decodeEntry, emptyLog, encodeEntry, type LogEntry, type LogPosition } from '../core/log-entry.ts'
import {
  allSnapshots, chunkCount, chunkKey, decodeHardState, decodePointer, decodePosition, encodeHardState, encodePointer, encodePosition, entriesFrom,
  entryKey, hardStateKey, indexOfKey, pointerKey, snapshotChunkBytes, witnessKey, type HardState, type SnapshotPointer,
} from '../core/store-layout.ts'

/** Entries read in one go at start. */
const pageEntries = 1000

/** What a start found. */
export interface StoredLog {
  /** 0 for a new store. */
  readonly term: number
  readonly snapshot: { readonly index: number, readonly bytes: Uint8Array } | undefined
  /** Those after the snapshot, without a gap. */
  readonly entries: readonly LogEntry[]
  readonly last: LogPosition
  /** Bytes of the commands of `entries`. */
  readonly entryBytes: number
}

/**
 * The files of one voter: log, hard state and snapshot in one key-value store, and beside it a witness, a second store that holds nothing
 * but the position of the last acknowledged entry. A key-value store may lose the end of its own write-ahead log without a word; the
 * witness then tells that something is missing.
 *
 * Every write is synced. Order of the writes of an append: entries, then witness, then the acknowledgement. Of a snapshot: its pieces, then
 * in one step the pointer to it and the removal of what it replaces. A crash between any two leaves a log that `open` takes.
 */
export class VoterStore {
  readonly path: string
  private readonly log: KeyValueStore
  private readonly witness: KeyValueStore
  private pointer: SnapshotPointer | undefined

  private constructor(path: string, log: KeyValueStore, witness: KeyValueStore) {
    this.path = path
    this.log = log
    this.witness = witness
  }

  /** Up to which the newest snapshot goes; 0 when there is none. */
  get snapshotIndex(): number {
    return this.pointer?.index ?? 0
  }

  /** Locks the directory. Rejects as KeyValueEngine.open does. */
  static async open(engine: KeyValueEngine, path: string): Promise<VoterStore> {
    const log = await engine.open(`${path}/log`)
    try {
      return new VoterStore(path, log, await engine.open(`${path}/witness`))
    } catch (error) {
      await log.close()
      throw error
    }
  }

  /**
   * Reads and checks everything. Rejects with MR_CLUSTER_METADATA_CORRUPT that names the index, or MR_CLUSTER_NODE_MISMATCH.
   * Removes what a crash left of an unfinished snapshot.
   */
  async load(nodeId: number): Promise<StoredLog> {
    const hardState = await this.loadHardState(nodeId)
    const snapshot = await this.loadSnapshot()
    const start: LogPosition = this.pointer ?? emptyLog
    const entries: LogEntry[] = []
    let last = start
    let entryBytes = 0
    for (;;) {
      const page = await this.log.range({ ...entriesFrom(last.index + 1), limit: pageEntries })
      for (const [key, value] of page) {
        const entry = decodeEntry(last, indexOfKey(key), value)
        if (typeof entry === 'string') throw this.corrupt(last.index + 1, entry)
        entries.push(entry)
        entryBytes += entry.command.length
        last = entry
      }
      if (page.length < pageEntries) break
    }
    await this.checkWitness(start, entries, last)
    return { term: Math.max(hardState?.term ?? 0, last.term), snapshot, entries, last, entryBytes }
  }

  /** Durable when it resolves. */
  async saveHardState(state: HardState): Promise<void> {
    await this.log.write([{ key: hardStateKey, value: encodeHardState(state) }], { sync: true })
  }

  /** Durable, and known to the witness, when it resolves. */
  async append(entries: readonly LogEntry[]): Promise<void> {
    await this.log.write(entries.map((entry) => ({ key: entryKey(entry.index), value: encodeEntry(entry) })), { sync: true })
    const last = entries[entries.length - 1]!
    await this.witness.write([{ key: witnessKey, value: encodePosition(last) }], { sync: true })
  }

  /** Replaces the snapshot and removes the entries up to it. `at` is an acknowledged entry, later than the last snapshot's. */
  async saveSnapshot(at: LogPosition, bytes: Uint8Array): Promise<void> {
    const pointer: SnapshotPointer = { index: at.index, term: at.term, chain: at.chain, bytes: bytes.length, crc: crc32c(bytes) }
    for (let chunk = 0; chunk < chunkCount(bytes.length); chunk++) {
      const value = bytes.subarray(chunk * snapshotChunkBytes, (chunk + 1) * snapshotChunkBytes)
      await this.log.write([{ key: chunkKey(at.index, chunk), value }], { sync: true })
    }
    const previous = this.pointer
    const puts: KeyValuePut[] = [{ key: pointerKey, value: encodePointer(pointer) }]
    for (let index = (previous?.index ?? 0) + 1; index <= at.index; index++) puts.push({ key: entryKey(index), value: undefined })
    for (let chunk = 0; chunk < chunkCount(previous?.bytes ?? 0); chunk++) puts.push({ key: chunkKey(previous!.index, chunk), value: undefined })
    await this.log.write(puts, { sync: true })
    this.pointer = pointer
  }

  async close(): Promise<void> {
    await this.log.close()
    await this.witness.close()
  }

  private async loadHardState(nodeId: number): Promise<HardState | undefined> {
    const stored = await this.log.get(hardStateKey)
    if (stored === undefined) return undefined
    const state = decodeHardState(stored)
    if (typeof state === 'string') throw this.corrupt(0, state)
    if (state.nodeId !== nodeId) throw new MillraceError('MR_CLUSTER_NODE_MISMATCH', { path: this.path, found: state.nodeId, expected: nodeId })
    return state
  }

  private async loadSnapshot(): Promise<StoredLog['snapshot']> {
    const stored = await this.log.get(pointerKey)
    const pointer = stored === undefined ? undefined : decodePointer(stored)
    if (typeof pointer === 'string') throw this.corrupt(0, pointer)
    this.pointer = pointer
    const leftovers: KeyValuePut[] = []
    const bytes = new Uint8Array(pointer?.bytes ?? 0)
    let found = 0
    for (const [key, value] of await this.log.range(allSnapshots)) {
      if (pointer === undefined || indexOfKey(key) !== pointer.index) {
        leftovers.push({ key, value: undefined })
      } else if (found + value.length <= bytes.length) {
        bytes.set(value, found)
        found += value.length
      }
    }
    if (pointer !== undefined && (found !== bytes.length || crc32c(bytes) !== pointer.crc)) {
      throw this.corrupt(pointer.index, 'the snapshot fails its checksum')
    }
    if (leftovers.length > 0) await this.log.write(leftovers, { sync: true })
    return pointer === undefined ? undefined : { index: pointer.index, bytes }
  }

  /** The log must hold the entry that the witness saw, in the same history. It may hold more: written, and not yet acknowledged. */
  private async checkWitness(start: LogPosition, entries: readonly LogEntry[], last: LogPosition): Promise<void> {
    const stored = await this.witness.get(witnessKey)
    if (stored === undefined) return
    const seen = decodePosition(stored)
    if (typeof seen === 'string') throw this.corrupt(last.index, seen)
    if (seen.index > last.index) throw this.corrupt(last.index + 1, `entries up to ${seen.index} were acknowledged and are gone`)
    const same = seen.index === start.index ? start : entries[seen.index - start.index - 1]
    if (same !== undefined && same.chain !== seen.chain) throw this.corrupt(seen.index, 'it is not the entry that was acknowledged')
  }

  private corrupt(index: number, reason: string): MillraceError {
    return new MillraceError('MR_CLUSTER_METADATA_CORRUPT', { path: this.path, index, reason })
  }
}
