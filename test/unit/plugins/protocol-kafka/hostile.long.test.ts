import { describe, expect, it } from 'vitest'
import { Prng } from '../../../../src/base/prng.ts'
import { putCrc } from '../../../../src/kernel/record/batch-header.ts'
import { codecName, type CompressionCodec } from '../../../../src/kernel/record/compression-codec.ts'
import { versionRanges } from '../../../../src/plugins/protocol-kafka/core/version-ranges.ts'
import { apiVersionsApi, produceApi } from '../../../../src/wire/messages/index.ts'
import { batchOf } from './fixture/batches.ts'
import { produce } from './fixture/requests.ts'
import { samples } from './fixture/sample-requests.ts'
import { TestBroker, turn } from './fixture/test-broker.ts'
import { type TestClient } from './fixture/test-client.ts'

const seed = Number(process.env['SEED'] ?? 11)

function framed(body: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(body.length + 4)
  new DataView(bytes.buffer).setInt32(0, body.length)
  bytes.set(body, 4)
  return bytes
}

/** A connection that takes any bytes and looks at no answer. */
function rawConnection(broker: TestBroker): TestClient['socket'] {
  const { socket } = broker.connect()
  socket.onWrite = undefined
  return socket
}

async function stillServes(broker: TestBroker): Promise<void> {
  expect((await broker.connect().call(apiVersionsApi, 0, {})).errorCode).toBe(0)
  expect(broker.fatalErrors).toEqual([])
  expect(broker.logger.atLeast('error')).toEqual([])
}

describe('frames', () => {
  it('of a negative or too large size close the connection before anything is allocated, with a reason', async () => {
    const broker = await TestBroker.start({ settings: { 'socket.request.max.bytes': '100000', 'queued.max.request.bytes': '200000' } })
    const outside = 'is outside [0, 100000]'
    for (const [size, reason] of [
      [[0xff, 0xff, 0xff, 0xff], outside], [[0x80, 0, 0, 0], outside], [[0x00, 0x01, 0x86, 0xa1], outside], [[0x47, 0x45, 0x54, 0x20], 'an HTTP client'],
    ] as const) {
      const socket = rawConnection(broker)
      socket.give(new Uint8Array([...size, 1, 2, 3]))
      expect(socket.destroyed).toBe(true)
      expect(broker.logger.lines.at(-1)).toMatchObject({ level: 'info', message: expect.stringContaining(reason), fields: { peer: '127.0.0.1:50000' } })
    }
    expect(broker.metrics.value('millrace_protocol_held_request_bytes')).toBe(0)
    await stillServes(broker)
  })

  it('with an empty body, an unknown key or an unknown version close the connection', async () => {
    const broker = await TestBroker.start()
    const header = (key: number, version: number): number[] => [key >> 8, key, version >> 8, version, 0, 0, 0, 1, 0xff, 0xff]
    for (const body of [[], [0], header(4, 0), header(12, 0), header(999, 0), header(-1, 0), header(0x7fff, 0x7fff), header(1, 3), header(1, 17), header(3, -1), header(60, 2)]) {
      const socket = rawConnection(broker)
      socket.give(framed(new Uint8Array(body)))
      expect(socket.destroyed, JSON.stringify(body)).toBe(true)
    }
    expect(broker.logger.lines.filter(({ level }) => level === 'info')).toHaveLength(11)
    await stillServes(broker)
  })

  it('a fault in one does not touch those before it on the connection, whose answers leave first', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    const client = broker.connect()
    const good = client.frame(produceApi, 9, produce('t', batchOf(['x'])))
    client.socket.give(new Uint8Array([...good.bytes, ...framed(new Uint8Array([0, 99]))]))
    expect((await good.response).responses[0]!.partitionResponses[0]!.errorCode).toBe(0)
    expect(client.socket.destroyed).toBe(true)
    expect(replica!.log.endOffset).toBe(1)
  })
})

describe('requests of every API and version', () => {
  const each = samples.flatMap((sample) => {
    const { min, max } = versionRanges.find(({ key }) => key === sample.api.key)!
    return Array.from({ length: max - min + 1 }, (_, index) => ({ sample, version: min + index }))
  })

  async function bodies(broker: TestBroker): Promise<{ name: string, body: Uint8Array }[]> {
    broker.cluster.topic('sample')
    const topic = { name: 'sample', id: broker.cluster.topics.get('sample')!.id }
    return each.map(({ sample: { api, request }, version }) => {
      const { bytes } = broker.connect().frame(api, version, request(version, topic) as Record<string, unknown>)
      return { name: `${api.name} v${version}`, body: bytes.slice(4) }
    })
  }

  it('cut off at any byte close the connection, or are answered where only spare bytes are missing; nothing worse', async () => {
    const broker = await TestBroker.start()
    for (const { body } of await bodies(broker)) {
      for (let length = 0; length < body.length; length++) {
        const socket = rawConnection(broker)
        socket.give(framed(body.slice(0, length)))
        if (!socket.destroyed) socket.close()
      }
    }
    await turn()
    await stillServes(broker)
  })

  it(`with flipped bits are answered, wait, or close the connection; nothing worse (seed ${seed})`, async () => {
    const broker = await TestBroker.start({ settings: { 'socket.request.max.bytes': '1000000' } })
    const prng = new Prng(seed)
    for (const { body } of await bodies(broker)) {
      for (let round = 0; round < 60; round++) {
        const bad = body.slice()
        for (let flips = prng.between(1, 3); flips > 0; flips--) bad[prng.below(bad.length)]! ^= 1 << prng.below(8)
        const socket = rawConnection(broker)
        socket.give(framed(bad))
        if (round % 20 === 0) await turn(1)
        socket.close()
      }
    }
    await turn()
    expect(broker.tools.metrics.waitingFetches + broker.tools.metrics.waitingProduces).toBe(0)
    expect(broker.metrics.value('millrace_protocol_held_request_bytes')).toBe(0)
    await stillServes(broker)
  })

  it(`random bytes behind a sound header do no harm (seed ${seed})`, async () => {
    const broker = await TestBroker.start()
    const prng = new Prng(seed)
    for (const { body } of await bodies(broker)) {
      for (let round = 0; round < 20; round++) {
        const socket = rawConnection(broker)
        const noise = prng.bytes(prng.below(200))
        const bad = new Uint8Array(14 + noise.length)
        bad.set(body.subarray(0, 14))
        bad.set(noise, 14)
        socket.give(framed(bad))
        socket.close()
      }
    }
    await turn()
    await stillServes(broker)
  })

  it('a count or length that can not be true is refused before memory is taken for it', async () => {
    const broker = await TestBroker.start()
    const before = process.memoryUsage()
    for (let round = 0; round < 100; round++) {
      const socket = rawConnection(broker)
      // Metadata v1: an array of 2^31 - 1 topics.
      socket.give(framed(new Uint8Array([0, 3, 0, 1, 0, 0, 0, 1, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff])))
      expect(socket.destroyed).toBe(true)
    }
    const after = process.memoryUsage()
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(32 * 1024 * 1024)
    expect(after.heapUsed - before.heapUsed).toBeLessThan(128 * 1024 * 1024)
  })
})

describe('names', () => {
  it('as long as can be are answered, and not repeated for every partition of theirs', async () => {
    const broker = await TestBroker.start()
    const [name, count] = ['x'.repeat(32_767), 1000]
    for (const version of [8, 9]) {
      const client = broker.connect()
      const { responses } = await client.call(produceApi, version, {
        transactionalId: null, acks: 1, timeoutMs: 1000,
        topicData: [{ name, partitionData: Array.from({ length: count }, (_, index) => ({ index, records: new Uint8Array(0) })) }],
      })
      expect(responses[0]!.partitionResponses).toHaveLength(count)
      expect(client.socket.writes.at(-1)!.length).toBeLessThan(name.length + count * 100)
    }
    await stillServes(broker)
  })
})

describe('elements', () => {
  it('that are truly there close the connection when a request has more of them than it may, before they take memory', async () => {
    const broker = await TestBroker.start({ config: { requestElementsMax: 1000 } })
    // Metadata v9: topics of an empty name, each of two bytes.
    const request = (topics: number): Uint8Array =>
      new Uint8Array([0, 3, 0, 9, 0, 0, 0, 1, 0xff, 0xff, 0, (topics + 1) & 0x7f | 0x80, (topics + 1) >> 7, ...Array.from({ length: topics }, () => [1, 0]).flat(), 0, 0, 0, 0])
    const socket = rawConnection(broker)
    socket.give(framed(request(1000)))
    expect([socket.destroyed, socket.writes.length]).toEqual([false, 0])
    await turn()
    expect(socket.writes.length).toBe(1)
    socket.give(framed(request(1001)))
    expect(socket.destroyed).toBe(true)
    expect(broker.logger.lines.at(-1)).toMatchObject({ level: 'info', message: expect.stringContaining('more than the 1000 elements') })
    await stillServes(broker)
  })
})

describe('batches', () => {
  it(`with any flipped bit are refused or, where no check covers it, rewritten by the broker; what is stored is sound (seed ${seed})`, async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    const good = batchOf(['some', 'records', 'here'])
    const client = broker.connect()
    for (let bit = 0; bit < good.length * 8; bit++) {
      const bad = good.slice()
      bad[bit >> 3]! ^= 1 << (bit & 7)
      const before = replica!.log.endOffset
      const { errorCode } = (await client.call(produceApi, 9, produce('t', bad))).responses[0]!.partitionResponses[0]!
      // Base offset, length and leader epoch lie before what the CRC covers; the leader epoch is the broker's to write.
      if (errorCode === 0) expect([12, 13, 14, 15]).toContain(bit >> 3)
      expect(replica!.log.endOffset - before).toBe(errorCode === 0 ? 3 : 0)
    }
  }, 30_000)

  for (const codec of [1, 2, 3, 4] as CompressionCodec[]) {
    it(`a bomb in ${codecName(codec)} is 10, stores nothing, and takes no more memory than its bound`, async () => {
      const bound = 4 * 1024 * 1024
      const broker = await TestBroker.start({ config: { decompressedBytesMax: bound } })
      const [replica] = broker.cluster.topic('t', 1, { maxMessageBytes: 100_000_000 })
      const bomb = batchOf([{ value: new Uint8Array(128 * 1024 * 1024) }], { codec })
      putCrc(bomb, 0)
      const clients = Array.from({ length: 8 }, () => broker.connect())
      const before = process.memoryUsage().arrayBuffers
      let most = 0
      const watch = setInterval(() => { most = Math.max(most, process.memoryUsage().arrayBuffers - before) }, 1)
      const answers = await Promise.all(clients.map((client) => client.call(produceApi, 9, produce('t', bomb))))
      clearInterval(watch)
      expect(answers.map(({ responses }) => responses[0]!.partitionResponses[0]!.errorCode)).toEqual(Array(8).fill(10))
      expect(answers[0]!.responses[0]!.partitionResponses[0]!.errorMessage).toContain(`more than ${bound} bytes`)
      expect(replica!.log.endOffset).toBe(0)
      // Every request is there once as frame and once as kept copy, and not a byte of 128 MiB times eight.
      expect(most).toBeLessThan(8 * (bound + 4 * bomb.length) + 64 * 1024 * 1024)
      await stillServes(broker)
    }, 30_000)
  }
})
