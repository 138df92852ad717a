import kafkajs, { type Admin } from 'kafkajs'

import { advertisedApis } from './wire-probe.ts'

const JOIN_GROUP = 11

/** What the harness itself asks of the broker under test: topics and their ends. */
export class Control {
  readonly #admin: Admin

  private constructor (admin: Admin) {
    this.#admin = admin
  }

  static async connect (bootstrap: string): Promise<Control> {
    const { Kafka, logLevel } = kafkajs
    const admin = new Kafka({ clientId: 'compat-control', brokers: [bootstrap], logLevel: logLevel.NOTHING }).admin()
    await admin.connect()
    return new Control(admin)
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

  async close (): Promise<void> {
    await this.#admin.disconnect()
  }
}

/** Whether the broker offers consumer groups. */
export async function offersGroups (bootstrap: string): Promise<boolean> {
  return (await advertisedApis(bootstrap)).has(JOIN_GROUP)
}
