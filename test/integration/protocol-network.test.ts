import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { Prng } from '../../src/base/prng.ts'
import { type Broker } from '../../src/broker/index.ts'
import { createTestBroker } from '../../src/harness/index.ts'
import { createTopicsApi, fetchApi, metadataApi, produceApi } from '../../src/wire/messages/index.ts'
import { batchOf } from '../unit/plugins/protocol-kafka/fixture/batches.ts'
import { fetch, produce } from '../unit/plugins/protocol-kafka/fixture/requests.ts'
import { type ClientEnd, TestClient } from '../unit/plugins/protocol-kafka/fixture/test-client.ts'

const seed = Number(process.env['SEED'] ?? 3)

/** A connection of this machine's TCP. */
class TcpEnd implements ClientEnd {
  readonly stream: Socket
  onWrite: ((bytes: Uint8Array) => void) | undefined

  constructor(stream: Socket) {
    this.stream = stream
    stream.on('data', (bytes) => this.onWrite?.(bytes))
    stream.on('error', () => undefined)
  }

  give(bytes: Uint8Array): void {
    this.stream.write(bytes)
  }
}

async function connectTo(broker: Broker): Promise<TestClient<TcpEnd>> {
  const { host, port } = broker.kafka!
  const stream = connect({ host, port, noDelay: true })
  await once(stream, 'connect')
  return new TestClient(new TcpEnd(stream))
}

async function withTopic(broker: Broker, name = 't', numPartitions = 1): Promise<TestClient<TcpEnd>> {
  const client = await connectTo(broker)
  const answer = await client.call(createTopicsApi, 7, { topics: [{ name, numPartitions, replicationFactor: 1, assignments: [], configs: [] }], timeoutMs: 10_000 })
  expect(answer.topics[0]!.errorCode).toBe(0)
  return client
}

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Everything in a partition, fetched as a consumer does. */
async function readAll(client: TestClient<TcpEnd>, until: number): Promise<Uint8Array[]> {
  const found: Uint8Array[] = []
  for (let offset = 0; offset < until;) {
    const answer = await client.call(fetchApi, 12, fetch('t', [offset], { maxWaitMs: 5000 }))
    const { records, errorCode } = answer.responses[0]!.partitions[0]!
    expect(errorCode).toBe(0)
    const view = new DataView(records!.buffer, records!.byteOffset, records!.byteLength)
    for (let at = 0; at < records!.length; at += 12 + view.getInt32(at + 8)) {
      offset = Number(view.getBigInt64(at)) + view.getInt32(at + 23) + 1
      found.push(records!.slice(at, at + 12 + view.getInt32(at + 8)))
    }
  }
  return found
}

describe('over TCP', () => {
  const brokers: Broker[] = []
  afterAll(async () => { for (const broker of brokers) await broker.stop() })
  const start = async (options: Parameters<typeof createTestBroker>[0] = {}): Promise<Broker> => {
    const broker = await createTestBroker(options)
    brokers.push(broker)
    return broker
  }

  it(`a thousand pipelined requests in pieces of any size are answered in order, and the log has them in order (seed ${seed})`, async () => {
    const broker = await start()
    const client = await withTopic(broker)
    const prng = new Prng(seed)
    const frames = Array.from({ length: 1000 }, (_, index) => client.frame(produceApi, 9, produce('t', batchOf([`record ${index}`]), { acks: index % 3 === 0 ? -1 : 1 })))
    const stream = Buffer.concat(frames.map(({ bytes }) => bytes))
    for (let at = 0; at < stream.length;) {
      const size = prng.pick([1, 7, 100, 5000, 40_000])
      client.socket.give(stream.subarray(at, at + size))
      at += size
      if (prng.below(4) === 0) await new Promise((resolve) => { setImmediate(resolve) })
    }
    const answers = await Promise.all(frames.map(({ response }) => response))
    expect(answers.map(({ responses }) => responses[0]!.partitionResponses[0]!.baseOffset)).toEqual(frames.map((_, index) => index))
    expect(await readAll(client, 1000)).toHaveLength(1000)
  })

  it('a reader that stops reading gets, once it reads again, every byte that it asked for', async () => {
    const broker = await start()
    const writer = await withTopic(broker)
    const sent = Array.from({ length: 24 }, (_, index) => new Prng(index).bytes(500_000))
    for (const value of sent) await writer.call(produceApi, 9, produce('t', batchOf([{ value }])))
    const reader = await connectTo(broker)
    reader.socket.stream.pause()
    const asked = Array.from({ length: 40 }, (_, index) => reader.frame(fetchApi, 12, fetch('t', [index % 24], { maxBytes: 1, partitionMaxBytes: 1 })))
    for (const { bytes } of asked) reader.socket.give(bytes)
    // The broker serves others meanwhile.
    expect((await writer.call(metadataApi, 1, { topics: [] })).brokers).toHaveLength(1)
    reader.socket.stream.resume()
    const answers = await Promise.all(asked.map(({ response }) => response))
    const hashes = answers.map(({ responses }) => hashOf(responses[0]!.partitions[0]!.records!.subarray(-500_001, -1)))
    expect(hashes).toEqual(asked.map((_, index) => hashOf(sent[index % 24]!)))
  })

  it('quirk 25: ten batches with acks=0, large ones in gzip and small ones, and the end of the connection right behind them: all are stored', async () => {
    const broker = await start()
    const client = await withTopic(broker)
    for (let round = 0; round < 3; round++) {
      const sender = await connectTo(broker)
      const frames = Array.from({ length: 10 }, (_, index) => {
        const batch = batchOf([{ value: new Prng(index).bytes(index % 3 === round ? 100 : 300_000) }], { codec: 1 })
        return sender.frame(produceApi, 9, produce('t', batch, { acks: 0 })).bytes
      })
      sender.socket.stream.end(Buffer.concat(frames))
    }
    expect(await readAll(client, 30)).toHaveLength(30)
  })

  it('peers that send half a request, reset, or vanish in a poll leave the broker serving', async () => {
    const broker = await start()
    const client = await withTopic(broker)
    for (let round = 0; round < 50; round++) {
      const bad = await connectTo(broker)
      const { bytes } = bad.frame(fetchApi, 12, fetch('t', [0], { maxWaitMs: 30_000 }))
      bad.socket.give(round % 3 === 0 ? bytes.subarray(0, bytes.length >> 1) : bytes)
      if (round % 2 === 0) bad.socket.stream.resetAndDestroy()
      else bad.socket.stream.end()
    }
    await client.call(produceApi, 9, produce('t', batchOf(['x']), { acks: -1 }))
    expect(await readAll(client, 1)).toHaveLength(1)
  })

  it('a request that is none is closed, and the next connection is served', async () => {
    const broker = await start()
    const http = await connectTo(broker)
    http.socket.stream.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    await once(http.socket.stream, 'close')
    expect((await (await connectTo(broker)).call(metadataApi, 1, { topics: [] })).brokers).toHaveLength(1)
  })

  it('what was acknowledged by acks=all is read after a restart, byte for byte', async () => {
    const data = await mkdtemp(join(tmpdir(), 'millrace-protocol-'))
    try {
      const first = await createTestBroker({ preset: 'single-node', data: [data] })
      const writer = await withTopic(first)
      const batches = Array.from({ length: 50 }, (_, index) => batchOf([`value ${index}`, 'second']))
      for (const batch of batches) expect((await writer.call(produceApi, 9, produce('t', batch, { acks: -1 }))).responses[0]!.partitionResponses[0]!.errorCode).toBe(0)
      const before = (await readAll(writer, 100)).map(hashOf)
      await first.stop()
      const second = await createTestBroker({ preset: 'single-node', data: [data] })
      expect((await readAll(await connectTo(second), 100)).map(hashOf)).toEqual(before)
      expect(before).toHaveLength(50)
      await second.stop()
    } finally {
      await rm(data, { recursive: true, force: true })
    }
  })
})
