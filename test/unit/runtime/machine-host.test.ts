import { describe, expect, it } from 'vitest'
import { MillraceError } from '../../../src/kernel/errors/index.ts'
import { BatchBuilder } from '../../../src/kernel/record/batch-builder.ts'
import { Prng } from '../../../src/base/prng.ts'
import { append, RuntimeWorld } from './runtime-world.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

function batchOf(key: string | null, value: string, transactional = false): Uint8Array {
  const builder = new BatchBuilder()
  builder.append(0, key === null ? null : bytes(key), bytes(value))
  return builder.finish({ transactional, ...(transactional ? { producerId: 1, producerEpoch: 0, baseSequence: 0 } : {}) })
}

describe('a machine whose log is not made yet', () => {
  it('is loading, without a failure or a pause, until it is made; and is not loaded where another leads by then', async () => {
    for (const leader of [1, 2]) {
      const world = await new RuntimeWorld({ slowPartitions: [0] }).start()
      world.add('a')
      expect([world.told, world.machines, world.logger.atLeast('warn')]).toEqual([['MR_COORDINATOR_LOADING'], [], []])
      if (leader !== 1) world.lead(leader, 4)
      world.cluster.finish()
      await world.turn()
      world.add('a')
      await world.turn()
      expect([world.told[1], world.machines.length]).toEqual(leader === 1 ? [1, 1] : ['MR_COORDINATOR_NOT_HERE', 0])
    }
  })
})

describe('who would be told to ask again', () => {
  it('waits until the log is made and loaded, a second at most, and not where the broker leads no more or stops', async () => {
    for (const [what, ends] of [
      ['loaded', (world: RuntimeWorld) => { world.cluster.finish() }], ['late', (world: RuntimeWorld) => { world.timers.advance(1000) }],
      ['led by another', (world: RuntimeWorld) => { world.lead(2, 4) }], ['stopping', (world: RuntimeWorld) => { world.host.stopWaiting() }], ['stopped', (world: RuntimeWorld) => { world.host.stop() }],
    ] as const) {
      const world = await new RuntimeWorld({ slowPartitions: [0] }).start()
      const told: string[] = []
      for (const who of ['first', 'second']) world.host.onceLoaded(0, () => { told.push(who, world.host.partitions().get(0)?.state ?? 'gone') })
      await world.pass(999)
      expect([what, told]).toEqual([what, []])
      ends(world)
      await world.turn()
      const state = what === 'loaded' ? 'active' : what === 'late' || what === 'stopping' ? 'loading' : undefined
      expect([what, told.filter((_each, index) => index % 2 === 0), ...state === undefined ? [] : [told[1], told[3]]]).toEqual([what, ['first', 'second'], ...state === undefined ? [] : [state, state]])
    }
  })

  it('waits for no load where none is under way, or this broker does not lead', async () => {
    const world = await new RuntimeWorld().start()
    let told = 0
    for (const partition of [0, 9]) world.host.onceLoaded(partition, () => { told++ })
    expect(told).toBe(2)
  })
})

describe('answers', () => {
  it('wait until the watermark has passed what was written, and what was only read', async () => {
    const world = await new RuntimeWorld().start()
    world.replica.follows = false
    world.add('a')
    world.submit({ type: 'read', name: 'a' })
    await world.turn()
    expect(world.told).toEqual([])
    expect(world.machine.total('a')).toBe(1)
    world.replica.advance(1)
    await world.turn()
    expect(world.told).toEqual([1, 1])
  })

  it('leave in the order of the decisions, each no sooner than its own watermark', async () => {
    const world = await new RuntimeWorld().start()
    world.replica.follows = false
    for (let count = 0; count < 4; count++) world.add('a')
    world.submit({ type: 'refuse' })
    world.replica.advance(2)
    await world.turn()
    expect(world.told).toEqual([1, 2])
    world.replica.advance(4)
    await world.turn()
    expect(world.told).toEqual([1, 2, 3, 4, 'MR_TOPIC_UNKNOWN'])
  })

  it('leave at once where all is committed, and a command that comes from one is handled after the decision that gave it', async () => {
    const world = await new RuntimeWorld().start()
    world.submit({ type: 'wait' }, 0, () => { world.submit({ type: 'read', name: 'a' }) })
    world.submit({ type: 'wait' })
    world.submit({ type: 'release' })
    expect(world.told).toEqual([0, 1, 2, 0])
  })

  it('to those who waited come with the decision that lets them go', async () => {
    const world = await new RuntimeWorld().start()
    world.submit({ type: 'wait' })
    world.add('a', 5)
    expect(world.told).toEqual([5])
    world.replica.follows = false
    world.add('a', 1)
    world.submit({ type: 'release' })
    expect(world.told).toEqual([5])
    world.replica.advance()
    await world.turn()
    expect(world.told).toEqual([5, 6, 0, 1])
  })

  it('that wait too long for the watermark are MR_COORDINATOR_UNAVAILABLE, and what they rest on stays', async () => {
    const world = await new RuntimeWorld().start()
    world.replica.follows = false
    world.add('a')
    await world.pass(3000)
    world.add('a')
    await world.pass(2000)
    expect(world.told).toEqual(['MR_COORDINATOR_UNAVAILABLE'])
    world.replica.advance()
    await world.turn()
    expect(world.told).toEqual(['MR_COORDINATOR_UNAVAILABLE', 2])
    expect(world.timers.pending).toBeLessThan(2)
    await world.pass(10_000)
    expect(world.timers.pending).toBe(0)
  })
})

describe('a load', () => {
  it('gives the state that was there before, whatever the chunks', async () => {
    const world = await new RuntimeWorld({ loadChunkBytes: 100 }).start()
    const seed = 20_260_901
    const random = new Prng(seed)
    for (let count = 0; count < 300; count++) world.add(`name-${random.uint32() % 20}`, random.uint32() % 100)
    const before = new Map(world.machine.totals)
    expect(before.size).toBe(20)
    world.lead(1, 4)
    await world.turn()
    while (world.machine.loads === 0) await world.turn()
    expect(world.machines).toHaveLength(2)
    expect(world.machine.totals).toEqual(before)
  })

  it('refuses commands with MR_COORDINATOR_LOADING until its end, and reads in chunks', async () => {
    const world = await new RuntimeWorld({ loadChunkBytes: 100 }).start()
    for (let count = 0; count < 20; count++) world.add('a')
    world.told.length = 0
    const { log } = world.replica
    const read = log.read.bind(log)
    let reads = 0
    log.read = (request, sink) => {
      reads++
      return read(request, sink)
    }
    world.lead(1, 4)
    world.add('a')
    expect(world.told).toEqual(['MR_COORDINATOR_LOADING'])
    await world.turn()
    expect(reads).toBe(20)
    world.add('a')
    expect(world.told).toEqual(['MR_COORDINATOR_LOADING', 21])
  })

  it('lets others have their turn after some thousand records, however large its batches and chunks, and with however many others it is under way', async () => {
    const world = await new RuntimeWorld({ partitions: 6 }).start()
    for (let partition = 0; partition < 6; partition++) for (let count = 0; count < 4; count++) world.submit({ type: 'flood', records: 5000, divisible: false }, partition)
    const replayed = (): number => world.machines.slice(6).reduce((sum, { replays }) => sum + replays, 0)
    let [turns, most] = [0, 0]
    const { soon } = world.timers
    world.timers.soon = (callback) => {
      soon.call(world.timers, () => {
        const before = replayed()
        callback()
        turns++
        most = Math.max(most, replayed() - before)
      })
    }
    world.lead(1, 4)
    expect(replayed()).toBe(0)
    await world.turn()
    expect(world.machines.slice(6).map(({ totals, loads }) => [totals.size, loads])).toEqual(new Array(6).fill([5000, 1]))
    expect(replayed()).toBe(6 * 20_000)
    expect(most).toBeLessThan(2000)
    expect(turns).toBeGreaterThan(6 * 20_000 / 2000)
  })

  it('is one of a few that are under way, in the order in which the broker came to lead; one that ends makes room, also when it fails or is given up', async () => {
    const world = await new RuntimeWorld({ partitions: 8 }).start()
    for (let partition = 0; partition < 8; partition++) world.submit({ type: 'add', name: 'a', amount: 1 }, partition)
    const reading: number[] = []
    const waiting = new Map<number, () => void>()
    const replicas = world.cluster.replicasById.get(world.cluster.topics.get('tallies')!.id)!
    for (const { log } of replicas) {
      const read = log.read.bind(log)
      log.read = (request, sink) => {
        const { partition } = log.id
        reading.push(partition)
        waiting.set(partition, () => {
          if (partition === 1) sink.failed(new MillraceError('MR_LOG_CLOSED', { topic: 'tallies', partition }))
          else read(request, sink)
        })
        return () => { waiting.delete(partition) }
      }
    }
    const go = async (partition: number): Promise<void> => {
      waiting.get(partition)!()
      await world.turn()
    }
    world.lead(1, 4)
    await world.turn()
    expect(reading).toEqual([0, 1, 2, 3])
    await go(2)
    expect(reading).toEqual([0, 1, 2, 3, 4])
    await go(1)
    expect(reading).toEqual([0, 1, 2, 3, 4, 5])
    expect([1, 2, 6].map((partition) => world.host.partitions().get(partition)!.state)).toEqual(['failed', 'active', 'loading'])
    // Partition 0, under way, and partition 7, which has not begun, go to another broker.
    world.cluster.replaceTopic('tallies', (image) => ({ ...image, partitions: image.partitions.map((each) => [0, 7].includes(each.partition) ? { ...each, leader: 2, leaderEpoch: 5 } : each) }))
    await world.turn()
    expect(reading).toEqual([0, 1, 2, 3, 4, 5, 6])
    for (const partition of [3, 4, 5, 6]) await go(partition)
    expect(reading).toHaveLength(7)
    expect([...world.host.partitions()].map(([partition, { state }]) => [partition, state])).toEqual([[1, 'failed'], ...[2, 3, 4, 5, 6].map((partition) => [partition, 'active'])])
  })

  it('that is ended under way gives back what it has read', async () => {
    const world = await new RuntimeWorld().start()
    for (let count = 0; count < 4; count++) world.submit({ type: 'flood', records: 5000, divisible: false })
    const { log } = world.replica
    const read = log.read.bind(log)
    let held = 0
    log.read = (request, sink) => read(request, { read: (bytes, release) => { held++; sink.read(bytes, () => { held--; release() }) }, failed: (error) => { sink.failed(error) } })
    world.lead(1, 4)
    expect(held).toBe(1)
    world.lead(2, 5)
    expect(held).toBe(0)
    await world.turn()
    expect(world.machine.loads).toBe(0)
  })

  it('after a crash between append and watermark has the record, and tells nobody of it before it is committed', async () => {
    const world = await new RuntimeWorld().start()
    world.replica.follows = false
    world.add('a')
    // The same log, and nothing of the machine: what was appended is ordered, and may be committed yet.
    world.lead(1, 4)
    await world.turn()
    expect(world.told).toEqual(['MR_COORDINATOR_NOT_HERE'])
    world.submit({ type: 'read', name: 'a' })
    await world.turn()
    expect(world.told).toEqual(['MR_COORDINATOR_NOT_HERE'])
    world.replica.advance()
    await world.turn()
    expect(world.told).toEqual(['MR_COORDINATOR_NOT_HERE', 1])
  })

  it('that meets what it cannot read, a record without a key or one of a transaction fails, says where, and is tried again', async () => {
    for (const batch of [batchOf('a', 'unreadable'), batchOf(null, '1'), batchOf('a', '1', true)]) {
      const world = await new RuntimeWorld().start()
      world.add('a')
      append(world.replica, batch)
      world.lead(1, 4)
      await world.turn()
      world.add('a')
      expect(world.told).toEqual([1, 'MR_COORDINATOR_UNAVAILABLE'])
      expect(world.logger.atLeast('error').map(({ fields }) => (fields['error'] as MillraceError).message)).toEqual([expect.stringContaining('the record at offset 1 of tallies-0')])
      world.replica.log.deleteTo(2)
      await world.pass(5000)
      world.add('a')
      expect(world.told.at(-1)).toBe(1)
    }
  })

  it('waits for a log that is not there yet', async () => {
    const world = new RuntimeWorld()
    const id = world.cluster.topics.get('tallies')!.id
    const replicas = world.cluster.replicasById.get(id)!
    world.cluster.replicasById.delete(id)
    await world.start()
    world.add('a')
    world.cluster.replicasById.set(id, replicas)
    await world.pass(5000)
    world.add('a')
    expect(world.told).toEqual(['MR_COORDINATOR_UNAVAILABLE', 1])
  })
})

describe('leadership', () => {
  it('of an earlier life of the broker does not count: machines are loaded once, when it has registered', async () => {
    const world = new RuntimeWorld()
    world.host.start()
    world.add('a')
    expect(world.machines).toHaveLength(0)
    expect(world.told).toEqual(['MR_COORDINATOR_NOT_HERE'])
    await world.register()
    expect(world.machines).toHaveLength(1)
    await world.register()
    expect(world.machines).toHaveLength(1)
  })

  it('that is lost answers all who wait, parked or not, with MR_COORDINATOR_NOT_HERE, and refuses the others', async () => {
    const world = await new RuntimeWorld().start()
    world.submit({ type: 'wait' })
    world.replica.follows = false
    world.add('a')
    world.lead(2, 4)
    world.add('a')
    expect(world.told).toEqual(['MR_COORDINATOR_NOT_HERE', 'MR_COORDINATOR_NOT_HERE', 'MR_COORDINATOR_NOT_HERE'])
    world.replica.advance()
    await world.turn()
    expect(world.told).toHaveLength(3)
    world.lead(1, 5)
    await world.turn()
    world.replica.follows = true
    world.add('a')
    expect(world.told.at(-1)).toBe(2)
  })

  it('of a topic that is deleted ends, and that of its successor begins with nothing', async () => {
    const world = await new RuntimeWorld().start()
    world.add('a', 7)
    world.submit({ type: 'wait' })
    world.cluster.drop('tallies')
    await world.turn()
    world.add('a')
    world.cluster.topic('tallies')
    await world.turn()
    world.add('a')
    expect(world.told).toEqual([7, 'MR_COORDINATOR_NOT_HERE', 'MR_COORDINATOR_NOT_HERE', 1])
  })

  it('that the replica has lost already refuses a write, though nobody has told yet', async () => {
    const world = await new RuntimeWorld().start()
    world.replica.leaderEpoch = 4
    world.add('a')
    expect(world.told).toEqual(['MR_COORDINATOR_NOT_HERE'])
    expect(world.replica.log.endOffset).toBe(0)
  })

  it('is of each partition by itself', async () => {
    const world = await new RuntimeWorld({ partitions: 3 }).start()
    world.submit({ type: 'add', name: 'a', amount: 1 }, 0)
    world.submit({ type: 'add', name: 'a', amount: 1 }, 2)
    world.submit({ type: 'add', name: 'a', amount: 1 }, 3)
    expect(world.told).toEqual([1, 1, 'MR_COORDINATOR_NOT_HERE'])
  })
})

describe('an append', () => {
  it('for which there is no space fails its command alone: who waits goes on waiting, and the next one may pass', async () => {
    const world = await new RuntimeWorld().start()
    world.submit({ type: 'wait' })
    world.failAppends(new MillraceError('MR_FILE_NO_SPACE', { operation: 'write', path: '/data' }))
    world.add('a')
    expect(world.told).toEqual(['MR_COORDINATOR_UNAVAILABLE'])
    world.failAppends(undefined)
    world.add('a')
    world.submit({ type: 'release' })
    expect(world.told).toEqual(['MR_COORDINATOR_UNAVAILABLE', 1, 0, 1])
    expect(world.machines).toHaveLength(1)
  })

  it('of unknown outcome drops the machine and loads it again; everybody who waits is told', async () => {
    const world = await new RuntimeWorld().start()
    world.add('a', 3)
    world.submit({ type: 'wait' })
    await world.pass(2000)
    world.failAppends(new Error('a cable'))
    world.add('a')
    expect(world.told).toEqual([3, 'MR_COORDINATOR_NOT_HERE', 'MR_COORDINATOR_NOT_HERE'])
    world.failAppends(undefined)
    await world.pass(1)
    expect(world.machines).toHaveLength(2)
    world.add('a')
    expect(world.told.at(-1)).toBe(4)
  })

  it('that always fails does not make it load all the time', async () => {
    const world = await new RuntimeWorld().start()
    world.failAppends(new Error('a cable'))
    for (let count = 0; count < 50; count++) {
      world.add('a')
      await world.pass(100)
    }
    expect(world.machines.length).toBeLessThan(8)
  })

  it('whose watermark will not come drops the machine: the answers that rest on it are not given', async () => {
    const world = await new RuntimeWorld().start()
    world.replica.follows = false
    world.add('a')
    world.replica.lose(new MillraceError('MR_LOG_DIRECTORY_OFFLINE', { path: '/data', reason: 'a test' }))
    await world.turn()
    expect(world.told).toEqual(['MR_COORDINATOR_NOT_HERE'])
  })

  it('is one batch, or is refused where that is too large and not to be divided', async () => {
    const world = await new RuntimeWorld().start()
    world.replica.settings = { ...world.replica.settings, maxMessageBytes: 1000 }
    world.submit({ type: 'flood', records: 200, divisible: false })
    expect(world.told).toEqual(['MR_RECORD_TOO_LARGE'])
    expect(world.replica.log.endOffset).toBe(0)
    world.submit({ type: 'flood', records: 200, divisible: true })
    expect(world.told.at(-1)).toBe(200)
    expect(world.replica.log.endOffset).toBe(200)
    expect(world.machine.totals.size).toBe(200)
  })

  it('is compressed where that is wished, and read again', async () => {
    const world = await new RuntimeWorld({ codec: 1 }).start()
    world.submit({ type: 'flood', records: 200, divisible: false })
    expect(world.replica.log.sizeBytes).toBeLessThan(3000)
    world.lead(1, 4)
    await world.turn()
    expect(world.machine.totals.size).toBe(200)
  })

  it('of a command that fails for a bug is not made, and the machine stays', async () => {
    const world = await new RuntimeWorld().start()
    world.submit({ type: 'fail' })
    world.add('a')
    expect(world.told).toEqual(['a bug', 1])
    expect(world.machines).toHaveLength(1)
  })
})

describe('deadlines', () => {
  it('make records when they have passed, and no sooner', async () => {
    const world = await new RuntimeWorld().start()
    world.submit({ type: 'expireAfter', ms: 2500 })
    await world.pass(2499)
    expect(world.replica.log.endOffset).toBe(0)
    await world.pass(1)
    expect(world.machine.total('expired')).toBe(1)
    expect(world.timers.pending).toBe(0)
  })

  it('leave out the time in which the process stood still', async () => {
    const world = await new RuntimeWorld().start()
    world.submit({ type: 'expireAfter', ms: 5000 })
    await world.pass(1500)
    // Timers are looked at only after 30 s.
    world.timers.clock.advance(30_000)
    await world.pass(0)
    expect(world.machine.total('expired')).toBe(0)
    await world.pass(2900)
    expect(world.machine.total('expired')).toBe(0)
    await world.pass(1100)
    expect(world.machine.total('expired')).toBe(1)
  })

  it('whose records cannot be written are acted on again, not all the time, and said once', async () => {
    const world = await new RuntimeWorld().start()
    world.submit({ type: 'expireAfter', ms: 1000 })
    world.failAppends(new MillraceError('MR_FILE_NO_SPACE', { operation: 'write', path: '/data' }))
    let tries = 0
    const { append: appendNow } = world.replica
    world.replica.append = (...batch) => {
      tries++
      return appendNow.apply(world.replica, batch)
    }
    await world.pass(11_500)
    expect(tries).toBe(11)
    expect(world.logger.atLeast('warn')).toHaveLength(1)
    world.failAppends(undefined)
    await world.pass(1000)
    expect(world.machine.total('expired')).toBe(1)
    await world.pass(5000)
    expect(world.timers.pending).toBe(0)
  })

  it('end with the machine', async () => {
    const world = await new RuntimeWorld().start()
    world.submit({ type: 'expireAfter', ms: 1000 })
    world.lead(2, 4)
    await world.pass(5000)
    expect(world.replica.log.endOffset).toBe(0)
    expect(world.timers.pending).toBe(0)
  })
})

describe('a stop', () => {
  it('answers those who may wait for ever, lets what is decided be told, and takes nothing more', async () => {
    const world = await new RuntimeWorld().start()
    world.submit({ type: 'wait' })
    world.replica.follows = false
    world.add('a')
    world.host.stopWaiting()
    world.add('a')
    expect(world.told).toEqual(['MR_COORDINATOR_NOT_HERE', 'MR_COORDINATOR_NOT_HERE'])
    world.replica.advance()
    await world.turn()
    expect(world.told.at(-1)).toBe(1)
    world.host.stop()
    await world.pass(10_000)
    expect(world.timers.pending).toBe(0)
  })
})
