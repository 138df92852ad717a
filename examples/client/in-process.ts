/**
 * A broker and its client in one process, without a socket between them: the same code as over the network.
 * Run: npx tsx examples/client/in-process.ts
 */
import { createBroker } from 'millrace'
import { createClient } from 'millrace/client'

const broker = await createBroker({ preset: 'memory', listen: '127.0.0.1:0', http: 'off', logLevel: 'silent' })
await broker.start()
const client = createClient({ inProcess: { dispatcher: broker.dispatcher } })

await client.admin().createTopics([{ name: 'ticks', partitions: 1, replicationFactor: 1 }])
const producer = client.producer()
await producer.sendMany(Array.from({ length: 5 }, (_, tick) => ({ topic: 'ticks', value: `tick ${tick}` })))

const consumer = client.consumer()
consumer.assign([{ topic: 'ticks', partition: 0 }])
for await (const record of consumer) {
  console.log(record.offset, record.text())
  if (record.offset === 4) break
}

await client.close()
await broker.stop()
