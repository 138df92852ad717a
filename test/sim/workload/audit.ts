import { type Prng } from '../../../src/base/prng.ts'
import { fetchApi, kafkaErrors, listOffsetsApi } from '../../../src/wire/index.ts'
import { type ClientWorld } from '../../../src/client/index.ts'
import { type SeenBatch, type SeenRecord, Violation } from '../history.ts'
import { seenIn } from './batches-seen.ts'
import { type RawClient } from './raw-client.ts'
import { type Stage } from './stage.ts'
import { keyOf, type Place } from './topics.ts'

const [earliest, latest, newest] = [-2, -1, -3]

/** Reads whole logs while nobody writes, and looks things up in them. */
export class Audit {
  private readonly stage: Stage
  private readonly client: RawClient
  private readonly world: ClientWorld
  private readonly prng: Prng

  constructor(stage: Stage, client: RawClient, world: ClientWorld, prng: Prng) {
    this.stage = stage
    this.client = client
    this.world = world
    this.prng = prng
  }

  async run(): Promise<void> {
    // That the peer lost its power, a connection from before learns only when it is used.
    this.client.reconnect()
    for (const topic of this.stage.topics.all()) {
      for (let partition = 0; partition < topic.partitions && !topic.doomed; partition++) await this.scan({ topic, partition })
    }
  }

  private async scan(place: Place): Promise<void> {
    const startOffset = (await this.locate(place, earliest)).offset
    const highWatermark = (await this.locate(place, latest)).offset
    const batches: SeenBatch[] = []
    const records: SeenRecord[] = []
    for (let at = startOffset; at < highWatermark; at = batches.at(-1)!.lastOffset + 1) {
      const answer = await this.fetch(place, at)
      const seen = seenIn(answer, this.world.compression)
      if (seen.batches.length === 0) throw new Violation(`nothing of ${place.topic.name}-${place.partition} can be read at ${at}, below its high watermark ${highWatermark}`)
      batches.push(...seen.batches)
      records.push(...seen.records)
    }
    // A log that begins within a batch gives the whole of it.
    const whole = records.filter(record => record.offset >= startOffset)
    const lookups = []
    for (const wanted of this.wanted(whole)) {
      const { offset, timestamp } = await this.locate(place, wanted === 'max' ? newest : wanted)
      lookups.push({ wanted, offset, timestamp })
    }
    this.stage.history.add({ kind: 'scanned', partition: keyOf(place), startOffset, highWatermark, batches, records: whole, lookups })
  }

  private wanted(records: readonly SeenRecord[]): (number | 'max')[] {
    const wanted: (number | 'max')[] = ['max', 0]
    for (let count = 0; count < 6 && records.length > 0; count++) {
      wanted.push(Math.max(0, this.prng.pick(records).timestamp + this.prng.pick([-1, 0, 0, 1])))
    }
    return wanted
  }

  private async fetch({ topic, partition }: Place, fetchOffset: number): Promise<Uint8Array | null> {
    const response = await this.client.ask(fetchApi, 4, 16, () => ({
      maxWaitMs: 0, minBytes: 0, maxBytes: 10_000_000, isolationLevel: 0, forgottenTopicsData: [],
      topics: [{ topic: topic.name, topicId: topic.id, partitions: [{ partition, fetchOffset, partitionMaxBytes: 1_000_000 }] }],
    }))
    const answer = response.responses[0]!.partitions[0]!
    if (answer.errorCode !== kafkaErrors.NONE) throw new Violation(`an audit's fetch of ${topic.name}-${partition} at ${fetchOffset} was answered with ${answer.errorCode}`)
    return answer.records
  }

  private async locate({ topic, partition }: Place, timestamp: number): Promise<{ readonly offset: number, readonly timestamp: number }> {
    const response = await this.client.ask(listOffsetsApi, timestamp === newest ? 7 : 1, 9, () => ({
      replicaId: -1, topics: [{ name: topic.name, partitions: [{ partitionIndex: partition, timestamp }] }],
    }))
    const answer = response.topics[0]!.partitions[0]!
    if (answer.errorCode !== kafkaErrors.NONE) throw new Violation(`an audit's ListOffsets of ${topic.name}-${partition} for ${timestamp} was answered with ${answer.errorCode}`)
    return answer
  }
}
