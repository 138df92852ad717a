import { describe, expect, it } from 'vitest'
import { type Client } from '../../../../src/client/client.ts'
import { type ConsumerRecord } from '../../../../src/client/consumer/consumer-record.ts'
import { isMillraceError } from '../../../../src/kernel/errors/index.ts'
import * as header from '../../../../src/kernel/record/batch-header.ts'
import { type ProduceRequest } from '../../../../src/wire/index.ts'
import { testWorld, type TestWorld } from '../world/client-world.ts'

const numbered = (count: number, topic = 't', from = 0) =>
  Array.from({ length: count }, (_, index) => ({ topic, partition: 0, key: `k${from + index}`, value: `v${from + index}` }))

/** Value and first header of two records of t-0. */
async function headersIn(world: TestWorld, client: Client): Promise<(string | null)[][]> {
  const consumer = client.consumer()
  consumer.assign([{ topic: 't', partition: 0 }])
  const records: ConsumerRecord[] = []
  while (records.length < 2) records.push(...await world.complete(consumer.poll()))
  return records.map(record => [record.text(), record.headers[0]!.key, new TextDecoder().decode(record.headers[0]!.value!)])
}

describe('a producer', () => {
  it('stores records in the order of the calls and says where', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    const producer = world.client().producer()
    const places = await world.complete(Promise.all(numbered(100).map(record => producer.send(record))))
    expect(places.map(place => place.offset)).toEqual(Array.from({ length: 100 }, (_, index) => index))
    expect(places[0]).toMatchObject({ topic: 't', partition: 0 })
    expect(Math.abs(places[0]!.timestamp - world.clock.wallMs())).toBeLessThan(100)
    expect(world.cluster.log('t', 0).records().map(record => record.value)).toEqual(numbered(100).map(record => record.value))
  })

  it('sends what one turn brings as one batch', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    const producer = world.client().producer()
    await world.complete(producer.send({ topic: 't', value: 'first' }))
    await world.complete(producer.sendMany(numbered(50)))
    expect(world.cluster.log('t', 0).batches.map(batch => batch.lastOffset)).toEqual([0, 50])
  })

  it('waits for more records as long as lingerMs says', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    const producer = world.client().producer({ lingerMs: 100 })
    const first = producer.send({ topic: 't', value: 'a' })
    await world.scheduler.runFor(60)
    expect(world.cluster.log('t', 0).batches).toHaveLength(0)
    const second = producer.send({ topic: 't', value: 'b' })
    await world.complete(Promise.all([first, second]))
    expect(world.cluster.log('t', 0).batches).toHaveLength(1)
  })

  it('sends a full batch without waiting', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    const producer = world.client().producer({ lingerMs: 60_000, batchBytesMax: 2000 })
    const sent = numbered(200).map(record => producer.send(record))
    await world.complete(Promise.all(sent.slice(0, 100)), 1000)
    await world.complete(producer.flush())
    await world.complete(Promise.all(sent))
    expect(world.cluster.log('t', 0).batches.length).toBeGreaterThan(1)
    expect(world.cluster.log('t', 0).records()).toHaveLength(200)
  })

  it('puts a key where every Kafka client puts it', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1, 1, 1, 1, 1, 1, 1, 1, 1, 1])
    const producer = world.client().producer()
    // Expected: murmur2 as in Kafka's own test vectors, modulo 10.
    const expected: Readonly<Record<string, number>> = { '21': -973932308, foobar: -790332482, 'a-little-bit-long-string': -985981536 }
    for (const [key, hash] of Object.entries(expected)) {
      const { partition } = await world.complete(producer.send({ topic: 't', key, value: null }))
      expect(partition).toBe((hash & 0x7fff_ffff) % 10)
      expect((await world.complete(producer.send({ topic: 't', key: new TextEncoder().encode(key), value: null }))).partition).toBe(partition)
    }
  })

  it('keeps to one partition for a batch of records without keys, then takes another', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1, 1, 1, 1])
    const producer = world.client().producer()
    const used: number[] = []
    for (let round = 0; round < 8; round++) {
      const places = await world.complete(producer.sendMany(Array.from({ length: 20 }, () => ({ topic: 't', value: 'x' }))))
      expect(new Set(places.map(place => place.partition)).size).toBe(1)
      used.push(places[0]!.partition)
    }
    for (let round = 1; round < used.length; round++) expect(used[round]).not.toBe(used[round - 1])
  })

  it('asks a partitioner of the application, which may leave the choice', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1, 1, 1])
    const producer = world.client().producer({ partitioner: (record, count) => record.value === 'last' ? count - 1 : undefined })
    expect((await world.complete(producer.send({ topic: 't', key: 'k', value: 'last' }))).partition).toBe(2)
    const { partition } = await world.complete(producer.send({ topic: 't', key: 'k', value: 'other' }))
    expect(partition).toBeLessThan(3)
  })

  it('keeps headers, timestamps and null values', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    const client = world.client()
    const producer = client.producer()
    await world.complete(producer.send({
      topic: 't', key: null, value: null, timestamp: 1234, headers: [{ key: 'a', value: '1' }, { key: 'a', value: null }, { key: 'ü', value: new Uint8Array([7]) }],
    }))
    await world.complete(producer.send({ topic: 't', value: 'x', headers: { plain: 'text' } }))
    const consumer = client.consumer()
    consumer.assign([{ topic: 't', partition: 0 }])
    const records = await world.complete(consumer.poll({ maxRecords: 2 }))
    expect(records[0]!.timestamp).toBe(1234)
    expect([records[0]!.key, records[0]!.value]).toEqual([null, null])
    expect(records[0]!.headers).toEqual([
      { key: 'a', value: new TextEncoder().encode('1') }, { key: 'a', value: null }, { key: 'ü', value: new Uint8Array([7]) },
    ])
    expect(new TextDecoder().decode(records[1]!.header('plain')!)).toBe('text')
  })

  it.each(['gzip', 'snappy', 'lz4', 'zstd'] as const)('sends batches compressed with %s', async compression => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    const producer = world.client().producer({ compression })
    await world.complete(producer.sendMany(numbered(1000)))
    const { bytes } = world.cluster.log('t', 0).batches[0]!
    expect(header.codecOf(bytes, 0)).toBe({ gzip: 1, snappy: 2, lz4: 3, zstd: 4 }[compression])
    expect(world.cluster.log('t', 0).records()).toHaveLength(1000)
  })

  it('copies the bytes given to it before send returns', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    const producer = world.client().producer()
    const value = new TextEncoder().encode('before')
    // The first one waits for the topic, the second goes into a batch at once.
    const first = producer.send({ topic: 't', value })
    value.fill(120)
    await world.complete(first)
    value.set(new TextEncoder().encode('before'))
    const second = producer.send({ topic: 't', value })
    value.fill(120)
    await world.complete(second)
    expect(world.cluster.log('t', 0).records().map(record => record.value)).toEqual(['before', 'before'])
  })

  it('resolves with offset -1 when acks are 0, and asks for no answer', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    const producer = world.client().producer({ acks: 0 })
    const places = await world.complete(producer.sendMany(numbered(3)))
    expect(places.map(place => place.offset)).toEqual([-1, -1, -1])
    await world.scheduler.runFor(100)
    expect(world.cluster.log('t', 0).records()).toHaveLength(3)
  })

  it('uses names where the cluster has no topic ids, ids where it has', async () => {
    const world = await testWorld()
    const topic = world.cluster.addTopic('t', [1])
    await world.complete(world.client().producer().send({ topic: 't', value: 'x' }))
    topic.id = 'AAAAAAAAAAAAAAAAAAAAAA'
    await world.complete(world.client().producer().send({ topic: 't', value: 'x' }))
    expect(world.cluster.callsOf(0).map(call => call.version)).toEqual([13, 12])
  })

  it('refuses a record that is too large, before it sends anything', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    const producer = world.client().producer({ requestBytesMax: 10_000 })
    const small = producer.send({ topic: 't', value: 'small' })
    const error = await world.rejection(producer.send({ topic: 't', value: new Uint8Array(10_000) }))
    expect(isMillraceError(error, 'MR_CLIENT_RECORD_TOO_LARGE')).toBe(true)
    await world.complete(small)
    expect(world.cluster.log('t', 0).records()).toHaveLength(1)
  })

  it.each([
    ['a partition that does not exist', { topic: 't', partition: 5, value: 'x' }, 'MR_CLIENT_PARTITION_UNKNOWN'],
    ['a negative partition', { topic: 't', partition: -1, value: 'x' }, 'MR_CLIENT_PARTITION_UNKNOWN'],
    ['a value that is no bytes', { topic: 't', value: 5 as never }, 'MR_CLIENT_RECORD_INVALID'],
    ['a timestamp that is none', { topic: 't', value: 'x', timestamp: NaN }, 'MR_CLIENT_RECORD_INVALID'],
    ['no topic', { topic: '', value: 'x' }, 'MR_CLIENT_RECORD_INVALID'],
    ['a header that is no bytes', { topic: 't', value: 'x', headers: { a: 5 as never } }, 'MR_CLIENT_RECORD_INVALID'],
  ] as const)('refuses %s', async (_name, record, code) => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    const error = await world.rejection(world.client().producer().send(record))
    expect(error).toMatchObject({ code })
  })

  /** As from a program without types. */
  const any = (value: unknown): never => value as never
  const circle: Record<string, unknown> = {}
  circle['self'] = circle

  it.each([
    ['a misspelt value', { topic: 't', key: 'k', vaule: 'b' }, 'vaule is unknown here; did you mean value?'],
    ['no value', { topic: 't', key: 'k' }, 'value is missing; to delete the key in a compacted topic say value: null'],
    ['an undefined value', { topic: 't', key: 'k', value: undefined }, 'value is missing'],
    ['an undefined value of an object that is not plain', Object.create({ topic: 't' }), 'value is missing'],
    ['a misspelt key beside a value', { topic: 't', kee: 'k', value: 'b' }, 'kee is unknown here; did you mean key?'],
    ['a name that resembles none', { topic: 't', value: 'b', offset: 5 }, 'offset is unknown here; what is known: topic, key, value'],
    ['several records in one', { topic: 't', messages: [{ value: 'b' }] }, 'send takes one record, and sendMany([{ topic, key, value }]) several'],
    ['an object as value', { topic: 't', value: circle }, 'value is an object; key and value are bytes, text or null'],
    ['a number as key', { topic: 't', key: 7, value: 'b' }, 'key is a number; key and value are bytes, text or null'],
    ['a Date as timestamp', { topic: 't', value: 'b', timestamp: new Date(0) }, 'a Date is no timestamp; it is a whole number of milliseconds since 1970: take getTime() of the Date'],
    ['a partition that is no number', { topic: 't', value: 'b', partition: '0' }, 'partition is a string; it is a whole number'],
    ['headers in pairs', { topic: 't', value: 'b', headers: [['h', '1']] }, 'header 0 is an array; headers: they are an object of names and values, or [{ key, value }]'],
    ['headers in a Map', { topic: 't', value: 'b', headers: new Map([['h', '1']]) }, 'headers are a Map; they are an object of names and values'],
    ['headers that are null', { topic: 't', value: 'b', headers: null }, 'headers are null; they are'],
    ['a header with another name for its key', { topic: 't', value: 'b', headers: [{ name: 'h', value: '1' }] }, 'header 0: name is unknown here; what is known: key, value'],
    ['a header without a value', { topic: 't', value: 'b', headers: [{ key: 'h' }] }, 'header h is undefined; it is bytes, text or null'],
  ])('refuses %s, and says what was expected, whether the topic is known already or not', async (_name, record, reason) => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    const producer = world.client().producer()
    const expected = { code: 'MR_CLIENT_RECORD_INVALID', message: expect.stringContaining(reason) }
    expect(await world.rejection(producer.send(any(record)))).toMatchObject(expected)
    await world.complete(producer.send({ topic: 't', value: 'known' }))
    expect(await world.rejection(producer.send(any(record)))).toMatchObject(expected)
    expect(await world.rejection(producer.sendMany([any(record), { topic: 't', value: 'other' }]))).toMatchObject(expected)
    expect(world.cluster.log('t', 0).records().map(each => each.value)).toEqual(['known', 'other'])
  })

  it.each([[undefined], [null], ['t'], [5]])('refuses %j in place of a record, and in place of many', async (wrong) => {
    const producer = (await testWorld()).client().producer()
    await expect(producer.send(any(wrong))).rejects.toMatchObject({ code: 'MR_CLIENT_RECORD_INVALID' })
    await expect(producer.sendMany([any(wrong)])).rejects.toMatchObject({ code: 'MR_CLIENT_RECORD_INVALID' })
    await expect(producer.sendMany(any(wrong))).rejects.toMatchObject({ code: 'MR_CLIENT_RECORD_INVALID' })
    await expect(producer.sendMany(any({ topic: 't', value: 'b' }))).rejects.toMatchObject({ message: expect.stringContaining('it takes an array of records') })
  })

  it('takes instances of classes that have more than a record', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    class Order {
      readonly topic = 't'
      readonly amount = 5
      get value(): string { return `amount ${this.amount}` }
      get headers(): Record<string, string> { return { h: '1' } }
    }
    const client = world.client()
    const producer = client.producer()
    await world.complete(producer.send(new Order()))
    await world.complete(producer.send(new Order()))
    expect(await headersIn(world, client)).toEqual([['amount 5', 'h', '1'], ['amount 5', 'h', '1']])
  })

  it('copies the bytes of headers before send returns, whether the topic is known already or not', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    const client = world.client()
    const producer = client.producer()
    for (let round = 0; round < 2; round++) {
      const bytes = new Uint8Array([49])
      const sent = producer.send({ topic: 't', value: 'x', headers: [{ key: 'h', value: bytes }] })
      bytes[0] = 50
      await world.complete(sent)
    }
    expect(await headersIn(world, client)).toEqual([['x', 'h', '1'], ['x', 'h', '1']])
  })

  it('waits for a topic that does not exist yet, and creates it where the broker does so', async () => {
    const world = await testWorld()
    const producer = world.client().producer()
    const sent = producer.send({ topic: 'later', value: 'x' })
    await world.scheduler.runFor(5000)
    world.cluster.createsTopics = true
    expect(await world.complete(sent, 5000)).toMatchObject({ topic: 'later', offset: 0 })
  })

  it('gives up on a topic that does not turn up within blockMsMax', async () => {
    const world = await testWorld()
    const producer = world.client().producer({ blockMsMax: 3000 })
    const error = await world.rejection(producer.send({ topic: 'never', value: 'x' }), 3500)
    expect(error).toMatchObject({ code: 'MR_TOPIC_UNKNOWN' })
  })

  it('names the brokers when none can be reached', async () => {
    const world = await testWorld()
    const producer = world.client({ bootstrap: 'b7:9092,b8:9092' }).producer({ blockMsMax: 3000 })
    const error = await world.rejection(producer.send({ topic: 't', value: 'x' }), 15_000)
    expect(error).toMatchObject({ code: 'MR_CLIENT_NO_BROKERS' })
    expect((error as Error).message).toContain('b7:9092, b8:9092')
  })

  it('does not call a topic unknown while nobody has answered', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    world.cluster.script = call => call.api.key === 3 ? 'swallow' : undefined
    const producer = world.client().producer({ blockMsMax: 3000 })
    const error = await world.rejection(producer.send({ topic: 't', value: 'x' }), 15_000)
    expect(error).toMatchObject({ code: 'MR_CLIENT_NO_BROKERS' })
    expect((error as Error).message).toMatch(/no answer about topic t within 3000 ms/)
  })

  it('holds back senders when the buffer is full, and takes them in order', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    const producer = world.client().producer({ bufferBytesMax: 5000, batchBytesMax: 1000, requestBytesMax: 1024 })
    const records = numbered(1000)
    await world.complete(Promise.all(records.map(record => producer.send(record))))
    expect(world.cluster.log('t', 0).records().map(record => record.value)).toEqual(records.map(record => record.value))
  })

  it('does not go round in circles over the rounding of a fraction of a millisecond', async () => {
    const world = await testWorld()
    const producer = world.client().producer({ blockMsMax: 4000 })
    // Behind 2^16 ms a clock tells halves of what it told before.
    await world.scheduler.runFor(62_000)
    const sent: Promise<unknown>[] = []
    for (let count = 0; count < 100; count++) {
      await world.scheduler.runFor(10 * world.random.fraction())
      sent.push(producer.send({ topic: 'nowhere', value: 'v' }).catch((error: unknown) => error))
    }
    for (const error of await world.complete(Promise.all(sent), 10_000)) expect(error).toMatchObject({ code: 'MR_TOPIC_UNKNOWN' })
  })

  it('rejects with MR_CLIENT_BUFFER_FULL when there is no room for blockMsMax', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    world.cluster.script = call => call.api.key === 0 ? 'swallow' : undefined
    const producer = world.client().producer({ bufferBytesMax: 1000, batchBytesMax: 500, blockMsMax: 2000, deliveryTimeoutMs: 300_000 })
    const sent = numbered(100).map(record => producer.send(record).catch((error: unknown) => error))
    const error = await world.complete(sent.at(-1)!, 3000)
    expect(error).toMatchObject({ code: 'MR_CLIENT_BUFFER_FULL' })
    world.cluster.script = undefined
    await world.complete(Promise.all(sent))
    const outcomes = await Promise.all(sent)
    const stored = outcomes.filter(outcome => !isMillraceError(outcome))
    expect(world.cluster.log('t', 0).records()).toHaveLength(stored.length)
  })

  it('flush waits for everything sent before it, and for nothing sent after it', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    const producer = world.client().producer({ lingerMs: 10_000 })
    const done: string[] = []
    const before = producer.send({ topic: 't', value: 'a' }).then(() => done.push('a'))
    const flushed = producer.flush().then(() => done.push('flush'))
    await world.complete(flushed, 1000)
    expect(done).toEqual(['a', 'flush'])
    await before
    const after = producer.send({ topic: 't', value: 'b' }).then(() => done.push('b'))
    await world.scheduler.runFor(9000)
    expect(done).toEqual(['a', 'flush'])
    await world.complete(after)
  })

  it('flush resolves when nothing is under way', async () => {
    const world = await testWorld()
    await world.complete(world.client().producer().flush(), 10)
  })

  it('close sends what is batched', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    const producer = world.client().producer({ lingerMs: 60_000 })
    const sent = producer.sendMany(numbered(10))
    await world.complete(producer.close(), 1000)
    expect(await sent).toHaveLength(10)
    expect(await world.rejection(producer.send({ topic: 't', value: 'x' }))).toMatchObject({ code: 'MR_CLIENT_CLOSED' })
  })

  it('close gives up after its timeout, and fails what is left', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    world.cluster.script = call => call.api.key === 0 ? 'swallow' : undefined
    const producer = world.client().producer()
    const sent = producer.send({ topic: 't', value: 'x' }).catch((error: unknown) => error)
    const waiting = producer.send({ topic: 'missing', value: 'x' }).catch((error: unknown) => error)
    await world.complete(producer.close({ timeoutMs: 500 }), 600)
    expect(await sent).toMatchObject({ code: 'MR_CLIENT_CLOSED' })
    expect(await waiting).toMatchObject({ code: 'MR_CLIENT_CLOSED' })
  })

  it('tells each sender about its own record, however it was sent', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1, 1])
    const producer = world.client().producer()
    await world.complete(producer.send({ topic: 't', partition: 0, value: 'known' }))
    const record = (partition: number, value: string) => ({ topic: 't', partition, value, timestamp: Number(value) })
    const sent = [
      producer.send(record(0, '1')), producer.sendMany([record(0, '2'), record(1, '3'), record(0, '4')]), producer.send(record(0, '5')),
      producer.sendMany([record(0, '6')]), producer.sendMany([record(1, '7'), record(0, '8')]), producer.send(record(0, '9')), producer.send(record(1, '10')),
    ]
    const places = (await world.complete(Promise.all(sent))).flat()
    expect(places.map(place => [place.timestamp, place.partition])).toEqual([[1, 0], [2, 0], [3, 1], [4, 0], [5, 0], [6, 0], [7, 1], [8, 0], [9, 0], [10, 1]])
    const stored = [0, 1].map(partition => new Map(world.cluster.log('t', partition).records().map(each => [each.offset, each.value])))
    for (const { partition, offset, timestamp } of places) expect(stored[partition]!.get(offset)).toBe(String(timestamp))
  })

  it('sendMany rejects with a failure after all are settled', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    const producer = world.client().producer()
    const error = await world.rejection(producer.sendMany([{ topic: 't', value: 'a' }, { topic: 't', partition: 9, value: 'b' }, { topic: 't', value: 'c' }]))
    expect(error).toMatchObject({ code: 'MR_CLIENT_PARTITION_UNKNOWN' })
    expect(world.cluster.log('t', 0).records().map(record => record.value)).toEqual(['a', 'c'])
    expect(await world.complete(producer.sendMany([]))).toEqual([])
  })

  it('keeps no more requests under way to a broker than it may', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    world.cluster.script = call => call.api.key === 0 ? 'swallow' : undefined
    const producer = world.client().producer({ inFlightMax: 2, batchBytesMax: 200 })
    const sent = producer.sendMany(numbered(50))
    await world.scheduler.runFor(10_000)
    expect(world.cluster.callsOf(0)).toHaveLength(2)
    world.cluster.script = undefined
    await world.complete(sent)
    expect(world.cluster.log('t', 0).records().map(record => record.value)).toEqual(numbered(50).map(record => record.value))
  })

  it('says acks and timeout as it was set', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    await world.complete(world.client({ requestTimeoutMs: 7000 }).producer({ acks: 1 }).send({ topic: 't', value: 'x' }))
    expect(world.cluster.callsOf(0)[0]!.request as ProduceRequest).toMatchObject({ acks: 1, timeoutMs: 7000, transactionalId: null })
    expect(world.cluster.callsOf(22)).toHaveLength(0)
  })
})
