import { describe, expect, it } from 'vitest'
import { BatchBuilder } from '../../../../src/kernel/record/batch-builder.ts'
import { Client } from '../../../../src/client/client.ts'
import { clientSettings } from '../../../../src/client/client-options.ts'
import { type Consumer } from '../../../../src/client/consumer/consumer.ts'
import { kafkaErrors, type FetchRequest } from '../../../../src/wire/index.ts'
import { RecordingLogger } from '../../../../src/testkit/world/recording-telemetry.ts'
import { testWorld, type TestWorld } from '../world/client-world.ts'
import { FakeLog } from '../world/fake-log.ts'

const tp = { topic: 't', partition: 0 }

function fill(log: FakeLog, from: number, to: number): void {
  for (let first = from; first < to; first += 10) {
    const builder = new BatchBuilder()
    for (let index = first; index < Math.min(to, first + 10); index++) builder.append(1000 + index, null, new TextEncoder().encode(`v${index}`))
    log.put(builder.finish(), first)
  }
}

async function worldWithRecords(options: { nodes?: number, seed?: number } = {}): Promise<TestWorld> {
  const world = await testWorld(options)
  fill(world.cluster.addTopic('t', [1]).logs[0]!, 0, 100)
  return world
}

async function offsets(world: TestWorld, consumer: Consumer, count: number): Promise<number[]> {
  const found: number[] = []
  while (found.length < count) found.push(...(await world.complete(consumer.poll({ maxRecords: 7 }))).map(record => record.offset))
  return found
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, index) => from + index)

describe('a consumer that meets trouble', () => {
  it('follows a leader that moves', async () => {
    const world = await worldWithRecords({ nodes: 2 })
    const consumer = world.client().consumer()
    consumer.assign([tp])
    expect(await offsets(world, consumer, 100)).toEqual(range(0, 100))
    world.cluster.moveLeader('t', 0, 2)
    fill(world.cluster.log('t', 0), 100, 120)
    world.cluster.wakeFetches()
    expect(await offsets(world, consumer, 20)).toEqual(range(100, 120))
    expect(world.cluster.callsOf(1).at(-1)!.node.id).toBe(2)
  })

  it.each([1, 2, 3, 4, 5, 6])('gives every record once and in order through random trouble (seed %i)', async seed => {
    const world = await testWorld({ nodes: 3, seed })
    const { logs: [log] } = world.cluster.addTopic('t', [1])
    const { random } = world
    world.cluster.script = () => {
      const chance = random.fraction()
      if (chance < 0.05) world.cluster.moveLeader('t', 0, 1 + Math.floor(random.fraction() * 3))
      if (chance < 0.15) return 'close'
      if (chance < 0.2) return 'handle and close'
      return chance < 0.22 ? 'swallow' : undefined
    }
    const consumer = world.client({ requestTimeoutMs: 1500 }).consumer({ partitionBytesMax: 400 })
    consumer.assign([tp])
    const found: number[] = []
    for (let to = 0; to < 500; to += 50) {
      fill(log!, to, to + 50)
      world.cluster.wakeFetches()
      found.push(...await offsets(world, consumer, 50))
    }
    expect(found).toEqual(range(0, 500))
  })

  it('says after some refusals at which offset it stands and why, not each time, and reads on behind a damaged record when it is told to', async () => {
    const world = await worldWithRecords()
    world.cluster.log('t', 0).damagedOffsets.add(20)
    const logger = new RecordingLogger()
    const client = new Client({ ...world.world, logger }, clientSettings({ bootstrap: 'b1:9092' }))
    const consumer = client.consumer({ partitionBytesMax: 100 })
    consumer.assign([{ ...tp, offset: 20 }])
    const polled = consumer.poll()
    await world.complete(new Promise<void>(resolve => { world.timers.after(20_000, resolve) }))
    const said = logger.lines.filter(({ message }) => message === 'a fetch is refused again and again')
    expect(said.slice(0, 3).map(({ fields }) => [fields['offset'], fields['attempts']])).toEqual([[20, 4], [20, 8], [20, 16]])
    expect(String(said[0]!.fields['error'])).toContain('fetching from t-0 at offset 20: the broker answered KAFKA_STORAGE_ERROR (it cannot be read from the disk there; what lies behind may be)')
    consumer.seek({ ...tp, offset: 30 })
    expect((await world.complete(polled))[0]!.offset).toBe(30)
    await world.complete(client.close())
  })

  it('rejects when its position is not there any more, until somebody seeks', async () => {
    const world = await worldWithRecords()
    world.cluster.log('t', 0).logStartOffset = 50
    world.cluster.log('t', 0).batches.splice(0, 5)
    const consumer = world.client().consumer()
    consumer.assign([{ ...tp, offset: 20 }])
    for (let round = 0; round < 2; round++) {
      expect(await world.rejection(consumer.poll())).toMatchObject({ code: 'MR_CLIENT_OFFSET_OUT_OF_RANGE', details: { topic: 't', partition: 0, offset: 20 } })
    }
    consumer.seek({ ...tp, offset: 'beginning' })
    expect(await offsets(world, consumer, 50)).toEqual(range(50, 100))
  })

  it.each([['earliest', 50], ['latest', 100]] as const)('goes to the %s record where it is told to', async (onOffsetOutOfRange, first) => {
    const world = await worldWithRecords()
    const log = world.cluster.log('t', 0)
    log.logStartOffset = 50
    log.batches.splice(0, 5)
    const consumer = world.client().consumer({ onOffsetOutOfRange })
    consumer.assign([{ ...tp, offset: 20 }])
    const polled = consumer.poll()
    await world.scheduler.runFor(1000)
    fill(log, 100, 110)
    world.cluster.wakeFetches()
    expect((await world.complete(polled))[0]!.offset).toBe(first)
  })

  it('gives what was fetched before the position got lost', async () => {
    const world = await worldWithRecords()
    const consumer = world.client().consumer({ partitionBytesMax: 300 })
    consumer.assign([tp])
    await world.scheduler.runFor(1000)
    const log = world.cluster.log('t', 0)
    log.logStartOffset = 200
    log.batches.length = 0
    const found: number[] = []
    const error = await world.rejection((async () => {
      for (;;) found.push(...(await consumer.poll()).map(record => record.offset))
    })())
    expect(error).toMatchObject({ code: 'MR_CLIENT_OFFSET_OUT_OF_RANGE' })
    expect(found.length).toBeGreaterThan(0)
    expect(found).toEqual(range(0, found.length))
  })

  it('notices that a new leader lacks what it has read', async () => {
    const world = await worldWithRecords({ nodes: 2 })
    const consumer = world.client().consumer()
    consumer.assign([tp])
    await offsets(world, consumer, 100)
    const log = world.cluster.log('t', 0)
    log.truncate(60)
    world.cluster.moveLeader('t', 0, 2)
    fill(log, 60, 110)
    world.cluster.wakeFetches()
    expect(await world.rejection(consumer.poll())).toMatchObject({
      code: 'MR_CLIENT_LOG_TRUNCATED', details: { topic: 't', partition: 0, offset: 100, endOffset: 60 },
    })
    consumer.seek({ ...tp, offset: 60 })
    expect(await offsets(world, consumer, 50)).toEqual(range(60, 110))
  })

  it('reads again from where the logs parted, where it may go elsewhere', async () => {
    const world = await worldWithRecords({ nodes: 2 })
    const consumer = world.client().consumer({ onOffsetOutOfRange: 'latest' })
    consumer.assign([tp])
    await offsets(world, consumer, 100)
    const log = world.cluster.log('t', 0)
    log.truncate(60)
    world.cluster.moveLeader('t', 0, 2)
    fill(log, 60, 110)
    world.cluster.wakeFetches()
    expect(await offsets(world, consumer, 50)).toEqual(range(60, 110))
  })

  it('does not check anything where the new leader has all', async () => {
    const world = await worldWithRecords({ nodes: 2 })
    const consumer = world.client().consumer()
    consumer.assign([tp])
    await offsets(world, consumer, 100)
    world.cluster.moveLeader('t', 0, 2)
    fill(world.cluster.log('t', 0), 100, 110)
    world.cluster.wakeFetches()
    expect(await offsets(world, consumer, 10)).toEqual(range(100, 110))
    expect(world.cluster.callsOf(23)).toHaveLength(1)
  })

  it('treats a topic made anew as another log', async () => {
    const world = await worldWithRecords()
    const consumer = world.client().consumer({ onOffsetOutOfRange: 'earliest' })
    consumer.assign([tp])
    await offsets(world, consumer, 100)
    world.cluster.topics.delete('t')
    await world.scheduler.runFor(3000)
    fill(world.cluster.addTopic('t', [1]).logs[0]!, 0, 200)
    expect(await offsets(world, consumer, 200)).toEqual(range(0, 200))
  })

  it('waits for a topic that does not exist yet, and does not create it', async () => {
    const world = await testWorld()
    world.cluster.createsTopics = true
    const consumer = world.client().consumer()
    consumer.assign([tp])
    expect(await world.complete(consumer.poll({ timeoutMs: 3000 }))).toEqual([])
    expect(world.cluster.topics.size).toBe(0)
    fill(world.cluster.addTopic('t', [1]).logs[0]!, 0, 10)
    expect(await offsets(world, consumer, 10)).toEqual(range(0, 10))
  })

  it('says that there is no such partition', async () => {
    const world = await worldWithRecords()
    const consumer = world.client().consumer()
    consumer.assign([{ topic: 't', partition: 4 }])
    expect(await world.rejection(consumer.poll())).toMatchObject({ code: 'MR_CLIENT_PARTITION_UNKNOWN', details: { partition: 4, count: 1 } })
  })

  it.each([
    ['reads', async (world: TestWorld, consumer: Consumer) => {
      consumer.assign([{ topic: 't', partition: 1 }])
      expect(await offsets(world, consumer, 20)).toEqual(range(0, 20))
    }],
    ['tells the end of', async (world: TestWorld, consumer: Consumer) => {
      expect(await world.complete(consumer.endOffsets([{ topic: 't', partition: 1 }]))).toMatchObject([{ offset: 20 }])
    }],
  ] as const)('%s a partition that its topic got after the last metadata: whoever shares partitions out knows of it first', async (_title, use) => {
    const world = await worldWithRecords()
    const consumer = world.client().consumer()
    consumer.assign([tp])
    expect(await offsets(world, consumer, 100)).toEqual(range(0, 100))
    expect(await world.complete(consumer.poll({ timeoutMs: 1000 }))).toEqual([])
    const added = new FakeLog(1)
    world.cluster.topics.get('t')!.logs.push(added)
    fill(added, 0, 20)
    await use(world, consumer)
  })

  it('says that it may not read, and reads on elsewhere once that partition is paused', async () => {
    const world = await worldWithRecords()
    world.cluster.addTopic('secret', [1])
    world.cluster.script = call => {
      if (call.api.key !== 1) return undefined
      const { topics } = call.request as FetchRequest
      const secret = world.cluster.topics.get('secret')!
      if (!topics.some(topic => topic.topicId === secret.id)) return undefined
      return { respond: { responses: topics.map(topic => ({ ...topic, partitions: [
        topic.topicId === secret.id
          ? { partitionIndex: 0, errorCode: kafkaErrors.TOPIC_AUTHORIZATION_FAILED, highWatermark: -1, records: null }
          : { partitionIndex: 0, errorCode: 0, highWatermark: 0, records: new Uint8Array(0) },
      ] })) } }
    }
    const consumer = world.client().consumer()
    consumer.assign([tp, { topic: 'secret', partition: 0 }])
    expect(await world.rejection(consumer.poll())).toMatchObject({ code: 'MR_CLIENT_NOT_AUTHORIZED', details: { topic: 'secret' } })
    consumer.pause([{ topic: 'secret', partition: 0 }])
    expect(await offsets(world, consumer, 100)).toEqual(range(0, 100))
  })

  it('fetches ahead no more than it may', async () => {
    const world = await testWorld()
    const { logs: [log] } = world.cluster.addTopic('t', [1])
    fill(log!, 0, 5000)
    const consumer = world.client().consumer({ partitionBytesMax: 1000, prefetchBytesMax: 4000 })
    consumer.assign([tp])
    await world.scheduler.runFor(60_000)
    const fetched = world.cluster.callsOf(1).length
    expect(fetched).toBeLessThan(6)
    await world.scheduler.runFor(60_000)
    expect(world.cluster.callsOf(1)).toHaveLength(fetched)
    expect(await offsets(world, consumer, 5000)).toEqual(range(0, 5000))
  })

  it('does not let a partition that is read ahead keep another one waiting', async () => {
    const world = await testWorld()
    const topic = world.cluster.addTopic('t', [1, 1])
    fill(topic.logs[0]!, 0, 5000)
    const consumer = world.client().consumer({ partitionBytesMax: 1000, fetchWaitMsMax: 20_000 })
    consumer.assign([tp, { topic: 't', partition: 1 }])
    await world.scheduler.runFor(5000)
    consumer.pause([tp])
    fill(topic.logs[1]!, 0, 1)
    world.cluster.wakeFetches()
    const beforeMs = world.scheduler.nowMs
    await world.complete(consumer.poll())
    expect(world.scheduler.nowMs - beforeMs).toBeLessThan(200)
    consumer.resume([tp])
    // Each refill is asked for at once, not after the other partition's wait at the broker.
    const startMs = world.scheduler.nowMs
    expect(await offsets(world, consumer, 5000)).toHaveLength(5000)
    expect(world.scheduler.nowMs - startMs).toBeLessThan(2000)
  })

  it('reads from the replica that the leader names, and comes back when that fails (KIP-392)', async () => {
    const world = await worldWithRecords({ nodes: 2 })
    const seen: number[] = []
    world.cluster.script = call => {
      if (call.api.key !== 1) return undefined
      seen.push(call.node.id)
      const [topic] = (call.request as FetchRequest).topics
      if (call.node.id === 1 && seen.length === 1) {
        return { respond: { responses: [{ ...topic!, partitions: [{ partitionIndex: 0, errorCode: 0, highWatermark: 100, preferredReadReplica: 2, records: new Uint8Array(0) }] }] } }
      }
      if (call.node.id === 2) {
        return { respond: { responses: [{ ...topic!, partitions: [{ partitionIndex: 0, errorCode: kafkaErrors.NOT_LEADER_OR_FOLLOWER, highWatermark: -1, records: null }] }] } }
      }
      return undefined
    }
    const consumer = world.client({ rack: 'r' }).consumer()
    consumer.assign([tp])
    expect(await offsets(world, consumer, 100)).toEqual(range(0, 100))
    expect(seen.slice(0, 3)).toEqual([1, 2, 1])
    expect((world.cluster.callsOf(1)[0]!.request as FetchRequest).rackId).toBe('r')
  })
})
