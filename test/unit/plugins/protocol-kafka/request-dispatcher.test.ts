import { describe, expect, it } from 'vitest'
import { type Exchange, type ProtocolHandler } from '../../../../src/kernel/ports/protocol-handler.ts'
import { fetchApi, heartbeatApi, metadataApi, produceApi } from '../../../../src/wire/messages/index.ts'
import { completeMessage } from '../../../../src/wire/schema/compile-codec.ts'
import { type Api, type RequestDraftOf, type ResponseOf } from '../../../../src/wire/schema/message.ts'
import { batchOf } from './fixture/batches.ts'
import { fetch, produce } from './fixture/requests.ts'
import { TestBroker, turn } from './fixture/test-broker.ts'

interface Outcome<A> {
  readonly error: unknown
  readonly response: ResponseOf<A> | undefined
  readonly release: () => void
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- any API
function dispatch<A extends Api<any, any>>(broker: TestBroker, api: A, version: number, request: RequestDraftOf<A>): Promise<Outcome<A>> {
  return new Promise((resolve) => {
    let returned = false
    broker.server.dispatch(api.key, version, completeMessage(api.request, request as never) as object, 'in-process', (error, response, release) => {
      expect(returned, 'done is called after dispatch has returned').toBe(true)
      resolve({ error, response: response as never, release })
    })
    returned = true
  })
}

describe('requests in process', () => {
  it('reach the handlers that serve the network, and are answered with whole objects', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    const produced = await dispatch(broker, produceApi, 9, produce('t', batchOf(['a', 'b'])))
    expect(produced.response!.responses[0]!.partitionResponses[0]).toEqual({
      index: 0, errorCode: 0, baseOffset: 0, logAppendTimeMs: -1, logStartOffset: 0, recordErrors: [], errorMessage: null, currentLeader: { leaderId: -1, leaderEpoch: -1 },
    })
    produced.release()
    const fetched = await dispatch(broker, fetchApi, 12, fetch('t', [0]))
    expect(fetched.response!.responses[0]!.partitions[0]!.records!.length).toBe(replica!.log.sizeBytes)
    fetched.release()
    const network = await broker.connect().call(fetchApi, 12, fetch('t', [0]))
    expect(network.responses[0]!.partitions[0]!.highWatermark).toBe(2)
  })

  it('wait as those of the network do, and not behind one another', async () => {
    const broker = await TestBroker.start()
    broker.cluster.topic('t')
    const poll = dispatch(broker, fetchApi, 12, fetch('t', [0], { maxWaitMs: 10_000 }))
    await dispatch(broker, produceApi, 9, produce('t', batchOf(['x'])))
    expect((await poll).response!.responses[0]!.partitions[0]!.records!.length).toBeGreaterThan(0)
  })

  it('the bytes of an answer are held until they are released', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    await dispatch(broker, produceApi, 9, produce('t', batchOf(['x'])))
    let released = 0
    const read = replica!.log.read.bind(replica!.log)
    replica!.log.read = (request, sink) => read(request, { read: (bytes, release) => { sink.read(bytes, () => { released++; release() }) }, failed: (error) => { sink.failed(error) } })
    const { release } = await dispatch(broker, fetchApi, 12, fetch('t', [0]))
    expect(released).toBe(0)
    release()
    expect(released).toBe(1)
  })

  it('acks=0 is done without a response, and its errors are errors', async () => {
    const broker = await TestBroker.start()
    broker.cluster.topic('t')
    expect(await dispatch(broker, produceApi, 9, produce('t', batchOf(['x']), { acks: 0 }))).toMatchObject({ error: undefined, response: undefined })
    expect((await dispatch(broker, produceApi, 9, produce('nobody', batchOf(['x']), { acks: 0 }))).error).toMatchObject({ code: 'MR_PROTOCOL_UNANSWERABLE' })
  })

  it('what is not served is an error that says so', async () => {
    const broker = await TestBroker.start()
    expect((await dispatch(broker, heartbeatApi, 4, { groupId: 'g', generationId: 1, memberId: 'm' })).error).toMatchObject({ code: 'MR_PROTOCOL_UNSUPPORTED_API' })
    expect((await dispatch(broker, produceApi, 13, { transactionalId: null, acks: 1, timeoutMs: 1, topicData: [] })).error).toMatchObject({ code: 'MR_PROTOCOL_UNSUPPORTED_VERSION' })
    expect(broker.server.versions().get(0)).toEqual({ min: 3, max: 11 })
    expect(broker.server.versions().has(12)).toBe(false)
  })

  it('a request that holds the others holds them in process too, in their order', async () => {
    const exchanges: Exchange[] = []
    let letGo: (() => void) | undefined
    const handler: ProtocolHandler = {
      apiKey: heartbeatApi.key, minVersion: 0, maxVersion: 4, failure: () => undefined,
      handle: (_request, exchange) => {
        exchanges.push(exchange)
        exchange.keepBytes()
        letGo ??= exchange.holdOthers()
      },
    }
    const broker = await TestBroker.start({ handlers: [handler] })
    const order: string[] = []
    const first = dispatch(broker, heartbeatApi, 0, { groupId: 'g', generationId: 1, memberId: 'm' }).then(() => order.push('first'))
    const second = dispatch(broker, metadataApi, 1, { topics: [] }).then(() => order.push('second'))
    await turn()
    expect(order).toEqual([])
    exchanges[0]!.reply({ errorCode: 0 })
    letGo!()
    await Promise.all([first, second])
    expect(order).toEqual(['first', 'second'])
    expect(exchanges[0]!.peer).toMatchObject({ connectionId: 0, listener: 'PLAINTEXT', principal: 'User:ANONYMOUS' })
  })

  it('a client whose callback throws does not harm the broker or others that wait', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    replica!.follows = false
    const thrown = new Promise((resolve) => { process.once('uncaughtException', resolve) })
    const listeners = process.listeners('uncaughtException').filter((listener) => listener !== process.listeners('uncaughtException').at(-1))
    for (const listener of listeners) process.off('uncaughtException', listener)
    try {
      const request = completeMessage(produceApi.request, produce('t', batchOf(['x']), { acks: -1 }))
      broker.server.dispatch(0, 9, request, null, () => { throw new Error('of the client') })
      const other = dispatch(broker, produceApi, 9, produce('t', batchOf(['y']), { acks: -1 }))
      replica!.advance()
      expect((await other).response!.responses[0]!.partitionResponses[0]!.errorCode).toBe(0)
      expect(await thrown).toMatchObject({ message: 'of the client' })
    } finally {
      for (const listener of listeners) process.on('uncaughtException', listener)
    }
    expect(broker.fatalErrors).toEqual([])
  })

  it('end with an error when the broker stops, as do later ones', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    replica!.follows = false
    const waiting = dispatch(broker, produceApi, 9, produce('t', batchOf(['x']), { acks: -1 }))
    const polling = dispatch(broker, fetchApi, 12, fetch('t', [0], { maxWaitMs: 10_000 }))
    const stopped = broker.server.stop()
    // Also while others are waited for: a client that asks again and again would never let the stop go on.
    expect((await dispatch(broker, fetchApi, 12, fetch('t', [0], { maxWaitMs: 10_000 }))).error).toMatchObject({ code: 'MR_BROKER_ENDED' })
    await stopped
    expect((await polling).response!.responses[0]!.partitions[0]!.errorCode).toBe(0)
    expect((await waiting).error).toMatchObject({ code: 'MR_NET_CLOSED' })
    expect(replica!.waiters.size).toBe(0)
    expect((await dispatch(broker, metadataApi, 1, { topics: [] })).error).toMatchObject({ code: 'MR_BROKER_ENDED' })
  })
})
