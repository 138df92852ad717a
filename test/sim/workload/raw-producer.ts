import { type Prng } from '../../../src/base/prng.ts'
import { type ClientWorld } from '../../../src/client/index.ts'
import { isMillraceError } from '../../../src/kernel/errors/index.ts'
import { BatchBuilder } from '../../../src/kernel/record/batch-builder.ts'
import { type CompressionCodec } from '../../../src/kernel/record/compression-codec.ts'
import { testEpochMs } from '../../../src/testkit/world/manual-clock.ts'
import { initProducerIdApi, kafkaErrors, produceApi } from '../../../src/wire/index.ts'
import { Violation } from '../history.ts'
import { type RandomRecords } from './random-records.ts'
import { type RawClient } from './raw-client.ts'
import { type Operation, type Stage } from './stage.ts'
import { keyOf, type Place, type Topic } from './topics.ts'

interface Batch {
  readonly bytes: Uint8Array
  readonly contents: readonly string[]
  readonly sequence: number
  readonly codec: CompressionCodec
}

/** A producer id in one partition. */
interface Identity {
  readonly place: Place
  readonly id: number
  readonly epoch: number
  readonly acks: 'all' | 1
  nextSequence: number
  /** Sent, or to be sent, and not acknowledged. */
  pending: Batch[]
  /** Acknowledged last, newest first. */
  readonly acknowledged: Batch[]
}

const sequences = 0x8000_0000
const mayPass: readonly number[] = [
  kafkaErrors.UNKNOWN_TOPIC_OR_PARTITION, kafkaErrors.NOT_LEADER_OR_FOLLOWER, kafkaErrors.LEADER_NOT_AVAILABLE, kafkaErrors.REQUEST_TIMED_OUT,
]

/** Produce requests as no client of ours would send them: every version and codec, batches sent again, sequences that wrap. */
export class RawProducer {
  readonly operations: readonly Operation[]
  private readonly stage: Stage
  private readonly client: RawClient
  private readonly world: ClientWorld
  private readonly prng: Prng
  private readonly records: RandomRecords
  private readonly identities = new Map<string, Identity>()

  constructor(stage: Stage, client: RawClient, world: ClientWorld, prng: Prng, records: RandomRecords) {
    this.stage = stage
    this.client = client
    this.world = world
    this.prng = prng
    this.records = records
    this.operations = [
      { name: 'raw produce', weight: 10, run: () => this.plain() },
      { name: 'raw produce, idempotent', weight: 14, run: () => this.idempotent() },
      { name: 'raw produce, again', weight: 4, run: () => this.again() },
      { name: 'raw produce, acks 0', weight: 3, run: () => this.unanswered() },
    ]
  }

  private async plain(): Promise<void> {
    const { stage, prng } = this
    const place = stage.topics.pickPlace(prng)
    if (place === undefined) return
    const batch = this.batch(place.topic, -1, -1, -1)
    const acks = prng.chance(0.6) ? 'all' : 1
    const begun = stage.history.now
    const answer = await this.send(place.topic, place.partition, acks, batch)
    if (answer.errorCode !== kafkaErrors.NONE) return stage.refused('raw produce', answer.errorCode, mayPass)
    if (place.topic.doomed) return
    stage.history.add({ kind: 'appended', partition: keyOf(place), acks, baseOffset: answer.baseOffset, contents: batch.contents, begun })
  }

  private async unanswered(): Promise<void> {
    const { prng } = this
    const place = this.stage.topics.pickPlace(prng)
    if (place === undefined) return
    const batch = this.batch(place.topic, -1, -1, -1)
    await this.client.tell(produceApi, prng.between(batch.codec === 4 ? 7 : 3, 11), () => request(place.topic, place.partition, 0, batch))
  }

  /** One to four batches in flight, after those that nothing is known of. */
  private async idempotent(): Promise<void> {
    const place = this.stage.topics.pickPlace(this.prng)
    if (place === undefined) return
    const identity = this.identities.get(keyOf(place)) ?? await this.begin(place)
    if (identity === undefined) return
    if (identity.pending.length === 0) {
      for (let count = this.prng.between(1, 4); count > 0; count--) {
        const batch = this.batch(place.topic, identity.id, identity.epoch, identity.nextSequence)
        identity.nextSequence = (identity.nextSequence + batch.contents.length) % sequences
        identity.pending.push(batch)
      }
    }
    const begun = this.stage.history.now
    const outcomes = await Promise.allSettled(identity.pending.map(batch => this.send(place.topic, place.partition, identity.acks, batch)))
    if (place.topic.doomed) return
    identity.pending = identity.pending.filter((batch, index) => {
      const outcome = outcomes[index]!
      if (outcome.status === 'rejected') return passing(outcome.reason)
      return !this.take(identity, batch, outcome.value, begun)
    })
    // What is sent again in this order would be behind what is stored already.
    if (identity.pending.length === 0 && this.prng.chance(0.03)) this.identities.delete(keyOf(place))
  }

  /** Sends one of the last acknowledged batches again. */
  private async again(): Promise<void> {
    const candidates = [...this.identities.values()].filter(({ place, acknowledged, pending }) => !place.topic.doomed && acknowledged.length > 0 && pending.length === 0)
    if (candidates.length === 0) return
    const identity = this.prng.pick(candidates)
    const batch = this.prng.pick(identity.acknowledged)
    const { topic, partition } = identity.place
    const begun = this.stage.history.now
    const answer = await this.send(topic, partition, identity.acks, batch)
    if (!topic.doomed) this.take(identity, batch, answer, begun)
  }

  /** True when the batch is stored. */
  private take(identity: Identity, batch: Batch, answer: { readonly errorCode: number, readonly baseOffset: number }, begun: number): boolean {
    const { place, acks, id, epoch, acknowledged } = identity
    const { errorCode } = answer
    if (errorCode === kafkaErrors.NONE || errorCode === kafkaErrors.DUPLICATE_SEQUENCE_NUMBER) {
      const baseOffset = errorCode === kafkaErrors.NONE ? answer.baseOffset : -1
      this.stage.history.add({
        kind: 'appended', partition: keyOf(place), acks, baseOffset, contents: batch.contents, begun, producer: { id, epoch, sequence: batch.sequence },
      })
      if (!acknowledged.includes(batch)) acknowledged.unshift(batch)
      acknowledged.length = Math.min(acknowledged.length, 5)
      return true
    }
    // Where acknowledged batches may be lost there is a gap behind them.
    const strict = acks === 'all' && place.topic.durability === 'fsync'
    // On a disk that fails a batch before it may have been refused.
    if (strict && errorCode === 45 && !this.stage.diskFails) throw new Violation(`batch ${id}/${epoch}/${batch.sequence} of ${keyOf(place)} is out of order; acknowledged are ${acknowledged.map(each => each.sequence).join()}, the next is ${identity.nextSequence}`)
    this.stage.refused('raw produce, idempotent', errorCode, strict && !this.stage.diskFails ? mayPass : [...mayPass, kafkaErrors.OUT_OF_ORDER_SEQUENCE_NUMBER])
    if (errorCode === kafkaErrors.OUT_OF_ORDER_SEQUENCE_NUMBER) this.identities.delete(keyOf(place))
    return false
  }

  /** Undefined where the broker gives no producer id, as one that ends because its disk fails. */
  private async begin(place: Place): Promise<Identity | undefined> {
    const { prng } = this
    const request = { transactionalId: null, transactionTimeoutMs: 0 }
    const { errorCode, producerId, producerEpoch } = await this.client.ask(initProducerIdApi, 0, 5, () => request)
    if (errorCode === kafkaErrors.COORDINATOR_LOAD_IN_PROGRESS && this.stage.diskFails) {
      this.stage.count('no producer id')
      return undefined
    }
    if (errorCode !== kafkaErrors.NONE) throw new Violation(`InitProducerId was answered with ${errorCode}`)
    const identity: Identity = {
      place, id: producerId, epoch: producerEpoch, acks: prng.chance(0.7) ? 'all' : 1,
      nextSequence: prng.chance(0.2) ? sequences - prng.between(1, 40) : 0, pending: [], acknowledged: [],
    }
    this.identities.set(keyOf(place), identity)
    return identity
  }

  private async send(topic: Topic, partition: number, acks: 'all' | 1, batch: Batch): Promise<{ readonly errorCode: number, readonly baseOffset: number }> {
    const response = await this.client.ask(produceApi, batch.codec === 4 ? 7 : 3, 11, () => request(topic, partition, acks === 'all' ? -1 : 1, batch))
    return response.responses[0]!.partitionResponses[0]!
  }

  private batch({ compacted }: Topic, producerId: number, producerEpoch: number, baseSequence: number): Batch {
    const { prng } = this
    const records = this.records.many(this.records.count(12, 200), producerId >= 0, prng.chance(0.05) ? 3000 : 120, compacted)
    const builder = new BatchBuilder(this.world.compression)
    const nowMs = testEpochMs + this.stage.sim.world.nowMs
    for (const { key, value, headers } of records) {
      builder.append(prng.chance(0.02) ? -1 : Math.floor(nowMs) + prng.between(-3000, 500), key, value, headers)
    }
    const codec = prng.below(5) as CompressionCodec
    const bytes = builder.finish({ codec, producerId, producerEpoch, baseSequence })
    return { bytes, contents: records.map(record => record.content), sequence: baseSequence, codec }
  }
}

function request(topic: Topic, index: number, acks: number, { bytes }: Batch) {
  return { acks, timeoutMs: 3000, topicData: [{ name: topic.name, partitionData: [{ index, records: bytes.slice() }] }] }
}

/** Whether the batch is to be sent again. */
function passing(error: unknown): boolean {
  if (!isMillraceError(error)) throw error
  return true
}
