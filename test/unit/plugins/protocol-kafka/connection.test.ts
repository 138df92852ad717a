import { describe, expect, it } from 'vitest'
import { type Exchange, type ProtocolHandler } from '../../../../src/kernel/ports/protocol-handler.ts'
import { apiVersionsApi, fetchApi, heartbeatApi, type HeartbeatRequest, metadataApi, produceApi, syncGroupApi, type SyncGroupRequest } from '../../../../src/wire/messages/index.ts'
import { batchOf } from './fixture/batches.ts'
import { fetch, produce } from './fixture/requests.ts'
import { TestBroker, turn } from './fixture/test-broker.ts'
import { joined } from './fixture/test-socket.ts'

/** Keeps requests until the test answers them. */
class HeldHandler implements ProtocolHandler {
  readonly apiKey = heartbeatApi.key
  readonly minVersion = 0
  readonly maxVersion = 4
  readonly exchanges: Exchange[] = []
  readonly generations: number[] = []
  onHandle: ((request: HeartbeatRequest, exchange: Exchange) => void) | undefined

  handle(request: HeartbeatRequest, exchange: Exchange): void {
    this.exchanges.push(exchange)
    this.generations.push(request.generationId)
    this.onHandle?.(request, exchange)
  }

  failure(_request: unknown, errorCode: number): object {
    return { errorCode }
  }
}

const heartbeat = (generationId: number) => ({ groupId: 'g', generationId, memberId: 'm' })

describe('answers of a connection', () => {
  it('quirk 9: leave in the order of the requests, whatever the order in which they are ready', async () => {
    const handler = new HeldHandler()
    const broker = await TestBroker.start({ handlers: [handler] })
    const client = broker.connect()
    const frames = [1, 2, 3, 4].map((generation) => client.frame(heartbeatApi, 4, heartbeat(generation)))
    client.socket.give(joined(frames.map(({ bytes }) => bytes)))
    expect(handler.generations).toEqual([1, 2, 3, 4])
    handler.exchanges[3]!.reply({ errorCode: 4 })
    handler.exchanges[1]!.reply({ errorCode: 2 })
    await turn()
    expect(client.answered).toEqual([])
    handler.exchanges[0]!.reply({ errorCode: 1 })
    await turn()
    expect(client.answered).toEqual([1, 2])
    handler.exchanges[2]!.reply({ errorCode: 3 })
    expect((await Promise.all(frames.map(({ response }) => response))).map(({ errorCode }) => errorCode)).toEqual([1, 2, 3, 4])
    expect(client.answered).toEqual([1, 2, 3, 4])
  })

  it('a thousand pipelined requests are handled in their order and answered in one write', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    const client = broker.connect()
    const frames = Array.from({ length: 1000 }, (_, index) => client.frame(produceApi, 9, produce('t', batchOf([String(index)]))))
    client.socket.give(joined(frames.map(({ bytes }) => bytes)))
    const answers = await Promise.all(frames.map(({ response }) => response))
    expect(answers.map(({ responses }) => responses[0]!.partitionResponses[0]!.baseOffset)).toEqual(frames.map((_, index) => index))
    expect(replica!.log.endOffset).toBe(1000)
    expect(client.socket.writes).toHaveLength(1)
  })

  it('acks=all of one turn are answered in one write', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    replica!.follows = false
    const client = broker.connect()
    const frames = Array.from({ length: 50 }, () => client.frame(produceApi, 9, produce('t', batchOf(['x']), { acks: -1 })))
    client.socket.give(joined(frames.map(({ bytes }) => bytes)))
    await turn()
    expect(client.socket.writes).toHaveLength(0)
    replica!.advance()
    await Promise.all(frames.map(({ response }) => response))
    expect(client.socket.writes).toHaveLength(1)
  })

  it('a waiting fetch holds back its own connection and no other', async () => {
    const broker = await TestBroker.start()
    broker.cluster.topic('t')
    const [waiting, other] = [broker.connect(), broker.connect()]
    const poll = waiting.call(fetchApi, 12, fetch('t', [0], { maxWaitMs: 500 }))
    const behind = waiting.call(apiVersionsApi, 0, {})
    expect((await other.call(apiVersionsApi, 0, {})).errorCode).toBe(0)
    await turn()
    expect(waiting.answered).toEqual([])
    await other.call(produceApi, 9, produce('t', batchOf(['x'])))
    expect((await poll).responses[0]!.partitions[0]!.records!.length).toBeGreaterThan(0)
    expect((await behind).errorCode).toBe(0)
    expect(waiting.answered).toEqual([1, 2])
  })

  it('a request may arrive byte by byte, and two may arrive in one chunk with half of a third', async () => {
    const broker = await TestBroker.start()
    const client = broker.connect()
    const frames = [0, 1, 2].map(() => client.frame(metadataApi, 1, { topics: [] }))
    for (const byte of frames[0]!.bytes) client.socket.give(new Uint8Array([byte]))
    await frames[0]!.response
    const both = joined([frames[1]!.bytes, frames[2]!.bytes])
    client.socket.give(both.subarray(0, both.length - 5))
    await frames[1]!.response
    client.socket.give(both.subarray(both.length - 5))
    await frames[2]!.response
  })

  it('quirk 6: a connection may begin with any request', async () => {
    const broker = await TestBroker.start()
    broker.cluster.topic('t')
    expect((await broker.connect().call(fetchApi, 11, fetch('t', [0]))).responses[0]!.partitions[0]!.errorCode).toBe(0)
  })

  it('two connections are answered each with its own', async () => {
    const broker = await TestBroker.start()
    const [a, b] = [broker.cluster.topic('a', 1), broker.cluster.topic('b', 1)]
    const clients = [broker.connect(), broker.connect()]
    const calls: Promise<unknown>[] = []
    for (let round = 0; round < 100; round++) {
      calls.push(clients[0]!.call(produceApi, 9, produce('a', batchOf(['1']))), clients[1]!.call(produceApi, 9, produce('b', batchOf(['1', '2']))))
    }
    await Promise.all(calls)
    expect([a[0]!.log.endOffset, b[0]!.log.endOffset]).toEqual([100, 200])
    for (const client of clients) expect(client.answered).toEqual(Array.from({ length: 100 }, (_, index) => index + 1))
  })
})

describe('back-pressure', () => {
  it('a request that holds the others lets them go on later, in their order', async () => {
    const handler = new HeldHandler()
    const broker = await TestBroker.start({ handlers: [handler] })
    const client = broker.connect()
    let letGo: (() => void) | undefined
    handler.onHandle = ({ generationId }, exchange) => {
      if (generationId === 1) letGo = exchange.holdOthers()
      else exchange.reply({ errorCode: 0 })
    }
    const frames = [1, 2, 3].map((generation) => client.frame(heartbeatApi, 0, heartbeat(generation)))
    client.socket.give(joined(frames.map(({ bytes }) => bytes)))
    expect(handler.generations).toEqual([1])
    expect(client.socket.paused).toBe(true)
    handler.exchanges[0]!.reply({ errorCode: 0 })
    letGo!()
    letGo!()
    await Promise.all(frames.map(({ response }) => response))
    expect(handler.generations).toEqual([1, 2, 3])
    expect(client.socket.paused).toBe(false)
  })

  it('bytes that are kept survive the reuse of the receive memory, and count until the exchange ends', async () => {
    const seen: SyncGroupRequest[] = []
    const exchanges: Exchange[] = []
    const handler: ProtocolHandler = {
      apiKey: syncGroupApi.key, minVersion: 0, maxVersion: 5, failure: () => undefined,
      handle: (request, exchange) => {
        exchange.keepBytes()
        exchange.keepBytes()
        seen.push(request as SyncGroupRequest)
        exchanges.push(exchange)
      },
    }
    const broker = await TestBroker.start({ handlers: [handler] })
    const client = broker.connect()
    const call = client.call(syncGroupApi, 0, { groupId: 'g', generationId: 1, memberId: 'm', assignments: [{ memberId: 'm', assignment: new Uint8Array([1, 2, 3]) }] })
    expect([...seen[0]!.assignments[0]!.assignment]).toEqual([1, 2, 3])
    expect(broker.metrics.value('millrace_protocol_held_request_bytes')).toBe(3)
    exchanges[0]!.reply({ errorCode: 0, assignment: new Uint8Array() })
    await call
    expect(broker.metrics.value('millrace_protocol_held_request_bytes')).toBe(0)
  })

  it('no more requests are under way than may be', async () => {
    const handler = new HeldHandler()
    const broker = await TestBroker.start({ handlers: [handler], config: { requestsPerConnectionMax: 3 } })
    const client = broker.connect()
    const frames = Array.from({ length: 8 }, (_, index) => client.frame(heartbeatApi, 0, heartbeat(index)))
    client.socket.give(joined(frames.map(({ bytes }) => bytes)))
    expect(handler.generations).toEqual([0, 1, 2])
    for (let index = 0; index < 8; index++) handler.exchanges[index]!.reply({ errorCode: 0 })
    await Promise.all(frames.map(({ response }) => response))
    expect(handler.generations).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  })

  it('a slow reader is not read from until it has read, and then gets every answer', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    const client = broker.connect()
    client.socket.room = 100
    const frames = Array.from({ length: 200 }, (_, index) => client.frame(produceApi, 9, produce('t', batchOf([String(index)]))))
    for (let at = 0; at < 200; at += 10) {
      if (client.socket.paused) break
      client.socket.give(joined(frames.slice(at, at + 10).map(({ bytes }) => bytes)))
      await turn(1)
    }
    expect(client.socket.paused).toBe(true)
    const handled = replica!.log.endOffset
    expect(handled).toBeLessThan(30)
    client.socket.drain()
    await turn()
    expect(client.socket.paused).toBe(false)
    expect(client.answered.length).toBeGreaterThanOrEqual(handled)
  })

  it('answers that wait for an earlier one are bounded in bytes', async () => {
    const handler = new HeldHandler()
    const broker = await TestBroker.start({ handlers: [handler], config: { outputBytesMax: 65_536 } })
    broker.cluster.topic('t', 200)
    const client = broker.connect()
    const first = client.frame(heartbeatApi, 0, heartbeat(1))
    const rest = Array.from({ length: 200 }, () => client.frame(metadataApi, 12, { topics: [{ name: 't' }] }))
    client.socket.give(joined([first, ...rest].map(({ bytes }) => bytes)))
    expect(client.socket.paused).toBe(true)
    handler.exchanges[0]!.reply({ errorCode: 0 })
    await Promise.all(rest.map(({ response }) => response))
    expect(client.socket.paused).toBe(false)
  })

  it('memory for requests: half-sent frames of many connections are bounded and all get through', async () => {
    const broker = await TestBroker.start({ settings: { 'queued.max.request.bytes': '200000', 'socket.request.max.bytes': '100000' } })
    broker.cluster.topic('t')
    const records = batchOf([{ value: new Uint8Array(60_000) }])
    const clients = Array.from({ length: 20 }, () => broker.connect())
    const sent = clients.map((client) => ({ client, at: 0, ...client.frame(produceApi, 9, produce('t', records)) }))
    let most = 0
    for (let round = 0; round < 400 && sent.some(({ at, bytes }) => at < bytes.length); round++) {
      for (const each of sent) {
        if (each.client.socket.paused || each.at >= each.bytes.length) continue
        each.client.socket.give(each.bytes.subarray(each.at, each.at + 4000))
        each.at += 4000
        most = Math.max(most, broker.metrics.value('millrace_protocol_held_request_bytes') as number)
      }
      await turn(1)
    }
    await Promise.all(sent.map(({ response }) => response))
    expect(most).toBeGreaterThan(190_000)
    expect(most).toBeLessThan(200_000 + 60_000 + 20 * 4000)
    expect(broker.metrics.value('millrace_protocol_held_request_bytes')).toBe(0)
  })

  it('memory for requests: half frames whose peers have stopped are closed when others wait for memory, which then get through; small ones never wait', async () => {
    const broker = await TestBroker.start({ settings: { 'queued.max.request.bytes': '200000', 'socket.request.max.bytes': '100000' } })
    broker.cluster.topic('t')
    const frameOf = (client: ReturnType<TestBroker['connect']>, bytes: number) => client.frame(produceApi, 9, produce('t', batchOf([{ value: new Uint8Array(bytes) }])))
    const stalled = Array.from({ length: 4 }, () => broker.connect())
    for (const client of stalled) client.socket.give(frameOf(client, 90_000).bytes.subarray(0, 80_000))
    const [large, small] = [broker.connect(), broker.connect()]
    const waits = frameOf(large, 60_000)
    large.socket.give(waits.bytes.subarray(0, 30_000))
    expect(large.socket.paused).toBe(true)
    const passes = frameOf(small, 2000)
    small.socket.give(passes.bytes.subarray(0, 1000))
    small.socket.give(passes.bytes.subarray(1000))
    await passes.response
    for (let second = 0; second < 6; second++) {
      broker.timers.advance(1000)
      await turn(1)
    }
    expect(stalled.some(({ socket }) => socket.destroyed)).toBe(true)
    expect(large.socket.paused).toBe(false)
    large.socket.give(waits.bytes.subarray(30_000))
    await waits.response
    expect(large.socket.destroyed).toBe(false)
  })
})
