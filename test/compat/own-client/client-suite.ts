import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  createClient, type Admin, type Client, type ClientOptions, type Consumer, type ConsumerRecord, type ProducerRecord,
} from '../../../src/client/index.ts'
import { isMillraceError, type ErrorCode } from '../../../src/kernel/errors/index.ts'

export interface SuiteContext {
  readonly client: Client
  readonly admin: Admin
  /** Creates a topic with a name of its own. */
  topic(partitions?: number, configs?: Readonly<Record<string, string>>): Promise<string>
}

export interface SuiteCheck {
  readonly name: string
  run(context: SuiteContext): Promise<void>
}

let topics = 0

/** Runs one check with a client of its own, which it closes. Topics stay for the broker's owner to throw away. */
export async function runCheck(check: SuiteCheck, connection: ClientOptions): Promise<void> {
  const client = createClient(connection)
  const admin = client.admin()
  const topic = async (partitions = 1, configs: Readonly<Record<string, string>> = {}): Promise<string> => {
    const name = `suite-${process.pid}-${topics++}`
    await admin.createTopics([{ name, partitions, replicationFactor: 1, configs }])
    return name
  }
  try {
    await check.run({ client, admin, topic })
  } finally {
    await client.close()
  }
}

/** Polls until there are so many records; fails when they do not come. */
async function read(consumer: Consumer, count: number): Promise<ConsumerRecord[]> {
  const records: ConsumerRecord[] = []
  while (records.length < count) {
    const polled = await consumer.poll({ timeoutMs: 20_000 })
    assert.notEqual(polled.length, 0, `${count} records are wanted, and after ${records.length} none came for 20 s`)
    records.push(...polled)
  }
  assert.equal(records.length, count)
  return records
}

async function rejects(work: Promise<unknown>, ...codes: ErrorCode[]): Promise<void> {
  await assert.rejects(work, (error: unknown) => codes.some(code => isMillraceError(error, code)) || assert.fail(String(error)))
}

/** Kafka answers when something is agreed on, and its brokers follow a little later: what is read when they have, or at the end of a while. */
async function followed<T>(read: () => Promise<T>, hasFollowed: (found: T) => boolean): Promise<T> {
  for (const untilMs = Date.now() + 10_000; Date.now() < untilMs;) {
    const found = await read().catch(() => undefined)
    if (found !== undefined && hasFollowed(found)) return found
  }
  return read()
}

const all = (topic: string, partitions: number): { topic: string, partition: number }[] =>
  Array.from({ length: partitions }, (_, partition) => ({ topic, partition }))

const check = (name: string, run: SuiteCheck['run']): SuiteCheck => ({ name, run })

const records: readonly SuiteCheck[] = [
  ...(['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const).map(compression => check(`keeps every byte with compression ${compression}`, async ({ client, topic }) => {
    const name = await topic()
    const sent: ProducerRecord[] = Array.from({ length: 2000 }, (_, index) => ({
      topic: name, partition: 0, timestamp: 1_700_000_000_000 + index,
      key: index % 7 === 0 ? null : createHash('sha256').update(`${index}`).digest(),
      value: index % 11 === 0 ? null : index % 13 === 0 ? '' : 'grüße '.repeat(index % 50) + String(index),
      headers: index % 3 === 0 ? [{ key: 'n', value: String(index) }, { key: 'n', value: null }] : [],
    }))
    await client.producer({ compression }).sendMany(sent)
    const consumer = client.consumer()
    consumer.assign(all(name, 1))
    const got = await read(consumer, sent.length)
    got.forEach((record, index) => {
      const { key, value, timestamp } = sent[index]!
      assert.deepEqual([record.offset, record.timestamp], [index, timestamp])
      assert.deepEqual(record.key === null ? null : Buffer.from(record.key), key as Buffer | null)
      assert.equal(record.text(), value)
      assert.equal(record.headers.length, index % 3 === 0 ? 2 : 0)
    })
  })),
  check('keeps the order of each key over several partitions, with many batches under way', async ({ client, topic }) => {
    const name = await topic(4)
    const producer = client.producer({ batchBytesMax: 2000 })
    await Promise.all(Array.from({ length: 20_000 }, (_, index) => producer.send({ topic: name, key: `k${index % 100}`, value: String(index) })))
    const consumer = client.consumer()
    consumer.assign(all(name, 4))
    const last = new Map<string, number>()
    for (const record of await read(consumer, 20_000)) {
      const value = Number(record.text())
      assert.ok(value > (last.get(record.keyText()!) ?? -1), `${value} after ${last.get(record.keyText()!)}`)
      last.set(record.keyText()!, value)
    }
    assert.equal(last.size, 100)
  }),
  check('says the offsets under which records are read', async ({ client, topic }) => {
    const name = await topic(3)
    const places = await client.producer().sendMany(Array.from({ length: 300 }, (_, index) => ({ topic: name, value: String(index) })))
    const consumer = client.consumer()
    consumer.assign(all(name, 3))
    const found = new Map((await read(consumer, 300)).map(record => [`${record.partition}/${record.offset}`, record.text()]))
    places.forEach((place, index) => { assert.equal(found.get(`${place.partition}/${place.offset}`), String(index)) })
  }),
  ...(['all', 1, 0] as const).map(acks => check(`stores records with acks ${acks}`, async ({ client, topic }) => {
    const name = await topic()
    const [place] = await client.producer({ acks }).sendMany([{ topic: name, value: 'x' }])
    assert.equal(place!.offset, acks === 0 ? -1 : 0)
    const consumer = client.consumer()
    consumer.assign(all(name, 1))
    await read(consumer, 1)
  })),
  check('reads records larger than it fetches at a time', async ({ client, topic }) => {
    const name = await topic()
    const producer = client.producer({ batchBytesMax: 1 })
    for (let index = 0; index < 3; index++) await producer.send({ topic: name, value: new Uint8Array(300_000).fill(index) })
    const consumer = client.consumer({ partitionBytesMax: 1000, fetchBytesMax: 1000 })
    consumer.assign(all(name, 1))
    const got = await read(consumer, 3)
    assert.deepEqual(got.map(record => record.value![299_999]), [0, 1, 2])
  }),
  check('splits a batch that the topic finds too large, and refuses a record that is', async ({ client, topic }) => {
    const name = await topic(1, { 'max.message.bytes': '2000' })
    const producer = client.producer()
    await producer.sendMany(Array.from({ length: 100 }, () => ({ topic: name, value: 'x'.repeat(100) })))
    await rejects(producer.send({ topic: name, value: 'x'.repeat(3000) }), 'MR_CLIENT_BROKER_REFUSED')
    await producer.send({ topic: name, value: 'after' })
    const consumer = client.consumer()
    consumer.assign(all(name, 1))
    assert.equal((await read(consumer, 101)).at(-1)!.text(), 'after')
  }),
  check('sends on to a topic that was deleted and made anew', async ({ client, admin, topic }) => {
    const name = await topic()
    const producer = client.producer()
    await producer.send({ topic: name, value: 'old' })
    await admin.deleteTopics([name])
    await admin.createTopics([{ name, partitions: 1, replicationFactor: 1 }])
    const { offset } = await producer.send({ topic: name, value: 'new' })
    assert.equal(offset, 0)
  }),
]

const reading: readonly SuiteCheck[] = [
  check('begins where it is told to: offset, beginning, end, time', async ({ client, topic }) => {
    const name = await topic()
    const producer = client.producer()
    await producer.sendMany(Array.from({ length: 100 }, (_, index) => ({ topic: name, value: String(index), timestamp: 1_700_000_000_000 + index * 10 })))
    const consumer = client.consumer()
    const [tp] = all(name, 1)
    consumer.assign([{ ...tp!, offset: 42 }])
    assert.equal((await consumer.poll({ maxRecords: 1 }))[0]!.text(), '42')
    consumer.seek({ ...tp!, offset: 'beginning' })
    assert.equal((await consumer.poll({ maxRecords: 1 }))[0]!.text(), '0')
    consumer.seekToTime(tp!, 1_700_000_000_000 + 555)
    assert.equal((await consumer.poll({ maxRecords: 1 }))[0]!.text(), '56')
    consumer.seek({ ...tp!, offset: 'end' })
    assert.equal(await consumer.position(tp!), 100)
    const next = consumer.poll()
    await producer.send({ topic: name, value: 'new' })
    assert.equal((await next)[0]!.text(), 'new')
  }),
  check('answers for ends and times of partitions', async ({ client, topic }) => {
    const name = await topic(2)
    await client.producer().sendMany(Array.from({ length: 10 }, (_, index) => ({ topic: name, partition: 1, value: 'x', timestamp: 1_700_000_000_000 + index })))
    const consumer = client.consumer()
    assert.deepEqual((await consumer.endOffsets(all(name, 2))).map(each => each.offset), [0, 10])
    assert.deepEqual((await consumer.beginningOffsets(all(name, 2))).map(each => each.offset), [0, 0])
    const times = [3, 99].map(more => ({ topic: name, partition: 1, timestamp: 1_700_000_000_000 + more }))
    assert.deepEqual((await consumer.offsetsForTimes(times)).map(each => each.offset), [3, -1])
  }),
  check('pauses and resumes', async ({ client, topic }) => {
    const name = await topic(2)
    await client.producer().sendMany([0, 1].map(partition => ({ topic: name, partition, value: String(partition) })))
    const consumer = client.consumer()
    consumer.assign(all(name, 2))
    consumer.pause([{ topic: name, partition: 0 }])
    assert.deepEqual((await read(consumer, 1)).map(record => record.text()), ['1'])
    assert.deepEqual(await consumer.poll({ timeoutMs: 300 }), [])
    consumer.resume([{ topic: name, partition: 0 }])
    assert.deepEqual((await read(consumer, 1)).map(record => record.text()), ['0'])
  }),
  check('meets an offset that is not there as it is told to', async ({ client, topic }) => {
    const name = await topic()
    await client.producer().sendMany([{ topic: name, value: '0' }, { topic: name, value: '1' }])
    const strict = client.consumer()
    strict.assign([{ topic: name, partition: 0, offset: 500 }])
    await rejects(strict.poll({ timeoutMs: 20_000 }), 'MR_CLIENT_OFFSET_OUT_OF_RANGE')
    const lenient = client.consumer({ onOffsetOutOfRange: 'earliest' })
    lenient.assign([{ topic: name, partition: 0, offset: 500 }])
    assert.equal((await read(lenient, 2))[0]!.text(), '0')
  }),
  check('waits for a topic that does not exist yet', async ({ client, admin }) => {
    const name = `suite-late-${process.pid}-${topics++}`
    const consumer = client.consumer()
    consumer.assign([{ topic: name, partition: 0 }])
    assert.deepEqual(await consumer.poll({ timeoutMs: 300 }), [])
    await admin.createTopics([{ name, partitions: 1, replicationFactor: 1 }])
    await client.producer().send({ topic: name, value: 'x' })
    await read(consumer, 1)
  }),
  check('reads what is committed, also where nothing is transactional', async ({ client, topic }) => {
    const name = await topic()
    await client.producer().sendMany(Array.from({ length: 100 }, () => ({ topic: name, value: 'x' })))
    const consumer = client.consumer({ isolation: 'read_committed' })
    consumer.assign(all(name, 1))
    await read(consumer, 100)
    assert.equal((await consumer.endOffsets(all(name, 1)))[0]!.offset, 100)
  }),
  check('iterates record by record', async ({ client, topic }) => {
    const name = await topic()
    await client.producer().sendMany(Array.from({ length: 1500 }, (_, index) => ({ topic: name, value: String(index) })))
    const consumer = client.consumer()
    consumer.assign(all(name, 1))
    let expected = 0
    for await (const record of consumer) {
      assert.equal(record.text(), String(expected++))
      if (expected === 1500) break
    }
  }),
]

const administration: readonly SuiteCheck[] = [
  check('creates, lists, describes and deletes topics', async ({ admin, topic }) => {
    const name = await topic(3, { 'retention.ms': '123456' })
    // A broker may hear of it a moment after the controller.
    while (!(await admin.listTopics()).some(each => each.name === name));
    assert.equal((await admin.listTopics()).find(each => each.name === name)?.partitions, 3)
    const [description] = await admin.describeTopics([name])
    assert.equal(description!.partitions.length, 3)
    assert.ok(description!.partitions.every(partition => partition.leaderId >= 0 && partition.replicas.length === 1))
    await rejects(admin.createTopics([{ name }]), 'MR_TOPIC_EXISTS')
    await rejects(admin.createTopics([{ name: 'not/a/name' }]), 'MR_TOPIC_NAME_INVALID')
    await admin.deleteTopics([name])
    while ((await admin.listTopics()).some(each => each.name === name));
    await rejects(admin.describeTopics([name]), 'MR_TOPIC_UNKNOWN')
    await rejects(admin.deleteTopics([name]), 'MR_TOPIC_UNKNOWN')
  }),
  check('checks a topic without creating it', async ({ admin }) => {
    const name = `suite-validate-${process.pid}-${topics++}`
    await admin.createTopics([{ name, partitions: 2, replicationFactor: 1 }], { validateOnly: true })
    assert.equal((await admin.listTopics()).some(each => each.name === name), false)
  }),
  check('reads settings', async ({ admin, topic }) => {
    const name = await topic(1, { 'retention.ms': '123456' })
    const [found] = await followed(() => admin.describeConfigs([{ type: 'topic', name }]), () => true)
    const entry = found!.entries.find(each => each.name === 'retention.ms')
    assert.deepEqual([entry?.value, entry?.source], ['123456', 'topic'])
    assert.ok(found!.entries.some(each => each.name === 'cleanup.policy' && each.source === 'default'))
  }),
  check('describes the cluster', async ({ admin }) => {
    const { brokers, clusterId, controllerId } = await admin.describeCluster()
    assert.ok(brokers.some(broker => broker.id === controllerId))
    assert.equal(typeof clusterId, 'string')
  }),
  check('finds offsets', async ({ client, admin, topic }) => {
    const name = await topic()
    await client.producer().sendMany(Array.from({ length: 5 }, (_, index) => ({ topic: name, value: 'x', timestamp: 1_700_000_000_000 + index })))
    const found = await admin.listOffsets((['beginning', 'end', { timestamp: 1_700_000_000_003 }] as const).map(at => ({ topic: name, partition: 0, at })))
    assert.deepEqual(found.map(each => each.offset), [0, 5, 3])
  }),
  check('deletes records, and reads on from what is left', async ({ client, admin, topic }) => {
    const name = await topic()
    await client.producer().sendMany(Array.from({ length: 10 }, (_, index) => ({ topic: name, value: String(index) })))
    assert.deepEqual(await admin.deleteRecords([{ topic: name, partition: 0, beforeOffset: 4 }]), [{ topic: name, partition: 0, logStartOffset: 4 }])
    const consumer = client.consumer()
    consumer.assign(all(name, 1))
    assert.equal((await read(consumer, 6))[0]!.text(), '4')
  }),
  check('changes settings one by one', async ({ admin, topic }) => {
    const name = await topic(1, { 'retention.ms': '123456' })
    await admin.incrementalAlterConfigs([{ type: 'topic', name, changes: [{ name: 'retention.ms', operation: 'delete' }, { name: 'segment.bytes', operation: 'set', value: '1048577' }] }])
    const values = async (): Promise<readonly (string | null | undefined)[]> => {
      const { entries } = (await admin.describeConfigs([{ type: 'topic', name }]))[0]!
      return ['segment.bytes', 'retention.ms'].map(key => entries.find(entry => entry.name === key)?.value)
    }
    const [size, retention] = await followed(values, ([found]) => found === '1048577')
    assert.equal(size, '1048577')
    assert.notEqual(retention, '123456')
  }),
  check('adds partitions', async ({ client, admin, topic }) => {
    const name = await topic()
    await admin.createPartitions([{ name, partitions: 3 }])
    const { offset } = await client.producer().send({ topic: name, partition: 2, value: 'x' })
    assert.equal(offset, 0)
  }),
]

export const allChecks: readonly SuiteCheck[] = [...records, ...reading, ...administration]
