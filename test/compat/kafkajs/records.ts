import { createRequire } from 'node:module'

import zstd from '@toondepauw/node-zstd'
import kafkajs from 'kafkajs'
import lz4 from 'lz4-napi'
import snappy from 'snappy'

import { type JsRecords, serveRecords } from '../js-records.ts'

const { CompressionCodecs, CompressionTypes, Kafka, logLevel } = kafkajs
const types: Record<string, number> = {
  none: CompressionTypes.None,
  gzip: CompressionTypes.GZIP,
  snappy: CompressionTypes.Snappy,
  lz4: CompressionTypes.LZ4,
  zstd: CompressionTypes.ZSTD,
}

/** kafkajs knows gzip alone; the others are registered by the application, here as one would with npm's codecs. */
function register (type: number, compress: (bytes: Buffer) => Buffer, decompress: (bytes: Buffer) => Buffer): void {
  const codec = {
    compress: async ({ buffer }: { buffer: Buffer }): Promise<Buffer> => compress(buffer),
    decompress: async (bytes: Buffer): Promise<Buffer> => decompress(bytes),
  }
  ;(CompressionCodecs as Record<number, () => typeof codec>)[type] = () => codec
}

const xerialMagic = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0])

/** Java producers write snappy as a header and blocks with their lengths, others as one bare block. */
function readSnappy (bytes: Buffer): Buffer {
  if (!bytes.subarray(0, 8).equals(xerialMagic)) return snappy.uncompressSync(bytes) as Buffer
  const blocks: Buffer[] = []
  for (let at = 16; at < bytes.length;) {
    const length = bytes.readInt32BE(at)
    at += 4 + length
    blocks.push(snappy.uncompressSync(bytes.subarray(at - length, at)) as Buffer)
  }
  return Buffer.concat(blocks)
}

register(CompressionTypes.Snappy, bytes => snappy.compressSync(bytes, { copyOutputData: true }), readSnappy)
register(CompressionTypes.LZ4, bytes => lz4.compressFrameSync(bytes), bytes => lz4.decompressFrameSync(bytes))
register(CompressionTypes.ZSTD, bytes => new zstd.Encoder(3).encodeSync(bytes), bytes => new zstd.Decoder().decodeSync(bytes))

const CHUNK_RECORDS = 5000

function connect (bootstrap: string): InstanceType<typeof Kafka> {
  return new Kafka({ clientId: 'compat', brokers: [bootstrap], logLevel: logLevel.ERROR })
}

const client: JsRecords = {
  version: () => (createRequire(import.meta.url)('kafkajs/package.json') as { version: string }).version,

  async produce (bootstrap, topic, codec, records) {
    const producer = connect(bootstrap).producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner })
    await producer.connect()
    for (let at = 0; at < records.length; at += CHUNK_RECORDS) {
      const messages = records.slice(at, at + CHUNK_RECORDS).map(({ key, value, headers }) => ({
        key: key as Buffer | null,
        value: value as Buffer | null,
        headers: Object.fromEntries(headers) as Record<string, Buffer>,
      }))
      await producer.send({ topic, messages, acks: -1, compression: types[codec] })
    }
    await producer.disconnect()
  },

  async consume (bootstrap, topic, take) {
    const consumer = connect(bootstrap).consumer({ groupId: `compat-kafkajs-${topic}` })
    await consumer.connect()
    await consumer.subscribe({ topics: [topic], fromBeginning: true })
    await new Promise<void>((resolve, reject) => {
      consumer.on('consumer.crash', ({ payload }) => reject(payload.error))
      consumer.run({
        eachBatch: async ({ batch }) => {
          for (const { offset, key, value, headers } of batch.messages) {
            const pairs = Object.entries(headers ?? {}).map(([name, bytes]) => [name, bytes as Buffer] as const)
            if (!take(batch.partition, Number(offset), { key, value, headers: pairs })) return resolve()
          }
        },
      }).catch(reject)
    })
    await consumer.disconnect()
  },
}

await serveRecords(client, process.argv.slice(2))
