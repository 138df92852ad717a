import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Prng } from '../../src/base/prng.ts'
import { createClient, type Client } from '../../src/client/index.ts'
import { BatchBuilder } from '../../src/kernel/record/batch-builder.ts'
import { putCrc } from '../../src/kernel/record/batch-header.ts'
import { codecName, type CompressionCodec } from '../../src/kernel/record/compression-codec.ts'
import { NodeCompression } from '../../src/platform/codecs/node-compression.ts'
import { type Api, apiVersionsApi, BytesReader, BytesWriter, codecFor, produceApi, readCorrelationId, readResponseHeaderRest, wireApi, writeRequestFrame } from '../../src/wire/index.ts'
import { groupSamples } from '../unit/plugins/coordinator-group/group-samples.ts'
import { samples } from '../unit/plugins/protocol-kafka/fixture/sample-requests.ts'
import { type BrokerProcess, startBroker } from './broker-process.ts'
import { askOnce, callOnce, logLines, memoryOf, sendAndLeave } from './raw-peer.ts'

const seed = Number(process.env['SEED'] ?? 5)
const prng = new Prng(seed)
const topic = { name: 't', id: '' }
const encoder = new TextEncoder()
let directory = ''
let broker: BrokerProcess
let client: Client
let port = 0

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'millrace-bad-input-'))
  broker = await startBroker(['--data', directory, '--log-level', 'info'])
  port = Number(broker.bootstrap.split(':')[1])
  client = createClient({ bootstrap: broker.bootstrap })
  const [created] = await client.admin().createTopics([{ name: 't', partitions: 1, configs: { 'max.message.bytes': '20000000' } }])
  topic.id = created!.topicId!
})

afterAll(async () => {
  await client.close()
  const memory = memoryOf(broker.child.pid!)
  if (memory !== undefined) console.log(`after all of it the broker holds ${memory.residentMiB} MiB, and held ${memory.peakMiB} MiB at most`)
  expect(await broker.end('SIGTERM')).toBe(0)
  rmSync(directory, { recursive: true, force: true })
})

const endOffset = async (): Promise<number> => (await client.admin().listOffsets([{ topic: 't', partition: 0, at: 'end' }]))[0]!.offset

/** A good client is served: it sends a record, and reads that very record. */
async function stillServes(): Promise<void> {
  const producer = client.producer()
  const { offset } = await producer.send({ topic: 't', partition: 0, value: `after ${await endOffset()}` })
  await producer.close()
  const consumer = client.consumer()
  consumer.assign([{ topic: 't', partition: 0, offset }])
  const [record] = await consumer.poll({ timeoutMs: 10_000 })
  expect(record!.text()).toBe(`after ${offset}`)
  await consumer.close()
}

/** Lines that the broker has logged since. */
function sinceThen(): () => readonly { readonly level: string, readonly msg: string }[] {
  const before = broker.log().length
  return () => logLines(broker.log().slice(before))
}

function frameOf(api: Parameters<typeof writeRequestFrame>[1], version: number, request: object): Uint8Array {
  const writer = new BytesWriter()
  writeRequestFrame(writer, api, { version, correlationId: 7, clientId: 'peer' }, request as never)
  return writer.finish()
}

/** What is held of requests is given back: none of their bytes counts any more when their connections are gone. */
async function holdsNothingAfter(run: () => Promise<void>): Promise<void> {
  await run()
  const text = await (await fetch(`http://${broker.http}/metrics`)).text()
  expect(/^millrace_protocol_held_request_bytes (\d+)$/m.exec(text)?.[1]).toBe('0')
}

describe(`requests that are none (seed ${seed})`, () => {
  it('wrong frame sizes, text, and other protocols close the connection with one line in the log each', async () => {
    const size = (value: number): Buffer => {
      const bytes = Buffer.alloc(4)
      bytes.writeInt32BE(value)
      return bytes
    }
    const strangers = [
      size(-1), size(-0x8000_0000), size(0x7fff_ffff), size(200_000_000), Buffer.concat([size(3), Buffer.alloc(3)]), size(0),
      Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n'), Buffer.from('SSH-2.0-OpenSSH_9.6\r\n'), Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]), Buffer.from(prng.bytes(4000)),
    ]
    const lines = sinceThen()
    for (const bytes of strangers) expect((await sendAndLeave(port, bytes)).received).toHaveLength(0)
    expect(lines().length).toBe(strangers.length)
    await stillServes()
  })

  it('a hundred connections that promise a request of 100 MB each, and send ten bytes of it, leave nothing that is held for them', async () => {
    const promise = Buffer.alloc(14)
    promise.writeInt32BE(100_000_000)
    promise.writeInt16BE(0, 4)
    promise.writeInt16BE(9, 6)
    await holdsNothingAfter(async () => {
      await Promise.all(Array.from({ length: 100 }, () => sendAndLeave(port, promise)))
    })
    await stillServes()
  })

  it('unknown APIs and versions are closed, but ApiVersions is answered in version 0', async () => {
    const lines = sinceThen()
    // With the tags that headers have since ApiVersions 3, of which there are none.
    const header = (key: number, version: number): Buffer => {
      const bytes = Buffer.alloc(15)
      bytes.writeInt32BE(11)
      bytes.writeInt16BE(key, 4)
      bytes.writeInt16BE(version, 6)
      bytes.writeInt32BE(7, 8)
      bytes.writeInt16BE(-1, 12)
      return bytes
    }
    const unknown = [[999, 0], [-1, 0], [0x7fff, 3], [0, 99], [1, -1], [3, 0x7fff], [32, 77]] as const
    for (const [key, version] of unknown) expect((await sendAndLeave(port, header(key, version))).received).toHaveLength(0)
    expect(lines()).toHaveLength(unknown.length)
    const answer = await askOnce(port, header(18, 99))
    expect([answer.readInt32BE(0), answer.readInt16BE(4)]).toEqual([7, 35])
  })
})

describe(`sound requests that were spoiled (seed ${seed})`, () => {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- any API
  type AnyApi = Api<any, any>
  let every: readonly { readonly api: AnyApi, readonly version: number, readonly request: object }[] = []

  beforeAll(async () => {
    const sampleOf = (key: number, version: number): object => samples.find(({ api }) => api.key === key)?.request(version, topic) ?? groupSamples.get(key)!(version)[0]
    const { apiKeys } = await callOnce(port, apiVersionsApi, 0, {})
    every = apiKeys.flatMap(({ apiKey, minVersion, maxVersion }) => {
      const api = wireApi(apiKey) as AnyApi
      // Produce is announced from version 0 on, and served from 3 on (quirk 8).
      const first = Math.max(minVersion, api.request.versions.min)
      return Array.from({ length: maxVersion - first + 1 }, (_, index) => ({ api, version: first + index, request: sampleOf(apiKey, first + index) }))
    })
  })

  it('are those of all APIs that the broker announces, those of groups too', () => {
    expect(new Set(every.map(({ api }) => api.key)).size).toBe(samples.length + groupSamples.size)
  })

  it('of every API and version: cut off at four places each, they are dropped without an answer, and nothing is stored', async () => {
    const before = await endOffset()
    const lines = sinceThen()
    let sent = 0
    await holdsNothingAfter(async () => {
      for (const { api, version, request } of every) {
        const frame = frameOf(api, version, request)
        const cuts = Array.from({ length: 4 }, () => prng.between(1, frame.length - 1))
        const ends = await Promise.all(cuts.map(cut => sendAndLeave(port, frame.subarray(0, cut))))
        for (const { received } of ends) expect(received).toHaveLength(0)
        sent += cuts.length
      }
    })
    expect(lines().length).toBeLessThanOrEqual(sent)
    expect(lines().filter(line => line.level === 'error')).toEqual([])
    expect(await endOffset()).toBe(before)
    await stillServes()
  }, 120_000)

  it('of every API and version: with flipped bits, they are answered or closed; what is stored is sound, and the log has a line for each at most', async () => {
    const lines = sinceThen()
    let sent = 0
    await holdsNothingAfter(async () => {
      for (const { api, version, request } of every) {
        const frame = frameOf(api, version, request)
        const spoiled = Array.from({ length: 6 }, () => {
          const bad = frame.slice()
          for (let flips = prng.between(1, 3); flips > 0; flips--) {
            // Not in the first byte of the size: the broker would wait for 16 MB, and be told that there are none.
            const bit = prng.between(8, bad.length * 8 - 1)
            bad[bit >> 3]! ^= 1 << (bit & 7)
          }
          return bad
        })
        await Promise.all(spoiled.map(bad => sendAndLeave(port, bad)))
        sent += spoiled.length
      }
    })
    expect(lines().filter(line => line.level === 'error')).toEqual([])
    expect(lines().length).toBeLessThanOrEqual(sent)
    const end = await endOffset()
    const consumer = client.consumer()
    consumer.assign([{ topic: 't', partition: 0, offset: 'beginning' }])
    // A spoiled DeleteRecords may be a sound one, of other records.
    let next = (await client.admin().listOffsets([{ topic: 't', partition: 0, at: 'beginning' }]))[0]!.offset
    while (next < end) for (const record of await consumer.poll({ timeoutMs: 10_000 })) expect(record.offset).toBe(next++)
    await consumer.close()
    // A spoiled CreateTopics may be a sound one, of hundreds of partitions: they are nothing that the rest has to carry.
    const made = (await client.admin().listTopics()).map(({ name }) => name).filter((name) => name !== 't')
    await client.admin().deleteTopics(made)
    await stillServes()
  }, 240_000)
})

describe('batches that are none', () => {
  const compression = new NodeCompression()
  const batch = (change: (bytes: Uint8Array, view: DataView) => void = () => undefined, withCrc = true): Uint8Array => {
    const builder = new BatchBuilder(compression)
    for (let index = 0; index < 3; index++) builder.append(1_700_000_000_000, encoder.encode('k'), encoder.encode(`value ${index}`))
    const bytes = builder.finish()
    change(bytes, new DataView(bytes.buffer))
    if (withCrc) putCrc(bytes, 0)
    return bytes
  }

  /** The error code and message of a produce of these bytes. */
  async function produce(records: Uint8Array): Promise<{ readonly errorCode: number, readonly errorMessage: string | null }> {
    const reader = new BytesReader(await askOnce(port, frameOf(produceApi, 9, {
      transactionalId: null, acks: -1, timeoutMs: 5000, topicData: [{ name: 't', partitionData: [{ index: 0, records }] }],
    })))
    readCorrelationId(reader)
    readResponseHeaderRest(reader, 0, 9)
    return codecFor(produceApi.response, 9).read(reader).responses[0]!.partitionResponses[0]!
  }

  it.each([
    ['a wrong CRC', 2, () => batch(bytes => { bytes[bytes.length - 1]! ^= 1 }, false)],
    ['fewer records than it counts', 87, () => batch((_, view) => { view.setInt32(57, 4); view.setInt32(23, 3) })],
    ['more records than it counts', 87, () => batch((_, view) => { view.setInt32(57, 2); view.setInt32(23, 1) })],
    ['a last offset that its count denies', 87, () => batch((_, view) => { view.setInt32(23, 9) })],
    ['a count below zero', 87, () => batch((_, view) => { view.setInt32(57, -1) })],
    ['a length beyond its end', 87, () => batch((_, view) => { view.setInt32(8, 5000) })],
    ['magic 1', 87, () => batch(bytes => { bytes[16] = 1 })],
    ['an unknown codec', 87, () => batch((_, view) => { view.setInt16(21, 7) })],
    ['the mark of a control batch', 87, () => batch((_, view) => { view.setInt16(21, 0x20) })],
    ['bytes that are no batch', 87, () => prng.bytes(200)],
  ] as const)('%s is refused with its code, and not stored', async (_, code, make) => {
    const before = await endOffset()
    const { errorCode } = await produce(make())
    expect(errorCode).toBe(code)
    expect(await endOffset()).toBe(before)
  })

  it('records above max.message.bytes are MESSAGE_TOO_LARGE, and not stored', async () => {
    const before = await endOffset()
    const builder = new BatchBuilder(compression)
    builder.append(1, null, prng.bytes(20_000_001))
    expect(await produce(builder.finish())).toMatchObject({ errorCode: 10 })
    expect(await endOffset()).toBe(before)
    await stillServes()
  })

  it.each([1, 2, 3, 4] as CompressionCodec[])('bombs in codec %i are refused, sixteen at once within bounded memory', async codec => {
    const before = await endOffset()
    const builder = new BatchBuilder(compression)
    builder.append(1, null, new Uint8Array(200 * 1024 * 1024))
    const bomb = builder.finish({ codec })
    const memoryBefore = memoryOf(broker.child.pid!)
    const answers = await Promise.all(Array.from({ length: 16 }, () => produce(bomb)))
    for (const { errorCode, errorMessage } of answers) {
      expect(errorCode).toBe(10)
      expect(errorMessage).toMatch(/decompress/)
    }
    const memory = memoryOf(broker.child.pid!)
    if (memory !== undefined) {
      console.log(`${codecName(codec)}: bombs of ${Math.round(bomb.length / 1024)} KiB for 200 MiB; ${memoryBefore!.residentMiB} MiB before, ${memory.residentMiB} MiB after, ${memory.peakMiB} MiB at most`)
      expect(memory.peakMiB).toBeLessThan(1024)
    }
    expect(await endOffset()).toBe(before)
    await stillServes()
  }, 120_000)
})
