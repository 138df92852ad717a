import { crc32c } from '../../../base/crc32c.ts'
import { zeroUuid, type Uuid } from '../../../base/uuid.ts'
import { encodeEntry, type LogEntry, type LogPosition } from '../../../kernel/consensus-log/log-entry.ts'
import {
  chunkCount, chunkKey, encodeHardState, encodePointer, entryKey, hardStateKey, pointerKey, previousPointerKey, snapshotChunkBytes, type HardState,
  type SnapshotPointer,
} from '../../../kernel/consensus-log/store-layout.ts'
import { isMillraceError, MillraceError } from '../../../kernel/errors/index.ts'
import { type FileSystem } from '../../../kernel/ports/file-system.ts'
import { type KeyValueEngine, type KeyValuePut, type KeyValueStore } from '../../../kernel/ports/key-value-store.ts'
import { admitStore, adoptStore, checkFirstWitness, type Admission } from './store-admission.ts'
import { corruptMetadata, readStore, type StoreContent } from './store-reader.ts'
import { WitnessFile } from './witness-file.ts'

/** Where `millrace cluster recover` makes a new store, and the file in it that says that it is whole and is to take its place. */
export const recoveringPath = (path: string): string => `${path}.recovering`
export const recoveryReportName = 'recovered.json'
const recoveryMark = (path: string): string => `${recoveringPath(path)}/${recoveryReportName}`

/** What a start found. */
export interface StoredLog extends Pick<StoreContent, 'snapshot' | 'entries' | 'last' | 'entryBytes'> {
  /** 0 for a new store. */
  readonly term: number
}

export interface VoterStoreOptions {
  readonly path: string
  readonly nodeId: number
  /** Of the broker. It goes into the state with the first append. */
  readonly clusterId: Uuid
  /** A partition directory that needs the metadata: then a store that is not there, or empty, has been lost. */
  readonly foundPartition?: string | undefined
  readonly drawDirectoryId: () => Uuid
}

export interface VoterStoreWorld {
  readonly engine: KeyValueEngine
  readonly files: FileSystem
}

/**
 * The files of one voter: log, hard state and snapshots in a key-value store, and a witness beside it that says what was acknowledged. A
 * key-value store may lose any of its newest writes without a word; the witness then tells that something is missing. An engine that keeps nothing on
 * the disk has no witness.
 *
 * Every write is synced. Order of the writes of an append: entries and hard state in one step, then witness, then the acknowledgement. Of a
 * snapshot: its pieces, then in one step the pointer to it and the removal of what lies before the snapshot before it. A crash between any
 * two leaves a store that `open` takes.
 */
export class VoterStore {
  readonly path: string
  private readonly log: KeyValueStore
  private readonly witness: WitnessFile | undefined
  private readonly clusterId: Uuid
  private state: HardState
  private pointer: SnapshotPointer | undefined
  private previous: SnapshotPointer | undefined
  private oldestIndex: number

  private constructor(log: KeyValueStore, witness: WitnessFile | undefined, state: HardState, content: StoreContent, { path, clusterId }: VoterStoreOptions) {
    this.path = path
    this.log = log
    this.witness = witness
    this.clusterId = clusterId
    this.state = state
    this.pointer = content.pointer
    this.previous = content.previous
    this.oldestIndex = content.oldestIndex === 0 ? content.last.index + 1 : content.oldestIndex
  }

  /** Up to which the newest snapshot goes; 0 when there is none. */
  get snapshotIndex(): number {
    return this.pointer?.index ?? 0
  }

  /**
   * Locks the directory, reads and checks everything, and makes what is not there. Rejects as KeyValueEngine.open does, but with
   * MR_CLUSTER_METADATA_UNREADABLE where that could not read; with MR_CLUSTER_METADATA_CORRUPT that names the index; MR_CLUSTER_METADATA_LOST;
   * MR_CLUSTER_METADATA_NEWER; MR_CLUSTER_NODE_MISMATCH; MR_CLUSTER_RECOVERY_UNFINISHED. A store that is refused is left as it was, for a recovery.
   */
  static async open(world: VoterStoreWorld, options: VoterStoreOptions): Promise<{ readonly store: VoterStore, readonly stored: StoredLog }> {
    const { path } = options
    const { engine, files } = world
    if (engine.takesSpace && files.stat(recoveryMark(path)) !== undefined) throw new MillraceError('MR_CLUSTER_RECOVERY_UNFINISHED', { path })
    const witness = engine.takesSpace ? new WitnessFile(files, path) : undefined
    const reading = witness?.read()
    const log = await openLog(engine, options, reading !== undefined)
    try {
      const content = await readStore(log, path).catch((error: unknown) => { throw readError(error, path) })
      if (content.isEmpty && reading === undefined && options.foundPartition !== undefined) throw lostMetadata(options)
      const admission = await admit(world, options, content, reading)
      await prepare(log, witness, admission, reading !== undefined, content)
      if (witness !== undefined) removeFirstWitness(files, path)
      return { store: new VoterStore(log, witness, admission.state, content, options), stored: { ...content, term: admission.state.term } }
    } catch (error) {
      await log.close()
      throw error
    }
  }

  /** A store that begins with a snapshot, in a directory without one. */
  static async make({ engine, files }: VoterStoreWorld, path: string, state: HardState, snapshot: Uint8Array): Promise<void> {
    const log = await engine.open(`${path}/log`)
    try {
      new WitnessFile(files, path).create(state)
      const pointer: SnapshotPointer = { ...state.last, bytes: snapshot.length, crc: crc32c(snapshot) }
      await writePieces(log, pointer.index, snapshot)
      await log.write([{ key: pointerKey, value: encodePointer(pointer) }, { key: hardStateKey, value: encodeHardState(state) }], { sync: true })
    } finally {
      await log.close()
    }
  }

  /** Begins a term, voting for itself. Durable, and known to the witness, when it resolves. */
  lead(term: number): Promise<void> {
    return this.write([], { ...this.state, term, vote: this.state.nodeId })
  }

  /** Durable, and known to the witness, when it resolves. */
  append(entries: readonly LogEntry[]): Promise<void> {
    const { index, term, chain } = entries[entries.length - 1]!
    const clusterId = this.state.clusterId === zeroUuid ? this.clusterId : this.state.clusterId
    return this.write(entries.map((entry) => ({ key: entryKey(entry.index), value: encodeEntry(entry) })), { ...this.state, clusterId, last: { index, term, chain } })
  }

  /** Makes a snapshot the newest, and removes the one before the last, with the entries up to the last. `at` is an acknowledged entry, later than the last snapshot's. */
  async saveSnapshot(at: LogPosition, bytes: Uint8Array): Promise<void> {
    const pointer: SnapshotPointer = { index: at.index, term: at.term, chain: at.chain, bytes: bytes.length, crc: crc32c(bytes) }
    await writePieces(this.log, at.index, bytes)
    const { pointer: replaced, previous } = this
    const puts: KeyValuePut[] = [{ key: pointerKey, value: encodePointer(pointer) }]
    if (replaced !== undefined) puts.push({ key: previousPointerKey, value: encodePointer(replaced) })
    const kept = (replaced?.index ?? 0) + 1
    for (let index = Math.max(1, this.oldestIndex); index < kept; index++) puts.push({ key: entryKey(index), value: undefined })
    for (let chunk = 0; chunk < chunkCount(previous?.bytes ?? 0); chunk++) puts.push({ key: chunkKey(previous!.index, chunk), value: undefined })
    await this.log.write(puts, { sync: true })
    this.pointer = pointer
    this.previous = replaced
    this.oldestIndex = kept
  }

  async close(): Promise<void> {
    this.witness?.close()
    await this.log.close()
  }

  private async write(puts: readonly KeyValuePut[], changed: HardState): Promise<void> {
    const state = { ...changed, sequence: this.state.sequence + 1 }
    await this.log.write([...puts, { key: hardStateKey, value: encodeHardState(state) }], { sync: true })
    await this.witness?.write(state)
    this.state = state
  }
}

async function writePieces(log: KeyValueStore, index: number, bytes: Uint8Array): Promise<void> {
  for (let chunk = 0; chunk < chunkCount(bytes.length); chunk++) {
    const value = bytes.subarray(chunk * snapshotChunkBytes, (chunk + 1) * snapshotChunkBytes)
    await log.write([{ key: chunkKey(index, chunk), value }], { sync: true })
  }
}

async function openLog(engine: KeyValueEngine, options: VoterStoreOptions, isWitnessed: boolean): Promise<KeyValueStore> {
  const { path, foundPartition } = options
  try {
    // A store that has been there is never made anew: an empty one would pass for all that there was.
    return await engine.open(`${path}/log`, { create: !isWitnessed && foundPartition === undefined })
  } catch (error) {
    if (!isMillraceError(error, 'MR_FILE_NOT_FOUND')) throw readError(error, path)
    if (isWitnessed) throw corruptMetadata(path, 1, 'the whole store is gone, and there is a witness that it was there')
    throw lostMetadata(options)
  }
}

async function admit({ engine }: VoterStoreWorld, options: VoterStoreOptions, content: StoreContent, reading: ReturnType<WitnessFile['read']>): Promise<Admission> {
  const question = { ...options, content, witness: reading }
  const { state } = content
  if (state?.format === 2) return engine.takesSpace ? admitStore(question, state.value) : { state: state.value, todo: 'none' }
  if (state !== undefined) await checkFirstWitness(engine, options.path, content).catch((error: unknown) => { throw readError(error, options.path) })
  return adoptStore(question, state?.value)
}

/** The witness comes before the state that needs it. */
async function prepare(log: KeyValueStore, witness: WitnessFile | undefined, { state, todo }: Admission, hasWitness: boolean, content: StoreContent): Promise<void> {
  if (todo === 'begin' && !hasWitness) witness?.create(state)
  const puts: KeyValuePut[] = content.leftovers.map((key) => ({ key, value: undefined }))
  if (todo === 'begin' || witness !== undefined) puts.push({ key: hardStateKey, value: encodeHardState(state) })
  if (puts.length > 0) await log.write(puts, { sync: true })
  // Also what seems to be there: what a process that died did not sync, or failed to, reads well and may not be on the disk. First the store, then
  // the slot, over itself.
  if (todo !== 'begin') await witness?.write(state)
}

/** The second store that was the witness before format 2. */
function removeFirstWitness(files: FileSystem, path: string): void {
  if (files.stat(`${path}/witness`) === undefined) return
  files.remove(`${path}/witness`)
  files.syncDirectory(path)
}

/** A store that cannot be read is not merely a file that failed: the error names the way out. */
function readError(error: unknown, path: string): unknown {
  if (!isMillraceError(error, 'MR_FILE_FAILED')) return error
  return new MillraceError('MR_CLUSTER_METADATA_UNREADABLE', { path, reason: String(error.details['reason']) }, error)
}

const lostMetadata = ({ path, foundPartition }: VoterStoreOptions): MillraceError => new MillraceError('MR_CLUSTER_METADATA_LOST', { path, partition: foundPartition })
