import { type Prng } from '../../../src/base/prng.ts'
import { type Client, type Consumer, type ConsumerRecord } from '../../../src/client/index.ts'
import { testEpochMs } from '../../../src/testkit/world/manual-clock.ts'
import { contentOf } from './random-records.ts'
import { type Operation, type Stage } from './stage.ts'
import { keyOf, type Place } from './topics.ts'

/** A consumer of our client that is sent about: assigned, sought, polled, paused, slow. */
export class ClientConsumer {
  readonly operations: readonly Operation[]
  private readonly stage: Stage
  private readonly client: () => Client
  private readonly prng: Prng
  private running: { readonly client: Client, readonly consumer: Consumer } | undefined
  private places: readonly Place[] = []

  constructor(stage: Stage, client: () => Client, prng: Prng) {
    this.stage = stage
    this.client = client
    this.prng = prng
    this.operations = [
      { name: 'client consumer assigned', weight: 4, run: () => Promise.resolve(this.assign()) },
      { name: 'client consumer polled', weight: 20, run: () => this.poll() },
      { name: 'client consumer sought', weight: 4, run: () => Promise.resolve(this.seek()) },
      { name: 'client consumer position', weight: 1, run: () => this.position() },
      { name: 'client consumer closed', weight: 1, run: () => this.close() },
    ]
  }

  private assign(): void {
    const { prng, stage } = this
    const places = new Map<string, Place>()
    for (let count = prng.between(1, 3); count > 0; count--) {
      const place = stage.topics.pickPlace(prng)
      if (place !== undefined) places.set(keyOf(place), place)
    }
    this.places = [...places.values()]
    this.consumer().assign(this.places.map(({ topic, partition }) => ({ topic: topic.name, partition, offset: this.start() })))
  }

  private async poll(): Promise<void> {
    const { prng, stage } = this
    if (this.places.some(place => place.topic.doomed) || this.places.length === 0) this.assign()
    const { places } = this
    const records = await this.consumer().poll({ maxRecords: prng.pick([1, 10, 500]), timeoutMs: prng.between(0, 1000) })
    stage.count(records.length > 0 ? 'client consumer: got records' : 'client consumer: got none')
    for (const place of places) {
      const ofPlace = records.filter(record => record.topic === place.topic.name && record.partition === place.partition)
      if (ofPlace.length > 0 && !place.topic.doomed) stage.history.add({ kind: 'read', partition: keyOf(place), records: ofPlace.map(seen) })
    }
  }

  private seek(): void {
    const place = this.places.length === 0 ? undefined : this.prng.pick(this.places)
    if (place !== undefined) this.consumer().seek({ topic: place.topic.name, partition: place.partition, offset: this.start() })
  }

  private async position(): Promise<void> {
    const place = this.places[0]
    if (place !== undefined) await this.consumer().position({ topic: place.topic.name, partition: place.partition }, { timeoutMs: 3000 })
  }

  private async close(): Promise<void> {
    const { running } = this
    this.running = undefined
    this.places = []
    await running?.consumer.close()
  }

  private start(): number | 'beginning' | 'end' | { readonly timestamp: number } {
    const { prng } = this
    const timestamp = Math.floor(testEpochMs + this.stage.sim.world.nowMs) - prng.below(5000)
    return prng.pick(['beginning', 'beginning', 'end', prng.below(200), { timestamp }] as const)
  }

  private consumer(): Consumer {
    const { prng } = this
    const client = this.client()
    if (this.running?.client !== client) {
      const consumer = client.consumer({
        onOffsetOutOfRange: 'earliest', isolation: prng.pick(['read_committed', 'read_uncommitted'] as const),
        fetchWaitMsMax: prng.pick([20, 500]), partitionBytesMax: prng.pick([300, 5000, 1_048_576]), prefetchBytesMax: prng.pick([1000, 1_000_000]),
      })
      this.running = { client, consumer }
      this.places = []
      this.assign()
    }
    return this.running.consumer
  }
}

const seen = (record: ConsumerRecord) => ({ offset: record.offset, timestamp: record.timestamp, content: contentOf(record) })
