import { isMillraceError, MillraceError } from '../../kernel/errors/index.ts'
import { type Timers } from '../../kernel/ports/clock.ts'
import { type FileSystem } from '../../kernel/ports/file-system.ts'
import { type KeyRange, type KeyValueEngine, type KeyValuePut, type KeyValueStore } from '../../kernel/ports/key-value-store.ts'
import { type KeepUnsynced } from './crash-choice.ts'
import { normalPath, pathParts } from './memory-path.ts'
import { SortedBytesMap } from './sorted-bytes-map.ts'

/** A call on a store in memory, as who watches it is told. */
export interface KeyValueOperation {
  readonly kind: 'open' | 'get' | 'range' | 'write'
  readonly path: string
  /** Of a write. */
  readonly sync?: boolean
}

/** How stores in memory answer. */
export interface MemoryKeyValueOptions {
  /** Completes the calls. Without it they complete in microtasks. */
  readonly timers?: Timers
  /** How long a write with sync takes. Default 0: as soon as the timers can. */
  readonly syncMs?: () => number
  /** Where a store is, a directory of its name is made; a directory that was removed takes its store with it. */
  readonly files?: FileSystem
  /** Sees every call before it is carried out: for traces. */
  readonly observe?: (operation: KeyValueOperation) => void
  /** Makes a call fail with the reason that it gives. */
  readonly failWith?: (operation: KeyValueOperation) => string | undefined
}

interface Batch {
  readonly number: number
  readonly puts: readonly KeyValuePut[]
}

/** What one store holds, for those who read it and on the disk. */
class StoreState {
  readonly current: SortedBytesMap
  private readonly durable: SortedBytesMap
  private unsynced: Batch[] = []
  private batches = 0

  constructor(content = new SortedBytesMap()) {
    this.current = content
    this.durable = new SortedBytesMap(content)
  }

  /** Applies for readers. The number is for `syncTo`. */
  apply(puts: readonly KeyValuePut[]): number {
    for (const put of puts) this.current.apply(put)
    this.unsynced.push({ number: ++this.batches, puts })
    return this.batches
  }

  /** This batch and all before it are on the disk. */
  syncTo(number: number): void {
    let count = 0
    for (const batch of this.unsynced) {
      if (batch.number > number) break
      for (const put of batch.puts) this.durable.apply(put)
      count++
    }
    this.unsynced.splice(0, count)
  }

  /**
   * LevelDB's write-ahead log is read up to where it is torn: by chance a prefix of the unsynced batches is found. After a kill all of them
   * are, and a power cut that comes later may still take them.
   */
  afterCrash(keep: KeepUnsynced): StoreState {
    if (keep === 'all') return this.fork()
    const content = new SortedBytesMap(this.durable)
    const kept = keep === 'none' ? 0 : Math.floor(keep.fraction() * (this.unsynced.length + 1))
    for (const batch of this.unsynced.slice(0, kept)) for (const put of batch.puts) content.apply(put)
    return new StoreState(content)
  }

  private fork(): StoreState {
    const forked = new StoreState(new SortedBytesMap(this.durable))
    for (const { puts } of this.unsynced) forked.apply(puts)
    return forked
  }
}

/** Key-value stores in memory, with LevelDB's lock and what a power cut takes: whatever was written after the last write with sync. */
export class MemoryKeyValueEngine implements KeyValueEngine {
  /** Change it to make calls fail. */
  failWith: ((operation: KeyValueOperation) => string | undefined) | undefined
  /** It takes none itself, but stands for one that does. */
  readonly takesSpace: boolean
  private readonly options: MemoryKeyValueOptions
  private readonly stores: Map<string, StoreState>
  private readonly locked = new Set<string>()

  constructor(options: MemoryKeyValueOptions = {}, stores = new Map<string, StoreState>()) {
    this.options = options
    this.takesSpace = options.files !== undefined
    this.failWith = options.failWith
    this.stores = stores
  }

  async open(path: string, { create = true }: { readonly create?: boolean } = {}): Promise<KeyValueStore> {
    const place = normalPath(path)
    await this.later(0)
    if (this.locked.has(place)) throw new MillraceError('MR_LOG_DIRECTORY_LOCKED', { path })
    this.check({ kind: 'open', path })
    const { files } = this.options
    const isGone = files !== undefined && files.stat(path)?.kind !== 'directory'
    if (!create && (isGone || !this.stores.has(place))) throw new MillraceError('MR_FILE_NOT_FOUND', { operation: 'open', path })
    if (isGone) this.stores.delete(place)
    if (files !== undefined && !this.stores.has(place)) makeDurably(files, place)
    let state = this.stores.get(place)
    if (state === undefined) this.stores.set(place, state = new StoreState())
    this.locked.add(place)
    return new MemoryKeyValueStore(path, state, this, () => this.locked.delete(place))
  }

  /**
   * What a new process finds after this one was killed (`all`) or the power was cut (`none`, or by chance). Nothing is locked. This engine
   * is left as it is.
   */
  afterCrash(options: { readonly keepUnsynced: KeepUnsynced }, changed: MemoryKeyValueOptions = {}): MemoryKeyValueEngine {
    const { failWith: _faults, ...kept } = this.options
    const stores = new Map([...this.stores].map(([place, state]) => [place, state.afterCrash(options.keepUnsynced)]))
    return new MemoryKeyValueEngine({ ...kept, ...changed }, stores)
  }

  /** A copy of a store as readers see it now, to be put back later: a disk that has lost its newest writes although they were synced. */
  image(path: string): SortedBytesMap {
    return new SortedBytesMap(this.stores.get(normalPath(path))?.current)
  }

  /** Replaces the content of a closed store. */
  restore(path: string, image: SortedBytesMap): void {
    this.stores.set(normalPath(path), new StoreState(new SortedBytesMap(image)))
  }

  /** Throws if this call is to fail. */
  check(operation: KeyValueOperation): void {
    this.options.observe?.(operation)
    const reason = this.failWith?.(operation)
    // A full disk is met by an open with the port's own error, as LevelDB's is.
    if (reason === 'ENOSPC' && operation.kind === 'open') throw new MillraceError('MR_FILE_NO_SPACE', { operation: 'open', path: operation.path, reason })
    if (reason !== undefined) throw new MillraceError('MR_FILE_FAILED', { operation: operation.kind, path: operation.path, reason })
  }

  later(delayMs: number): Promise<void> {
    const { timers } = this.options
    return timers === undefined ? Promise.resolve() : new Promise(resolve => void timers.after(delayMs, resolve))
  }

  syncMs(): number {
    return this.options.syncMs?.() ?? 0
  }
}

class MemoryKeyValueStore implements KeyValueStore {
  private readonly path: string
  private readonly state: StoreState
  private readonly engine: MemoryKeyValueEngine
  private readonly released: () => void
  private failure: MillraceError | undefined
  private closing: Promise<void> | undefined
  private readonly pending = new Set<Promise<void>>()

  constructor(path: string, state: StoreState, engine: MemoryKeyValueEngine, released: () => void) {
    this.path = path
    this.state = state
    this.engine = engine
    this.released = released
  }

  async get(key: Uint8Array): Promise<Uint8Array | undefined> {
    this.begin({ kind: 'get', path: this.path })
    const found = this.state.current.get(key)?.slice()
    await this.engine.later(0)
    return found
  }

  async range(range: KeyRange): Promise<readonly (readonly [Uint8Array, Uint8Array])[]> {
    this.begin({ kind: 'range', path: this.path })
    const found = this.state.current.range(range).map(([key, value]) => [key.slice(), value.slice()] as const)
    await this.engine.later(0)
    return found
  }

  /** A failed write ends the store, as LevelDB's does. */
  async write(puts: readonly KeyValuePut[], { sync }: { readonly sync: boolean }): Promise<void> {
    if (this.failure !== undefined) throw this.failure
    try {
      this.begin({ kind: 'write', path: this.path, sync })
    } catch (error) {
      if (this.closing === undefined && isMillraceError(error)) this.failure = error
      throw error
    }
    const number = this.state.apply(puts.map(({ key, value }) => ({ key: key.slice(), value: value?.slice() })))
    const done = this.engine.later(sync ? this.engine.syncMs() : 0)
    this.pending.add(done)
    await done
    this.pending.delete(done)
    if (sync) this.state.syncTo(number)
  }

  close(): Promise<void> {
    this.closing ??= Promise.all(this.pending).then(() => this.engine.later(0)).then(this.released)
    return this.closing
  }

  private begin(operation: KeyValueOperation): void {
    if (this.closing !== undefined) {
      throw new MillraceError('MR_FILE_FAILED', { operation: operation.kind, path: this.path, reason: 'the store is closed' })
    }
    this.engine.check(operation)
  }
}

/** The directory and the names on the way to it, as the real engine makes them. */
function makeDurably(files: FileSystem, path: string): void {
  files.makeDirectory(path)
  const parts = pathParts(path)
  for (let count = 0; count < parts.length; count++) files.syncDirectory(`/${parts.slice(0, count).join('/')}`)
}
