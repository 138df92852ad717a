import { describe, expect, test } from 'vitest'
import { type TopicSettings } from '../../../../src/kernel/model/topic-settings.ts'
import { isMillraceError } from '../../../../src/kernel/errors/index.ts'
import { append, makeBatch, newLog, newTopicId, readRecords } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { type FileFault } from '../../../../src/testkit/world/file-faults.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { topicSettings } from '../../../../src/testkit/topic-settings.ts'
import { settled } from '../../../../src/testkit/world/settled.ts'
import { makeStore, type TestStore } from './store-subjects.ts'

const subject = { settle: <T>(promise: Promise<T>): Promise<T> => promise }

async function startedOn(files: MemoryFileSystem, redoBytesMax: number): Promise<TestStore> {
  const made = makeStore({ files, timers: new ManualTimers(), config: { redoBytesMax } })
  await made.store.start()
  return made
}

const numbered = (from: number, count: number): Uint8Array =>
  makeBatch(Array.from({ length: count }, (_, index) => ({ timestamp: 1000, value: `v${from + index}` })), { producerId: 1, producerEpoch: 0, baseSequence: from })

async function startedWithTimers(files: MemoryFileSystem): Promise<TestStore & { readonly timers: ManualTimers }> {
  const timers = new ManualTimers()
  const made = makeStore({ files, timers, config: { redoBytesMax: 0, reserveBytes: 4096 } })
  await made.store.start()
  return { ...made, timers }
}

/** Logs that roll, are cut, lose records and are removed, with checkpoints between; until something fails. */
async function worked(store: TestStore['store'], timers: ManualTimers): Promise<void> {
  const attempt = (run: () => void): void => {
    try {
      run()
    } catch (error) {
      expect(isMillraceError(error), String(error)).toBe(true)
    }
  }
  const id = { topic: 'worked', topicId: newTopicId(), partition: 0 }
  attempt(() => { store.create(id, topicSettings({ segmentBytes: 300, indexIntervalBytes: 50 })) })
  const log = store.find(id.topicId, 0)
  if (log === undefined) return
  const acts: (() => void)[] = [
    () => { for (let index = 0; index < 30; index += 3) append(log, numbered(index, 3)) },
    () => { log.raiseHighWatermark(log.flushedOffset) }, () => { timers.advance(61_000) }, () => { log.deleteTo(9) }, () => { log.truncateTo(15) }, () => { store.remove(id.topicId, 0) },
  ]
  for (const act of acts) {
    attempt(act)
    await settled()
  }
}

/** What a start after a kill serves, and what one after a power cut finds that comes when more was appended and synced. */
async function lives(settings: Partial<TopicSettings>, redoBytesMax: number, fault: FileFault, systemDown: boolean) {
  const files = new MemoryFileSystem()
  const dying = await startedOn(files, redoBytesMax)
  const log = newLog(dying, settings)
  append(log, numbered(0, 3))
  await dying.store.flush()
  files.faults.add(fault)
  for (let index = 3; index < 30; index += 3) {
    if (dying.store.directories()[0]!.offline !== undefined) break
    append(log, numbered(index, 3))
    await settled()
  }
  await dying.store.flush().catch(() => {})
  expect(files.faults.failures).toBe(1)
  expect(dying.store.directories()[0]!.offline).toBeDefined()

  // Killed. The system has the pages still, and takes them for written; it may look like another system, as in another container.
  const killed = files.afterCrash({ keepUnsynced: 'all', systemDown })
  const heir = await startedOn(killed, redoBytesMax)
  const inherited = heir.store.find(log.id.topicId, 0)!
  const served = await readRecords(subject, inherited)
  append(inherited, numbered(inherited.endOffset, 3))
  await heir.store.flush()
  const promised = await readRecords(subject, inherited)

  const found = await startedOn(killed.afterCrash({ keepUnsynced: 'none' }), redoBytesMax)
  const left = found.store.find(log.id.topicId, 0)!
  return { served, promised, left: await readRecords(subject, left), troubles: found.logger.lines.filter(({ level }) => level === 'error'), after: left }
}

describe.each(['keep', 'some', 'drop'] as const)('after a sync that failed, its blocks counted as written (%s), and a kill', blocks => {
  test.each<[string, Partial<TopicSettings>, number, RegExp]>([
    ['a segment', {}, 0, /\.log$/],
    ['segments that roll', { segmentBytes: 300 }, 0, /0+9\.log$/],
    ['a segment of durability os', { durability: 'os', segmentBytes: 300 }, 0, /\.log$/],
    ['a segment, beside a redo log', { segmentBytes: 300 }, 1 << 20, /\.log$/],
    ['the redo log', {}, 1 << 20, /\.redo$/],
    ['an index', { segmentBytes: 300, indexIntervalBytes: 50 }, 0, /\.index$/],
    ['a snapshot of producers', { segmentBytes: 300 }, 0, /\.snapshot$/],
    ['the leader epochs', { segmentBytes: 300 }, 0, /leader-epoch-checkpoint/],
  ])('of %s: a power cut takes nothing that the start after it served', async (_what, settings, redoBytesMax, path) => {
    for (const [error, systemDown] of [['EIO', false], ['EIO', true], ['ENOSPC', false]] as const) {
      const { served, promised, left, troubles, after } = await lives(settings, redoBytesMax, { operation: 'sync', path, error, times: 1, blocks }, systemDown)
      expect(served.length).toBeGreaterThan(0)
      expect(promised.slice(0, served.length)).toEqual(served)
      expect(troubles).toEqual([])
      expect(left).toEqual(promised)
      expect(append(after, numbered(after.endOffset - 3, 3)).duplicate).toBe(true)
    }
  })
})

test.each(['EIO', 'ENOSPC'] as const)('a cut that was not synced (%s) takes the directory out of service, and is cut again by the next start', async error => {
  const files = new MemoryFileSystem()
  const dying = await startedOn(files, 0)
  const log = newLog(dying)
  for (let index = 0; index < 9; index += 3) append(log, numbered(index, 3))
  await dying.store.flush()
  files.faults.add({ operation: 'sync', path: /\.log$/, error, times: 1 })
  expect(() => { log.truncateTo(3) }).toThrow(/is offline/)
  const killed = files.afterCrash({ keepUnsynced: 'all' })
  const heir = await startedOn(killed, 0)
  expect(heir.store.find(log.id.topicId, 0)!.endOffset).toBe(3)
  const found = await startedOn(killed.afterCrash({ keepUnsynced: 'none' }), 0)
  expect(found.store.find(log.id.topicId, 0)!.endOffset).toBe(3)
})

test.each(['EIO', 'ENOSPC'] as const)('a directory that could not be synced (%s) is out of service, whichever sync it was, and is not synced again', async error => {
  for (let skip = 0; ; skip++) {
    const files = new MemoryFileSystem()
    const { store, timers } = await startedWithTimers(files)
    const syncs: string[] = []
    const syncDirectory = files.syncDirectory.bind(files)
    files.syncDirectory = path => {
      if (files.faults.failures === 0) syncs.length = 0
      syncs.push(path)
      syncDirectory(path)
    }
    files.faults.add({ operation: 'sync directory', path: /^\/data/, error, times: 1, skip })
    await worked(store, timers)
    if (files.faults.failures === 0) {
      expect(skip).toBeGreaterThan(8)
      return
    }
    const [failed, ...later] = syncs
    expect(store.directories()[0]!.offline, `sync ${skip}`).toContain(error)
    expect(later, `sync ${skip}`).not.toContain(failed)
  }
})

/** Three records, and nothing that tells that no sync failed. */
async function killedInDoubt() {
  const files = new MemoryFileSystem()
  const log = newLog(await startedOn(files, 0))
  append(log, numbered(0, 3))
  const killed = files.afterCrash({ keepUnsynced: 'all' })
  killed.remove('/data/.millrace-cache-life')
  return { killed, log }
}

test('a start on a full disk that has no room to write the end of a log once more serves it', async () => {
  const { killed, log } = await killedInDoubt()
  killed.faults.add({ operation: 'write', path: /\.log$/, error: 'ENOSPC' })
  const heir = await startedOn(killed, 0)
  expect(heir.store.find(log.id.topicId, 0)!.endOffset).toBe(3)
  expect(heir.logger.lines.filter(({ level }) => level === 'warn').map(({ message }) => message)).toEqual([expect.stringMatching(/not written once more: the disk is full/)])
})

/** The first read of a load is the check's, the second the one before it is written over itself. */
const misreadAt = (files: MemoryFileSystem, load: number): unknown =>
  files.faults.add({ operation: 'read', path: /\.log$/, damage: 'bit flipped', place: { position: 70, bit: 1 }, skip: 2 * load + 1, times: 1 })

test('an end of a log that reads differently a moment later is not written over itself: it is checked once more, and served', async () => {
  const { killed, log } = await killedInDoubt()
  misreadAt(killed, 0)
  const heir = await startedOn(killed, 0)
  expect(heir.logger.lines.filter(({ level }) => level !== 'info').map(({ message }) => message)).toEqual([expect.stringMatching(/^bytes were read wrong/)])
  expect(heir.store.find(log.id.topicId, 0)!.endOffset).toBe(3)
  const found = await startedOn(killed.afterCrash({ keepUnsynced: 'all' }), 0)
  expect(found.store.find(log.id.topicId, 0)!.endOffset).toBe(3)
})

test('an end of a log that reads differently in both checks is not written over itself, and served by a later start', async () => {
  const { killed, log } = await killedInDoubt()
  for (const load of [0, 1]) misreadAt(killed, load)
  const heir = await startedOn(killed, 0)
  expect(killed.counts.of('read: bit flipped')).toBe(2)
  expect(heir.logger.lines.filter(({ level }) => level === 'error').map(({ message }) => message)).toEqual([expect.stringMatching(/damaged and not served/)])
  const found = await startedOn(killed.afterCrash({ keepUnsynced: 'all' }), 0)
  expect(found.store.find(log.id.topicId, 0)!.endOffset).toBe(3)
})
