import { BrokerSettingsMap } from '../../../../src/kernel/config/broker-settings-map.ts'
import { type FileSystem } from '../../../../src/kernel/ports/file-system.ts'
import { type PageCache } from '../../../../src/kernel/ports/page-cache.ts'
import { type KeyValueEngine } from '../../../../src/kernel/ports/key-value-store.ts'
import { type Threads } from '../../../../src/kernel/ports/threads.ts'
import { type LogFields, type Logger } from '../../../../src/kernel/ports/telemetry.ts'
import { NodeCompression } from '../../../../src/platform/codecs/node-compression.ts'
import { VolatileKeyValueEngine } from '../../../../src/platform/volatile-key-value-engine.ts'
import { storageLocalConfig } from '../../../../src/plugins/storage-local/config.ts'
import { SegmentedLogStore } from '../../../../src/plugins/storage-local/segmented-log-store.ts'
import { type FileChange, type LogStoreSubject } from '../../../../src/testkit/conformance/log-store.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { SeededRandom } from '../../../../src/testkit/world/seeded-random.ts'

export const clusterId = 'Y2x1c3Rlci1vZi10ZXN0cw'

/** Log lines, kept for tests that are about them. */
export class LinesLogger implements Logger {
  readonly lines: { readonly level: string, readonly message: string, readonly fields: LogFields }[] = []
  debug(): void {}
  info(message: string, fields: LogFields = {}): void { this.lines.push({ level: 'info', message, fields }) }
  warn(message: string, fields: LogFields = {}): void { this.lines.push({ level: 'warn', message, fields }) }
  error(message: string, fields: LogFields = {}): void { this.lines.push({ level: 'error', message, fields }) }
  child(): Logger { return this }
}

/** What a call ends with: the code of its error, what is thrown if that has none, or `ok`. */
export function codeOf(run: () => unknown): string {
  try {
    run()
    return 'ok'
  } catch (error) {
    return (error as { code?: string }).code ?? String(error)
  }
}

/** The content of a file. */
export function bytesOf(files: FileSystem, path: string): Uint8Array {
  const file = files.open(path, 'read')
  try {
    const bytes = new Uint8Array(file.size())
    file.read(bytes, 0, bytes.length, 0)
    return bytes
  } finally {
    file.close()
  }
}

export interface StoreOptions {
  readonly files: FileSystem & Partial<PageCache>
  readonly timers: ManualTimers
  readonly directories?: readonly string[]
  readonly engine?: KeyValueEngine
  readonly seed?: number
  readonly nodeId?: number
  readonly clusterId?: string
  readonly config?: Record<string, unknown>
  readonly settings?: Readonly<Record<string, string>>
  readonly threads?: Threads
}

export interface TestStore {
  readonly store: SegmentedLogStore
  readonly logger: LinesLogger
  readonly fatalErrors: unknown[]
}

const settingsMade = new Map<string, BrokerSettingsMap>()

/** They never change: crash tests make thousands of stores with the same. */
function settingsOf(entries: readonly (readonly [string, string])[]): BrokerSettingsMap {
  const key = JSON.stringify(entries)
  const made = settingsMade.get(key) ?? new BrokerSettingsMap({ commandLine: new Map(entries) })
  settingsMade.set(key, made)
  return made
}

/** A store that is not started yet. What is to run soon runs by itself; the test says when time passes. */
export function makeStore(options: StoreOptions): TestStore {
  const { files, timers, directories = ['/data'], engine = new VolatileKeyValueEngine(), seed = 1, nodeId = 1 } = options
  const logger = new LinesLogger()
  const fatalErrors: unknown[] = []
  const settings = settingsOf([['log.dirs', directories.join(',')], ...Object.entries(options.settings ?? {})])
  const store = new SegmentedLogStore({
    clock: timers.clock, timers: { after: (delayMs, callback) => timers.after(delayMs, callback), soon: queueMicrotask }, random: new SeededRandom(seed), files, pageCache: { cacheLife: path => files.cacheLife?.(path) }, engine, compression: new NodeCompression(), settings, logger,
    identity: { clusterId: options.clusterId ?? clusterId, nodeId, incarnationId: clusterId },
    fatal: { fatal: error => { fatalErrors.push(error) } }, threads: options.threads,
  }, storageLocalConfig.parse({ redoBytesMax: 1 << 20, ...options.config }))
  return { store, logger, fatalErrors }
}

export interface SimulatedStore extends LogStoreSubject {
  store: SegmentedLogStore
  readonly files: MemoryFileSystem
  readonly logger: LinesLogger
}

/** A store on a file system in memory, which can be killed and have its power cut. */
export async function simulatedStore(seed: number, config: Record<string, unknown> = { residentBytes: 2000, reserveBytes: 4096 }): Promise<SimulatedStore> {
  let timers = new ManualTimers()
  const { clock } = timers
  let files = new MemoryFileSystem({ clock })
  let life = makeStore({ files, timers, seed, config })
  await life.store.start()
  const begin = async (found: MemoryFileSystem, change?: FileChange): Promise<void> => {
    change?.(found)
    timers = new ManualTimers(clock)
    files = found
    life = makeStore({ files, timers, seed, config })
    await life.store.start()
  }
  const random = new SeededRandom(seed)
  return {
    get store() { return life.store },
    get compaction() { return life.store },
    get files() { return files },
    get logger() { return life.logger },
    nowMs: () => clock.wallMs(),
    advance: ms => timers.advance(ms),
    settle: promise => promise,
    dataDirectory: '/data',
    restart: async change => {
      await life.store.stop()
      await begin(files, change)
    },
    // What changes bytes is no kill of a process alone.
    kill: change => begin(files.afterCrash({ keepUnsynced: 'all', systemDown: change !== undefined }), change),
    powerCut: () => begin(files.afterCrash({ keepUnsynced: random.fraction() < 0.3 ? 'none' : random })),
    stop: () => life.store.stop(),
  } as SimulatedStore
}
