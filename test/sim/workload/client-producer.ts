import { type Prng } from '../../../src/base/prng.ts'
import { type Client, type Producer, type ProducerOptions } from '../../../src/client/index.ts'
import { isMillraceError } from '../../../src/kernel/errors/index.ts'
import { testEpochMs } from '../../../src/testkit/world/manual-clock.ts'
import { Violation } from '../history.ts'
import { type RandomRecord, type RandomRecords } from './random-records.ts'
import { type Operation, type Stage } from './stage.ts'
import { keyOf, type Topic } from './topics.ts'

interface Running {
  readonly producer: Producer
  readonly acks: 'all' | 0 | 1
  readonly once: boolean
}

/** Producers of our client, with options by chance, made and closed again. */
export class ClientProducer {
  readonly operations: readonly Operation[]
  private readonly stage: Stage
  private readonly client: () => Client
  private readonly prng: Prng
  private readonly records: RandomRecords
  private running: { readonly client: Client, readonly producers: Running[] } | undefined

  constructor(stage: Stage, client: () => Client, prng: Prng, records: RandomRecords) {
    this.stage = stage
    this.client = client
    this.prng = prng
    this.records = records
    this.operations = [
      { name: 'client produce', weight: 24, run: () => this.produce() },
      { name: 'client producer closed', weight: 1, run: () => this.close() },
    ]
  }

  private async produce(): Promise<void> {
    const { stage, prng } = this
    const topic = stage.topics.pick(prng)
    if (topic === undefined) return
    const running = prng.pick(this.producers())
    const records = this.records.many(this.records.count(20, 300), running.once, prng.chance(0.05) ? 3000 : 120, topic.compacted)
    const partition = prng.chance(0.5) ? prng.below(topic.partitions) : undefined
    await Promise.all(records.map(record => this.send(running, topic, partition, record)))
  }

  private async send({ producer, acks }: Running, topic: Topic, partition: number | undefined, record: RandomRecord): Promise<void> {
    const { stage, prng } = this
    const timestamp = Math.floor(testEpochMs + stage.sim.world.nowMs) + prng.between(-3000, 500)
    const { key, value, headers } = record
    const begun = stage.history.now
    try {
      const place = await producer.send({
        topic: topic.name, value, headers, ...(key === null ? {} : { key }), ...(partition === undefined ? {} : { partition }), ...(prng.chance(0.5) ? { timestamp } : {}),
      })
      if (acks === 0 || topic.doomed) return
      stage.history.add({ kind: 'appended', partition: keyOf({ topic, partition: place.partition }), acks, baseOffset: place.offset, contents: [record.content], begun })
    } catch (error) {
      if (!isMillraceError(error)) throw error
      stage.count(`client produce: ${error.code}`)
      if (error.code === 'MR_CLIENT_SEQUENCE_LOST' && topic.durability === 'fsync' && !topic.doomed) throw new Violation(error.message)
    }
  }

  private async close(): Promise<void> {
    const gone = this.running?.producers.shift()
    await gone?.producer.close({ timeoutMs: this.prng.pick([0, 50, 5000]) })
  }

  private producers(): readonly Running[] {
    const { prng } = this
    const client = this.client()
    if (this.running?.client !== client) this.running = { client, producers: [] }
    const { producers } = this.running
    while (producers.length < 3) {
      const acks = prng.pick(['all', 'all', 'all', 1, 0] as const)
      const once = acks === 'all' && prng.chance(0.75)
      const options: ProducerOptions = {
        acks, idempotence: once, compression: prng.pick(['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const), lingerMs: prng.pick([0, 0, 1, 20]),
        batchBytesMax: prng.pick([200, 2000, 262_144]), deliveryTimeoutMs: 8000, blockMsMax: 4000,
      }
      producers.push({ producer: client.producer(options), acks, once })
    }
    return producers
  }
}
