import { type Client } from '../../../src/client/index.ts'
import { Finding } from '../target.ts'

/** A client that does as it should while others do not: what it has sent is there, unchanged, and it can send more. */
export class HonestClient {
  /** Hostile requests do not know this name. */
  private readonly topic = 'of-the-honest-client'
  private readonly client: Client
  private readonly sent: string[] = []

  constructor(client: Client) {
    this.client = client
  }

  /** Makes its topic, and those that hostile requests name. Gives these topics' ids. */
  async begin(topics: readonly string[]): Promise<string[]> {
    await this.client.admin().createTopics([{ name: this.topic, partitions: 1 }])
    return this.restore(topics)
  }

  /** Sends a record and reads all that it has sent. */
  async check(): Promise<void> {
    const producer = this.client.producer()
    const value = `record ${this.sent.length} ${'x'.repeat(this.sent.length % 50)}`
    const { offset } = await producer.send({ topic: this.topic, partition: 0, value })
    await producer.close()
    if (offset !== this.sent.length) throw new Finding(`an honest record got offset ${offset}, not ${this.sent.length}`)
    this.sent.push(value)
    const consumer = this.client.consumer()
    consumer.assign([{ topic: this.topic, partition: 0, offset: 'beginning' }])
    const read: (string | null)[] = []
    while (read.length < this.sent.length) {
      const records = await consumer.poll({ timeoutMs: 10_000 })
      if (records.length === 0) throw new Finding(`${this.sent.length - read.length} honest records can not be read any more`)
      read.push(...records.map(record => record.text()))
    }
    await consumer.close()
    if (read.join('\n') !== this.sent.join('\n')) throw new Finding('honest records have changed')
  }

  /** What hostile producers have had stored is sound: every record can be read, from the first to the last. */
  async readAll(topic: string): Promise<void> {
    const [end] = await this.client.admin().listOffsets([{ topic, partition: 0, at: 'end' }])
    const consumer = this.client.consumer()
    consumer.assign([{ topic, partition: 0, offset: 'beginning' }])
    for (let next = 0; next < end!.offset;) {
      const records = await consumer.poll({ timeoutMs: 10_000 })
      if (records.length === 0) throw new Finding(`${topic} can be read up to ${next} and not to ${end!.offset}`)
      for (const record of records) if (record.offset !== next++) throw new Finding(`${topic} has offset ${record.offset} where ${next - 1} should be`)
    }
    await consumer.close()
  }

  /** Deletes what was made meanwhile, and makes anew what was deleted. */
  async restore(topics: readonly string[]): Promise<string[]> {
    const admin = this.client.admin()
    const there = (await admin.listTopics()).map(({ name }) => name)
    const strange = there.filter(name => name !== this.topic && !topics.includes(name))
    if (strange.length > 0) await admin.deleteTopics(strange)
    const missing = topics.filter(name => !there.includes(name))
    if (missing.length > 0) await admin.createTopics(missing.map(name => ({ name, partitions: 2 })))
    return (await admin.describeTopics(topics)).map(({ topicId }) => topicId!)
  }

  async close(): Promise<void> {
    await this.client.close()
  }
}
