import { describe, expect, it } from 'vitest'
import { settled } from '../../../../src/testkit/world/settled.ts'
import { makeBatch } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { topicSettings } from '../../../../src/testkit/topic-settings.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { makeStore } from './store-subjects.ts'

const id = { topic: 'orders', topicId: 'b3JkZXJzb3JkZXJzb3JkZQ', partition: 0 }
const decoder = new TextDecoder()

function pointIn(files: MemoryFileSystem): number {
  const file = files.open('/data/recovery-point-offset-checkpoint', 'read')
  const bytes = new Uint8Array(file.size())
  file.read(bytes, 0, bytes.length, 0)
  return Number(/^orders 0 (\d+)\s*$/m.exec(decoder.decode(bytes))?.[1])
}

async function startedStore(files: MemoryFileSystem, timers: ManualTimers) {
  const { store } = makeStore({ files, timers })
  await store.start()
  return store
}

describe('recovery points', () => {
  it('move on when the index files of the active segment are on the disk, and not before', async () => {
    const timers = new ManualTimers()
    const operations: string[] = []
    const files = new MemoryFileSystem({ clock: timers.clock, observe: ({ kind, path }) => operations.push(`${kind} ${path}`) })
    const store = await startedStore(files, timers)
    const log = store.create(id, topicSettings({ indexIntervalBytes: 200 }))
    for (let index = 0; index < 50; index++) log.append(makeBatch(2), 0, makeBatch(2).length, { role: 'leader', leaderEpoch: 0 })
    await store.flush()
    operations.length = 0
    timers.advance(60_000)
    await settled()
    expect(pointIn(files)).toBe(100)
    const at = (what: RegExp): number => operations.findIndex(operation => what.test(operation))
    const written = at(/^write .*recovery-point/)
    expect(at(/^sync .*\.index$/)).toBeGreaterThan(at(/^write .*\.index$/))
    expect(at(/^sync .*\.timeindex$/)).toBeGreaterThan(at(/^write .*\.timeindex$/))
    expect(written).toBeGreaterThan(at(/^sync .*\.index$/))
    expect(written).toBeGreaterThan(at(/^sync .*\.timeindex$/))
    // Nothing is synced again while no entries come.
    operations.length = 0
    timers.advance(60_000)
    await settled()
    expect(operations.filter(operation => operation.startsWith('sync '))).toEqual([])
  })

  it('move on without waiting for the interval: with each closed segment and each 16 MiB of the active one', async () => {
    for (const [segmentBytes, open] of [[8 << 20, 12], [1 << 30, 20]] as const) {
      const timers = new ManualTimers()
      const files = new MemoryFileSystem({ clock: timers.clock })
      const store = await startedStore(files, timers)
      const log = store.create(id, topicSettings({ segmentBytes, durability: 'fsync' }))
      const mebibyte = makeBatch([{ timestamp: 1, value: 'm'.repeat(1 << 20) }])
      for (let index = 0; index < 40; index++) {
        log.append(mebibyte.slice(), 0, mebibyte.length, { role: 'leader', leaderEpoch: index >> 3 })
        await settled()
      }
      expect(pointIn(files)).toBeGreaterThanOrEqual(40 - open)
      const again = await startedStore(files.afterCrash({ keepUnsynced: 'none' }), new ManualTimers())
      const found = again.find(id.topicId, 0)!
      expect([found.endOffset, ...[0, 1, 2, 3, 4].map(epoch => found.epochEnd(epoch).endOffset)]).toEqual([40, 8, 16, 24, 32, 40])
    }
  })

  it('of one log do not pass epochs of another that are not on the disk', async () => {
    const timers = new ManualTimers()
    const files = new MemoryFileSystem({ clock: timers.clock })
    const store = await startedStore(files, timers)
    const settings = topicSettings({ segmentBytes: 300, durability: 'fsync' })
    const [log, other] = [store.create(id, settings), store.create({ ...id, topic: 'other', topicId: 'b3RoZXJvdGhlcm90aGVybw' }, settings)]
    for (let index = 0; index < 20; index++) log.append(makeBatch(1), 0, makeBatch(1).length, { role: 'leader', leaderEpoch: index >> 2 })
    for (let index = 0; index < 20; index++) other.append(makeBatch(1), 0, makeBatch(1).length, { role: 'leader', leaderEpoch: 0 })
    await store.flush()
    await settled()
    // Writes the points of all.
    other.truncateTo(5)
    expect(pointIn(files)).toBeGreaterThan(8)
    const again = await startedStore(files.afterCrash({ keepUnsynced: 'none' }), new ManualTimers())
    expect([0, 1, 2, 3, 4].map(epoch => again.find(id.topicId, 0)!.epochEnd(epoch).endOffset)).toEqual([4, 8, 12, 16, 20])
  })

  it('stay behind a sync of an index that fails, which takes the directory out of service', async () => {
    const timers = new ManualTimers()
    const files = new MemoryFileSystem({ clock: timers.clock })
    const store = await startedStore(files, timers)
    const log = store.create(id, topicSettings({ indexIntervalBytes: 200 }))
    for (let index = 0; index < 50; index++) log.append(makeBatch(2), 0, makeBatch(2).length, { role: 'leader', leaderEpoch: 0 })
    await store.flush()
    files.faults.add({ operation: 'sync', path: /\.timeindex$/, error: 'EIO' })
    timers.advance(60_000)
    await settled()
    expect(store.directories()[0]!.offline).toMatch(/timeindex/)
    expect(pointIn(files)).toBeNaN()
  })

  it('producers between the last snapshot and the recovery point are known after a kill', async () => {
    const timers = new ManualTimers()
    let files = new MemoryFileSystem({ clock: timers.clock })
    let store = await startedStore(files, timers)
    const settings = topicSettings({ indexIntervalBytes: 100 })
    const append = (batch: Uint8Array) => store.find(id.topicId, 0)!.append(batch, 0, batch.length, { role: 'leader', leaderEpoch: 0 })
    const sent = (sequence: number) => makeBatch(1, { producerId: 4, producerEpoch: 0, baseSequence: sequence })
    const kill = async (): Promise<void> => {
      files = files.afterCrash({ keepUnsynced: 'all' })
      const again = new ManualTimers(timers.clock)
      store = await startedStore(files, again)
      store.find(id.topicId, 0)!.configure(settings)
      checkpoint = () => { again.advance(60_000) }
    }
    let checkpoint = (): void => { timers.advance(60_000) }
    store.create(id, settings)
    for (let index = 0; index < 10; index++) append(makeBatch(1))
    // Makes a snapshot of the first ten.
    await kill()
    for (let sequence = 0; sequence < 6; sequence++) append(sent(sequence))
    for (let index = 0; index < 10; index++) append(makeBatch(1))
    await store.flush()
    checkpoint()
    await settled()
    expect(pointIn(files)).toBe(26)
    append(makeBatch(1))
    await kill()
    for (let sequence = 1; sequence < 6; sequence++) expect(append(sent(sequence))).toEqual({ baseOffset: 10 + sequence, lastOffset: 10 + sequence, duplicate: true })
    expect(append(sent(6))).toMatchObject({ baseOffset: 27, duplicate: false })
  })

  it('a power cut that takes the end of one index alone leaves lookups by time as a scan finds them', async () => {
    for (let seed = 0; seed < 40; seed++) {
      const timers = new ManualTimers()
      let files = new MemoryFileSystem({ clock: timers.clock })
      let store = await startedStore(files, timers)
      const log = store.create(id, topicSettings({ indexIntervalBytes: 100 }))
      // The newest record comes first: the only entry that the time index ever gets.
      for (let index = 0; index < 30; index++) {
        const batch = makeBatch([{ timestamp: 9000 - index, value: 'v'.repeat(60) }])
        log.append(batch, 0, batch.length, { role: 'leader', leaderEpoch: 0 })
      }
      await store.flush()
      timers.advance(60_000)
      if (seed % 2 === 0) await settled()
      let draws = seed
      files = files.afterCrash({ keepUnsynced: { fraction: () => (draws = (draws * 7 + 3) % 11) / 11, bytes: length => new Uint8Array(length) } })
      store = await startedStore(files, new ManualTimers(timers.clock))
      expect(store.find(id.topicId, 0)!.locate(8990, 30), `seed ${seed}`).toMatchObject({ offset: 0, timestamp: 9000 })
      await store.stop()
    }
  })
})
