import { describe, expect, it } from 'vitest'
import { Prng } from '../../../../src/base/prng.ts'
import { MillraceError } from '../../../../src/kernel/errors/index.ts'
import { type Exchange, type ProtocolHandler } from '../../../../src/kernel/ports/protocol-handler.ts'
import { fetchApi, heartbeatApi, metadataApi, produceApi } from '../../../../src/wire/messages/index.ts'
import { completeMessage } from '../../../../src/wire/schema/compile-codec.ts'
import { batchOf } from './fixture/batches.ts'
import { fetch, produce } from './fixture/requests.ts'
import { TestBroker, turn } from './fixture/test-broker.ts'
import { type TestClient } from './fixture/test-client.ts'
import { joined } from './fixture/test-socket.ts'

const dearBytes = 300_000
const noise = new Prng(25).bytes(dearBytes)

/** One producer's batches, numbered: the log refuses any that is out of order. */
const numbered = (baseSequence: number, dear: boolean): Uint8Array =>
  batchOf([{ value: dear ? noise : 'small' }], { producerId: 9, producerEpoch: 0, baseSequence, codec: dear ? 1 : 0 })

const large = (baseSequence: number): Uint8Array => batchOf([{ value: new Uint8Array(80_000) }], { producerId: 9, producerEpoch: 0, baseSequence })

/** Frames of Produce requests, one for each of `dear`, in the order of their sequence. */
const framesOf = (client: TestClient, dear: readonly boolean[], acks = 0): Uint8Array[] =>
  dear.map((isDear, index) => client.frame(produceApi, 9, produce('t', numbered(index, isDear), { acks })).bytes)

/** Batches that are to be decompressed off the loop wait until the test calls what is in here. */
function holdBackDecompression(broker: TestBroker): (() => void)[] {
  const { compression } = broker
  const waiting: (() => void)[] = []
  compression.decompressLater = (codec, bytes, limit, done) => {
    waiting.push(() => { done(undefined, compression.decompress(codec, bytes, limit)) })
  }
  return waiting
}

const inHand = (broker: TestBroker): unknown[] => [
  broker.metrics.value('millrace_protocol_connections'), broker.metrics.value('millrace_protocol_held_request_bytes'),
  broker.tools.metrics.waitingProduces, broker.tools.metrics.waitingFetches, broker.tools.deadlines.size,
]
const nothing = [0, 0, 0, 0, 0]

async function untilLeft(broker: TestBroker): Promise<void> {
  while (broker.metrics.value('millrace_protocol_connections') !== 0) await turn(1)
}

describe('a client that closes right behind its last request', () => {
  it.each([
    ['in order', 'dear and small', [true, false, true, true, false, true], undefined],
    ['in order', 'small and dear', [false, true, false, false, true, false], undefined],
    ['in order', 'ten dear', Array.from({ length: 10 }, () => true), undefined],
    ['by a reset', 'dear and small', [true, false, true, true, false, true], new Error('reset by peer')],
  ] as const)('quirk 25: %s: its %s acks=0 batches are all stored, in order; half a request is not, and nothing stays in memory', async (_how, _what, dear, error) => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    const client = broker.connect()
    const frames = framesOf(client, dear)
    const half = client.frame(produceApi, 9, produce('t', numbered(dear.length, false), { acks: 0 })).bytes.slice(0, -1)
    client.socket.give(joined([...frames, half]))
    client.socket.close(error)
    await untilLeft(broker)
    expect(replica!.log.endOffset).toBe(dear.length)
    expect(client.socket.writes).toEqual([])
    expect(inHand(broker)).toEqual(nothing)
    expect(broker.logger.lines.filter(({ level }) => level !== 'debug')).toEqual([])
  })

  it.each([0, 1, -1])('a batch that is being decompressed is stored, whatever acks asks for, and its memory counts until then (acks=%i)', async (acks) => {
    const broker = await TestBroker.start({ settings: { 'max.connections': '1' } })
    const [replica] = broker.cluster.topic('t')
    replica!.follows = false
    const decompressions = holdBackDecompression(broker)
    const client = broker.connect()
    client.socket.give(joined(framesOf(client, [true, false], acks)))
    client.socket.close()
    expect(broker.metrics.value('millrace_protocol_held_request_bytes')).toBeGreaterThan(dearBytes)
    // What it has left in memory counts as a connection, or such clients were without bound.
    expect(broker.connect().socket.destroyed).toBe(true)
    expect(broker.tools.metrics.waitingProduces).toBe(0)
    decompressions.shift()!()
    expect(replica!.log.endOffset).toBe(2)
    expect(replica!.waiters.size).toBe(0)
    expect(inHand(broker)).toEqual(nothing)
    expect(broker.connect().socket.destroyed).toBe(false)
    await turn()
    expect(client.socket.writes).toEqual([])
  })

  it('a batch of many partitions, of which some are in the log and some are being decompressed, is stored whole', async () => {
    const broker = await TestBroker.start()
    const replicas = broker.cluster.topic('t', 3)
    for (const replica of replicas) replica.follows = false
    const decompressions = holdBackDecompression(broker)
    const client = broker.connect()
    const partitionData = [0, 1, 2].map((index) => ({ index, records: numbered(0, index > 0) }))
    client.socket.give(client.frame(produceApi, 9, { transactionalId: null, acks: -1, timeoutMs: 1000, topicData: [{ name: 't', partitionData }] }).bytes)
    client.socket.close()
    for (const decompress of decompressions) decompress()
    expect(replicas.map(({ log }) => log.endOffset)).toEqual([1, 1, 1])
    expect(replicas.map(({ waiters }) => waiters.size)).toEqual([0, 0, 0])
    expect(inHand(broker)).toEqual(nothing)
  })

  it('what is behind a fetch that waits is handled, the fetch is not waited for, and others behind it are not read', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    const client = broker.connect()
    const poll = (): Uint8Array => client.frame(fetchApi, 12, fetch('t', [1], { maxWaitMs: 60_000 })).bytes
    const first = client.frame(fetchApi, 12, fetch('t', [0], { maxWaitMs: 60_000 })).bytes
    const [zero, one] = framesOf(client, [false, false])
    client.socket.give(joined([first, zero!, poll(), client.frame(metadataApi, 1, { topics: [] }).bytes, one!]))
    expect(replica!.log.endOffset).toBe(0)
    client.socket.close()
    expect(replica!.log.endOffset).toBe(2)
    expect(replica!.waiters.size).toBe(0)
    expect(inHand(broker)).toEqual(nothing)
  })

  it('what came while memory was short, or answers were not read, is handled too', async () => {
    const broker = await TestBroker.start({ settings: { 'queued.max.request.bytes': '100000', 'socket.request.max.bytes': '90000' } })
    const [replica] = broker.cluster.topic('t')
    const greedy = [broker.connect(), broker.connect()]
    const [waiting, slow] = [broker.connect(), broker.connect()]
    for (const client of greedy) client.socket.give(client.frame(produceApi, 9, produce('t', large(9))).bytes.slice(0, -1))
    const sent = joined([large(0), numbered(1, false)].map((batch) => waiting.frame(produceApi, 9, produce('t', batch, { acks: 0 })).bytes))
    waiting.socket.give(sent.slice(0, 70_000))
    expect(waiting.socket.paused).toBe(true)
    waiting.socket.give(sent.slice(70_000))
    expect(replica!.log.endOffset).toBe(0)
    waiting.socket.close()
    expect(replica!.log.endOffset).toBe(2)
    slow.socket.room = 0
    slow.socket.give(slow.frame(metadataApi, 1, { topics: [] }).bytes)
    await turn()
    slow.socket.give(slow.frame(produceApi, 9, produce('t', numbered(2, false), { acks: 0 })).bytes)
    expect([slow.socket.paused, replica!.log.endOffset]).toEqual([true, 2])
    slow.socket.close()
    expect(replica!.log.endOffset).toBe(3)
    for (const client of greedy) client.socket.close()
    expect(inHand(broker)).toEqual(nothing)
  })

  it('a failed batch with acks=0 is told in the log, and what is behind it dropped, as on a connection that is there', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    const decompressions = holdBackDecompression(broker)
    const client = broker.connect()
    const [dear, ...small] = framesOf(client, [true, false, false])
    const failing = client.frame(produceApi, 9, produce('nobody', batchOf(['x']), { acks: 0 })).bytes
    client.socket.give(joined([dear!, small[0]!, failing, small[1]!]))
    client.socket.close()
    decompressions[0]!()
    expect(replica!.log.endOffset).toBe(2)
    expect(broker.logger.lines.at(-1)).toMatchObject({ level: 'info', message: expect.stringContaining('a batch with acks=0 for nobody-0 failed') })
    expect(inHand(broker)).toEqual(nothing)
  })

  it('nonsense among what it left is told in the log, and what is behind it dropped', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    const decompressions = holdBackDecompression(broker)
    const client = broker.connect()
    const [dear, small] = framesOf(client, [true, false])
    client.socket.give(joined([dear!, new Uint8Array([0x7f, 0, 0, 0]), small!]))
    client.socket.close()
    decompressions[0]!()
    expect(replica!.log.endOffset).toBe(1)
    expect(broker.logger.lines.at(-1)!.message).toContain('a frame of 2130706432 bytes')
    expect(inHand(broker)).toEqual(nothing)
  })
})

describe('a connection that the broker closes', () => {
  it('for an error: the batch that is being decompressed is stored, the requests behind it are dropped', async () => {
    const exchanges: Exchange[] = []
    const handler: ProtocolHandler = {
      apiKey: heartbeatApi.key, minVersion: 0, maxVersion: 4, handle: (_request, exchange) => { exchanges.push(exchange) }, failure: () => undefined,
    }
    const broker = await TestBroker.start({ handlers: [handler] })
    const [replica] = broker.cluster.topic('t')
    const decompressions = holdBackDecompression(broker)
    const client = broker.connect()
    const asked = client.frame(heartbeatApi, 0, { groupId: 'g', generationId: 1, memberId: 'm' }).bytes
    client.socket.give(joined([asked, ...framesOf(client, [true, false])]))
    exchanges[0]!.abort(new MillraceError('MR_RECORD_CORRUPT', { reason: 'said the test' }))
    expect(client.socket.destroyed).toBe(true)
    decompressions[0]!()
    expect(replica!.log.endOffset).toBe(1)
    expect(inHand(broker)).toEqual(nothing)
  })

  it.each([[[true]], [[true, false]]])('at its stop: what a client that is gone has left behind is handled before the stop is over (dear: %j)', async (dear) => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    const decompressions = holdBackDecompression(broker)
    const client = broker.connect()
    client.socket.give(joined(framesOf(client, dear)))
    client.socket.close()
    let stopped = false
    const stopping = broker.server.stop().then(() => { stopped = true })
    await turn()
    expect(stopped).toBe(false)
    decompressions[0]!()
    await stopping
    expect(replica!.log.endOffset).toBe(dear.length)
    expect(broker.timers.pending).toBe(0)
  })

  it('at a stop whose time is over: what was begun has no effect any more, of clients that are gone, that are there, and in process', async () => {
    const broker = await TestBroker.start({ config: { stopGraceMs: 2000 } })
    const [replica] = broker.cluster.topic('t')
    const decompressions = holdBackDecompression(broker)
    const [gone, there] = [broker.connect(), broker.connect()]
    for (const client of [gone, there]) client.socket.give(joined(framesOf(client, [true, false])))
    gone.socket.close()
    const dispatched = new Promise((resolve) => {
      broker.server.dispatch(0, 9, completeMessage(produceApi.request, produce('t', numbered(0, true), { acks: 0 })), null, resolve)
    })
    const stopping = broker.server.stop()
    await turn()
    broker.timers.advance(2000)
    await stopping
    expect(await dispatched).toMatchObject({ code: 'MR_NET_CLOSED' })
    expect(decompressions).toHaveLength(3)
    for (const decompress of decompressions) decompress()
    await turn()
    expect(replica!.log.endOffset).toBe(0)
    expect(inHand(broker)).toEqual(nothing)
    expect(broker.logger.atLeast('warn')).toEqual([])
  })

  it('at a stop before it was ready: what a client that is gone has sent is dropped, and the stop does not wait', async () => {
    const broker = new TestBroker()
    const [replica] = broker.cluster.topic('t')
    const register = broker.cluster.registerBroker.bind(broker.cluster)
    broker.cluster.registerBroker = async (registration) => {
      const client = broker.connect()
      client.socket.give(joined(framesOf(client, [false])))
      client.socket.close()
      expect(broker.metrics.value('millrace_protocol_connections')).toBe(1)
      await broker.server.stop()
      return register(registration)
    }
    await broker.server.start()
    expect(replica!.log.endOffset).toBe(0)
    expect(inHand(broker)).toEqual(nothing)
  })
})
