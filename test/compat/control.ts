import kafkajs, { type Admin, type Kafka } from 'kafkajs'

import { advertisedApis } from './wire-probe.ts'

const JOIN_GROUP = 11

/** What the harness itself asks of the broker under test: topics and their ends. */
export class Control {
  readonly #kafka: Kafka
  readonly #admin: Admin

  private constructor (kafka: Kafka) {
    this.#kafka = kafka
    this.#admin = kafka.admin()
  }

  static async connect (bootstrap: string): Promise<Control> {
    const { Kafka, logLevel } = kafkajs
    const control = new Control(new Kafka({ clientId: 'compat-control', brokers: [bootstrap], logLevel: logLevel.NOTHING }))
    await control.#admin.connect()
    return control
  }

  /** Connects, acts and disconnects, so that a connection which the broker closed spoils one act alone. */
  static async with<T> (bootstrap: string, act: (control: Control) => Promise<T>): Promise<T> {
    const control = await Control.connect(bootstrap)
    try {
      return await act(control)
    } finally {
      await control.close()
    }
  }

  async createTopic (topic: string, partitions: number, config: Readonly<Record<string, string>> = {}): Promise<void> {
    const configEntries = Object.entries(config).map(([name, value]) => ({ name, value }))
    await this.#admin.createTopics({
      topics: [{ topic, numPartitions: partitions, replicationFactor: 1, configEntries }], waitForLeaders: true,
    })
  }

  async deleteTopic (topic: string): Promise<void> {
    await this.#admin.deleteTopics({ topics: [topic] })
  }

  /** End offset of each partition, by partition number. */
  async endOffsets (topic: string): Promise<number[]> {
    const offsets = await this.#admin.fetchTopicOffsets(topic)
    return offsets.sort((a, b) => a.partition - b.partition).map(({ high }) => Number(high))
  }

  /** What a group has committed in a topic, by partition; partitions without are left out. */
  async committedOffsets (groupId: string, topic: string): Promise<Map<number, number>> {
    const [found] = await this.#admin.fetchOffsets({ groupId, topics: [topic] })
    return new Map(found!.partitions.map(({ partition, offset }) => [partition, Number(offset)] as const).filter(([, offset]) => offset >= 0))
  }

  /** Writes records of a time that is over. */
  async produceOld (topic: string, partitions: number, count: number, timestampMs: number): Promise<void> {
    const producer = this.#kafka.producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner })
    await producer.connect()
    const messages = Array.from({ length: partitions * count }, (_, index) => ({ partition: index % partitions, value: `old ${index}`, timestamp: String(timestampMs) }))
    await producer.send({ topic, acks: -1, messages })
    await producer.disconnect()
  }

  async close (): Promise<void> {
    await this.#admin.disconnect()
  }
}

/** Whether the broker offers consumer groups. */
export async function offersGroups (bootstrap: string): Promise<boolean> {
  return (await advertisedApis(bootstrap)).has(JOIN_GROUP)
}
