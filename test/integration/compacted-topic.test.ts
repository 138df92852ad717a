import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import kafkajs from 'kafkajs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Broker } from '../../src/broker/index.ts'
import { createClient } from '../../src/client/index.ts'
import { createTestBroker } from '../../src/harness/index.ts'
import { LogCompaction, LogStore } from '../../src/kernel/index.ts'
import { batchesIn } from '../../src/kernel/record/record-batch.ts'
import { fetchApi } from '../../src/wire/messages/index.ts'
import { fetch } from '../unit/plugins/protocol-kafka/fixture/requests.ts'
import { type ClientEnd, TestClient } from '../unit/plugins/protocol-kafka/fixture/test-client.ts'
import { type CompactedTopic, compactedTopic, firstTimestamp, recordsFrom, smallSegments } from './compacted-topic.ts'

const { Kafka, logLevel } = kafkajs
const settings = { 'log.cleaner.enable': 'false', 'group.initial.rebalance.delay.ms': '0' }

describe.each(['memory', 'single-node'] as const)('over a compacted topic of the preset %s', (preset) => {
  const data = mkdtempSync(join(tmpdir(), 'millrace-gaps-'))
  let broker: Broker
  let topic: CompactedTopic
  const start = (): Promise<Broker> => createTestBroker({ preset, ...preset === 'memory' ? {} : { data }, broker: settings })
  const keptFrom = (offset: number) => topic.kept.filter((record) => record.offset >= offset)

  beforeAll(async () => {
    broker = await start()
    topic = await compactedTopic(broker, 'state')
  }, 60_000)
  afterAll(async () => {
    await broker.stop()
    rmSync(data, { recursive: true, force: true })
  })

  it('what is left is the last record of each key, where it was, and what is not compacted yet', () => {
    const last = new Map(topic.written.map(({ key, offset }) => [key, offset]))
    expect(topic.kept.every(({ offset, key, value }) => topic.written[offset]!.key === key && topic.written[offset]!.value === value)).toBe(true)
    expect([...last.values()].filter((offset) => !topic.kept.some((record) => record.offset === offset))).toEqual([])
    expect(topic.gap.next - topic.gap.first).toBeGreaterThan(500)
    expect(topic.kept.length).toBeLessThan(100)
  })

  it('a consumer that begins inside a gap reads on behind it, wherever that is', async () => {
    const { first, next } = topic.gap
    for (const offset of [first, first + 1, first + 37, (first + next) >> 1, next - 1, next, 5, 11]) expect(await recordsFrom(broker, 'state', offset, topic.end - 1)).toEqual(keptFrom(offset))
  })

  it('a fetch at each offset inside a gap is answered with records, and none behind it is left out', async () => {
    const { host, port } = broker.kafka!
    const stream = connect({ host, port, noDelay: true })
    await once(stream, 'connect')
    const end: ClientEnd = { onWrite: undefined, give: (bytes) => { stream.write(bytes) } }
    stream.on('data', (bytes) => end.onWrite?.(bytes))
    const client = new TestClient(end)
    const firsts = new Map<number, number>()
    for (let offset = topic.gap.first; offset < topic.gap.next; offset++) {
      const [partition] = (await client.call(fetchApi, 12, fetch('state', [offset], { maxWaitMs: 5000 }))).responses[0]!.partitions
      expect(partition!.errorCode).toBe(0)
      const found: number[] = []
      for (const batch of batchesIn(partition!.records!)) for (const record of batch.records()) found.push(record.offset)
      // Inside of the batch that the gap begins in, its record is among them; a client goes on behind that batch.
      const beforeGap = found.filter((each) => each < offset)
      expect([found.length > 0, beforeGap.every((each) => each === topic.gap.first - 1)]).toEqual([true, true])
      firsts.set(offset, found.find((each) => each >= offset) ?? (beforeGap.length > 0 ? topic.gap.next : -1))
    }
    stream.destroy()
    expect([...firsts].filter(([, found]) => found !== topic.gap.next)).toEqual([])
  })

  it('a look-up by time finds the first record left that is not older, and the newest one', async () => {
    const client = createClient({ inProcess: { dispatcher: broker.dispatcher } })
    const asked = topic.written.filter(({ offset }) => offset % 7 === 0 || offset === topic.gap.next || offset === topic.gap.next - 1)
    const found = await client.admin().listOffsets(asked.map(({ offset }) => ({ topic: 'state', partition: 0, at: { timestamp: firstTimestamp + offset * 1000 } })))
    expect(found.map(({ offset }) => offset)).toEqual(asked.map(({ offset }) => keptFrom(offset)[0]!.offset))
    expect(found.map(({ timestamp }) => timestamp)).toEqual(found.map(({ offset }) => firstTimestamp + offset * 1000))
    const ends = await client.admin().listOffsets((['beginning', 'end', 'newest'] as const).map((at) => ({ topic: 'state', partition: 0, at })))
    expect(ends.map(({ offset }) => offset)).toEqual([0, topic.end, topic.end - 1])
    await client.close()
  })

  it.each(['classic', 'consumer'] as const)('a member of a group of the %s protocol reads each record once, and its successor goes on where it was, behind the gap', async (groupProtocol) => {
    const client = createClient({ inProcess: { dispatcher: broker.dispatcher } })
    const group = { groupId: `readers-${groupProtocol}`, groupProtocol, autoCommit: false }
    const before = topic.kept.filter(({ offset }) => offset < topic.gap.first).length
    const first = client.consumer(group)
    first.subscribe(['state'])
    const read: number[] = []
    while (read.length < before) for (const { offset } of await first.poll({ maxRecords: before - read.length })) read.push(offset)
    await first.commit()
    await first.close()
    const second = client.consumer(group)
    second.subscribe(['state'])
    while (read.length < topic.kept.length) for (const { offset } of await second.poll()) read.push(offset)
    await second.commit()
    expect(read).toEqual(topic.kept.map(({ offset }) => offset))
    expect(await second.lag()).toMatchObject([{ position: topic.end, endOffset: topic.end, lag: 0 }])
    await client.close()
  })

  it('kafkajs reads all that is left in a group, and from inside a gap', async () => {
    const kafka = new Kafka({ clientId: 'gaps', brokers: [broker.bootstrap], logLevel: logLevel.NOTHING })
    const consumer = kafka.consumer({ groupId: 'kafkajs', maxWaitTimeInMs: 100, sessionTimeout: 6000, heartbeatInterval: 500 })
    await consumer.connect()
    await consumer.subscribe({ topics: ['state'], fromBeginning: true })
    const read: number[] = []
    let wake = (): void => undefined
    const until = async (): Promise<void> => { while (read.at(-1) !== topic.end - 1) await new Promise<void>((resolve) => { wake = resolve }) }
    await consumer.run({ eachMessage: async ({ message }) => {
      read.push(Number(message.offset))
      wake()
    } })
    await until()
    expect(read).toEqual(topic.kept.map(({ offset }) => offset))
    const inside = topic.gap.first + 3
    read.length = 0
    consumer.seek({ topic: 'state', partition: 0, offset: String(inside) })
    await until()
    await consumer.disconnect()
    expect(read).toEqual(keptFrom(inside).map(({ offset }) => offset))
  }, 60_000)

  it('where the last records are gone too, a consumer gets to the end and has no lag', async () => {
    const client = createClient({ inProcess: { dispatcher: broker.dispatcher } })
    await client.admin().createTopics([{ name: 'ended', partitions: 1, configs: { ...smallSegments, 'delete.retention.ms': '0', 'max.compaction.lag.ms': '1', 'min.cleanable.dirty.ratio': '0' } }])
    const producer = client.producer()
    for (let index = 0; index < 10; index++) await producer.send({ topic: 'ended', partition: 0, key: 'key', value: index === 9 ? null : 'value', timestamp: firstTimestamp + index })
    // The active segment is rolled, then compacted; and once more when the delete horizon of the tombstone has passed, which the first round writes.
    const left = async (): Promise<number> => {
      for (let more = true; more;) more = broker.port(LogStore).sweep().left > 0
      await broker.port(LogCompaction).compact()
      const consumer = client.consumer()
      const place = { topic: 'ended', partition: 0 }
      consumer.assign([{ ...place, offset: 'beginning' }])
      let records = 0
      while (await consumer.position(place) < 10) records += (await consumer.poll({ timeoutMs: 1000 })).length
      await consumer.close()
      return records
    }
    let records = await left()
    for (let round = 0; records > 0 && round < 10_000; round++) records = await left()
    expect(records).toBe(0)
    expect(await client.admin().listOffsets([{ topic: 'ended', partition: 0, at: 'end' }])).toMatchObject([{ offset: 10 }])
    await producer.send({ topic: 'ended', partition: 0, key: 'key', value: 'again' })
    expect(await recordsFrom(broker, 'ended', 0, 10)).toMatchObject([{ offset: 10, value: 'again' }])
    await client.close()
  }, 60_000)

  it.skipIf(preset === 'memory')('all of it is there after a restart', async () => {
    const before = await recordsFrom(broker, 'state', 0, topic.end - 1)
    await broker.stop()
    broker = await start()
    expect(await recordsFrom(broker, 'state', 0, topic.end - 1)).toEqual(before)
  })
})
