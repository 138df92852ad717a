import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createBroker } from '../../src/broker/index.ts'
import { createClient, type Admin, type Client, type Consumer, type Producer } from '../../src/client/index.ts'

/** Waited for far longer than a test may take: whoever waits it out fails. */
const timeoutMs = 600_000
const partition = { topic: 't', partition: 0 }

describe('a client of a broker in its process that has stopped', () => {
  let client: Client
  let admin: Admin
  let producer: Producer
  let consumer: Consumer
  let waiting: Promise<unknown>

  beforeAll(async () => {
    const broker = await createBroker({ preset: 'memory', logLevel: 'silent' })
    await broker.start()
    client = createClient({ inProcess: { dispatcher: broker.dispatcher } })
    admin = client.admin()
    producer = client.producer({ deliveryTimeoutMs: timeoutMs })
    consumer = client.consumer()
    await admin.createTopics([{ name: 't', partitions: 2 }])
    await producer.send({ topic: 't', partition: 0, value: 'a' })
    consumer.assign([partition, { topic: 't', partition: 1 }])
    expect(await consumer.poll({ timeoutMs })).toHaveLength(1)
    // Fetches again and again: the stop has to get its turn all the same.
    waiting = consumer.poll({ timeoutMs }).catch((error: unknown) => error)
    expect(await broker.stop()).toEqual([])
  })
  afterAll(async () => { await client.close() })

  it('that polls when it stops is told', async () => {
    expect(await waiting).toMatchObject({ code: 'MR_BROKER_ENDED', message: expect.stringMatching(/was stopped.*createBroker, and createClient/) })
  })

  const fresh = (topic: string): Consumer => {
    const made = client.consumer()
    made.assign([{ topic, partition: 0 }])
    return made
  }
  it.each<[string, () => Promise<unknown>]>([
    ['a poll', () => consumer.poll({ timeoutMs })],
    ['the first poll of a consumer', () => fresh('t').poll({ timeoutMs })],
    ['a poll of a topic that it never saw', () => fresh('u').poll({ timeoutMs })],
    ['a position', () => fresh('t').position(partition)],
    ['a record', () => producer.send({ topic: 't', value: 'b' })],
    ['the first record of a producer', () => client.producer({ deliveryTimeoutMs: timeoutMs }).send({ topic: 't', value: 'b' })],
    ['a record for a topic that it never saw', () => producer.send({ topic: 'u', value: 'b' })],
    ['a list of topics', () => admin.listTopics({ timeoutMs })],
    ['a new topic', () => admin.createTopics([{ name: 'v' }], { timeoutMs })],
    ['a deletion', () => admin.deleteTopics(['t'], { timeoutMs })],
    ['offsets', () => admin.listOffsets([{ ...partition, at: 'end' }], { timeoutMs })],
    ['a description of the cluster', () => admin.describeCluster({ timeoutMs })],
  ])('is refused %s at once, for good', async (_what, run) => {
    await expect(run()).rejects.toMatchObject({ code: 'MR_BROKER_ENDED', row: { retriable: false } })
  })
})
