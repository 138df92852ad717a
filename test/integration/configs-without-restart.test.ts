import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import kafkajs from 'kafkajs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient, type Client, type ConfigChange } from '../../src/client/index.ts'
import { ensureBuilt } from './built.ts'
import { type BrokerProcess, startBroker } from './broker-process.ts'

const directory = mkdtempSync(join(tmpdir(), 'millrace-configs-'))
const start = (): Promise<BrokerProcess> => startBroker(['--data', directory, '--set', 'log.retention.check.interval.ms=50'])
let broker: BrokerProcess
/** Asks for changes. */
let admins: Client
/** Has connections of its own, that were there before. */
let users: Client

async function connect(): Promise<void> {
  broker = await start()
  admins = createClient({ bootstrap: broker.bootstrap })
  users = createClient({ bootstrap: broker.bootstrap })
}

beforeAll(async () => {
  ensureBuilt()
  await connect()
}, 120_000)

afterAll(async () => {
  await Promise.all([admins.close(), users.close()])
  await broker.end('SIGTERM')
  rmSync(directory, { recursive: true, force: true })
})

const create = (name: string, configs: Readonly<Record<string, string>> = {}) => admins.admin().createTopics([{ name, partitions: 1, configs }])
const set = (name: string, value: string): ConfigChange => ({ name, operation: 'set', value })
const alter = (topic: string, ...changes: ConfigChange[]) => admins.admin().incrementalAlterConfigs([{ type: 'topic', name: topic, changes }])

/** Resolves when it holds; there is nothing to be told by. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!await holds()) await new Promise((resolve) => { setTimeout(resolve, 10) })
}

async function startOf(topic: string): Promise<number> {
  const [found] = await users.admin().listOffsets([{ topic, partition: 0, at: 'beginning' }])
  return found!.offset
}

async function overridesOf(topic: string): Promise<Record<string, string | null>> {
  const [described] = await users.admin().describeConfigs([{ type: 'topic', name: topic }])
  return Object.fromEntries(described!.entries.filter(({ source }) => source === 'topic').map(({ name, value }) => [name, value]))
}

async function valuesOf(topic: string, count: number): Promise<string[]> {
  const values: string[] = []
  await using consumer = users.consumer()
  consumer.assign([{ topic, partition: 0, offset: await startOf(topic) }])
  while (values.length < count) for (const record of await consumer.poll()) values.push(record.text()!)
  return values
}

const segmentsOf = (topic: string): string[] => readdirSync(join(directory, `${topic}-0`)).filter((name) => name.endsWith('.log'))

describe('a setting that is changed takes effect without a restart', () => {
  it('max.message.bytes: with the answer, for those who were connected before', async () => {
    await create('sizes')
    const producer = users.producer({ acks: 'all' })
    const send = () => producer.send({ topic: 'sizes', partition: 0, value: 'x'.repeat(5000) })
    await send()
    await alter('sizes', set('max.message.bytes', '1000'))
    await expect(send()).rejects.toThrow('is over max.message.bytes=1000')
    await alter('sizes', { name: 'max.message.bytes', operation: 'delete' })
    await send()
    expect(await valuesOf('sizes', 2)).toHaveLength(2)
  })

  it('min.insync.replicas: acks=all is refused while it cannot be met, and answered again after; what was answered is there once', async () => {
    await create('insync')
    const producer = users.producer({ acks: 'all' })
    await producer.send({ topic: 'insync', partition: 0, value: 'before' })
    await alter('insync', set('min.insync.replicas', '2'))
    const waiting = producer.send({ topic: 'insync', partition: 0, value: 'meanwhile' })
    const other = users.producer({ acks: 'all', deliveryTimeoutMs: 300 })
    await expect(other.send({ topic: 'insync', partition: 0, value: 'never' })).rejects.toBeDefined()
    await alter('insync', set('min.insync.replicas', '1'))
    await waiting
    expect(await valuesOf('insync', 2)).toEqual(['before', 'meanwhile'])
  })

  it('segment.bytes at the next append, retention.bytes at the next look for what is too much', async () => {
    await create('segments')
    const producer = users.producer({ acks: 'all' })
    for (let count = 0; count < 3; count++) await producer.send({ topic: 'segments', partition: 0, value: 'x'.repeat(900_000) })
    expect(segmentsOf('segments')).toHaveLength(1)
    await alter('segments', set('segment.bytes', '1048576'))
    await producer.send({ topic: 'segments', partition: 0, value: 'x'.repeat(900_000) })
    expect(segmentsOf('segments')).toHaveLength(2)
    await producer.send({ topic: 'segments', partition: 0, value: 'the last' })
    expect(await startOf('segments')).toBe(0)
    await alter('segments', set('retention.bytes', '1000'))
    await until(async () => await startOf('segments') === 3)
    expect((await valuesOf('segments', 2)).at(-1)).toBe('the last')
  })

  it('compression.type and cleanup.policy, by kafkajs and the API that replaces all settings', async () => {
    await create('replaced', { 'retention.ms': '77000000', 'segment.ms': '88000000' })
    const kafka = new kafkajs.Kafka({ brokers: [broker.bootstrap], logLevel: kafkajs.logLevel.NOTHING })
    const admin = kafka.admin()
    await admin.connect()
    await admin.alterConfigs({ validateOnly: true, resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: 'replaced', configEntries: [{ name: 'compression.type', value: 'gzip' }] }] })
    expect(await overridesOf('replaced')).toEqual({ 'retention.ms': '77000000', 'segment.ms': '88000000' })
    await admin.alterConfigs({ validateOnly: false, resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: 'replaced', configEntries: [{ name: 'cleanup.policy', value: 'compact' }, { name: 'retention.ms', value: '77000000' }] }] })
    await admin.disconnect()
    expect(await overridesOf('replaced')).toEqual({ 'cleanup.policy': 'compact', 'retention.ms': '77000000' })
    const producer = users.producer({ acks: 'all' })
    await expect(producer.send({ topic: 'replaced', partition: 0, value: 'without a key' })).rejects.toBeDefined()
    await producer.send({ topic: 'replaced', partition: 0, key: 'k', value: 'with one' })
    expect(await valuesOf('replaced', 1)).toEqual(['with one'])
  })
})

describe('settings that change all the time under load', () => {
  it('lose nothing that was acknowledged, nor its order, and what was answered is there after kill -9', async () => {
    await create('busy', { 'internal.segment.bytes': '20000' })
    let done = false
    const acknowledged: string[] = []
    const produce = async (): Promise<void> => {
      const producer = users.producer({ acks: 'all' })
      for (let count = 0; !done; count++) {
        const sent = Array.from({ length: 5 }, (_, index) => `${count}.${index} ${'x'.repeat(count % 7 === 0 ? 3000 : 20)}`)
        await Promise.all(sent.map((value) => producer.send({ topic: 'busy', partition: 0, value })))
        acknowledged.push(...sent)
      }
    }
    const producing = produce()
    const last: Record<string, string> = {}
    for (let round = 0; round < 60; round++) {
      const changes = {
        durability: round % 2 === 0 ? 'os' : 'fsync', 'internal.segment.bytes': String(5000 + round * 500), 'compression.type': ['producer', 'gzip', 'lz4'][round % 3]!,
        'index.interval.bytes': String(100 + round), 'max.message.bytes': String(100_000 + round),
      }
      await alter('busy', ...Object.entries(changes).map(([name, value]) => set(name, value)))
      Object.assign(last, changes)
    }
    done = true
    await producing
    await Promise.all([admins.close(), users.close()])
    await broker.end('SIGKILL')
    await connect()
    expect(await overridesOf('busy')).toEqual(last)
    expect(await valuesOf('busy', acknowledged.length)).toEqual(acknowledged)
    expect(acknowledged.length).toBeGreaterThan(60)
  }, 120_000)
})
