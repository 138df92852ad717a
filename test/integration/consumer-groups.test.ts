import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import kafkajs, { type Consumer, type Kafka as KafkaClient } from 'kafkajs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createClient } from '../../src/index.ts'
import { type BrokerProcess, startBroker } from './broker-process.ts'
import { ensureBuilt } from './built.ts'

const { Kafka, logLevel } = kafkajs
let directory = ''

beforeAll(() => {
  ensureBuilt()
  directory = mkdtempSync(join(tmpdir(), 'millrace-groups-'))
}, 120_000)
afterAll(() => { rmSync(directory, { recursive: true, force: true }) })

/** Nobody is waited for who might come later. */
const start = (args: readonly string[] = []): Promise<BrokerProcess> => startBroker(['--data', directory, ...args], { env: { MILLRACE_GROUP_INITIAL_REBALANCE_DELAY_MS: '0' } })

/** A member of the group `readers`, which gathers what it reads and commits it at once. */
class Reader {
  readonly values: string[] = []
  private readonly consumer: Consumer
  private wake = (): void => undefined

  constructor(kafka: KafkaClient) {
    this.consumer = kafka.consumer({ groupId: 'readers', sessionTimeout: 6000, heartbeatInterval: 500, maxWaitTimeInMs: 100, retry: { initialRetryTime: 50, retries: 20 } })
  }

  /** Resolves when it has joined. */
  async join(): Promise<void> {
    await this.consumer.connect()
    await this.consumer.subscribe({ topics: ['orders'], fromBeginning: true })
    const joined = new Promise<void>((resolve) => { this.consumer.on('consumer.group_join', () => { resolve() }) })
    await this.consumer.run({
      autoCommit: false,
      eachMessage: async ({ topic, partition, message }) => {
        await this.consumer.commitOffsets([{ topic, partition, offset: String(Number(message.offset) + 1) }])
        this.values.push(message.value!.toString())
        this.wake()
      },
    })
    await joined
  }

  async until(count: number): Promise<void> {
    while (this.values.length < count) await new Promise<void>((resolve) => { this.wake = resolve })
  }

  leave(): Promise<void> {
    return this.consumer.disconnect()
  }
}

function clientOf(broker: BrokerProcess): KafkaClient {
  return new Kafka({ clientId: 'e2e', brokers: [broker.bootstrap], logLevel: logLevel.NOTHING, retry: { initialRetryTime: 50, retries: 20 } })
}

async function produce(broker: BrokerProcess, from: number, to: number): Promise<void> {
  const client = createClient({ bootstrap: broker.bootstrap })
  const producer = client.producer()
  for (let index = from; index < to; index++) await producer.send({ topic: 'orders', partition: index % 2, value: `order-${index}` })
  await client.close()
}

const orders = (from: number, to: number): string[] => Array.from({ length: to - from }, (_, index) => `order-${from + index}`).sort()

it('kafkajs reads in a group and commits; when the broker is killed and started again it goes on where it was, and so does its successor', async () => {
  let broker = await start()
  const client = createClient({ bootstrap: broker.bootstrap })
  await client.admin().createTopics([{ name: 'orders', partitions: 2 }])
  await client.close()
  await produce(broker, 0, 20)
  const first = new Reader(clientOf(broker))
  await first.join()
  await first.until(20)
  expect([...first.values].sort()).toEqual(orders(0, 20))

  await broker.end('SIGKILL')
  broker = await start(['--listen', broker.bootstrap])
  await produce(broker, 20, 30)
  await first.until(30)
  // What was committed is not read again, and what was not is.
  expect(first.values.slice(20).sort()).toEqual(orders(20, 30))
  await first.leave()

  await produce(broker, 30, 40)
  const second = new Reader(clientOf(broker))
  await second.join()
  await second.until(10)
  expect([...second.values].sort()).toEqual(orders(30, 40))
  const admin = clientOf(broker).admin()
  await admin.connect()
  const offsets = await admin.fetchOffsets({ groupId: 'readers', topics: ['orders'] })
  expect(offsets[0]!.partitions.map(({ partition, offset }) => [partition, offset]).sort()).toEqual([[0, '20'], [1, '20']])
  const { groups } = await admin.describeGroups(['readers'])
  expect(groups[0]).toMatchObject({ groupId: 'readers', state: 'Stable', protocolType: 'consumer' })
  expect((await admin.listGroups()).groups.map(({ groupId }) => groupId)).toEqual(['readers'])
  await second.leave()
  await admin.deleteGroups(['readers'])
  expect((await admin.listGroups()).groups).toEqual([])
  await admin.disconnect()
  expect(await broker.end('SIGTERM')).toBe(0)
  expect(broker.log()).not.toMatch(/"level":(50|60)/)
}, 60_000)

it('two members of kafkajs share the partitions; when one leaves the other has all, and the broker stops in order', async () => {
  const broker = await start()
  const [one, two] = [new Reader(clientOf(broker)), new Reader(clientOf(broker))]
  await one.join()
  await two.join()
  const admin = clientOf(broker).admin()
  await admin.connect()
  await expect.poll(async () => (await admin.describeGroups(['readers'])).groups[0]!.members.length, { timeout: 20_000 }).toBe(2)
  await one.leave()
  await expect.poll(async () => {
    const { state, members } = (await admin.describeGroups(['readers'])).groups[0]!
    return [state, members.length]
  }, { timeout: 20_000 }).toEqual(['Stable', 1])
  await produce(broker, 40, 50)
  await expect.poll(() => orders(40, 50).filter((value) => !two.values.includes(value)), { timeout: 20_000 }).toEqual([])
  await admin.disconnect()
  expect(await broker.end('SIGTERM')).toBe(0)
  expect(broker.log()).toContain('the broker has stopped in order')
  await two.leave().catch(() => undefined)
}, 90_000)
