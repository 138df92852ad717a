import { type ClassicLevel } from 'classic-level'
import { MillraceError } from '../kernel/errors/index.ts'
import { type KeyRange, type KeyValuePut, type KeyValueStore } from '../kernel/ports/key-value-store.ts'

export type LevelDatabase = ClassicLevel<Uint8Array, Uint8Array>

interface WaitingWrite {
  readonly puts: readonly KeyValuePut[]
  readonly sync: boolean
  readonly done: (error: MillraceError | undefined) => void
}

/** Writes, and readers that fix what they see. */
type Waiting = WaitingWrite | (() => void)

/** Writes that wait while one is on its way go together, up to about so many bytes: one sync pays for all. */
const groupBytesMax = 1024 * 1024
/** Writes without sync are made durable at the latest when they are this much. */
const unsyncedBytesMax = 1024 * 1024

/**
 * A LevelDB database behind the port. LevelDB runs its calls on threads in any order, and a sync covers only the current one of its
 * write-ahead logs. So here one write runs at a time, a read takes a snapshot between the writes made before and after it, and a write
 * with sync carries those without one since the last again.
 */
export class LevelKeyValueStore implements KeyValueStore {
  private readonly path: string
  private readonly database: LevelDatabase
  private readonly released: () => void
  private waiting: Waiting[] = []
  private running = false
  private unsynced: KeyValuePut[] = []
  private unsyncedBytes = 0
  private failure: MillraceError | undefined
  private closing: Promise<void> | undefined

  /** `released` is called when the database is closed. */
  constructor(path: string, database: LevelDatabase, released: () => void) {
    this.path = path
    this.database = database
    this.released = released
  }

  get(key: Uint8Array): Promise<Uint8Array | undefined> {
    return this.afterEarlierWrites('get', async () => {
      const snapshot = this.database.snapshot()
      try {
        return await this.database.get<Uint8Array, Uint8Array>(key, { snapshot })
      } finally {
        await snapshot.close()
      }
    })
  }

  range({ from, to, limit = Infinity, reverse = false }: KeyRange): Promise<readonly (readonly [Uint8Array, Uint8Array])[]> {
    // An iterator sees the database as it is when the iterator is made.
    return this.afterEarlierWrites('range', async () => this.database.iterator({ gte: from, lt: to, limit, reverse }).all())
  }

  /** The bytes of keys and values must stay as they are until it resolves. A failed write ends the store: all later ones are refused. */
  write(puts: readonly KeyValuePut[], options: { readonly sync: boolean }): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.closing !== undefined) return reject(this.failed('write', closedReason))
      const done = (error: MillraceError | undefined): void => error === undefined ? resolve() : reject(error)
      this.waiting.push({ puts, sync: options.sync, done })
      if (!this.running) void this.run()
    })
  }

  /** After all calls made before it. Calling it again gives the same promise. */
  close(): Promise<void> {
    this.closing ??= new Promise<void>(resolve => this.inOrder(resolve)).then(async () => {
      try {
        await this.database.close()
      } finally {
        this.released()
      }
    })
    return this.closing
  }

  private afterEarlierWrites<T>(operation: string, read: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.closing !== undefined) return reject(this.failed(operation, closedReason))
      this.inOrder(() => {
        read().then(resolve, (error: unknown) => reject(this.failed(operation, error)))
      })
    })
  }

  /** Calls when every write made so far is done and none made later has begun; at once when none is on its way. */
  private inOrder(callback: () => void): void {
    if (this.running) this.waiting.push(callback)
    else callback()
  }

  private async run(): Promise<void> {
    this.running = true
    while (this.waiting.length > 0) {
      const first = this.waiting[0]!
      if (typeof first === 'function') {
        this.waiting.shift()
        first()
        continue
      }
      const group = this.takeGroup()
      await this.writeGroup(group)
      for (const { done } of group) done(this.failure)
    }
    this.running = false
  }

  /** The writes at the front, up to the next reader. */
  private takeGroup(): WaitingWrite[] {
    const group: WaitingWrite[] = []
    let bytes = 0
    for (const each of this.waiting) {
      if (typeof each === 'function' || bytes >= groupBytesMax) break
      bytes += bytesOf(each.puts)
      group.push(each)
    }
    this.waiting.splice(0, group.length)
    return group
  }

  /** Leaves the failure behind if there is one. */
  private async writeGroup(group: readonly WaitingWrite[]): Promise<void> {
    if (this.failure !== undefined) return
    const puts = group.flatMap(write => write.puts)
    const bytes = this.unsyncedBytes + bytesOf(puts)
    const sync = group.some(write => write.sync) || bytes > unsyncedBytesMax
    const all = sync ? [...this.unsynced, ...puts] : puts
    try {
      if (all.length > 0) {
        await this.database.batch(all.map(({ key, value }) => value === undefined ? { type: 'del', key } : { type: 'put', key, value }), { sync })
      }
    } catch (error) {
      this.failure = this.failed('write', error)
      return
    }
    if (!sync) this.unsynced.push(...puts.map(copyOf))
    else if (this.unsynced.length > 0) this.unsynced = []
    this.unsyncedBytes = sync ? 0 : bytes
  }

  private failed(operation: string, error: unknown): MillraceError {
    const reason = error instanceof Error ? error.message : String(error)
    return new MillraceError('MR_FILE_FAILED', { operation, path: this.path, reason }, error)
  }
}

const closedReason = 'the store is closed'

const copyOf = ({ key, value }: KeyValuePut): KeyValuePut => ({ key: key.slice(), value: value?.slice() })

function bytesOf(puts: readonly KeyValuePut[]): number {
  let bytes = 0
  for (const { key, value } of puts) bytes += key.length + (value?.length ?? 0)
  return bytes
}
