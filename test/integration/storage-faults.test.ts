import { describe, expect, test } from 'vitest'
import { Prng } from '../../src/base/prng.ts'
import { type TopicSettings } from '../../src/kernel/model/topic-settings.ts'
import { isMillraceError } from '../../src/kernel/errors/index.ts'
import { append, makeBatch, newTopicId, readRecords } from '../../src/testkit/conformance/log-store-subject.ts'
import { topicSettings } from '../../src/testkit/topic-settings.ts'
import { type FileFault, type FileOperationKind } from '../../src/testkit/world/file-faults.ts'
import { ManualTimers } from '../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../src/testkit/world/memory-file-system.ts'
import { makeStore } from '../unit/plugins/storage-local/store-subjects.ts'
import { seedsOf } from './seeds.ts'

const config = { residentBytes: 1 << 30, reserveBytes: 4096 }
const settings: Partial<TopicSettings> = { segmentBytes: 300, indexIntervalBytes: 100, retentionMs: -1, retentionBytes: 700 }
const subject = { settle: <T>(promise: Promise<T>): Promise<T> => promise }

interface Outcome {
  /** Calls that were made to fail. */
  readonly failures: number
  readonly files: MemoryFileSystem
  readonly flushed: number
  readonly appended: ReadonlyMap<number, string>
  readonly topicId: string
  readonly offline: boolean
}

/** Appends, sweeps, deletes, checkpoints and stops, with one call on the files failing; every error must be one of the table. */
async function runWith(fault: FileFault, seed: number): Promise<Outcome> {
  const random = new Prng(seed)
  const timers = new ManualTimers()
  const files = new MemoryFileSystem({ clock: timers.clock })
  const { store } = makeStore({ files, timers, seed, config })
  await store.start()
  const topicId = newTopicId()
  const log = store.create({ topic: 'failing', topicId, partition: 0 }, topicSettings(settings))
  const appended = new Map<number, string>()
  let flushed = 0
  log.watcher = { flushed: () => { flushed = log.flushedOffset }, failed: () => {} }
  files.faults.add(fault)
  const attempt = (run: () => void): void => {
    try {
      run()
    } catch (error) {
      if (!isMillraceError(error)) throw error
    }
  }
  for (let step = 0; step < 20; step++) {
    const draw = random.below(100)
    if (draw < 60) for (let count = random.between(1, 6); count > 0; count--) attempt(() => {
      const value = `v${random.below(1e9)}`
      appended.set(append(log, makeBatch([{ timestamp: 1000, value }]), step >> 3).baseOffset, value)
    })
    else if (draw < 70) attempt(() => {
      log.raiseHighWatermark(log.flushedOffset)
      log.deleteTo(random.between(log.startOffset, log.highWatermark))
    })
    else if (draw < 80) {
      attempt(() => log.raiseHighWatermark(log.flushedOffset))
      store.sweep()
    } else timers.advance(random.pick([6000, 61_000]))
    for (let turn = random.below(12); turn > 0; turn--) await Promise.resolve()
  }
  await store.flush().catch(() => {})
  const offline = store.directories()[0]!.offline !== undefined
  await store.stop()
  return { failures: files.faults.failures, files, flushed, appended, topicId, offline }
}

async function check(outcome: Outcome, keepUnsynced: 'all' | 'none', context: string): Promise<void> {
  const { store, logger } = makeStore({ files: outcome.files.afterCrash({ keepUnsynced }), timers: new ManualTimers(), config })
  await store.start()
  const log = store.find(outcome.topicId, 0)!
  expect(logger.lines.filter(line => line.level === 'error').map(line => JSON.stringify(line)), context).toEqual([])
  expect(log.endOffset, `${context}: end, flushed ${outcome.flushed}`).toBeGreaterThanOrEqual(outcome.flushed)
  for (const { offset, value } of await readRecords(subject, log)) {
    // A write that failed may have reached the disk, if nothing was appended after it.
    if (outcome.appended.has(offset)) expect(value, `${context}: offset ${offset}`).toBe(outcome.appended.get(offset))
    else expect(outcome.offline, `${context}: offset ${offset} was never acknowledged`).toBe(true)
  }
  await store.stop()
}

const seeds = seedsOf([7])
const kinds: readonly FileOperationKind[] = ['open', 'create', 'list', 'stat', 'rename', 'remove', 'sync directory', 'size', 'read', 'write', 'sync', 'truncate']

describe.each(seeds)('one call on the files that fails, seed %d', seed => {
  for (const operation of kinds) {
    for (const error of operation === 'write' || operation === 'create' ? ['EIO', 'ENOSPC'] as const : ['EIO'] as const) {
      test(`${operation}, ${error}: nothing flushed is lost, nothing is served that was not appended`, async () => {
        for (let skip = 0; ; skip++) {
          const outcome = await runWith({ operation, error, skip, times: 1, keptBytes: skip % 70 }, seed)
          if (outcome.failures === 0) break
          if (error === 'ENOSPC') expect(outcome.offline, `seed ${seed}, ${operation} ${skip}: a full disk is no failed disk`).toBe(false)
          for (const keepUnsynced of ['all', 'none'] as const) await check(outcome, keepUnsynced, `seed ${seed}, ${operation} ${skip}, ${keepUnsynced} kept`)
        }
      })
    }
  }
})
