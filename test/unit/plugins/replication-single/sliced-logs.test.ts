import { describe, expect, it } from 'vitest'
import { type Timers } from '../../../../src/kernel/ports/clock.ts'
import { type TopicImage } from '../../../../src/kernel/ports/cluster-metadata.ts'
import { SingleReplicator } from '../../../../src/plugins/replication-single/single-replicator.ts'
import { newTopicId } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { ManualMetadata, soleTopic } from '../../../../src/testkit/conformance/replicator-metadata.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { RecordingLogger } from '../../../../src/testkit/world/recording-telemetry.ts'
import { settled } from '../../../../src/testkit/world/settled.ts'
import { makeStore } from '../storage-local/store-subjects.ts'

/** Timers of which a test runs one turn of the event loop at a time. */
class Turns implements Timers {
  readonly timers = new ManualTimers()
  private ready: (() => void)[] = []

  after(delayMs: number, callback: () => void) { return this.timers.after(delayMs, callback) }
  soon(callback: () => void): void { this.ready.push(callback) }

  next(): void {
    for (const callback of this.ready.splice(0)) callback()
  }

  get isQuiet(): boolean { return this.ready.length === 0 }
}

const syncKinds = /^sync/

/** A replicator over a store in simulated files, in which each sync takes a while. */
class World {
  readonly turns = new Turns()
  readonly clock = this.turns.timers.clock
  readonly log = new RecordingLogger()
  files = new MemoryFileSystem({ clock: this.clock })
  store!: ReturnType<typeof makeStore>['store']
  replicator!: SingleReplicator
  syncs = 0
  private readonly syncMs: number
  readonly metadata = new ManualMetadata()

  constructor(syncMs: number) {
    this.syncMs = syncMs
  }

  async startStore(): Promise<void> {
    this.store = makeStore({ files: this.files, timers: this.turns.timers }).store
    await this.store.start()
    this.files.observe = ({ kind }) => {
      if (!syncKinds.test(kind)) return
      this.syncs++
      this.clock.advance(this.syncMs)
    }
    this.replicator = new SingleReplicator({
      nodeId: 1, metadata: this.metadata, controller: this.metadata, store: this.store, log: this.log, clock: this.clock, timers: this.turns,
    })
  }

  async start(): Promise<this> {
    await this.startStore()
    await this.replicator.start()
    return this
  }

  /** Runs turns until it is settled. */
  async through(end: Promise<unknown>): Promise<number> {
    let isSettled = false
    const note = (): void => { isSettled = true }
    end.then(note, note)
    let turns = 0
    for (await settled(); !isSettled; turns++) {
      expect(this.turns.isQuiet).toBe(false)
      this.turns.next()
      await settled()
    }
    await end
    return turns
  }

  /** Runs turns until nothing is left to do. Gives the most time and syncs that one took. */
  drain(first?: () => void): { turns: number, msMax: number, syncsMax: number } {
    const worst = { turns: 0, msMax: 0, syncsMax: 0 }
    const turn = (run: () => void): void => {
      const [ms, syncs] = [this.clock.monotonicMs(), this.syncs]
      run()
      worst.turns++
      worst.msMax = Math.max(worst.msMax, this.clock.monotonicMs() - ms)
      worst.syncsMax = Math.max(worst.syncsMax, this.syncs - syncs)
    }
    if (first !== undefined) turn(first)
    while (!this.turns.isQuiet) turn(() => { this.turns.next() })
    return worst
  }

  /** The process is killed, or the power is cut, and what it left is taken up by another one. */
  async crash(keepUnsynced: 'all' | 'none'): Promise<void> {
    this.files = this.files.afterCrash({ keepUnsynced })
    await this.startStore()
  }

  async end(): Promise<void> {
    await this.replicator.stop()
    await this.store.stop()
  }

  put(name: string, partitions: number): TopicImage {
    return this.metadata.put(soleTopic(name, newTopicId(), Array.from({ length: partitions }, () => 1)))
  }

  made({ id, partitions }: TopicImage): number {
    return partitions.filter(({ partition }) => this.replicator.replica(id, partition) !== undefined).length
  }

  logs(name: string): string[] {
    return this.files.list('/data').filter((each) => each.startsWith(`${name}-`) && !each.includes('.')).sort()
  }
}

/** What a slice may take, and how many syncs the dearest unit has: a new log has three, the first removal after a crash four. */
const sliceMs = 3
const syncsOfUnit = 4

describe('no turn of the event loop does more than a slice', () => {
  it.each([[0.25], [1], [10]])('while 1,000 partitions are made and removed, where a sync takes %d ms', async (syncMs) => {
    const world = await new World(syncMs).start()
    let topic: TopicImage
    const making = world.drain(() => { topic = world.put('big', 1000) })
    expect(world.made(topic!)).toBe(1000)
    expect(making.msMax).toBeLessThan(sliceMs + syncsOfUnit * syncMs)
    expect(making.turns).toBeGreaterThan(1000 / 16)
    const removing = world.drain(() => { world.metadata.drop(topic) })
    expect(world.logs('big')).toEqual([])
    expect(removing.msMax).toBeLessThan(sliceMs + syncsOfUnit * syncMs)
    expect(removing.turns).toBeGreaterThan(1000 / 16)
    await world.end()
  })

  it('nor where a clock stands still, nor for several changes within one turn', async () => {
    const world = await new World(0).start()
    const { syncsMax, turns } = world.drain(() => { for (const name of ['a', 'b', 'c']) world.put(name, 100) })
    expect(syncsMax).toBeLessThanOrEqual(16 * syncsOfUnit)
    expect(turns).toBeGreaterThanOrEqual(300 / 16)
    expect([...world.replicator.replicas()]).toHaveLength(300)
    await world.end()
  })

  it('nor does a start that finds nothing of a topic: it resolves, and the logs come after it', async () => {
    const world = new World(1)
    await world.startStore()
    const topic = world.put('big', 100)
    const { msMax } = world.drain(() => void world.replicator.start())
    expect(msMax).toBeLessThan(sliceMs + syncsOfUnit)
    expect(world.made(topic)).toBe(100)
    await world.end()
  })

  it('nor a start that finds the logs of a topic that is deleted, while those of others are served at once', async () => {
    const world = await new World(1).start()
    const [gone, kept] = [world.put('gone', 50), world.put('kept', 50)]
    world.drain()
    world.metadata.drop(gone)
    await world.crash('none')
    const { msMax, turns } = world.drain(() => {
      void world.replicator.start()
      expect(world.made(kept)).toBe(50)
    })
    expect(turns).toBeGreaterThan(10)
    expect(msMax).toBeLessThan(sliceMs + syncsOfUnit)
    expect([world.logs('gone'), world.logs('kept').length]).toEqual([[], 50])
    await world.end()
  })
})

describe('while logs are made', () => {
  it('partitions come one after another, each is served at once, and the topic is made with the last one', async () => {
    const world = await new World(1).start()
    const topic = world.put('a', 4)
    let isMade = false
    const end = world.replicator.made(topic.id).then(() => { isMade = true })
    const seen: unknown[] = []
    for (let turn = 0; turn < 4; turn++) {
      await settled()
      seen.push([world.made(topic), world.replicator.isMaking(topic.id, 3), isMade])
      world.turns.next()
    }
    expect(seen).toEqual([[1, true, false], [2, true, false], [3, true, false], [4, false, true]])
    await end
    expect(world.replicator.check().state).toBe('ok')
    await world.end()
  })

  it('two topics take turns, and a small one does not wait for a large one', async () => {
    const world = await new World(1).start()
    const [large, small] = [world.put('large', 100), world.put('small', 2)]
    await world.through(world.replicator.made(small.id))
    expect([world.made(large), world.made(small)]).toEqual([3, 2])
    world.drain()
    expect(world.made(large)).toBe(100)
    await world.end()
  })

  it('a topic that is deleted is made no further, what was made is removed, and its name is free at once', async () => {
    const world = await new World(1).start()
    const first = world.put('a', 10)
    world.turns.next()
    world.turns.next()
    expect(world.logs('a')).toEqual(['a-0', 'a-1', 'a-2'])
    const waiting = world.replicator.made(first.id)
    world.metadata.drop(first)
    await waiting
    expect([world.made(first), world.replicator.isMaking(first.id, 9)]).toEqual([0, false])
    const second = world.put('a', 5)
    await world.through(world.replicator.made(second.id))
    expect(world.made(second)).toBe(5)
    expect(Array.from(world.store.logs(), ({ id }) => [id.topicId, id.partition])).toEqual([0, 1, 2, 3, 4].map((partition) => [second.id, partition]))
    expect(world.log.atLeast('warn')).toEqual([])
    world.drain()
    world.turns.timers.advance(1000)
    expect(world.metadata.removals.size).toBe(0)
    await world.end()
  })

  it('a name that comes and goes again and again ends with the last of its topics alone', async () => {
    const world = await new World(1).start()
    let topic = world.put('a', 6)
    for (let round = 0; round < 20; round++) {
      for (let turn = 0; turn < round % 5; turn++) world.turns.next()
      world.metadata.drop(topic)
      topic = world.put('a', 6)
    }
    world.drain()
    expect(world.made(topic)).toBe(6)
    expect(Array.from(world.store.logs(), ({ id }) => id.topicId)).toEqual(Array.from({ length: 6 }, () => topic.id))
    expect(world.log.atLeast('warn')).toEqual([])
    await world.end()
  })

  it('a removal is confirmed only when the last log is gone, and partitions that are added come after those before', async () => {
    const world = await new World(1).start()
    const topic = world.put('a', 10)
    world.metadata.put(soleTopic('a', topic.id, Array.from({ length: 20 }, () => 1)))
    world.drain()
    expect(world.logs('a')).toHaveLength(20)
    world.metadata.drop(world.metadata.image().topicsById.get(topic.id)!)
    while (world.logs('a').length > 4) world.turns.next()
    expect(world.logs('a')).not.toEqual([])
    world.turns.timers.advance(60_000)
    expect(world.metadata.removals.size).toBe(1)
    world.drain()
    world.turns.timers.advance(1000)
    expect(world.metadata.removals.size).toBe(0)
    await world.end()
  })

  it('a disk that fills lets the others be tried, ends the wait, and is tried again until there is space', async () => {
    const world = await new World(1).start()
    const topic = world.put('a', 6)
    world.turns.next()
    world.files.faults.add({ operation: 'create', path: /partition\.metadata$/, error: 'ENOSPC' })
    await world.through(world.replicator.made(topic.id))
    expect([world.made(topic), world.replicator.logsMissing, world.replicator.isMaking(topic.id, 5)]).toEqual([2, 4, false])
    expect(world.replicator.check().state).toBe('degraded')
    world.files.faults.clear()
    world.turns.timers.advance(5000)
    world.drain()
    expect([world.made(topic), world.replicator.logsMissing]).toEqual([6, 0])
    await world.end()
  })
})

describe('an end while logs are made', () => {
  it('in order tells those who wait, leaves nothing under way, and the next start makes the rest', async () => {
    const world = await new World(1).start()
    const topic = world.put('a', 20)
    world.turns.next()
    const waiting = world.replicator.made(topic.id)
    await world.end()
    await expect(waiting).rejects.toMatchObject({ code: 'MR_CLUSTER_STOPPED' })
    await expect(world.replicator.made(topic.id)).rejects.toMatchObject({ code: 'MR_CLUSTER_STOPPED' })
    world.drain()
    world.turns.timers.advance(60_000)
    expect(world.logs('a')).toEqual(['a-0', 'a-1'])
    await world.start()
    expect([world.made(topic), world.replicator.isMaking(topic.id, 19)]).toEqual([3, true])
    world.drain()
    expect(world.made(topic)).toBe(20)
    expect(world.logs('a')).toHaveLength(20)
    await world.end()
  })

  it.each(['all', 'none'] as const)('by a crash that keeps %s of what was not synced, between any two: the next start makes the rest and no log twice', async (keep) => {
    for (let turns = 0; turns < 6; turns++) {
      const world = await new World(1).start()
      const topic = world.put('a', 6)
      for (let turn = 0; turn < turns; turn++) world.turns.next()
      await world.crash(keep)
      const found = new Set(Array.from(world.store.logs(), ({ id }) => id.partition))
      expect([...found].sort()).toEqual(Array.from({ length: turns + 1 }, (_, partition) => partition))
      await world.replicator.start()
      expect(world.made(topic)).toBeGreaterThanOrEqual(turns + 1)
      world.drain()
      expect(world.made(topic)).toBe(6)
      expect(Array.from(world.store.logs(), ({ id }) => `${id.topicId}-${id.partition}`).sort()).toEqual(topic.partitions.map(({ partition }) => `${topic.id}-${partition}`))
      await world.end()
    }
  })

  it('or removed, by a crash: the next start removes the rest', async () => {
    const world = await new World(1).start()
    const topic = world.put('a', 6)
    world.drain()
    world.metadata.drop(topic)
    await world.crash('none')
    expect([...world.store.logs()].length).toBeGreaterThan(0)
    await world.replicator.start()
    world.drain()
    expect([...world.store.logs()]).toEqual([])
    world.turns.timers.advance(1000)
    expect(world.metadata.removals.size).toBe(0)
    await world.end()
  })
})
