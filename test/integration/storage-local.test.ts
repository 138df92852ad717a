import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { LevelKeyValueEngine } from '../../src/platform/level-key-value-engine.ts'
import { NodeFileSystem } from '../../src/platform/node-file-system.ts'
import { storageLocal } from '../../src/plugins/storage-local/plugin.ts'
import { logStoreConformance, type FileChange, type LogStoreSubject } from '../../src/testkit/conformance/log-store.ts'
import { newLog, fill } from '../../src/testkit/conformance/log-store-subject.ts'
import { ManualTimers } from '../../src/testkit/world/manual-clock.ts'
import { makeStore } from '../unit/plugins/storage-local/store-subjects.ts'
import { seedOf } from './seeds.ts'

const seed = seedOf(4)
const capabilities = { durable: storageLocal.capabilities!.durable!, kafkaLayout: true }

/**
 * A store on this machine's disk. A kill leaves the store behind as it is, with its files open, and starts another one; no power is cut here,
 * so that the claims about one only see what a kill would leave. The file system in memory does the rest.
 */
async function realStore(): Promise<LogStoreSubject> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-storage-'))
  const files = new NodeFileSystem()
  const { clock } = new ManualTimers()
  let timers = new ManualTimers(clock)
  let life = makeStore({ files, timers, directories: [directory], seed, config: { residentBytes: 2000 } })
  await life.store.start()
  const begin = async (change?: FileChange): Promise<void> => {
    change?.(files)
    timers = new ManualTimers(clock)
    life = makeStore({ files, timers, directories: [directory], seed, config: { residentBytes: 2000 } })
    await life.store.start()
  }
  const subject = {
    get store() { return life.store },
    nowMs: () => clock.wallMs(),
    advance: (ms: number) => timers.advance(ms),
    settle: <T>(promise: Promise<T>) => promise,
    dataDirectory: directory,
    restart: async (change?: FileChange) => {
      await life.store.stop()
      await begin(change)
    },
    kill: async (change?: FileChange) => {
      // Its syncs would go on and find files gone that the change took.
      await life.store.flush()
      // What changes bytes is no kill of a process alone: without the file nothing is believed.
      if (change !== undefined) files.remove(`${directory}/.millrace-cache-life`)
      await begin(change)
    },
    powerCut: () => begin(),
    stop: () => life.store.stop(),
    dispose: async () => rmSync(directory, { recursive: true, force: true }),
  }
  return subject as LogStoreSubject
}

describe('storage-local on a disk', () => {
  logStoreConformance({ test, capabilities, create: realStore, seed, randomRuns: 5 })

  test('a directory that another store has is refused, and its own again after a stop', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'millrace-storage-'))
    try {
      const open = () => makeStore({ files: new NodeFileSystem(), timers: new ManualTimers(), directories: [directory], engine: new LevelKeyValueEngine() })
      const first = open()
      await first.store.start()
      const log = newLog(first)
      fill(log, 5)
      const second = open()
      await expect(second.store.start()).rejects.toMatchObject({ code: 'MR_LOG_DIRECTORY_LOCKED' })
      await second.store.stop()
      await first.store.stop()
      const third = open()
      await third.store.start()
      expect(third.store.find(log.id.topicId, 0)?.endOffset).toBe(5)
      await third.store.stop()
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })
})
