import { createAdmin, createConsumer, createProducer } from '../../../src/client/index.ts'
import { type JsRecords, serveRecords } from '../js-records.ts'

const client: JsRecords = {
  version: () => 'this checkout',

  async produce (bootstrap, topic, codec, records) {
    const producer = createProducer({ bootstrap, compression: codec as 'none' })
    await producer.sendMany(records.map(({ key, value, headers }) => ({
      topic, key, value, headers: headers.map(([name, bytes]) => ({ key: name, value: bytes })),
    })))
    await producer.close()
  },

  async consume (bootstrap, topic, take) {
    const admin = createAdmin({ bootstrap })
    const [description] = await admin.describeTopics([topic])
    await admin.close()
    const consumer = createConsumer({ bootstrap })
    consumer.assign(description!.partitions.map(({ partition }) => ({ topic, partition })))
    for (let goesOn = true; goesOn;) {
      for (const { partition, offset, key, value, headers } of await consumer.poll()) {
        goesOn = take(partition, offset, { key, value, headers: headers.map(header => [header.key, header.value] as const) })
        if (!goesOn) break
      }
    }
    await consumer.close()
  },
}

await serveRecords(client, process.argv.slice(2))
