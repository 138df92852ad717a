import { type File } from '../../../../src/kernel/ports/file-system.ts'
import { type Threads } from '../../../../src/kernel/ports/threads.ts'
import { type PartitionLog } from '../../../../src/kernel/ports/partition-log.ts'
import { keyedBatch, keyedRecords } from '../../../../src/testkit/conformance/log-store-compaction.ts'
import { append, newTopicId } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { topicSettings } from '../../../../src/testkit/topic-settings.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { settled } from '../../../../src/testkit/world/settled.ts'
import { makeStore, type TestStore } from './store-subjects.ts'

/** Segments of a few records, all that is closed to be compacted at once. */
export const tableSettings = topicSettings({ compact: true, delete: false, segmentBytes: 500, indexIntervalBytes: 100, minCleanableDirtyRatio: 0, fileDeleteDelayMs: 500 })
export const tableId = { topic: 'table', topicId: newTopicId(), partition: 0 }
export const tableDirectory = '/data/table-0'

const subject = { settle: <T>(promise: Promise<T>): Promise<T> => promise }

/** One compacted log in a store on a simulated disk. */
export interface TableLife extends TestStore {
  readonly files: MemoryFileSystem
  readonly timers: ManualTimers
  readonly log: PartitionLog
}

export interface TableOptions {
  readonly settings?: Partial<typeof tableSettings>
  readonly broker?: Readonly<Record<string, string>>
  readonly config?: Record<string, unknown>
  /** Those of the life before, where time is to go on. */
  readonly timers?: ManualTimers
  readonly threads?: Threads
}

export async function tableOn(files = new MemoryFileSystem(), { settings = {}, broker = {}, config = {}, timers = new ManualTimers(), threads }: TableOptions = {}): Promise<TableLife> {
  const life = makeStore({ files, timers, ...threads === undefined ? {} : { threads }, config: { reserveBytes: 0, ...config }, settings: { 'log.cleaner.enable': 'false', ...broker } })
  await life.store.start()
  const changed = { ...tableSettings, ...settings }
  const log = life.store.find(tableId.topicId, 0) ?? life.store.create(tableId, changed)
  log.configure(changed)
  return { ...life, files, timers, log }
}

export function putKeys(log: PartitionLog, count: number, { keys = 5, bytes = 20, from = 0 } = {}): void {
  for (let index = from; index < from + count; index++) append(log, keyedBatch([{ key: `key ${index % keys}`, value: `${index}`.padEnd(bytes, '.') }]))
}

/** What was appended is on the disk, below the watermark and the recovery point. */
export async function settleTable({ store, log, timers }: TableLife): Promise<void> {
  await store.flush()
  log.raiseHighWatermark(log.endOffset)
  timers.advance(61_000)
  await settled()
  await store.flush()
}

export const recordsOfTable = (log: PartitionLog, offset?: number): ReturnType<typeof keyedRecords> => keyedRecords(subject, log, offset)

/** The last value of each key that a reader of all finds. */
export async function valuesOfTable(log: PartitionLog): Promise<Record<string, string | null>> {
  const values: Record<string, string | null> = {}
  for (const { key, value } of await recordsOfTable(log)) values[key] = value
  return values
}

/** A disk of which the test keeps the answers to reads off the loop that begin while `holds` says so. */
export class HeldReads extends MemoryFileSystem {
  readonly held: (() => void)[] = []
  holds = false

  override open(path: string, mode: 'read' | 'update' | 'create' | 'ensure'): File {
    const file = super.open(path, mode)
    const readLater = file.readLater.bind(file)
    file.readLater = (target, at, length, position, done) => {
      if (!this.holds || !path.startsWith(tableDirectory)) return readLater(target, at, length, position, done)
      // The bytes are those of the moment at which the answer comes, as a file that is written over may have it.
      this.held.push(() => { readLater(target, at, length, position, done) })
    }
    return file
  }

  /** Lets what is held go on. */
  release(): void {
    for (const run of this.held.splice(0)) run()
  }
}
