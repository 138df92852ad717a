import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { type JsRecords, serveRecords } from '../js-records.ts'

/** Installed beside the Node 24 that it needs, out of reach of this checkout's node_modules: hence no types. */
const packageDir = join(process.env.PLATFORMATIC_DIR!, 'node_modules', '@platformatic', 'kafka')
const { Consumer, Producer } = await import(pathToFileURL(join(packageDir, 'dist', 'index.js')).href)

const CHUNK_RECORDS = 5000

const client: JsRecords = {
  version: () => (JSON.parse(readFileSync(join(packageDir, 'package.json'), 'utf8')) as { version: string }).version,

  async produce (bootstrap, topic, codec, records) {
    const producer = new Producer({ clientId: 'compat', bootstrapBrokers: [bootstrap], idempotent: true, strict: true })
    for (let at = 0; at < records.length; at += CHUNK_RECORDS) {
      const messages = records.slice(at, at + CHUNK_RECORDS)
        .map(({ key, value, headers }) => ({ topic, key, value, headers: new Map(headers.map(([n, v]) => [Buffer.from(n), v])) }))
      await producer.send({ messages, acks: -1, compression: codec })
    }
    await producer.close()
  },

  async consume (bootstrap, topic, take) {
    const consumer = new Consumer({ clientId: 'compat', groupId: `compat-platformatic-${topic}`, bootstrapBrokers: [bootstrap] })
    const stream = await consumer.consume({ topics: [topic], mode: 'earliest', autocommit: false })
    for await (const { partition, offset, key, value, headers } of stream) {
      const pairs = [...headers as Map<Buffer, Buffer>].map(([name, bytes]) => [name.toString(), bytes] as const)
      if (!take(partition, Number(offset), { key, value, headers: pairs })) break
    }
    await stream.close()
    await consumer.close()
  },
}

await serveRecords(client, process.argv.slice(2))
