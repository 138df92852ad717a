import { compressSync } from 'snappy'
import { describe, expect, it } from 'vitest'
import { Prng } from '../../../../../src/base/prng.ts'
import { MillraceError } from '../../../../../src/kernel/errors/index.ts'
import { batchBytesOf, codecOf, crcValid, isLogAppendTime, leaderEpochOf, maxTimestampOf, putCrc, putInt32, recordsCountOf } from '../../../../../src/kernel/record/batch-header.ts'
import { codecNamed } from '../../../../../src/kernel/record/compression-codec.ts'
import { NodeCompression } from '../../../../../src/platform/codecs/node-compression.ts'
import { produceApi } from '../../../../../src/wire/messages/index.ts'
import { testEpochMs } from '../../../../../src/testkit/world/manual-clock.ts'
import { batchOf } from '../fixture/batches.ts'
import { produce } from '../fixture/requests.ts'
import { TestBroker, turn } from '../fixture/test-broker.ts'
import { type TestReplica } from '../fixture/test-cluster.ts'

/** One answer for one batch. */
async function answerTo(broker: TestBroker, records: Uint8Array | null, { version = 9, acks = 1, topic = 't' } = {}) {
  const answer = await broker.connect().call(produceApi, version, produce(topic, records, { acks }))
  return answer.responses[0]!.partitionResponses[0]!
}

function stored(replica: TestReplica): Uint8Array {
  let found = new Uint8Array()
  replica.log.read({ offset: 0, endOffset: Infinity, maxBytes: 1e9, atLeastOneBatch: true }, { read: (bytes, release) => { found = bytes.slice(); release() }, failed: (error) => { throw error as Error } })
  return found
}

/** A changed copy, with a right CRC. */
function changed(batch: Uint8Array, change: (batch: Uint8Array) => void): Uint8Array {
  const copy = batch.slice()
  change(copy)
  putCrc(copy, 0)
  return copy
}

describe('acks', () => {
  it('quirk 25: acks=0 has no answer, and the batch is there', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    const client = broker.connect()
    void client.call(produceApi, 9, produce('t', batchOf(['x']), { acks: 0 }))
    const second = client.call(produceApi, 9, produce('t', batchOf(['y']), { acks: 1 }))
    expect((await second).responses[0]!.partitionResponses[0]!.baseOffset).toBe(1)
    expect(client.answered).toEqual([2])
    expect(replica!.log.endOffset).toBe(2)
  })

  it('quirk 25: an error with acks=0 closes the connection, and the log says why', async () => {
    const broker = await TestBroker.start()
    const client = broker.connect()
    void client.call(produceApi, 9, produce('nobody', batchOf(['x']), { acks: 0 }))
    expect(client.socket.destroyed).toBe(true)
    expect(broker.logger.lines.at(-1)!.message).toContain('a batch with acks=0 for nobody-0 failed: nobody-0 does not exist')
  })

  it('acks=1 is answered when the batch is in the log, acks=all when the high watermark is past it', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    replica!.follows = false
    const one = await answerTo(broker, batchOf(['x']))
    expect(one).toMatchObject({ errorCode: 0, baseOffset: 0 })
    let answered = false
    const all = answerTo(broker, batchOf(['y', 'z']), { acks: -1 }).then((answer) => { answered = true; return answer })
    await turn()
    replica!.advance(2)
    await turn()
    expect(answered).toBe(false)
    replica!.advance(3)
    expect(await all).toMatchObject({ errorCode: 0, baseOffset: 1, logStartOffset: 0, logAppendTimeMs: -1 })
    expect(broker.tools.deadlines.size).toBe(2)
  })

  it('acks=all is 7 when the watermark does not come within the request\'s timeout; partitions that had it succeed', async () => {
    const broker = await TestBroker.start()
    const [first, second] = broker.cluster.topic('t', 2)
    first!.follows = false
    second!.follows = false
    const call = broker.connect().call(produceApi, 9, {
      transactionalId: null, acks: -1, timeoutMs: 700,
      topicData: [{ name: 't', partitionData: [0, 1].map((index) => ({ index, records: batchOf(['x']) })) }],
    })
    second!.advance()
    await turn()
    broker.timers.advance(700)
    const answers = (await call).responses[0]!.partitionResponses
    expect(answers.map(({ errorCode }) => errorCode)).toEqual([7, 0])
    expect(answers[0]!.errorMessage).toContain('700 ms')
    expect(first!.waiters.size).toBe(0)
    expect(broker.tools.metrics.waitingProduces).toBe(0)
  })

  it('leadership lost while it waits is told at once, with the new leader from v10 on (KIP-951)', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    replica!.follows = false
    const call = answerTo(broker, batchOf(['x']), { acks: -1 })
    await turn()
    replica!.lose(new MillraceError('MR_REPLICA_NOT_LEADER', { nodeId: 1, topic: 't', partition: 0 }))
    expect((await call).errorCode).toBe(6)
    broker.cluster.brokers.set(2, { nodeId: 2, epoch: 1, incarnationId: 'AAAAAAAAAAAAAAAAAAAAAA', rack: 'r', fenced: false, endpoints: [{ listener: 'PLAINTEXT', host: 'two', port: 2 }] })
    broker.cluster.replaceTopic('t', (image) => ({ ...image, partitions: image.partitions.map((partition) => ({ ...partition, leader: 2, leaderEpoch: 4 })) }))
    const answer = await broker.connect().call(produceApi, 10, produce('t', batchOf(['x'])))
    expect(answer.responses[0]!.partitionResponses[0]).toMatchObject({ errorCode: 6, currentLeader: { leaderId: 2, leaderEpoch: 4 } })
    expect(answer.nodeEndpoints).toEqual([{ nodeId: 2, host: 'two', port: 2, rack: 'r' }])
  })

  it('other values are 21, and nothing is appended', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    for (const acks of [2, -2, 0x7fff]) expect((await answerTo(broker, batchOf(['x']), { acks })).errorCode).toBe(21)
    expect(replica!.log.endOffset).toBe(0)
  })

  it('acks=all with fewer replicas in sync than min.insync.replicas is 19 and not appended; acks=1 does not ask', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t', 1, { minInsyncReplicas: 2 })
    expect((await answerTo(broker, batchOf(['x']), { acks: -1 })).errorCode).toBe(19)
    expect(replica!.log.endOffset).toBe(0)
    expect((await answerTo(broker, batchOf(['x']))).errorCode).toBe(0)
  })
})

describe('batches', () => {
  it('quirk 26: offset and leader epoch are the broker\'s; logStartOffset is set, logAppendTimeMs is -1', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    await answerTo(broker, batchOf(['a', 'b']))
    expect(await answerTo(broker, batchOf(['c']))).toMatchObject({ baseOffset: 2, logAppendTimeMs: -1, logStartOffset: 0 })
    const bytes = stored(replica!)
    const second = batchBytesOf(bytes, 0)
    expect([leaderEpochOf(bytes, 0), leaderEpochOf(bytes, second), crcValid(bytes, 0), crcValid(bytes, second)]).toEqual([3, 3, true, true])
  })

  it('quirk 26: LogAppendTime is written into the batch, with a right CRC, and into the answer', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t', 1, { timestampType: 'LogAppendTime' })
    expect(await answerTo(broker, batchOf([{ value: 'x', timestamp: 5 }]))).toMatchObject({ errorCode: 0, logAppendTimeMs: testEpochMs })
    const bytes = stored(replica!)
    expect([isLogAppendTime(bytes, 0), maxTimestampOf(bytes, 0), crcValid(bytes, 0)]).toEqual([true, testEpochMs, true])
  })

  it('quirk 26: one batch a partition, magic 2, else 87; a wrong CRC is 2, and nothing is appended', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    const good = batchOf(['a'])
    const two = new Uint8Array(good.length * 2)
    two.set(good)
    two.set(good, good.length)
    const refused: [string, Uint8Array | null, number][] = [
      ['none', null, 87], ['empty', new Uint8Array(), 87], ['two', two, 87],
      ['magic 1', changed(good, (batch) => { batch[16] = 1 }), 87],
      ['CRC', (() => { const bad = good.slice(); bad[bad.length - 1]! ^= 1; return bad })(), 2],
      ['cut off', good.slice(0, good.length - 1), 87],
      ['count', changed(good, (batch) => { putInt32(batch, 57, 2) }), 87],
      ['last offset delta', changed(good, (batch) => { putInt32(batch, 23, 7) }), 87],
      ['control', batchOf(['x'], { control: true }), 87],
    ]
    for (const [what, records, code] of refused) expect((await answerTo(broker, records)).errorCode, what).toBe(code)
    expect(replica!.log.endOffset).toBe(0)
    expect((await answerTo(broker, good)).baseOffset).toBe(0)
  })

  it('quirk 27: over max.message.bytes is 10', async () => {
    const broker = await TestBroker.start()
    broker.cluster.topic('t', 1, { maxMessageBytes: 100 })
    const answer = await answerTo(broker, batchOf(['x'.repeat(100)]))
    expect(answer).toMatchObject({ errorCode: 10, errorMessage: expect.stringContaining('max.message.bytes=100') })
  })

  it('quirk 27: records without a key are refused on a compacted topic, named from v8 on, compressed or not', async () => {
    const broker = await TestBroker.start()
    broker.cluster.topic('t', 1, { compact: true })
    const records = [{ key: 'a', value: '1' }, { value: '2' }, { key: 'c', value: '3' }, { value: '4' }]
    for (const codec of [0, 1, 3] as const) {
      const named = await answerTo(broker, batchOf(records, { codec }))
      expect(named).toMatchObject({ errorCode: 87, errorMessage: expect.stringContaining('without a key') })
      expect(named.recordErrors.map(({ batchIndex }) => batchIndex)).toEqual([1, 3])
      expect(await answerTo(broker, batchOf(records, { codec }), { version: 7 })).toMatchObject({ errorCode: 87, recordErrors: [] })
    }
    expect((await answerTo(broker, batchOf([{ key: 'a', value: null }]))).errorCode).toBe(0)
  })

  it('timestamps outside the topic\'s limits are 32, with the records at fault', async () => {
    const broker = await TestBroker.start()
    broker.cluster.topic('t', 1, { timestampBeforeMaxMs: 1000, timestampAfterMaxMs: 500 })
    const answer = await answerTo(broker, batchOf([{ value: 'a', timestamp: testEpochMs }, { value: 'b', timestamp: testEpochMs + 501 }]))
    expect(answer.errorCode).toBe(32)
    expect(answer.recordErrors.map(({ batchIndex }) => batchIndex)).toEqual([1])
    expect((await answerTo(broker, batchOf([{ value: 'a', timestamp: testEpochMs - 1000 }]))).errorCode).toBe(0)
  })

  it('quirk 28: zstd before v7 is 76, and taken from then on', async () => {
    const broker = await TestBroker.start()
    broker.cluster.topic('t')
    expect((await answerTo(broker, batchOf(['x'], { codec: 4 }), { version: 6 })).errorCode).toBe(76)
    expect((await answerTo(broker, batchOf(['x'], { codec: 4 }), { version: 7 })).errorCode).toBe(0)
    expect((await answerTo(broker, batchOf(['x'], { codec: 3 }), { version: 3 })).errorCode).toBe(0)
  })

  it.each([['snappy', 2, 'snappy'], ['lz4', 3, 'lz4-napi']] as const)('a codec without its package (%s) is 76 and says which to install, whether it is the batch\'s or the topic\'s', async (codec, id, packageName) => {
    const broker = await TestBroker.start({ compression: new NodeCompression(() => { throw new Error('no such package') }) })
    broker.cluster.topic('t')
    broker.cluster.topic('rebuilt', 1, { compressionType: codec, maxMessageBytes: 4_000_000 })
    for (const [batch, topic] of [[batchOf(['x'], { codec: id }), 't'], [batchOf(['x']), 'rebuilt'], [batchOf(['x'.repeat(3_000_000)]), 'rebuilt']] as const) {
      expect(await answerTo(broker, batch, { topic })).toMatchObject({ errorCode: 76, errorMessage: `the codec ${codec} is not there; install the optional package ${packageName}` })
    }
  })

  /** What the broker writes into a batch: base offset and leader epoch. */
  const asSent = (batch: Uint8Array): Uint8Array => {
    const copy = batch.slice()
    copy.fill(0, 0, 8)
    copy.fill(0, 12, 16)
    return copy
  }

  /** The records as one raw block of snappy, without the frame of Java. */
  const rawSnappyBatch = (): Uint8Array => {
    const plain = batchOf(['x'.repeat(500), 'y'])
    const block = compressSync(Buffer.from(plain.subarray(61)))
    const batch = new Uint8Array(61 + block.length)
    batch.set(plain.subarray(0, 61))
    batch.set(block, 61)
    return changed(batch, (bytes) => { putInt32(bytes, 8, bytes.length - 12); bytes[22] = 2 })
  }

  it.each([
    ['gzip', () => batchOf(['x'.repeat(500)], { codec: 1 })], ['snappy', () => batchOf(['x'.repeat(500)], { codec: 2 })], ['lz4', () => batchOf(['x'.repeat(500)], { codec: 3 })],
    ['zstd', () => batchOf(['x'.repeat(500)], { codec: 4 })], ['raw snappy', rawSnappyBatch],
  ] as const)('quirk 28: a batch in %s is stored byte for byte as it came, but for what the broker writes into its header', async (_name, make) => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    const batch = make()
    for (let offset = 0; offset < 2; offset++) expect(await answerTo(broker, batch)).toMatchObject({ errorCode: 0 })
    expect(Buffer.from(asSent(stored(replica!).subarray(0, batch.length))).equals(asSent(batch))).toBe(true)
    expect(stored(replica!).length).toBe(2 * batch.length)
    expect(crcValid(stored(replica!), 0)).toBe(true)
  })

  it('compressed batches are stored in the codec of the topic', async () => {
    const broker = await TestBroker.start()
    const batch = batchOf(['x'.repeat(500)], { codec: 2 })
    const [rebuilt] = broker.cluster.topic('gzip', 1, { compressionType: 'gzip' })
    const [plain] = broker.cluster.topic('plain', 1, { compressionType: 'uncompressed', maxMessageBytes: 400 })
    expect((await answerTo(broker, batch, { topic: 'gzip' })).errorCode).toBe(0)
    expect([codecOf(stored(rebuilt!), 0), crcValid(stored(rebuilt!), 0)]).toEqual([1, true])
    // Rebuilt, the batch is too large, though it came in small.
    expect((await answerTo(broker, batch, { topic: 'plain' })).errorCode).toBe(10)
    expect(plain!.log.endOffset).toBe(0)
  })

  it('dear batches are decompressed elsewhere, and the batches behind them keep their order', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    const value = new Prng(7).bytes(400_000)
    const client = broker.connect()
    const dear = client.call(produceApi, 9, produce('t', batchOf([{ value }], { codec: 1 }), { acks: -1 }))
    const cheap = client.call(produceApi, 9, produce('t', batchOf(['small'])))
    expect(replica!.log.endOffset).toBe(0)
    expect(broker.metrics.value('millrace_protocol_held_request_bytes')).toBeGreaterThan(300_000)
    const [first, second] = await Promise.all([dear, cheap])
    expect([first, second].map(({ responses }) => responses[0]!.partitionResponses[0]!.baseOffset)).toEqual([0, 1])
    expect(broker.metrics.value('millrace_protocol_held_request_bytes')).toBe(0)
  })

  it('a batch that is small as sent and large decompressed does not hold up the event loop for long', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    const limits: number[] = []
    const decompress = broker.compression.decompress.bind(broker.compression)
    broker.compression.decompress = (codec, bytes, limit) => {
      limits.push(limit)
      return decompress(codec, bytes, limit)
    }
    for (const codec of [1, 2, 3, 4] as const) {
      const batch = batchOf([{ value: new Uint8Array(12_000_000) }], { codec })
      expect((await answerTo(broker, batch)).errorCode, `codec ${codec}`).toBe(0)
    }
    expect(replica!.log.endOffset).toBe(4)
    expect(Math.max(0, ...limits)).toBeLessThanOrEqual(2 * 1024 * 1024)
  })

  it.each(['uncompressed', 'gzip', 'snappy', 'lz4', 'zstd'] as const)('nor does one that is stored in another codec (%s): nothing large is compressed or decompressed on the loop, and nothing twice', async (compressionType) => {
    const broker = await TestBroker.start()
    const settings = { compressionType, maxMessageBytes: 20_000_000 }
    const [replica] = broker.cluster.topic('t', 1, settings)
    const [stamped] = broker.cluster.topic('stamped', 1, { ...settings, timestampType: 'LogAppendTime', batchCheck: 'header' })
    const { compression } = broker
    const onLoop: number[] = []
    let away = 0
    const { compress, decompress, compressLater, decompressLater } = NodeCompression.prototype
    compression.compress = (codec, bytes, level) => { onLoop.push(bytes.length); return compress.call(compression, codec, bytes, level) }
    compression.decompress = (codec, bytes, limit) => { onLoop.push(limit); return decompress.call(compression, codec, bytes, limit) }
    compression.compressLater = (...call) => { away++; compressLater.apply(compression, call) }
    compression.decompressLater = (...call) => { away++; decompressLater.apply(compression, call) }
    const target = codecNamed(compressionType)!
    const others = ([0, 1, 2, 3, 4] as const).filter((codec) => codec !== target)
    for (const codec of others) {
      const batch = batchOf([{ value: new Uint8Array(3_000_000) }], { codec })
      onLoop.length = away = 0
      for (const topic of ['t', 'stamped']) expect((await answerTo(broker, batch.slice(), { topic })).errorCode, `codec ${codec}`).toBe(0)
      expect(away, `codec ${codec}`).toBe(2 * ((codec === 0 ? 0 : 1) + (target === 0 ? 0 : 1)))
      // Only tried with a bound, where the size as sent does not tell.
      expect(Math.max(0, ...onLoop)).toBeLessThanOrEqual(target === 0 ? 2 * 1024 * 1024 : 256 * 1024)
    }
    for (const { log } of [replica!, stamped!]) expect(log.endOffset).toBe(others.length)
    expect([codecOf(stored(replica!), 0), crcValid(stored(replica!), 0)]).toEqual([target, true])
    expect([codecOf(stored(stamped!), 0), crcValid(stored(stamped!), 0), maxTimestampOf(stored(stamped!), 0)]).toEqual([target, true, testEpochMs])
    expect(broker.metrics.value('millrace_protocol_held_request_bytes')).toBe(0)
  })

  it('small batches are stored in another codec at once, those behind a large one after it', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t', 1, { compressionType: 'gzip' })
    const from = (baseSequence: number, value: Uint8Array | string): Uint8Array => batchOf([{ value }], { producerId: 9, producerEpoch: 0, baseSequence, codec: 2 })
    const client = broker.connect()
    const small = client.call(produceApi, 9, produce('t', from(0, 'small')))
    expect(replica!.log.endOffset).toBe(1)
    const large = client.call(produceApi, 9, produce('t', from(1, new Prng(7).bytes(300_000)), { acks: 0 }))
    const behind = client.call(produceApi, 9, produce('t', from(2, 'small')))
    void large
    expect(replica!.log.endOffset).toBe(1)
    client.socket.close()
    while (broker.metrics.value('millrace_protocol_connections') !== 0) await turn(1)
    expect(replica!.log.endOffset).toBe(3)
    expect(broker.metrics.value('millrace_protocol_held_request_bytes')).toBe(0)
    void [small, behind]
  })

  it('two batches at most are being stored in another codec, each with what its own check found; a refused one lets the next begin', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t', 1, { compressionType: 'zstd' })
    const { compression } = broker
    const waiting: (() => void)[] = []
    compression.compressLater = (codec, bytes, level, done) => { waiting.push(() => { done(undefined, compression.compress(codec, bytes, level)) }) }
    compression.decompressLater = (codec, bytes, limit, done) => {
      try {
        done(undefined, compression.decompress(codec, bytes, limit))
      } catch (error) {
        done(error, undefined)
      }
    }
    const appended: Uint8Array[] = []
    const append = replica!.append.bind(replica)
    replica!.append = (bytes, at, length) => {
      appended.push(bytes.slice(at, at + length))
      return append(bytes, at, length)
    }
    const value = new Prng(7).bytes(100_000)
    const stamps = [testEpochMs + 1, testEpochMs + 2, testEpochMs + 3]
    const answers = [
      ...stamps.map((timestamp, index) => answerTo(broker, batchOf(Array.from({ length: index + 1 }, () => ({ value, timestamp }))))),
      answerTo(broker, changed(batchOf([{ value }], { codec: 1 }), (batch) => { batch.fill(7, 70, 5000) })),
      answerTo(broker, changed(batchOf([{ value }]), (batch) => { putInt32(batch, 57, 2); putInt32(batch, 23, 1) })),
      answerTo(broker, batchOf([{ value, timestamp: testEpochMs + 4 }])),
    ]
    const begun: number[] = []
    for (let count = 0; count < 4; count++) {
      begun.push(waiting.length)
      waiting.shift()!()
    }
    expect([begun, waiting.length]).toEqual([[2, 2, 2, 1], 0])
    expect((await Promise.all(answers)).map(({ errorCode }) => errorCode)).toEqual([0, 0, 0, 87, 87, 0])
    const found = appended.map((batch) => [codecOf(batch, 0), recordsCountOf(batch, 0), maxTimestampOf(batch, 0) - testEpochMs, crcValid(batch, 0)])
    expect(found).toEqual([[4, 1, 1, true], [4, 2, 2, true], [4, 3, 3, true], [4, 1, 4, true]])
    expect(broker.metrics.count('millrace_topic_produced_records_total', { topic: 't' })).toBe(7)
  })

  it('a batch whose other codec fails is answered as the broker\'s fault, and one that grows too large is 10', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t', 1, { compressionType: 'lz4', maxMessageBytes: 300_000 })
    broker.cluster.topic('plain', 1, { compressionType: 'uncompressed', maxMessageBytes: 300_000 })
    const batch = batchOf([{ value: new Uint8Array(3_000_000) }], { codec: 4 })
    expect((await answerTo(broker, batch, { topic: 'plain' })).errorCode).toBe(10)
    broker.compression.compressLater = (_codec, _bytes, _level, done) => { queueMicrotask(() => { done(new Error('made up'), undefined) }) }
    expect((await answerTo(broker, batch)).errorCode).toBe(-1)
    expect(replica!.log.endOffset).toBe(0)
    expect(broker.logger.atLeast('error')).toHaveLength(1)
  })

  it('a dear batch with records that do not fit its header is refused, with nothing appended, whoever decompressed it', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    const value = new Prng(7).bytes(300_000)
    const lying = changed(batchOf([{ value }], { codec: 1 }), (batch) => { putInt32(batch, 57, 2); putInt32(batch, 23, 1) })
    expect((await answerTo(broker, lying)).errorCode).toBe(87)
    const garbage = changed(batchOf([{ value }], { codec: 1 }), (batch) => { batch.fill(7, 70, 5000) })
    expect((await answerTo(broker, garbage)).errorCode).toBe(87)
    expect(replica!.log.endOffset).toBe(0)
  })

  it('quirk 29: a batch sent again has the original\'s offset, a gap is 45, an old epoch is 47', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    const from = (baseSequence: number, producerEpoch = 1): Uint8Array => batchOf(['x'], { producerId: 9, producerEpoch, baseSequence })
    await answerTo(broker, from(0))
    await answerTo(broker, from(1))
    expect(await answerTo(broker, from(0))).toMatchObject({ errorCode: 0, baseOffset: 0 })
    expect((await answerTo(broker, from(5))).errorCode).toBe(45)
    expect((await answerTo(broker, from(2, 0))).errorCode).toBe(47)
    expect(replica!.log.endOffset).toBe(2)
  })

  it('quirk 29: a batch sent again is not acknowledged before the original', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    replica!.follows = false
    const batch = (): Uint8Array => batchOf(['x'], { producerId: 9, producerEpoch: 0, baseSequence: 0 })
    let answers = 0
    const both = [0, 1].map(() => answerTo(broker, batch(), { acks: -1 }).then((answer) => { answers++; return answer }))
    await turn()
    expect(answers).toBe(0)
    replica!.advance()
    expect((await Promise.all(both)).map(({ baseOffset }) => baseOffset)).toEqual([0, 0])
  })
})

describe('what is refused as a whole', () => {
  it('an unknown topic or partition is 3, a topic of the broker\'s own 17', async () => {
    const broker = await TestBroker.start()
    broker.cluster.topic('t')
    broker.cluster.topic('__consumer_offsets', 1, {}, { internal: true })
    expect((await answerTo(broker, batchOf(['x']), { topic: 'nobody' })).errorCode).toBe(3)
    expect((await answerTo(broker, batchOf(['x']), { topic: '__consumer_offsets' })).errorCode).toBe(17)
    const answer = await broker.connect().call(produceApi, 9, produce('t', batchOf(['x']), { index: 4 }))
    expect(answer.responses[0]!.partitionResponses[0]).toMatchObject({ index: 4, errorCode: 3, errorMessage: 't-4 does not exist' })
  })

  it('transactions, by id or in the batch, are 35 with a reason', async () => {
    const broker = await TestBroker.start()
    broker.cluster.topic('t')
    const answer = await broker.connect().call(produceApi, 9, { ...produce('t', batchOf(['x'])), transactionalId: 'tx' })
    expect(answer.responses[0]!.partitionResponses[0]).toMatchObject({ errorCode: 35, errorMessage: expect.stringContaining('transactional.id') })
    expect((await answerTo(broker, batchOf(['x'], { producerId: 1, producerEpoch: 0, baseSequence: 0, transactional: true }))).errorCode).toBe(35)
  })

  it('quirk 54: each partition has its own outcome, in the order of the request', async () => {
    const broker = await TestBroker.start()
    broker.cluster.topic('a', 2)
    broker.cluster.topic('b')
    const answer = await broker.connect().call(produceApi, 9, {
      transactionalId: null, acks: 1, timeoutMs: 100,
      topicData: [
        { name: 'b', partitionData: [{ index: 0, records: batchOf(['x']) }, { index: 9, records: batchOf(['x']) }] },
        { name: 'none', partitionData: [{ index: 0, records: null }] },
        { name: 'a', partitionData: [{ index: 1, records: batchOf(['x', 'y']) }, { index: 0, records: null }] },
      ],
    })
    expect(answer.responses.map(({ name, partitionResponses }) => [name, partitionResponses.map(({ index, errorCode }) => [index, errorCode])])).toEqual([
      ['b', [[0, 0], [9, 3]]], ['none', [[0, 3]]], ['a', [[1, 0], [0, 87]]],
    ])
  })

  it('a log that fails is 56, or 6 for clients that do not know that code', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    replica!.appendError = new MillraceError('MR_LOG_DIRECTORY_OFFLINE', { path: '/data', reason: 'EIO' })
    expect((await answerTo(broker, batchOf(['x']), { version: 4 })).errorCode).toBe(56)
    expect((await answerTo(broker, batchOf(['x']), { version: 3 })).errorCode).toBe(6)
    replica!.appendError = new RangeError('a bug')
    expect(await answerTo(broker, batchOf(['x']))).toMatchObject({ errorCode: -1, errorMessage: 'the broker failed; its log says why' })
    expect(broker.logger.atLeast('error')).toHaveLength(1)
  })

  it('what was taken is counted by topic', async () => {
    const broker = await TestBroker.start()
    broker.cluster.topic('t')
    const batch = batchOf(['x', 'y', 'z'])
    await answerTo(broker, batch)
    await answerTo(broker, batchOf(['x']), { topic: 'nobody' })
    expect(broker.metrics.count('millrace_topic_produced_records_total', { topic: 't' })).toBe(3)
    expect(broker.metrics.count('millrace_topic_produced_bytes_total', { topic: 't' })).toBe(batch.length)
    expect(broker.metrics.count('millrace_protocol_requests_total', { api: 'Produce' })).toBe(2)
    expect(broker.metrics.count('millrace_protocol_errors_total', { api: 'Produce', code: 'UNKNOWN_TOPIC_OR_PARTITION' })).toBe(1)
    expect(broker.metrics.observed('millrace_protocol_request_seconds', { api: 'Produce' })).toHaveLength(2)
  })
})
