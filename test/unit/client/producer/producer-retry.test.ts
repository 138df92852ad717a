import { describe, expect, it } from 'vitest'
import { clientSettings } from '../../../../src/client/client-options.ts'
import { Client } from '../../../../src/client/client.ts'
import { type Producer } from '../../../../src/client/producer/producer.ts'
import * as header from '../../../../src/kernel/record/batch-header.ts'
import { RecordingLogger } from '../../../../src/testkit/world/recording-telemetry.ts'
import { kafkaErrors, type ProduceRequest } from '../../../../src/wire/index.ts'
import { testWorld, type TestWorld } from '../world/client-world.ts'
import { type Call } from '../world/fake-node.ts'

const isProduce = (call: Call): boolean => call.api.key === 0

const value = (index: number): string => `v${index}`
const record = (index: number): { topic: string, partition: number, value: string } => ({ topic: 't', partition: 0, value: value(index) })

function sendAll(producer: Producer, count: number, from = 0): Promise<unknown[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => producer.send(record(from + index))))
}

function stored(world: TestWorld): (string | null)[] {
  return world.cluster.log('t', 0).records().map(each => each.value)
}

function answer(call: Call, errorCode: number): { respond: object } {
  const { topicData } = call.request as ProduceRequest
  return { respond: { responses: topicData.map(({ name, topicId, partitionData }) => ({
    name, topicId, partitionResponses: partitionData.map(({ index }) => ({ index, errorCode, baseOffset: -1 })),
  })) } }
}

const all = (count: number): string[] => Array.from({ length: count }, (_, index) => value(index))

describe('a producer that meets trouble', () => {
  it('follows a leader that moves, without asking when the broker names the new one', async () => {
    const world = await testWorld({ nodes: 2 })
    world.cluster.addTopic('t', [1])
    const producer = world.client().producer()
    await world.complete(sendAll(producer, 5))
    const questions = world.cluster.callsOf(3).length
    world.cluster.moveLeader('t', 0, 2)
    await world.complete(sendAll(producer, 5, 5), 1000)
    expect(stored(world)).toEqual(all(10))
    expect(world.cluster.callsOf(3)).toHaveLength(questions)
    expect(world.cluster.calls.at(-1)!.node.id).toBe(2)
  })

  it('asks for the leader when the broker does not name it', async () => {
    const world = await testWorld({ nodes: 2 })
    world.cluster.addTopic('t', [1])
    world.cluster.namesLeaders = false
    const producer = world.client().producer()
    await world.complete(sendAll(producer, 5))
    world.cluster.moveLeader('t', 0, 2)
    await world.complete(sendAll(producer, 5, 5), 2000)
    expect(stored(world)).toEqual(all(10))
  })

  it('stores a batch once though the connection was lost after it had been stored', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    const producer = world.client().producer()
    await world.complete(sendAll(producer, 5))
    let isLost = false
    world.cluster.script = call => {
      if (!isProduce(call) || isLost) return undefined
      isLost = true
      return 'handle and close'
    }
    const places = await world.complete(sendAll(producer, 5, 5))
    expect(stored(world)).toEqual(all(10))
    expect(places).toMatchObject([{ offset: 5 }, { offset: 6 }, { offset: 7 }, { offset: 8 }, { offset: 9 }])
  })

  it('says after some refusals why it sends again, and not each time', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    const logger = new RecordingLogger()
    const client = new Client({ ...world.world, logger }, clientSettings({ bootstrap: 'b1:9092' }))
    let refused = 0
    world.cluster.script = call => isProduce(call) && refused < 20 ? (refused++, answer(call, kafkaErrors.NOT_ENOUGH_REPLICAS)) : undefined
    await world.complete(sendAll(client.producer(), 1))
    const said = logger.lines.filter(({ message }) => message === 'a batch is refused again and again')
    expect(said.map(({ fields }) => fields['attempts'])).toEqual([4, 8, 16])
    expect(said[0]!.fields['error']).toMatchObject({ message: expect.stringContaining('NOT_ENOUGH_REPLICAS') })
    await world.complete(client.close())
  })

  it('says once that a partition has no leader, and goes on when it has one', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [-1])
    const logger = new RecordingLogger()
    const client = new Client({ ...world.world, logger }, clientSettings({ bootstrap: 'b1:9092' }))
    const sending = sendAll(client.producer(), 1)
    await world.complete(new Promise<void>(resolve => { world.timers.after(5000, resolve) }))
    expect(logger.lines.map(({ fields }) => fields['error'])).toEqual([expect.objectContaining({ code: 'MR_CLIENT_PARTITION_LEADERLESS' })])
    world.cluster.moveLeader('t', 0, 1)
    await world.complete(sending)
    await world.complete(client.close())
  })

  it('keeps the order when the first of several batches under way is refused', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    const producer = world.client().producer({ batchBytesMax: 200 })
    await world.complete(producer.send(record(0)))
    let refused = 0
    world.cluster.script = call => isProduce(call) && refused++ === 0 ? answer(call, kafkaErrors.NOT_ENOUGH_REPLICAS) : undefined
    await world.complete(sendAll(producer, 99, 1))
    expect(stored(world)).toEqual(all(100))
    expect(refused).toBeGreaterThan(5)
  })

  it.each([1, 2, 3, 4, 5, 6, 7, 8])('stores everything once and in order through random trouble (seed %i)', async seed => {
    const world = await testWorld({ nodes: 3, seed })
    world.cluster.addTopic('t', [1])
    const producer = world.client({ requestTimeoutMs: 2000 }).producer({ batchBytesMax: 300 })
    const { random } = world
    world.cluster.script = call => {
      if (!isProduce(call)) return random.fraction() < 0.05 ? 'close' : undefined
      const chance = random.fraction()
      if (chance < 0.05) world.cluster.moveLeader('t', 0, 1 + Math.floor(random.fraction() * 3))
      if (chance < 0.1) return 'close'
      if (chance < 0.2) return 'handle and close'
      if (chance < 0.23) return 'swallow'
      if (chance < 0.3) return answer(call, kafkaErrors.NOT_ENOUGH_REPLICAS)
      return undefined
    }
    const sent: Promise<unknown>[] = []
    for (let round = 0; round < 20; round++) {
      sent.push(sendAll(producer, 10, round * 10))
      await world.scheduler.runFor(random.fraction() * 50)
    }
    await world.complete(Promise.all(sent))
    expect(stored(world)).toEqual(all(200))
  })

  it('that is closed while it sends again says with each record why it had to', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    world.cluster.script = call => isProduce(call) ? answer(call, kafkaErrors.KAFKA_STORAGE_ERROR) : undefined
    const producer = world.client().producer()
    const sent = producer.send(record(0)).catch((error: unknown) => error)
    await world.complete(producer.close({ timeoutMs: 500 }))
    expect(await sent).toMatchObject({ code: 'MR_CLIENT_CLOSED', message: expect.stringMatching(/^the producer was closed before the record was acknowledged; its last try failed: .*KAFKA_STORAGE_ERROR/) })
  })

  it('gives up after deliveryTimeoutMs and says why', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    world.cluster.script = call => isProduce(call) ? answer(call, kafkaErrors.NOT_ENOUGH_REPLICAS) : undefined
    const producer = world.client().producer({ deliveryTimeoutMs: 3000 })
    const error = await world.rejection(producer.send(record(0)), 5000)
    expect(error).toMatchObject({ code: 'MR_CLIENT_DELIVERY_TIMEOUT' })
    expect((error as Error).message).toContain('NOT_ENOUGH_REPLICAS')
  })

  it('goes on under the next epoch after a batch was given up, and stores what came behind it once', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    const producer = world.client().producer({ batchBytesMax: 200 })
    await world.complete(producer.send(record(0)))
    let seen = 0
    world.cluster.script = call => isProduce(call) && seen++ === 0 ? answer(call, kafkaErrors.INVALID_RECORD) : undefined
    const outcomes = await world.complete(Promise.allSettled(Array.from({ length: 40 }, (_, index) => producer.send(record(index + 1)))))
    const failed = outcomes.filter(outcome => outcome.status === 'rejected').length
    expect(failed).toBeGreaterThan(0)
    expect(failed).toBeLessThan(40)
    expect(stored(world)).toEqual([value(0), ...all(41).slice(1 + failed)])
    const last = world.cluster.log('t', 0).batches.at(-1)!
    expect(header.producerEpochOf(last.bytes, 0)).toBe(1)
  })

  it('does not store twice what may have been stored before the batch ahead of it was given up', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    const producer = world.client({ requestTimeoutMs: 1000 }).producer({ batchBytesMax: 90, deliveryTimeoutMs: 1500 })
    await world.complete(producer.send(record(0)))
    // The first batch is never answered. The second one arrives behind it on the same connection and is out of order.
    let seen = 0
    world.cluster.script = call => isProduce(call) && seen++ % 4 === 0 ? 'swallow' : undefined
    const first = producer.send(record(1)).catch((error: unknown) => error)
    await world.scheduler.runFor(700)
    const second = producer.send(record(2)).catch((error: unknown) => error)
    await world.scheduler.runFor(2500)
    world.cluster.script = undefined
    const third = producer.send(record(3))
    await world.complete(Promise.all([first, second, third]))
    const values = stored(world)
    expect(new Set(values).size).toBe(values.length)
    expect(values.at(-1)).toBe(value(3))
  })

  it('finds out what was stored before it goes on, when it has to give up a batch without an answer', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    const producer = world.client({ requestTimeoutMs: 1000 }).producer({ deliveryTimeoutMs: 1500 })
    await world.complete(producer.send(record(0)))
    // Both are stored, and neither answer arrives; then nothing gets through until the first one's time is over.
    let seen = 0
    world.cluster.script = call => !isProduce(call) ? undefined : seen++ < 2 ? 'handle and swallow' : 'close'
    const first = producer.send(record(1)).catch((error: unknown) => error)
    await world.scheduler.runFor(700)
    const second = producer.send(record(2))
    expect(await world.complete(first)).toMatchObject({ code: 'MR_CLIENT_DELIVERY_TIMEOUT' })
    world.cluster.script = undefined
    expect(await world.complete(second)).toMatchObject({ offset: 2 })
    await world.complete(producer.send(record(3)))
    expect(stored(world)).toEqual(all(4))
  })

  it('sends a batch again alone: what is behind it would only be refused', async () => {
    const world = await testWorld({ latencyMs: 5 })
    world.cluster.addTopic('t', [1])
    const producer = world.client().producer({ batchBytesMax: 200 })
    await world.complete(producer.send(record(0)))
    let seen = 0
    let refusals = 0
    world.cluster.script = call => {
      if (!isProduce(call)) return undefined
      // Refused, and refused again.
      if ([0, 5].includes(seen++)) return answer(call, kafkaErrors.NOT_ENOUGH_REPLICAS)
      const response = world.cluster.produce(call) as { responses: { partitionResponses: { errorCode: number }[] }[] }
      if (response.responses[0]!.partitionResponses[0]!.errorCode === kafkaErrors.OUT_OF_ORDER_SEQUENCE_NUMBER) refusals++
      return { respond: response }
    }
    await world.complete(sendAll(producer, 99, 1))
    expect(stored(world)).toEqual(all(100))
    // Those that were under way with it, and no more.
    expect(refusals).toBe(4)
  })

  it('tells when the broker has lost records that it had acknowledged, and goes on', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    const producer = world.client().producer()
    await world.complete(producer.send(record(0)))
    await world.complete(producer.send(record(1)))
    const log = world.cluster.log('t', 0)
    log.truncate(1)
    log.producers.get(1000)!.nextSequence = 1
    log.producers.get(1000)!.recent.pop()
    expect(await world.rejection(producer.send(record(2)))).toMatchObject({ code: 'MR_CLIENT_SEQUENCE_LOST' })
    await world.complete(producer.send(record(3)))
    expect(stored(world)).toEqual([value(0), value(3)])
  })

  it('takes up another id when the broker does not accept its own any more', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    const producer = world.client().producer()
    await world.complete(producer.send(record(0)))
    world.cluster.log('t', 0).producers.get(1000)!.epoch = 9
    await world.complete(producer.send(record(1)))
    expect(stored(world)).toEqual(all(2))
    expect(world.cluster.callsOf(22)).toHaveLength(2)
  })

  it('goes on when the broker has forgotten the producer', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    const producer = world.client().producer()
    await world.complete(producer.send(record(0)))
    let isAsked = false
    world.cluster.script = call => {
      if (!isProduce(call) || isAsked) return undefined
      isAsked = true
      return answer(call, kafkaErrors.UNKNOWN_PRODUCER_ID)
    }
    await world.complete(producer.send(record(1)))
    expect(stored(world)).toEqual(all(2))
  })

  it('quirk 29: takes an answer "duplicate" for a success', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    world.cluster.script = call => isProduce(call) ? answer(call, kafkaErrors.DUPLICATE_SEQUENCE_NUMBER) : undefined
    expect(await world.complete(world.client().producer().send(record(0)))).toMatchObject({ offset: -1 })
  })

  it('splits a batch that is too large for the topic, as often as needed, and keeps its sequence', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    world.cluster.log('t', 0).messageBytesMax = 300
    const producer = world.client().producer()
    const flushed = sendAll(producer, 100)
    await world.complete(Promise.all([flushed, producer.flush()]))
    expect(stored(world)).toEqual(all(100))
    await world.complete(sendAll(producer, 5, 100))
    expect(stored(world)).toEqual(all(105))
    expect(world.cluster.log('t', 0).producers.size).toBe(1)
  })

  it('refuses a single record that is too large for the topic', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    world.cluster.log('t', 0).messageBytesMax = 300
    const producer = world.client().producer()
    expect(await world.rejection(producer.send({ topic: 't', value: new Uint8Array(500) }))).toMatchObject({
      code: 'MR_CLIENT_BROKER_REFUSED', details: { error: 'MESSAGE_TOO_LARGE' },
    })
    await world.complete(producer.send(record(0)))
  })

  it('fails at once what the broker forbids', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    world.cluster.script = call => isProduce(call) ? answer(call, kafkaErrors.TOPIC_AUTHORIZATION_FAILED) : undefined
    expect(await world.rejection(world.client().producer().send(record(0)), 1000)).toMatchObject({
      code: 'MR_CLIENT_NOT_AUTHORIZED', details: { topic: 't', partition: 0 },
    })
  })

  it('finds a topic again that was deleted and made anew under way', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    const producer = world.client().producer()
    await world.complete(sendAll(producer, 3))
    world.cluster.topics.delete('t')
    const sent = sendAll(producer, 3, 3)
    await world.scheduler.runFor(2000)
    world.cluster.addTopic('t', [1])
    await world.complete(sent)
    expect(stored(world)).toEqual([value(3), value(4), value(5)])
  })

  it('works without idempotence where the cluster has none, and fails where the application insists', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    world.cluster.versions.delete(22)
    await world.complete(world.client().producer().send(record(0)))
    expect(header.producerIdOf(world.cluster.log('t', 0).batches[0]!.bytes, 0)).toBe(-1)
    expect(await world.rejection(world.client().producer({ idempotence: true }).send(record(1)))).toMatchObject({ code: 'MR_CLIENT_UNSUPPORTED' })
  })

  it('asks again for a producer id while the coordinator is not there', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    let asked = 0
    world.cluster.script = call => call.api.key === 22 && asked++ < 3
      ? { respond: { errorCode: kafkaErrors.COORDINATOR_LOAD_IN_PROGRESS, producerId: -1, producerEpoch: -1 } } : undefined
    await world.complete(world.client().producer().send(record(0)))
    expect(asked).toBe(4)
  })

  it('sends nothing to a partition while the broker asks for a pause', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    const producer = world.client().producer()
    world.cluster.script = call => isProduce(call)
      ? { respond: { ...world.cluster.produce(call), throttleTimeMs: 5000 } } : undefined
    await world.complete(producer.send(record(0)))
    const beforeMs = world.scheduler.nowMs
    world.cluster.script = undefined
    await world.complete(producer.send(record(1)))
    expect(world.scheduler.nowMs - beforeMs).toBeGreaterThan(4900)
  })

  it('fails for good when it is not let in', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    const producer = world.client({ sasl: { mechanism: 'PLAIN', username: 'u', password: 'p' } }).producer()
    world.cluster.script = call => call.api.key === 17 ? { respond: { errorCode: kafkaErrors.UNSUPPORTED_SASL_MECHANISM, mechanisms: ['GSSAPI'] } } : undefined
    const error = await world.rejection(producer.send(record(0)), 1000)
    expect(error).toMatchObject({ code: 'MR_CLIENT_AUTHENTICATION' })
    expect((error as Error).message).toContain('GSSAPI')
  })
})
