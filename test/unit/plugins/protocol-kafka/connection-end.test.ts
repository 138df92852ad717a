import { describe, expect, it } from 'vitest'
import { NodeProcessStats } from '../../../../src/platform/node-process-stats.ts'
import { AssertionError } from '../../../../src/base/assert.ts'
import { type Exchange, type ProtocolHandler } from '../../../../src/kernel/ports/protocol-handler.ts'
import { apiVersionsApi, fetchApi, heartbeatApi, produceApi } from '../../../../src/wire/messages/index.ts'
import { batchOf } from './fixture/batches.ts'
import { fetch, produce } from './fixture/requests.ts'
import { TestBroker, turn } from './fixture/test-broker.ts'

/** A handler of one API that does what the test says. */
const handlerOf = (handle: (exchange: Exchange) => void, failure?: object): ProtocolHandler => ({
  apiKey: heartbeatApi.key, minVersion: 0, maxVersion: 4,
  handle: (_request, exchange) => { handle(exchange) },
  failure: (_request, errorCode) => failure === undefined ? undefined : { ...failure, errorCode },
})
const heartbeat = { groupId: 'g', generationId: 1, memberId: 'm' }

describe('a connection that drops', () => {
  it('while a fetch waits, the fetch is forgotten', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    const client = broker.connect()
    void client.call(fetchApi, 12, fetch('t', [0], { maxWaitMs: 500 }))
    expect(replica!.waiters.size).toBe(1)
    expect(broker.tools.metrics.waitingFetches).toBe(1)
    client.socket.close()
    expect(replica!.waiters.size).toBe(0)
    expect(broker.tools.metrics.waitingFetches).toBe(0)
    broker.timers.advance(1000)
    replica!.advance()
    await turn()
    expect(broker.logger.atLeast('warn')).toEqual([])
  })

  it('while a produce waits, what was appended stays, and nobody is told', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    replica!.follows = false
    const client = broker.connect()
    void client.call(produceApi, 9, produce('t', batchOf(['x']), { acks: -1 }))
    client.socket.close(new Error('reset by peer'))
    expect(replica!.waiters.size).toBe(0)
    expect(broker.tools.metrics.waitingProduces).toBe(0)
    expect(broker.tools.deadlines.size).toBe(0)
    replica!.advance()
    await turn()
    expect(replica!.log.endOffset).toBe(1)
    expect(client.socket.writes).toEqual([])
  })

  it('before its answer was sent, the bytes of the answer are released, each range once', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    await broker.connect().call(produceApi, 9, produce('t', batchOf([{ value: new Uint8Array(10_000) }])))
    let released = 0
    const read = replica!.log.read.bind(replica!.log)
    replica!.log.read = (request, sink) => read(request, {
      read: (bytes, release) => { sink.read(bytes, () => { released++; release() }) }, failed: (error) => { sink.failed(error) },
    })
    const client = broker.connect()
    client.socket.room = 0
    void client.call(fetchApi, 12, fetch('t', [0]))
    await turn()
    expect(released).toBe(0)
    client.socket.close()
    expect(released).toBe(1)
    void broker.connect().call(fetchApi, 12, fetch('t', [0]))
    await turn()
    expect(released).toBe(2)
  })

  it('tells its requests once, and an answer that comes afterwards is dropped and released', async () => {
    const exchanges: Exchange[] = []
    let gone = 0
    let released = 0
    const broker = await TestBroker.start({ handlers: [handlerOf((exchange) => {
      exchanges.push(exchange)
      exchange.onGone(() => { gone++ })
      exchange.onGone(() => { gone += 10 })
    })] })
    const client = broker.connect()
    void client.call(heartbeatApi, 0, heartbeat)
    client.socket.close()
    expect(gone).toBe(11)
    exchanges[0]!.reply({ errorCode: 0 }, () => { released++ })
    exchanges[0]!.onGone(() => { gone++ })
    await turn()
    expect([gone, released]).toEqual([11, 1])
  })
})

describe('a connection that is closed', () => {
  it('when it is idle for connections.max.idle.ms, and not while it is used or waits for an answer', async () => {
    const broker = await TestBroker.start({ settings: { 'connections.max.idle.ms': '10000' } })
    broker.cluster.topic('t')
    const [idle, used, waiting] = [broker.connect(), broker.connect(), broker.connect()]
    void waiting.call(fetchApi, 12, fetch('t', [0], { maxWaitMs: 100_000 }))
    for (let round = 0; round < 4; round++) {
      broker.timers.advance(4000)
      await used.call(apiVersionsApi, 0, {})
    }
    expect([idle, used, waiting].map(({ socket }) => socket.destroyed)).toEqual([true, false, false])
    broker.timers.advance(11_000)
    expect([used, waiting].map(({ socket }) => socket.destroyed)).toEqual([true, false])
  })

  it('but nobody is, because this process stood still and heard nobody', async () => {
    const broker = await TestBroker.start({ settings: { 'connections.max.idle.ms': '10000' } })
    const client = broker.connect()
    broker.timers.advance(5000)
    broker.timers.clock.advance(60_000)
    broker.timers.advance(0)
    expect(client.socket.destroyed).toBe(false)
    broker.timers.advance(12_000)
    expect(client.socket.destroyed).toBe(true)
  })

  it('when a request has not arrived in full after requestReadTimeoutMs, however the bytes trickle', async () => {
    const broker = await TestBroker.start({ config: { requestReadTimeoutMs: 5000 } })
    const client = broker.connect()
    const { bytes } = client.frame(apiVersionsApi, 0, {})
    for (const byte of bytes.subarray(0, 10)) {
      client.socket.give(new Uint8Array([byte]))
      broker.timers.advance(1000)
    }
    expect(client.socket.destroyed).toBe(true)
    expect(broker.logger.lines.at(-1)).toMatchObject({ level: 'info', message: expect.stringContaining('has not arrived in full after 5000 ms') })
  })

  it.each([
    ['TLS', [0x16, 3, 1, 2, 0, 1, 0, 1], 'closing a connection: a TLS client at the plaintext listener PLAINTEXT: set its security.protocol to PLAINTEXT, there is no TLS here'],
    ['HTTP', [...new TextEncoder().encode('GET /metrics HTTP/1.1\r\n')], 'closing a connection: an HTTP client at the Kafka listener PLAINTEXT: metrics and health are at the address of http'],
  ])('when the peer speaks %s, with one line that says so and no stack, in however many pieces it comes', async (_protocol, bytes, line) => {
    for (const pieces of [[bytes], bytes.map((byte) => [byte])]) {
      const broker = await TestBroker.start()
      const client = broker.connect()
      for (const piece of pieces) if (!client.socket.destroyed) client.socket.give(new Uint8Array(piece))
      expect(client.socket.destroyed).toBe(true)
      const said = broker.logger.lines.filter(({ message }) => message.startsWith('closing a connection'))
      expect(said).toMatchObject([{ level: 'info', message: line }])
      expect(said[0]!.fields).not.toHaveProperty('error')
    }
  })

  it('when a frame is too large, as such: also one that looks like another protocol, of who has spoken ours before', async () => {
    const broker = await TestBroker.start()
    const [fresh, known] = [broker.connect(), broker.connect()]
    fresh.socket.give(new Uint8Array([0x7f, 0, 0, 0]))
    await known.call(apiVersionsApi, 0, {})
    known.socket.give(new Uint8Array([0x16, 3, 1, 2]))
    const said = broker.logger.lines.filter(({ message }) => message.startsWith('closing a connection'))
    expect(said.map(({ message }) => message)).toEqual([expect.stringContaining('a frame of 2130706432 bytes'), expect.stringContaining('a frame of 369295618 bytes')])
  })

  it('when too many are open, in all or from one address, at once and without a word', async () => {
    const broker = await TestBroker.start({ settings: {
      'max.connections': '4', 'max.connections.per.ip': '2', 'max.connections.per.ip.overrides': '10.0.0.9:1',
    } })
    const a = [broker.connect(9092, '10.0.0.1'), broker.connect(9092, '10.0.0.1'), broker.connect(9092, '10.0.0.1')]
    const b = [broker.connect(9092, '10.0.0.9'), broker.connect(9092, '10.0.0.9')]
    const c = [broker.connect(9092, '10.0.0.3'), broker.connect(9092, '10.0.0.4')]
    expect([...a, ...b, ...c].map(({ socket }) => socket.destroyed)).toEqual([false, false, true, false, true, false, true])
    expect(broker.metrics.count('millrace_protocol_refused_connections_total')).toBe(3)
    a[0]!.socket.close()
    expect(broker.connect(9092, '10.0.0.1').socket.destroyed).toBe(false)
    expect(broker.metrics.value('millrace_protocol_connections')).toBe(4)
  })

  it('when hardly more files may be open: what is left is for the logs, and the log says so once', async () => {
    const open = { openFiles: 0, openFilesMax: 120 }
    const process = { version: '', nodeVersion: '', read: () => ({ ...new NodeProcessStats().read(), ...open }) }
    const broker = await TestBroker.start({ process })
    const connect = (): boolean => {
      open.openFiles++
      const taken = !broker.connect().socket.destroyed
      if (!taken) open.openFiles--
      return taken
    }
    open.openFiles = 50
    expect(Array.from({ length: 60 }, connect).filter(Boolean)).toHaveLength(55)
    expect(open.openFiles).toBe(105)
    expect(broker.logger.lines.filter(({ message }) => message.startsWith('connections are refused'))).toHaveLength(1)
    // The logs have closed some of theirs.
    open.openFiles -= 5
    broker.timers.advance(1000)
    expect(Array.from({ length: 10 }, connect).filter(Boolean)).toHaveLength(5)
  })

  it('an override of the limits that is none is refused before the start', () => {
    expect(() => new TestBroker({ settings: { 'max.connections.per.ip.overrides': '10.0.0.9' } })).toThrow('it must read ADDRESS:NUMBER')
  })
})

describe('a handler that fails', () => {
  it('with an error of the table is answered with its code in the shape of the API', async () => {
    const broker = await TestBroker.start()
    broker.cluster.topic('t')
    broker.cluster.image = () => { throw new TypeError('a bug') }
    const answer = await broker.connect().call(fetchApi, 12, fetch('nobody', [0, 5]))
    expect(answer.responses[0]!.partitions.map(({ errorCode }) => errorCode)).toEqual([-1, -1])
    expect(broker.logger.atLeast('error').length).toBeGreaterThan(0)
  })

  it('and whose API has no shape for errors closes the connection', async () => {
    const broker = await TestBroker.start({ handlers: [handlerOf(() => { throw new TypeError('a bug') })] })
    const client = broker.connect()
    void client.call(heartbeatApi, 0, heartbeat)
    expect(client.socket.destroyed).toBe(true)
    expect(broker.logger.atLeast('error').map(({ fields }) => fields['api'])).toContain('Heartbeat')
    expect(broker.fatalErrors).toEqual([])
  })

  it('a broken invariant ends the broker and answers nobody', async () => {
    const broker = await TestBroker.start({ handlers: [handlerOf(() => { throw new AssertionError('broken') }, {})] })
    const client = broker.connect()
    void client.call(heartbeatApi, 0, heartbeat)
    expect(broker.fatalErrors).toHaveLength(1)
    expect(client.socket.destroyed).toBe(true)
  })

  it('an answer that can not be written closes the connection and is logged', async () => {
    const broker = await TestBroker.start({ handlers: [handlerOf((exchange) => { exchange.reply({ errorCode: 'no number' }) })] })
    const client = broker.connect()
    void client.call(heartbeatApi, 0, heartbeat)
    await turn()
    expect(client.socket.destroyed).toBe(true)
    expect(client.socket.writes).toEqual([])
    expect(broker.logger.atLeast('error')[0]!.message).toBe('an answer cannot be written')
  })
})

describe('start and stop', () => {
  it('requests are handled once the broker is registered with the addresses that it listens on', async () => {
    const broker = new TestBroker({ settings: { 'listeners': 'PLAINTEXT://127.0.0.1:0,INNER://127.0.0.1:0', 'advertised.listeners': 'INNER://inner.example:0', 'broker.rack': 'r1' } })
    let early: ReturnType<TestBroker['connect']> | undefined
    let answered = false
    const register = broker.cluster.registerBroker.bind(broker.cluster)
    broker.cluster.registerBroker = async (registration) => {
      early = broker.connect(40_001)
      void early.call(apiVersionsApi, 0, {}).then(() => { answered = true })
      await turn()
      expect(answered).toBe(false)
      return register(registration)
    }
    await broker.server.start()
    await turn()
    expect(answered).toBe(true)
    expect(broker.cluster.registration).toMatchObject({
      nodeId: 1, rack: 'r1',
      endpoints: [{ listener: 'PLAINTEXT', host: '127.0.0.1', port: 40_001 }, { listener: 'INNER', host: 'inner.example', port: 40_002 }],
    })
    expect(broker.server.endpoint()).toEqual({ host: '127.0.0.1', port: 40_001 })
  })

  it('a stop answers what is in hand, cuts waiting fetches short, and closes', async () => {
    const broker = await TestBroker.start()
    const [slow] = broker.cluster.topic('slow')
    broker.cluster.topic('t')
    slow!.follows = false
    const [fetching, producing, idle] = [broker.connect(), broker.connect(), broker.connect()]
    const fetched = fetching.call(fetchApi, 12, fetch('t', [0], { maxWaitMs: 60_000 }))
    const produced = producing.call(produceApi, 9, produce('slow', batchOf(['x']), { acks: -1 }))
    const stopped = broker.server.stop()
    expect((await fetched).responses[0]!.partitions[0]!.errorCode).toBe(0)
    await turn()
    expect([fetching, producing, idle].map(({ socket }) => socket.ended)).toEqual([true, false, true])
    slow!.advance()
    expect((await produced).responses[0]!.partitionResponses[0]!.errorCode).toBe(0)
    await stopped
    expect(producing.socket.ended).toBe(true)
    expect(broker.network.accepts.size).toBe(0)
    expect(broker.timers.pending).toBe(0)
    await broker.server.stop()
  })

  it('a stop does not wait longer than stopGraceMs for an answer that does not come', async () => {
    const broker = await TestBroker.start({ config: { stopGraceMs: 2000 } })
    const [slow] = broker.cluster.topic('slow')
    slow!.follows = false
    const client = broker.connect()
    void client.call(produceApi, 9, produce('slow', batchOf(['x']), { acks: -1, timeoutMs: 60_000 }))
    const stopped = broker.server.stop()
    await turn()
    expect(client.socket.destroyed).toBe(false)
    broker.timers.advance(2000)
    await stopped
    expect(client.socket.destroyed).toBe(true)
  })
})
