import { describe, expect, it } from 'vitest'
import { MillraceError } from '../../../../src/kernel/errors/index.ts'
import { type PartitionId } from '../../../../src/kernel/model/ids.ts'
import { type LogStore } from '../../../../src/kernel/ports/log-store.ts'
import { type LogWatcher, type PartitionLog } from '../../../../src/kernel/ports/partition-log.ts'
import { SingleReplicator } from '../../../../src/plugins/replication-single/single-replicator.ts'
import { newTopicId } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { ManualMetadata, soleTopic } from '../../../../src/testkit/conformance/replicator-metadata.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { RecordingLogger } from '../../../../src/testkit/world/recording-telemetry.ts'
import { topicSettings } from '../../../../src/testkit/topic-settings.ts'

/** A log of which a test decides when it is flushed: it counts offsets and holds nothing. */
class CountedLog {
  readonly id: PartitionId
  readonly configured: unknown[] = []
  watcher: LogWatcher | undefined
  startOffset = 0
  endOffset: number
  flushedOffset: number
  highWatermark = 0
  lastEpoch = -1
  sizeBytes = 0

  constructor(id: PartitionId, endOffset = 0) {
    this.id = id
    this.endOffset = this.flushedOffset = endOffset
  }

  append() {
    const baseOffset = this.endOffset++
    return { baseOffset, lastOffset: baseOffset, duplicate: false }
  }

  flush(offset = this.endOffset): void {
    this.flushedOffset = offset
    this.watcher?.flushed()
  }

  configure(settings: unknown): void {
    this.configured.push(settings)
  }

  raiseHighWatermark(offset: number): void {
    this.highWatermark = Math.max(this.highWatermark, offset)
  }
}

class CountedStore {
  readonly found = new Map<string, CountedLog>()
  readonly done: string[] = []
  refusal: Error | undefined
  offline: string | undefined

  put(id: PartitionId, endOffset: number): CountedLog {
    const log = new CountedLog(id, endOffset)
    this.found.set(`${id.topicId}-${id.partition}`, log)
    return log
  }

  directories() { return [{ path: '/data', id: 'd', offline: undefined }, { path: '/data2', id: '', offline: this.offline }] }
  logs() { return this.found.values() }
  find(topicId: string, partition: number) { return this.found.get(`${topicId}-${partition}`) }

  create(id: PartitionId): CountedLog {
    if (this.refusal !== undefined) throw this.refusal
    this.done.push(`create ${id.topic}-${id.partition}`)
    return this.put(id, 0)
  }

  remove(topicId: string, partition: number): void {
    this.done.push(`remove ${this.find(topicId, partition)!.id.topic}-${partition}`)
    this.found.delete(`${topicId}-${partition}`)
  }

  setAside(topicId: string, partition: number): void {
    this.done.push(`set aside ${this.find(topicId, partition)!.id.topic}-${partition}`)
    this.found.delete(`${topicId}-${partition}`)
  }
}

async function start(prepare: (metadata: ManualMetadata, store: CountedStore) => void) {
  const metadata = new ManualMetadata()
  const store = new CountedStore()
  const log = new RecordingLogger()
  const timers = new ManualTimers()
  prepare(metadata, store)
  const replicator = new SingleReplicator({ nodeId: 1, metadata, controller: metadata, store: store as unknown as LogStore, log, clock: timers.clock, timers })
  await replicator.start()
  return { metadata, store, log, replicator, timers }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('what was there at the start', () => {
  it('a log of a known partition is taken, with all it has as its watermark and with the settings of now', async () => {
    const topicId = newTopicId()
    const settings = topicSettings({ retentionMs: 7 })
    const { replicator, store } = await start((metadata, logs) => {
      logs.put({ topic: 'a', topicId, partition: 0 }, 12)
      metadata.put({ ...soleTopic('a', topicId, [1]), settings })
    })
    expect(replicator.replica(topicId, 0)).toMatchObject({ highWatermark: 12, leader: true, settings })
    expect(store.find(topicId, 0)).toMatchObject({ highWatermark: 12 })
    expect(store.find(topicId, 0)!.configured).toContain(settings)
    expect(store.done).toEqual([])
  })

  it('a log that the metadata does not know is set aside, with an error line, and not removed', async () => {
    const { store, log } = await start((_metadata, logs) => { logs.put({ topic: 'stray', topicId: newTopicId(), partition: 3 }, 5) })
    expect(store.done).toEqual(['set aside stray-3'])
    expect(log.lines).toMatchObject([{ level: 'error', fields: { topic: 'stray', partition: 3 } }])
  })

  it('hundreds of logs that the metadata does not know are set aside in slices, after the start has resolved', async () => {
    const { store, timers } = await start((_metadata, logs) => { for (let partition = 0; partition < 100; partition++) logs.put({ topic: 'stray', topicId: newTopicId(), partition }, 5) })
    expect(store.done.length).toBeLessThan(50)
    timers.runSoon()
    expect(store.done).toHaveLength(100)
  })

  it('a log of a partition that lies elsewhere, or of a former topic of the name, is set aside', async () => {
    const topicId = newTopicId()
    const { store, replicator } = await start((metadata, logs) => {
      logs.put({ topic: 'a', topicId, partition: 0 }, 5)
      logs.put({ topic: 'b', topicId: newTopicId(), partition: 0 }, 5)
      metadata.put(soleTopic('a', topicId, [2]))
      metadata.put(soleTopic('b', newTopicId(), [1]))
    })
    expect(store.done.sort()).toEqual(['create b-0', 'set aside a-0', 'set aside b-0'])
    expect(replicator.replica(topicId, 0)).toBeUndefined()
  })

  it('a partition without a log gets an empty one', async () => {
    const { store } = await start((metadata) => { metadata.put(soleTopic('a', newTopicId(), [1, 1])) })
    expect(store.done).toEqual(['create a-0', 'create a-1'])
  })
})

describe('the logs of a topic that was deleted', () => {
  const deleted = newTopicId()
  const put = (metadata: ManualMetadata, logs: CountedStore): void => {
    for (const partition of [0, 1]) logs.put({ topic: 'gone', topicId: deleted, partition }, 5)
    logs.put({ topic: 'stranger', topicId: newTopicId(), partition: 0 }, 5)
    metadata.removals.set(deleted, [1, 2])
  }

  it('before the start are removed by it, which is confirmed for this broker alone; a stranger is set aside all the same', async () => {
    const { metadata, store, timers } = await start(put)
    expect(store.done).toEqual(['remove gone-0', 'set aside stranger-0', 'remove gone-1'])
    timers.advance(1000)
    expect([...metadata.removals]).toEqual([[deleted, [2]]])
  })

  it('and were gone before the end of the last run are confirmed by the next start', async () => {
    const { metadata, store, timers } = await start((found) => { found.removals.set(deleted, [1]) })
    timers.advance(1000)
    expect(store.done).toEqual([])
    expect(metadata.removals.size).toBe(0)
  })

  it('are not confirmed while a directory is out of service, nor where a removal failed', async () => {
    const offline = await start((metadata, logs) => {
      put(metadata, logs)
      logs.offline = 'EIO'
    })
    offline.timers.advance(60_000)
    expect(offline.metadata.removals.get(deleted)).toEqual([1, 2])
    const failing = await start((metadata, logs) => {
      put(metadata, logs)
      logs.remove = () => { throw new MillraceError('MR_FILE_FAILED', { operation: 'rename', path: '/data/gone-0', reason: 'EIO' }) }
    })
    failing.timers.advance(60_000)
    expect(failing.metadata.removals.get(deleted)).toEqual([1, 2])
  })

  it('are confirmed together, once; a stop leaves it to the next start', async () => {
    const calls: number[] = []
    const { metadata, timers, replicator } = await start((found) => {
      const confirm = found.confirmRemovals.bind(found)
      found.confirmRemovals = (nodeId, ids) => {
        calls.push(ids.length)
        return confirm(nodeId, ids)
      }
    })
    for (const name of ['a', 'b', 'c']) metadata.drop(metadata.put(soleTopic(name, newTopicId(), [1])))
    timers.advance(60_000)
    expect(calls).toEqual([3])
    expect(metadata.removals.size).toBe(0)
    metadata.drop(metadata.put(soleTopic('d', newTopicId(), [1])))
    await replicator.stop()
    expect(timers.pending).toBe(0)
    expect(metadata.removals.size).toBe(1)
  })

  it('are confirmed again when the controller did not answer', async () => {
    let refusals = 2
    const { metadata, timers, log } = await start((found) => {
      const confirm = found.confirmRemovals.bind(found)
      found.confirmRemovals = (nodeId, ids) => refusals-- > 0 ? Promise.reject(new MillraceError('MR_CLUSTER_NOT_CONTROLLER', { nodeId: 1, leaderId: 2 })) : confirm(nodeId, ids)
      found.removals.set(deleted, [1])
    })
    for (let count = 0; count < 3; count++) {
      expect(metadata.removals.size).toBe(1)
      timers.advance(5000)
      await turn()
    }
    expect(metadata.removals.size).toBe(0)
    expect(log.lines).toHaveLength(2)
  })
})

describe('a log that cannot be made', () => {
  it('leaves that partition without a replica, degrades health, and spares the others', async () => {
    const { metadata, store, log, replicator, timers } = await start(() => {})
    store.refusal = new MillraceError('MR_FILE_NO_SPACE', { operation: 'create', path: '/data' })
    const broken = metadata.put(soleTopic('broken', newTopicId(), [1]))
    timers.runSoon()
    store.refusal = undefined
    const fine = metadata.put(soleTopic('fine', newTopicId(), [1]))
    expect(replicator.replica(broken.id, 0)).toBeUndefined()
    expect(replicator.replica(fine.id, 0)).toBeDefined()
    expect(replicator.check()).toMatchObject({ state: 'degraded', detail: expect.stringContaining('broken-0') })
    expect(log.lines[0]).toMatchObject({ level: 'error', fields: { topic: 'broken' } })
    expect(replicator.check().detail).toContain('/data')
    const notServed = (): unknown[] => Array.from(replicator.notServed(), ({ topic, partition }) => `${topic}-${partition}`)
    expect(notServed()).toEqual(['broken-0'])
    // One that fails later has a replica, and serves no more than it.
    store.find(fine.id, 0)!.watcher!.failed(new MillraceError('MR_LOG_CORRUPT', { topic: 'fine', partition: 0, offset: 4, path: '/data', reason: 'rot' }))
    expect(notServed()).toEqual(['broken-0', 'fine-0'])
    metadata.drop(broken)
    expect(notServed()).toEqual(['fine-0'])
    expect(replicator.check().state).toBe('ok')
  })
})

describe('while a data directory is offline', () => {
  it('logs of topics that were there before are never made anew, in this start or by a later change; new topics and new partitions are', async () => {
    const topicId = newTopicId()
    const { metadata, store, log, replicator, timers } = await start((found, logs) => {
      logs.offline = 'EIO'
      logs.put({ topic: 'old', topicId, partition: 0 }, 5)
      found.put(soleTopic('old', topicId, [1, 1]))
    })
    metadata.put({ ...soleTopic('old', topicId, [1, 1]), settings: topicSettings({ retentionMs: 7 }) })
    expect(store.done).toEqual([])
    expect(replicator.replica(topicId, 0)).toMatchObject({ highWatermark: 5 })
    expect(replicator.replica(topicId, 1)).toBeUndefined()
    expect(replicator.logsMissing).toBe(1)
    expect(replicator.check()).toMatchObject({ state: 'degraded', detail: expect.stringContaining('old-1') })
    expect(log.lines).toMatchObject([{ level: 'error', fields: { topic: 'old', partition: 1, error: { code: 'MR_LOG_DIRECTORY_OFFLINE' } } }])
    metadata.put(soleTopic('new', newTopicId(), [1]))
    metadata.put(soleTopic('old', topicId, [1, 1, 1]))
    timers.runSoon()
    expect(store.done).toEqual(['create new-0', 'create old-2'])
  })
})

describe('a log for which there was no space', () => {
  it('is tried again until there is, with one line, and leads then', async () => {
    const { metadata, store, log, replicator, timers } = await start(() => {})
    store.refusal = new MillraceError('MR_FILE_NO_SPACE', { operation: 'create', path: '/data' })
    const { id } = metadata.put(soleTopic('a', newTopicId(), [1]))
    timers.advance(60_000)
    expect(replicator.logsMissing).toBe(1)
    store.refusal = undefined
    timers.advance(10_000)
    expect(replicator.replica(id, 0)).toMatchObject({ leader: true })
    expect(replicator.check().state).toBe('ok')
    expect(log.lines).toHaveLength(1)
    store.refusal = new MillraceError('MR_FILE_NO_SPACE', { operation: 'create', path: '/data' })
    metadata.put(soleTopic('b', newTopicId(), [1]))
    await replicator.stop()
    expect(timers.pending).toBe(0)
  })
})

describe('watermarks', () => {
  async function led() {
    const topicId = newTopicId()
    const started = await start((metadata) => { metadata.put(soleTopic('a', topicId, [1])) })
    return { ...started, topicId, replica: started.replicator.replica(topicId, 0)!, log: started.store.find(topicId, 0)! }
  }
  const nothing = new Uint8Array(0)

  it('wait for the flush, and never go back', async () => {
    const { replica, log } = await led()
    replica.append(nothing, 0, 0)
    replica.append(nothing, 0, 0)
    expect(replica.highWatermark).toBe(0)
    log.flush(1)
    expect(replica.highWatermark).toBe(1)
    log.flush(0)
    expect(replica.highWatermark).toBe(1)
    log.flush(2)
    expect([replica.highWatermark, replica.lastStableOffset, log.highWatermark]).toEqual([2, 2, 2])
  })

  it('wake all that one flush reached in one microtask, before the loop turns', async () => {
    const { replica, log } = await led()
    const order: string[] = []
    for (const offset of [2, 1]) replica.wait({ offset, reached: () => order.push(`reached ${offset}`), failed: () => order.push('failed') })
    replica.append(nothing, 0, 0)
    replica.append(nothing, 0, 0)
    setImmediate(() => order.push('turn'))
    log.flush()
    queueMicrotask(() => order.push('next microtask'))
    expect(order).toEqual([])
    await turn()
    expect(order.slice(0, 4)).toEqual(['reached 1', 'reached 2', 'next microtask', 'turn'])
  })

  it('a log that failed fails appends and waiters with its error, but for those whose offset was reached', async () => {
    const { replica, log } = await led()
    const calls: string[] = []
    const error = new MillraceError('MR_LOG_DIRECTORY_OFFLINE', { path: '/data', reason: 'EIO' })
    for (const offset of [1, 2]) replica.wait({ offset, reached: () => calls.push(`reached ${offset}`), failed: (reason) => calls.push(`failed ${offset} ${reason === error}`) })
    replica.append(nothing, 0, 0)
    replica.append(nothing, 0, 0)
    log.flush(1)
    log.watcher!.failed(error)
    await turn()
    expect(calls).toEqual(['reached 1', 'failed 2 true'])
    expect(() => replica.append(nothing, 0, 0)).toThrow(error)
    replica.wait({ offset: 9, reached: () => calls.push('reached'), failed: () => calls.push('late') })
    await turn()
    expect(calls.at(-1)).toBe('late')
  })

  it('of a deleted topic are watched no more', async () => {
    const { metadata, log, topicId } = await led()
    metadata.drop(soleTopic('a', topicId, [1]))
    expect((log as unknown as PartitionLog).watcher).toBeUndefined()
  })
})
