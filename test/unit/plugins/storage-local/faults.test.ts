import { describe, expect, test } from 'vitest'
import { type PartitionLog } from '../../../../src/kernel/ports/partition-log.ts'
import { VolatileKeyValueEngine } from '../../../../src/platform/volatile-key-value-engine.ts'
import { append, fill, makeBatch, newLog, newTopicId, readRecords } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { topicSettings } from '../../../../src/testkit/topic-settings.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { settled } from '../../../../src/testkit/world/settled.ts'
import { clusterId, codeOf, makeStore, type StoreOptions, type TestStore } from './store-subjects.ts'

const subject = { settle: <T>(promise: Promise<T>): Promise<T> => promise }

async function started(options: Partial<StoreOptions> & { readonly files: MemoryFileSystem }): Promise<TestStore> {
  const made = makeStore({ timers: new ManualTimers(), ...options })
  await made.store.start()
  return made
}

function copyFile(files: MemoryFileSystem, from: string, to: string): void {
  const source = files.open(from, 'read')
  const bytes = new Uint8Array(source.size())
  source.read(bytes, 0, bytes.length, 0)
  const target = files.open(to, 'ensure')
  target.truncate(0)
  target.write([bytes], 0)
}

/** Two data directories, and a log in one of them. */
async function oneOfTwo() {
  const files = new MemoryFileSystem()
  const directories = ['/first', '/second']
  const life = await started({ files, directories })
  const old = newLog(life)
  const home = directories.find(directory => files.list(directory).includes(`${old.id.topic}-0`))!
  return { files, directories, life, old, home }
}

const offsets = async (log: PartitionLog): Promise<number[]> => (await readRecords(subject, log)).map(record => record.offset)

describe('a full disk', () => {
  test('leaves the log as it was, whatever part of the batch was written, and the next append goes on', async () => {
    for (const keptBytes of [0, 1, 61, 68]) {
      const files = new MemoryFileSystem()
      const { store } = await started({ files })
      const log = newLog({ store })
      fill(log, 3)
      const remove = files.faults.add({ operation: 'write', path: /\.log$/, error: 'ENOSPC', keptBytes, times: 1 })
      expect(codeOf(() => append(log, makeBatch(1)))).toBe('MR_FILE_NO_SPACE')
      remove()
      expect([log.endOffset, log.lastEpoch]).toEqual([3, 0])
      fill(log, 2)
      expect(await offsets(log)).toEqual([0, 1, 2, 3, 4])
      const again = await started({ files: files.afterCrash({ keepUnsynced: 'all' }) })
      expect(await offsets(again.store.find(log.id.topicId, 0)!)).toEqual([0, 1, 2, 3, 4])
    }
  })

  test('leaves a producer where it was: the same batch is not a duplicate', async () => {
    const files = new MemoryFileSystem()
    const { store } = await started({ files })
    const log = newLog({ store })
    const sent = (): Uint8Array => makeBatch(1, { producerId: 1, producerEpoch: 0, baseSequence: 0 })
    files.faults.add({ operation: 'write', path: /\.log$/, error: 'ENOSPC', times: 1 })
    expect(codeOf(() => append(log, sent()))).toBe('MR_FILE_NO_SPACE')
    expect(append(log, sent()).duplicate).toBe(false)
  })

  test('takes the directory out of service when the rest of a write cannot be cut', async () => {
    const files = new MemoryFileSystem()
    const { store, fatalErrors } = await started({ files })
    const log = newLog({ store })
    fill(log, 3)
    files.faults.add({ operation: 'write', path: /\.log$/, error: 'ENOSPC', keptBytes: 7 })
    files.faults.add({ operation: 'truncate', error: 'EIO' })
    expect(codeOf(() => append(log, makeBatch(1)))).toBe('MR_LOG_DIRECTORY_OFFLINE')
    expect(codeOf(() => append(log, makeBatch(1)))).toBe('MR_LOG_DIRECTORY_OFFLINE')
    expect(fatalErrors.length).toBe(1)
  })

  test('does not stop an append when only indexes and snapshots find no room', async () => {
    const files = new MemoryFileSystem()
    const { store } = await started({ files })
    const log = newLog({ store }, { segmentBytes: 200, indexIntervalBytes: 50 })
    const remove = files.faults.add({ operation: 'write', path: /(index|snapshot)$/, error: 'ENOSPC' })
    fill(log, 10)
    expect(files.faults.failures).toBeGreaterThan(0)
    remove()
    await store.flush()
    expect(await offsets(log)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    for (const keepUnsynced of ['all', 'none'] as const) {
      const again = await started({ files: files.afterCrash({ keepUnsynced }) })
      expect(await offsets(again.store.find(log.id.topicId, 0)!)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    }
  })

  test('refuses a roll and leaves the log as it was', async () => {
    const files = new MemoryFileSystem()
    const { store } = await started({ files })
    const log = newLog({ store }, { segmentBytes: 150 })
    fill(log, 2)
    const remove = files.faults.add({ operation: 'create', path: /\.log$/, error: 'ENOSPC' })
    expect(codeOf(() => append(log, makeBatch(1)))).toBe('MR_FILE_NO_SPACE')
    remove()
    fill(log, 1)
    expect(await offsets(log)).toEqual([0, 1, 2])
  })

  test('refuses a deletion of records and leaves the log as it was', async () => {
    const files = new MemoryFileSystem()
    const { store } = await started({ files })
    const log = newLog({ store })
    fill(log, 5)
    log.raiseHighWatermark(5)
    files.faults.add({ operation: 'write', path: /log-start/, error: 'ENOSPC', times: 2 })
    expect(codeOf(() => log.deleteTo(3))).toBe('MR_FILE_NO_SPACE')
    expect(log.startOffset).toBe(0)
    log.deleteTo(3)
    expect(log.startOffset).toBe(3)
  })
})

describe('a failing disk', () => {
  test('a failed write takes the directory out of service, with all of its logs and for good', async () => {
    const files = new MemoryFileSystem()
    const { store, logger } = await started({ files })
    const [log, other] = [newLog({ store }), newLog({ store })]
    const told: unknown[] = []
    other.watcher = { flushed: () => {}, failed: error => told.push(error) }
    const remove = files.faults.add({ operation: 'write', path: /\.log$/, error: 'EIO', times: 1 })
    expect(codeOf(() => append(log, makeBatch(1)))).toBe('MR_LOG_DIRECTORY_OFFLINE')
    remove()
    expect(codeOf(() => append(log, makeBatch(1)))).toBe('MR_LOG_DIRECTORY_OFFLINE')
    expect(codeOf(() => append(other, makeBatch(1)))).toBe('MR_LOG_DIRECTORY_OFFLINE')
    expect(told).toMatchObject([{ code: 'MR_LOG_DIRECTORY_OFFLINE' }])
    expect(store.directories()[0]!.offline).toContain('EIO')
    expect(logger.lines.some(line => line.level === 'error')).toBe(true)
    await expect(store.flush()).rejects.toMatchObject({ code: 'MR_LOG_DIRECTORY_OFFLINE' })
    expect(codeOf(() => newLog({ store }))).toBe('MR_LOG_DIRECTORY_OFFLINE')
  })

  test('a sync that failed is not tried again, and nothing it was to cover counts as flushed', async () => {
    const files = new MemoryFileSystem()
    const { store } = await started({ files })
    const log = newLog({ store }, { durability: 'fsync' })
    let syncs = 0
    files.observe = operation => { if (operation.kind === 'sync' && operation.path.endsWith('.log')) syncs++ }
    files.faults.add({ operation: 'sync', path: /\.log$/, error: 'EIO', times: 1 })
    const failed = new Promise(resolve => { log.watcher = { flushed: () => {}, failed: resolve } })
    fill(log, 3)
    await expect(failed).resolves.toMatchObject({ code: 'MR_LOG_DIRECTORY_OFFLINE' })
    await new Promise(resolve => setImmediate(resolve))
    expect([syncs, log.flushedOffset]).toEqual([1, 0])
    await store.stop()
    expect(syncs).toBe(1)
    expect(files.stat('/data/.kafka_cleanshutdown')).toBeUndefined()
  })

  test('one of two directories failing leaves the other in service, and new logs go there', async () => {
    const files = new MemoryFileSystem()
    const { store, fatalErrors } = await started({ files, directories: ['/first', '/second'] })
    const logs = [newLog({ store }), newLog({ store })]
    expect(store.directories().map(directory => directory.partitions)).toEqual([1, 1])
    files.faults.add({ operation: 'write', path: /^\/first/, error: 'EIO' })
    for (const log of logs) codeOf(() => append(log, makeBatch(1)))
    expect(logs.map(log => log.endOffset)).toEqual([0, 1])
    expect(fatalErrors).toEqual([])
    const made = newLog({ store })
    fill(made, 1)
    expect(store.directories().map(directory => [directory.path, directory.offline !== undefined])).toEqual([['/first', true], ['/second', false]])
    await store.stop()
    expect(files.stat('/first/.kafka_cleanshutdown')).toBeUndefined()
    expect(files.stat('/second/.kafka_cleanshutdown')).toBeDefined()
  })

  test('a read that fails ends with an error, not with other bytes', async () => {
    const files = new MemoryFileSystem()
    const { store } = await started({ files })
    const log = newLog({ store })
    fill(log, 3)
    files.faults.add({ operation: 'read', path: /\.log$/, error: 'EIO' })
    await expect(readRecords(subject, log)).rejects.toMatchObject({ code: 'MR_LOG_DIRECTORY_OFFLINE' })
  })
})

describe('a start', () => {
  test('refuses the directory of another cluster and of another node, and says which', async () => {
    const files = new MemoryFileSystem()
    const { store } = await started({ files })
    await store.stop()
    const other = makeStore({ files, timers: new ManualTimers(), clusterId: 'b3RoZXItY2x1c3Rlci1pZA' })
    await expect(other.store.start()).rejects.toMatchObject({ code: 'MR_CLUSTER_ID_MISMATCH', details: { found: clusterId } })
    await other.store.stop()
    const node = makeStore({ files, timers: new ManualTimers(), nodeId: 2 })
    await expect(node.store.start()).rejects.toMatchObject({ code: 'MR_CLUSTER_NODE_MISMATCH', details: { found: 1, expected: 2 } })
    await node.store.stop()
    const right = await started({ files })
    await right.store.stop()
  })

  test('keeps the directory id, which is drawn once', async () => {
    const files = new MemoryFileSystem()
    const first = await started({ files, seed: 1 })
    const { id } = first.store.directories()[0]!
    await first.store.stop()
    const second = await started({ files, seed: 2 })
    expect(second.store.directories()[0]!.id).toBe(id)
  })

  test('refuses a directory that another store has', async () => {
    const files = new MemoryFileSystem()
    const engine = new VolatileKeyValueEngine()
    await started({ files, engine })
    const locked = await started({ files, engine }).then(() => undefined, (error: unknown) => error)
    expect(locked).toMatchObject({ code: 'MR_LOG_DIRECTORY_LOCKED', details: { path: '/data' } })
  })

  test('refuses a read-only directory by its path', async () => {
    const files = new MemoryFileSystem()
    files.makeDirectory('/data')
    files.faults.add({ operation: 'create', error: 'EACCES' })
    await expect(started({ files })).rejects.toMatchObject({ code: 'MR_FILE_DENIED' })
  })

  test('goes on without a directory whose disk fails, if there is another', async () => {
    const files = new MemoryFileSystem()
    files.makeDirectory('/first')
    files.faults.add({ operation: 'create', path: /^\/first/, error: 'EIO' })
    const { store } = await started({ files, directories: ['/first', '/second'] })
    expect(store.directories().map(directory => directory.offline !== undefined)).toEqual([true, false])
    await store.stop()
  })

  test('refuses a copy of a directory, and a partition that is in two directories', async () => {
    const files = new MemoryFileSystem()
    const directories = ['/first', '/second']
    const { store } = await started({ files, directories })
    const log = newLog({ store })
    await store.stop()
    const name = `${log.id.topic}-0`
    const [home, other] = files.list('/first').includes(name) ? directories : [...directories].reverse()
    files.makeDirectory(`${other}/${name}`)
    copyFile(files, `${home}/${name}/partition.metadata`, `${other}/${name}/partition.metadata`)
    await expect(started({ files, directories })).rejects.toMatchObject({ code: 'MR_LOG_PARTITION_TWICE', details: { partition: name } })
    files.remove(`${other}/${name}`)
    copyFile(files, '/first/meta.properties', '/second/meta.properties')
    await expect(started({ files, directories })).rejects.toMatchObject({ code: 'MR_LOG_DIRECTORY_COPIED' })
  })

  test('finds both logs of a name where a topic was made again in another directory while that of the first was out of service', async () => {
    const { files, directories, life, old, home } = await oneOfTwo()
    files.faults.add({ operation: 'any', path: new RegExp(`^${home}`), error: 'EIO' })
    expect(() => life.store.remove(old.id.topicId, 0)).toThrow()
    expect(life.store.directories().filter(({ offline }) => offline !== undefined)).toHaveLength(1)
    const made = life.store.create({ topic: old.id.topic, topicId: newTopicId(), partition: 0 }, topicSettings())
    const again = await started({ files: files.afterCrash({ keepUnsynced: 'none' }), directories })
    expect([...again.store.logs()].map(({ id }) => id.topicId).sort()).toEqual([old.id.topicId, made.id.topicId].sort())
    again.store.setAside(old.id.topicId, 0)
    expect([...again.store.logs()].map(({ id }) => id.topicId)).toEqual([made.id.topicId])
    await again.store.stop()
  })

  test('finds the log of a topic that was made again where the redo log says of the first that it was removed, and its directory went out of service at that', async () => {
    const { files, directories, life, old, home } = await oneOfTwo()
    for (let index = 0; index < 3; index++) {
      append(old, makeBatch([{ timestamp: 1000, value: `record ${index}` }]))
      await settled()
    }
    files.faults.add({ operation: 'rename', path: `${home}/${old.id.topic}-0`, error: 'EIO' })
    expect(() => life.store.remove(old.id.topicId, 0)).toThrow()
    const made = life.store.create({ topic: old.id.topic, topicId: newTopicId(), partition: 0 }, topicSettings())
    const again = await started({ files: files.afterCrash({ keepUnsynced: 'none' }), directories })
    expect([...again.store.logs()].map(({ id }) => id.topicId)).toEqual([made.id.topicId])
    await again.store.stop()
  })

  test('after a clean stop reads nothing of closed segments', async () => {
    const files = new MemoryFileSystem()
    const { store } = await started({ files })
    const log = newLog({ store }, { segmentBytes: 5000 })
    fill(log, 200, 100)
    await store.stop()
    const read: string[] = []
    files.observe = operation => { if (operation.kind === 'read') read.push(operation.path) }
    const again = await started({ files })
    expect(again.store.find(log.id.topicId, 0)!.endOffset).toBe(200)
    expect(new Set(read.filter(path => path.endsWith('.log'))).size).toBe(1)
  })

  test('after a kill reads of the segments no more than what is behind the recovery point', async () => {
    const files = new MemoryFileSystem()
    const timers = new ManualTimers()
    const { store } = await started({ files, timers })
    const log = newLog({ store }, { segmentBytes: 1 << 30, indexIntervalBytes: 4096 })
    fill(log, 2000, 500)
    await store.flush()
    timers.advance(60_001)
    await settled()
    fill(log, 20, 500)
    const left = files.afterCrash({ keepUnsynced: 'all' })
    let bytes = 0
    left.observe = operation => { if (operation.kind === 'read' && operation.path.endsWith('.log')) bytes += operation.bytes! }
    const again = await started({ files: left })
    const found = again.store.find(log.id.topicId, 0)!
    expect(found.endOffset).toBe(2020)
    expect(log.sizeBytes).toBeGreaterThan(1_000_000)
    // Producers are replayed from the last roll's snapshot as long as that is below 16 MiB: these reads hop from header to header.
    expect(again.logger.lines.some(line => line.level === 'warn')).toBe(false)
    expect(bytes).toBeLessThan(1_400_000)
  })
})

describe('the flusher', () => {
  test('has at most three syncs in flight, and one of a log; each covers what was written before it', async () => {
    const timers = new ManualTimers()
    const files = new MemoryFileSystem({ timers, syncMs: () => 5 })
    const { store } = await started({ files, timers })
    const logs = Array.from({ length: 10 }, () => newLog({ store }, { durability: 'fsync' }))
    const inFlight = new Map<string, number>()
    let most = 0
    let syncs = 0
    files.observe = ({ kind, path }) => {
      if (kind !== 'sync' || !path.endsWith('.log')) return
      syncs++
      expect(inFlight.has(path)).toBe(false)
      inFlight.set(path, syncs)
      most = Math.max(most, inFlight.size)
    }
    for (const log of logs) {
      log.watcher = { flushed: () => inFlight.delete(`/data/${log.id.topic}-0/00000000000000000000.log`), failed: () => {} }
    }
    for (let round = 0; round < 20; round++) {
      for (const log of logs) fill(log, 1)
      await Promise.resolve()
    }
    expect(most).toBe(3)
    timers.advance(200)
    expect(logs.map(log => log.flushedOffset)).toEqual(new Array(10).fill(20))
    // Twenty appends to each of ten logs: the first of three logs alone, the rest together.
    expect(syncs).toBe(13)
    expect(most).toBe(3)
  })

  test('counts the offsets of a new segment only after the old one is on the disk', async () => {
    const timers = new ManualTimers()
    let slow = true
    const files = new MemoryFileSystem({ timers, syncMs: () => slow ? 1000 : 1 })
    const { store } = await started({ files, timers })
    const log = newLog({ store }, { durability: 'fsync', segmentBytes: 150 })
    fill(log, 2)
    await Promise.resolve()
    slow = false
    fill(log, 4)
    await Promise.resolve()
    timers.advance(500)
    expect(log.flushedOffset).toBe(0)
    timers.advance(600)
    expect(log.flushedOffset).toBe(6)
  })
})
