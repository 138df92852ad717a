/**
 * Writes orders and reads them back, against any broker that speaks the Kafka protocol.
 * Run: npm start, then: npx tsx examples/client/orders.ts [HOST:PORT]
 */
import { createAdmin, createConsumer, createProducer, isMillraceError } from 'millrace/client'

const bootstrap = process.argv[2] ?? '127.0.0.1:9092'
const topic = 'orders'
const partitions = 3

const admin = createAdmin({ bootstrap })
try {
  await admin.createTopics([{ name: topic, partitions, replicationFactor: 1 }])
} catch (error) {
  // The second run finds the topic of the first one.
  if (!isMillraceError(error, 'MR_TOPIC_EXISTS')) throw error
}
await admin.close()

const producer = createProducer({ bootstrap })
// Not awaited one by one: they travel in batches. All of one customer stay in order.
const sent = Array.from({ length: 1000 }, (_, order) =>
  producer.send({ topic, key: `customer-${order % 10}`, value: JSON.stringify({ order, cents: order * 5 }), headers: { source: 'example' } }))
const places = await Promise.all(sent)
console.log(`stored ${places.length} orders, the last one at ${places.at(-1)!.partition}/${places.at(-1)!.offset}`)
await producer.close()

const consumer = createConsumer({ bootstrap })
consumer.assign(Array.from({ length: partitions }, (_, partition) => ({ topic, partition, offset: 'beginning' as const })))
let cents = 0
let count = 0
while (count < places.length) {
  for (const record of await consumer.poll({ timeoutMs: 5000 })) {
    cents += (JSON.parse(record.text()!) as { cents: number }).cents
    count++
  }
}
console.log(`read ${count} orders, ${cents / 100} in all`)
await consumer.close()
