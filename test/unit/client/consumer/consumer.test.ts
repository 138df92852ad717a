import { describe, expect, it } from 'vitest'
import { BatchBuilder } from '../../../../src/kernel/record/batch-builder.ts'
import { endTransactionBatch } from '../../../../src/kernel/record/control-record.ts'
import { type Consumer } from '../../../../src/client/consumer/consumer.ts'
import { type ConsumerRecord } from '../../../../src/client/consumer/consumer-record.ts'
import { NodeCompression } from '../../../../src/platform/codecs/node-compression.ts'
import { type FetchRequest } from '../../../../src/wire/index.ts'
import { testWorld, type TestWorld } from '../world/client-world.ts'

const tp = (partition = 0, topic = 't'): { topic: string, partition: number } => ({ topic, partition })

interface BatchOptions {
  readonly firstTimestamp?: number
  readonly codec?: 0 | 1 | 2 | 3 | 4
  readonly producerId?: number
  readonly transactional?: boolean
  readonly valueBytes?: number
  readonly lastOffsetDelta?: number
}

/** A batch of records `v<from>` to `v<from + count - 1>`. */
function batch(from: number, count: number, options: BatchOptions = {}): Uint8Array {
  const builder = new BatchBuilder(new NodeCompression())
  for (let index = 0; index < count; index++) {
    const text = `v${from + index}`.padEnd(options.valueBytes ?? 0)
    builder.append((options.firstTimestamp ?? 1000) + index, new TextEncoder().encode(`k${from + index}`), new TextEncoder().encode(text))
  }
  return builder.finish({
    codec: options.codec ?? 0, producerId: options.producerId ?? -1, producerEpoch: options.producerId === undefined ? -1 : 0,
    transactional: options.transactional ?? false, ...(options.lastOffsetDelta === undefined ? {} : { lastOffsetDelta: options.lastOffsetDelta }),
  })
}

/** A topic with one partition and batches of ten, a hundred records in all. */
async function worldWithRecords(options: { nodes?: number, seed?: number } = {}): Promise<TestWorld> {
  const world = await testWorld(options)
  world.cluster.addTopic('t', [1])
  for (let from = 0; from < 100; from += 10) world.cluster.log('t', 0).put(batch(from, 10, { firstTimestamp: 1000 + from }), from)
  return world
}

async function pollAll(world: TestWorld, consumer: Consumer, count: number): Promise<ConsumerRecord[]> {
  const records: ConsumerRecord[] = []
  while (records.length < count) records.push(...await world.complete(consumer.poll({ maxRecords: 17 })))
  return records
}

const texts = (records: readonly ConsumerRecord[]): (string | null)[] => records.map(record => record.text()?.trimEnd() ?? null)
const values = (from: number, count: number): string[] => Array.from({ length: count }, (_, index) => `v${from + index}`)

describe('a consumer', () => {
  it('reads a partition from its beginning, in order', async () => {
    const world = await worldWithRecords()
    const consumer = world.client().consumer()
    consumer.assign([tp()])
    const records = await pollAll(world, consumer, 100)
    expect(texts(records)).toEqual(values(0, 100))
    expect(records.map(record => record.offset)).toEqual(Array.from({ length: 100 }, (_, index) => index))
    expect(records[42]).toMatchObject({ topic: 't', partition: 0, offset: 42, timestamp: 1042, leaderEpoch: 0 })
    expect(records[42]!.keyText()).toBe('k42')
  })

  it('begins inside of a batch where it is told to', async () => {
    const world = await worldWithRecords()
    const consumer = world.client().consumer()
    consumer.assign([{ ...tp(), offset: 95 }])
    expect(texts(await pollAll(world, consumer, 5))).toEqual(values(95, 5))
  })

  it('begins at the end, and gives what comes afterwards', async () => {
    const world = await worldWithRecords()
    const client = world.client()
    const consumer = client.consumer()
    consumer.assign([{ ...tp(), offset: 'end' }])
    expect(await world.complete(consumer.position(tp()))).toBe(100)
    const polled = consumer.poll()
    await world.complete(client.producer().send({ ...tp(), value: 'new' }))
    expect(texts(await world.complete(polled, 1000))).toEqual(['new'])
  })

  it('begins at a time, or at the end where nothing is as young', async () => {
    const world = await worldWithRecords()
    const consumer = world.client().consumer()
    consumer.assign([{ ...tp(), offset: { timestamp: 1055 } }])
    expect((await world.complete(consumer.poll({ maxRecords: 1 })))[0]!.offset).toBe(55)
    consumer.seekToTime(tp(), 99_999)
    expect(await world.complete(consumer.position(tp()))).toBe(100)
  })

  it('gives an empty array when nothing has come in time', async () => {
    const world = await worldWithRecords()
    const consumer = world.client().consumer()
    consumer.assign([{ ...tp(), offset: 'end' }])
    const beforeMs = world.scheduler.nowMs
    expect(await world.complete(consumer.poll({ timeoutMs: 1500 }))).toEqual([])
    expect(world.scheduler.nowMs - beforeMs).toBe(1500)
    expect(await world.complete(consumer.poll({ timeoutMs: 0 }))).toEqual([])
  })

  it('does not lose records by an abort, and says the reason of the signal', async () => {
    const world = await worldWithRecords()
    const client = world.client()
    const consumer = client.consumer()
    consumer.assign([{ ...tp(), offset: 'end' }])
    await world.complete(consumer.position(tp()))
    const abort = new AbortController()
    const polled = world.rejection(consumer.poll({ signal: abort.signal }))
    abort.abort(new Error('enough'))
    expect(await polled).toMatchObject({ message: 'enough' })
    expect(await world.rejection(consumer.poll({ signal: abort.signal }))).toMatchObject({ message: 'enough' })
    await world.complete(client.producer().send({ ...tp(), value: 'new' }))
    expect(texts(await world.complete(consumer.poll()))).toEqual(['new'])
  })

  it('refuses a second poll while one is under way', async () => {
    const world = await worldWithRecords()
    const consumer = world.client().consumer()
    consumer.assign([{ ...tp(), offset: 'end' }])
    const first = consumer.poll({ timeoutMs: 100 })
    expect(await world.rejection(consumer.poll())).toMatchObject({ code: 'MR_CLIENT_UNSUPPORTED' })
    await world.complete(first)
  })

  it('moves on to where it is sent, and drops what was fetched ahead', async () => {
    const world = await worldWithRecords()
    const consumer = world.client().consumer()
    consumer.assign([tp()])
    await world.complete(consumer.poll({ maxRecords: 5 }))
    expect(await consumer.position(tp())).toBe(5)
    consumer.seek({ ...tp(), offset: 70 })
    expect(await consumer.position(tp())).toBe(70)
    expect(texts(await pollAll(world, consumer, 30))).toEqual(values(70, 30))
    consumer.seek({ ...tp(), offset: 'beginning' })
    expect(texts(await world.complete(consumer.poll({ maxRecords: 1 })))).toEqual(['v0'])
  })

  it('gives nothing of a paused partition and goes on where it was', async () => {
    const world = await worldWithRecords()
    const other = world.cluster.addTopic('u', [1])
    other.logs[0]!.put(batch(500, 3), 0)
    const consumer = world.client().consumer()
    consumer.assign([tp(), tp(0, 'u')])
    const first = await world.complete(consumer.poll({ maxRecords: 1 }))
    consumer.pause([tp()])
    const seen = texts(first)
    while (seen.filter(value => value!.startsWith('v50')).length < 3) seen.push(...texts(await world.complete(consumer.poll())))
    expect(await world.complete(consumer.poll({ timeoutMs: 5000 }))).toEqual([])
    consumer.resume([tp()])
    const rest = await pollAll(world, consumer, 100 - seen.filter(value => !value!.startsWith('v50')).length)
    expect(rest.at(-1)!.text()).toBe('v99')
  })

  it('takes turns between partitions', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1, 1])
    for (const partition of [0, 1]) for (let from = 0; from < 1000; from += 100) world.cluster.log('t', partition).put(batch(from, 100), from)
    const consumer = world.client().consumer()
    consumer.assign([tp(0), tp(1)])
    await world.scheduler.runFor(1000)
    const counts = [0, 0]
    for (let round = 0; round < 10; round++) for (const record of await world.complete(consumer.poll({ maxRecords: 10 }))) counts[record.partition]!++
    expect(counts).toEqual([50, 50])
  })

  it('keeps its place in partitions that stay assigned, and forgets the others', async () => {
    const world = await worldWithRecords()
    world.cluster.addTopic('u', [1]).logs[0]!.put(batch(500, 3), 0)
    const consumer = world.client().consumer()
    consumer.assign([tp()])
    await world.complete(consumer.poll({ maxRecords: 7 }))
    consumer.assign([tp(), tp(0, 'u')])
    expect(await consumer.position(tp())).toBe(7)
    consumer.assign([tp(0, 'u')])
    expect(consumer.assignment()).toEqual([tp(0, 'u')])
    expect(texts(await world.complete(consumer.poll()))).toEqual(values(500, 3))
    expect(() => { consumer.seek({ ...tp(), offset: 0 }) }).toThrow('not assigned')
  })

  it('iterates record by record, and ends when it is closed', async () => {
    const world = await worldWithRecords()
    const consumer = world.client().consumer()
    consumer.assign([tp()])
    const seen: ConsumerRecord[] = []
    const loop = (async () => {
      for await (const record of consumer) {
        seen.push(record)
        if (seen.length === 100) void consumer.close()
      }
    })()
    await world.complete(loop)
    expect(texts(seen)).toEqual(values(0, 100))
    await expect(consumer.poll()).rejects.toMatchObject({ code: 'MR_CLIENT_CLOSED' })
  })

  it('loses nothing when a loop over it is left, and keeps to a seek made inside', async () => {
    const world = await worldWithRecords()
    const consumer = world.client().consumer()
    consumer.assign([tp()])
    const take = async (count: number): Promise<string[]> => {
      const seen: string[] = []
      for await (const record of consumer) {
        seen.push(record.text()!)
        if (seen.length === count) break
      }
      return seen
    }
    expect(await world.complete(take(3))).toEqual(values(0, 3))
    expect(await world.complete(take(30))).toEqual(values(3, 30))
    expect(await consumer.position(tp())).toBe(33)
    const sought = (async () => {
      for await (const _record of consumer) {
        consumer.seek({ ...tp(), offset: 90 })
        break
      }
    })()
    await world.complete(sought)
    expect(await world.complete(take(10))).toEqual(values(90, 10))
  })

  it('rejects a poll under way when it is closed', async () => {
    const world = await worldWithRecords()
    const consumer = world.client().consumer()
    consumer.assign([{ ...tp(), offset: 'end' }])
    const polled = consumer.poll()
    await world.scheduler.runFor(100)
    const rejected = expect(polled).rejects.toMatchObject({ code: 'MR_CLIENT_CLOSED' })
    await world.complete(consumer.close())
    await rejected
  })

  it.each(['gzip', 'snappy', 'lz4', 'zstd'] as const)('reads batches compressed with %s', async compression => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    world.cluster.log('t', 0).put(batch(0, 100, { codec: ({ gzip: 1, snappy: 2, lz4: 3, zstd: 4 } as const)[compression] }), 0)
    const consumer = world.client().consumer()
    consumer.assign([tp()])
    expect(texts(await pollAll(world, consumer, 100))).toEqual(values(0, 100))
  })

  it('does not decompress beyond its bound', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    world.cluster.log('t', 0).put(batch(0, 100, { codec: 4, valueBytes: 1000 }), 0)
    const consumer = world.client().consumer({ decompressedBytesMax: 50_000 })
    consumer.assign([tp()])
    expect(await world.rejection(consumer.poll())).toMatchObject({ code: 'MR_RECORD_DECOMPRESSED_TOO_LARGE' })
  })

  it('quirk 39: steps over offsets that compaction has emptied, to the end', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    const log = world.cluster.log('t', 0)
    log.put(batch(0, 2, { lastOffsetDelta: 9 }), 0)
    log.put(batch(0, 0, { lastOffsetDelta: 9 }), 10)
    const consumer = world.client().consumer()
    consumer.assign([tp()])
    expect(texts(await pollAll(world, consumer, 2))).toEqual(values(0, 2))
    expect(await world.complete(consumer.poll({ timeoutMs: 1000 }))).toEqual([])
    expect(await consumer.position(tp())).toBe(20)
  })

  it('reads a batch that is larger than what it fetches at a time', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    for (let from = 0; from < 30; from += 10) world.cluster.log('t', 0).put(batch(from, 10, { valueBytes: 2000 }), from)
    const consumer = world.client().consumer({ partitionBytesMax: 100, fetchBytesMax: 100 })
    consumer.assign([tp()])
    expect(texts(await pollAll(world, consumer, 30))).toEqual(values(0, 30))
  })

  it('quirk 35: asks for more where a broker cuts off a batch that does not fit', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    const whole = batch(0, 10, { valueBytes: 2000 })
    world.cluster.log('t', 0).put(whole, 0)
    world.cluster.script = call => {
      if (call.api.key !== 1) return undefined
      const [topic] = (call.request as FetchRequest).topics
      const [part] = topic!.partitions
      if (part!.fetchOffset > 0) return undefined
      return { respond: { responses: [{ ...topic!, partitions: [{
        partitionIndex: 0, errorCode: 0, highWatermark: 10, records: whole.subarray(0, part!.partitionMaxBytes),
      }] }] } }
    }
    const consumer = world.client().consumer({ partitionBytesMax: 1000 })
    consumer.assign([tp()])
    expect(texts(await pollAll(world, consumer, 10))).toEqual(values(0, 10))
    expect(world.cluster.callsOf(1).length).toBeLessThan(5)
  })

  it('refuses a damaged batch by its checksum, after what came before it, until somebody seeks', async () => {
    const world = await worldWithRecords()
    const log = world.cluster.log('t', 0)
    log.batches[3]!.bytes[log.batches[3]!.bytes.length - 2]! ^= 1
    const consumer = world.client().consumer()
    consumer.assign([tp()])
    expect(texts(await pollAll(world, consumer, 30))).toEqual(values(0, 30))
    for (let round = 0; round < 2; round++) {
      expect(await world.rejection(consumer.poll())).toMatchObject({ code: 'MR_RECORD_CORRUPT', details: { topic: 't', partition: 0 } })
    }
    consumer.seek({ ...tp(), offset: 40 })
    expect(texts(await pollAll(world, consumer, 60))).toEqual(values(40, 60))
    const trusting = world.client().consumer({ checkCrcs: false })
    trusting.assign([{ ...tp(), offset: 30 }])
    expect(await pollAll(world, trusting, 70)).toHaveLength(70)
  })

  it('quirk 38: steps over the one offset of each control batch; with read_committed skips aborted transactions and does not read past open ones', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    const log = world.cluster.log('t', 0)
    const marker = (producerId: number, commit: boolean): Uint8Array => endTransactionBatch({ commit, coordinatorEpoch: 0, producerId, producerEpoch: 0, timestamp: 5 })
    log.put(batch(0, 2, { producerId: 7, transactional: true }), 0)
    log.put(batch(2, 2, { producerId: 8, transactional: true }), 2)
    log.put(batch(4, 2), 4)
    log.put(marker(7, false), 6)
    log.put(marker(8, true), 7)
    log.put(batch(8, 2, { producerId: 7, transactional: true }), 8)
    log.put(marker(7, true), 10)
    log.put(batch(11, 2, { producerId: 9, transactional: true }), 11)
    log.aborted = [{ producerId: 7, firstOffset: 0 }]
    log.lastStableOffset = 11
    const client = world.client()
    const committed = client.consumer({ isolation: 'read_committed' })
    committed.assign([tp()])
    expect(texts(await pollAll(world, committed, 6))).toEqual(['v2', 'v3', 'v4', 'v5', 'v8', 'v9'])
    expect(await world.complete(committed.poll({ timeoutMs: 1000 }))).toEqual([])
    expect(await committed.position(tp())).toBe(11)
    expect(await world.complete(committed.endOffsets([tp()]))).toMatchObject([{ offset: 11 }])
    const all = client.consumer()
    all.assign([tp()])
    expect(texts(await pollAll(world, all, 10))).toEqual(['v0', 'v1', 'v2', 'v3', 'v4', 'v5', 'v8', 'v9', 'v11', 'v12'])
    expect(await world.complete(all.endOffsets([tp()]))).toMatchObject([{ offset: 13 }])
  })

  it('answers for the ends of the log and for times, of partitions that are not assigned, too', async () => {
    const world = await worldWithRecords({ nodes: 2 })
    world.cluster.addTopic('u', [2])
    const consumer = world.client().consumer()
    expect(await world.complete(consumer.endOffsets([tp(), tp(0, 'u')]))).toMatchObject([{ topic: 't', offset: 100 }, { topic: 'u', offset: 0 }])
    expect(await world.complete(consumer.beginningOffsets([tp()]))).toMatchObject([{ offset: 0 }])
    expect(await world.complete(consumer.offsetsForTimes([{ ...tp(), timestamp: 1033 }, { ...tp(), timestamp: 9999 }]))).toMatchObject([
      { offset: 33, timestamp: 1033 }, { offset: -1 },
    ])
    expect(await world.rejection(consumer.endOffsets([tp(3)]))).toMatchObject({ code: 'MR_CLIENT_PARTITION_UNKNOWN' })
    expect(await world.rejection(consumer.endOffsets([tp(0, 'missing')], { timeoutMs: 500 }))).toMatchObject({ code: 'MR_TOPIC_UNKNOWN' })
  })

  it('throws for what is no assignment, and leaves the assignment as it was', async () => {
    const world = await worldWithRecords()
    const consumer = world.client().consumer()
    consumer.assign([tp()])
    for (const wrong of [{ topic: '', partition: 0 }, { topic: 't', partition: -1 }, { topic: 't', partition: 0, offset: -5 }, { topic: 't', partition: 0, offset: { timestamp: NaN } }]) {
      expect(() => { consumer.assign([tp(1), wrong]) }).toThrow(expect.objectContaining({ code: 'MR_CLIENT_SETTING' }))
    }
    expect(consumer.assignment()).toEqual([tp()])
  })
})

describe('an argument of a consumer that is none', () => {
  /** As from a program without types. */
  const any = (value: unknown): never => value as never
  const calls: readonly (readonly [string, (consumer: Consumer) => unknown, string])[] = [
    ['a seek without an offset', c => { c.seek(any(tp())) }, 'consumer.seek: offset is missing; give an offset, \'beginning\', \'end\' or { timestamp } in milliseconds'],
    ['a seek with a misspelt offset', c => { c.seek(any({ ...tp(), ofset: 5 })) }, 'consumer.seek: ofset is unknown here; did you mean offset?'],
    ['a seek to a bigint', c => { c.seek(any({ ...tp(), offset: 5n })) }, 'offset 5n is no place to begin; offsets are numbers: Number(5n)'],
    ['a seek to a text', c => { c.seek(any({ ...tp(), offset: '5' })) }, 'offset "5" is no place to begin; offsets are numbers'],
    ['a seek to -1', c => { c.seek({ ...tp(), offset: -1 }) }, 'offset -1 is no place to begin'],
    ['a seek to half an offset', c => { c.seek({ ...tp(), offset: 0.5 }) }, 'offset 0.5 is no place to begin'],
    ['a seek to null', c => { c.seek(any({ ...tp(), offset: null })) }, 'offset null is no place to begin'],
    ['a seek to the earliest', c => { c.seek(any({ ...tp(), offset: 'earliest' })) }, 'offset "earliest" is no place to begin; did you mean \'beginning\'?'],
    ['a seek to the latest', c => { c.seek(any({ ...tp(), offset: 'latest' })) }, 'did you mean \'end\'?'],
    ['a seek to a Date', c => { c.seek(any({ ...tp(), offset: new Date(0) })) }, 'for a time give { timestamp: date.getTime() }'],
    ['a seek to the timestamp of a Date', c => { c.seek(any({ ...tp(), offset: { timestamp: new Date(0) } })) }, 'take getTime() of the Date'],
    ['a seek without arguments', c => { c.seek(any(undefined)) }, 'consumer.seek: it was given undefined; it takes { topic, partition, offset }'],
    ['a time inside of the partition', c => { c.seekToTime(any({ ...tp(), timestamp: 5 }), any(undefined)) }, 'consumer.seekToTime: the time is missing; it is the second argument: seekToTime({ topic, partition }, timestampMs)'],
    ['a Date as the time', c => { c.seekToTime(tp(), any(new Date(0))) }, 'take getTime() of the Date'],
    ['an assignment that is no list', c => { c.assign(any(tp())) }, 'consumer.assign: it was given {"topic":"t","partition":0}; it takes an array: [{ topic, partition, offset }]'],
    ['nothing to assign', c => { c.assign(any(undefined)) }, 'consumer.assign: it was given undefined; it takes an array'],
    ['an assignment with a misspelt offset', c => { c.assign(any([tp(), { ...tp(1), offest: 5 }])) }, 'consumer.assign: [1]: offest is unknown here; did you mean offset?'],
    ['an assignment with a misspelt partition', c => { c.assign(any([{ topic: 't', partiton: 0 }])) }, 'consumer.assign: [0]: partiton is unknown here; did you mean partition?'],
    ['a pause of no list', c => { c.pause(any(tp())) }, 'consumer.pause: it was given'],
    ['a pause of what is no partition', c => { c.pause(any(['t'])) }, 'consumer.pause: [0]: it was given "t"; it takes { topic, partition }'],
    ['a resume of nothing', c => { c.resume(any(undefined)) }, 'consumer.resume: it was given undefined'],
    ['a position of nothing', c => c.position(any(undefined)), 'consumer.position: it was given undefined; it takes { topic, partition }'],
    ['a position of a partition that is a text', c => c.position(any({ topic: 't', partition: '0' })), 'partition is "0"; it is a whole number from 0'],
    ['an option that does not exist', c => c.position(tp(), any({ timeout: 5 })), 'consumer.position: timeout is unknown here; did you mean timeoutMs?'],
    ['a poll with an option that does not exist', c => c.poll(any({ timeout: 5 })), 'consumer.poll: timeout is unknown here; did you mean timeoutMs?'],
    ['a poll with a number', c => c.poll(any(100)), 'consumer.poll: the options are 100; they are an object with maxRecords, timeoutMs, signal'],
    ['a poll of no records', c => c.poll({ maxRecords: 0 }), 'maxRecords is 0; it is a number from 1'],
    ['a poll with a time that is a text', c => c.poll(any({ timeoutMs: '5' })), 'timeoutMs is "5"; it is a number of milliseconds'],
    ['a poll with a controller in place of its signal', c => c.poll(any({ signal: new AbortController() })), 'signal is an object; it is an AbortSignal'],
    ['end offsets of no list', c => c.endOffsets(any(tp())), 'consumer.endOffsets: it was given'],
    ['beginning offsets of nothing', c => c.beginningOffsets(any(undefined)), 'consumer.beginningOffsets: it was given undefined'],
    ['a time that never is', c => c.seekToTime(tp(), Date.UTC(2026) - Infinity), 'timestamp -Infinity is no time; it is a whole number of milliseconds since 1970: for the first record say \'beginning\', for the last \'end\''],
    ['a time with a fraction', c => c.seekToTime(tp(), 1.5), 'timestamp 1.5 is no time; it is a whole number of milliseconds since 1970: take Math.round() of it'],
    ['offsets for no times', c => c.offsetsForTimes(any([tp()])), 'consumer.offsetsForTimes: [0]: timestamp undefined is no time'],
  ]
  it.each(calls)('%s is refused with what is expected, and changes nothing', async (_name, call, message) => {
    const world = await worldWithRecords()
    const consumer = world.client().consumer()
    consumer.assign([{ ...tp(), offset: 7 }])
    const expected = { code: 'MR_CLIENT_SETTING', message: expect.stringContaining(message) }
    // The calls that give a promise reject; they throw nothing.
    let outcome: unknown
    try {
      outcome = call(consumer)
    } catch (error) {
      outcome = { thrown: error }
    }
    if (outcome instanceof Promise) await expect(outcome).rejects.toMatchObject(expected)
    else expect(outcome).toMatchObject({ thrown: expected })
    expect(texts(await world.complete(consumer.poll({ maxRecords: 1 })))).toEqual(['v7'])
  })

  it('is none of what a partition has besides: the places of records and of offsets that were asked for', async () => {
    const world = await worldWithRecords()
    const consumer = world.client().consumer()
    consumer.assign(await world.complete(consumer.endOffsets([tp()])))
    expect(await world.complete(consumer.position(tp()))).toBe(100)
    consumer.seek({ ...tp(), offset: 3 })
    const records = await world.complete(consumer.poll({ maxRecords: 1 }))
    consumer.pause(records)
    consumer.resume(records)
    consumer.seekToTime(records[0]!, 1050)
    expect(texts(await world.complete(consumer.poll({ maxRecords: 1 })))).toEqual(['v50'])
  })

  it('pauses none of several partitions when one is not assigned', async () => {
    const world = await worldWithRecords()
    const consumer = world.client().consumer()
    consumer.assign([tp()])
    expect(() => { consumer.pause([tp(), tp(5)]) }).toThrow('t-5 is not assigned')
    expect(texts(await world.complete(consumer.poll({ maxRecords: 1 })))).toEqual(['v0'])
  })
})

describe('a position that is not found out in time', () => {
  it('is told with the time and the reason', async () => {
    const world = await worldWithRecords()
    const consumer = world.client().consumer()
    consumer.assign([tp(0, 'missing')])
    expect(await world.rejection(consumer.position(tp(0, 'missing'), { timeoutMs: 700 }), 1000)).toMatchObject({
      code: 'MR_CLIENT_REQUEST_TIMEOUT', message: expect.stringMatching(/^the position in missing-0 was not found out within 700 ms: .*missing.* (exist|known)/),
    })
  })

  it('is not waited for with a signal that is aborted already', async () => {
    const world = await worldWithRecords()
    const consumer = world.client().consumer()
    consumer.assign([tp(0, 'missing')])
    expect(await world.rejection(consumer.position(tp(0, 'missing'), { signal: AbortSignal.abort(new Error('enough')) }), 100)).toMatchObject({ message: 'enough' })
  })
})
