import { backoffMs } from '../../base/backoff.ts'
import { MillraceError } from '../../kernel/errors/index.ts'
import { BatchBuilder } from '../../kernel/record/batch-builder.ts'
import { BatchReader } from '../../kernel/record/batch-reader.ts'
import { sequenceAfter } from '../../kernel/record/batch-header.ts'
import { kafkaError, kafkaErrorName, kafkaErrors, type ProduceResponse } from '../../wire/index.ts'
import { brokerError, isRetriable } from '../client-error.ts'
import { type ClientSettings } from '../client-options.ts'
import { type ClientWorld } from '../client-world.ts'
import { type Metadata } from '../cluster/metadata.ts'
import { type Accumulator } from './accumulator.ts'
import { type BatchAnswer, type PartitionAnswer } from './produce-request.ts'
import { ProducerBatch, type PartitionBatches } from './producer-batch.ts'
import { type ProducerIdentity } from './producer-identity.ts'

/** The leader is elsewhere, or this broker does not know yet that it is here: the picture of the cluster is old, here or there. */
const misplaced: ReadonlySet<number> = new Set([
  kafkaErrors.NOT_LEADER_OR_FOLLOWER, kafkaErrors.LEADER_NOT_AVAILABLE, kafkaErrors.UNKNOWN_TOPIC_OR_PARTITION, kafkaErrors.UNKNOWN_TOPIC_ID,
  kafkaErrors.INCONSISTENT_TOPIC_ID, kafkaErrors.KAFKA_STORAGE_ERROR, kafkaErrors.FENCED_LEADER_EPOCH, kafkaErrors.UNKNOWN_LEADER_EPOCH,
  kafkaErrors.REPLICA_NOT_AVAILABLE,
])

/** After these the batch may be in the log. */
const perhapsStored: ReadonlySet<number> = new Set([
  kafkaErrors.REQUEST_TIMED_OUT, kafkaErrors.NOT_ENOUGH_REPLICAS_AFTER_APPEND, kafkaErrors.UNKNOWN_SERVER_ERROR, kafkaErrors.KAFKA_STORAGE_ERROR,
])

export interface OutcomeParts {
  readonly world: ClientWorld
  readonly client: ClientSettings
  readonly deliveryTimeoutMs: number
  readonly metadata: Metadata
  readonly accumulator: Accumulator
  readonly identity: ProducerIdentity
  /** Room was made in the buffer. */
  readonly onRoom: () => void
}

/** What becomes of a batch after an answer, or without one: settled, sent again, split, or given up. */
export class BatchOutcomes {
  private readonly parts: OutcomeParts

  constructor(parts: OutcomeParts) {
    this.parts = parts
  }

  /** Sent with acks=0: that is all that will be known. */
  sent(batches: readonly ProducerBatch[]): void {
    for (const batch of batches) this.succeed(batch, -1, -1)
  }

  /** No answer: the connection went away. Each batch may be stored or not. */
  lost(batches: readonly ProducerBatch[], error: Error): void {
    if (isRetriable(error)) this.parts.metadata.refresh()
    for (const batch of batches) {
      batch.maybeStored = true
      if (isRetriable(error)) this.again(batch, error)
      else this.giveUp(batch, error)
    }
  }

  answered(answers: readonly BatchAnswer[], endpoints: ProduceResponse['nodeEndpoints']): void {
    for (const { batch, answer } of answers) {
      if (answer === undefined) this.again(batch, new Error('the answer does not speak of it'))
      else this.take(batch, answer, endpoints)
    }
  }

  /** Gives up what has waited too long, and says when the next batch will have. Batches under way are left to their answers. */
  expire(partition: PartitionBatches, nowMs: number): number {
    let first = partition.waiting[0] ?? partition.open
    while (first !== undefined && first.deadlineMs <= nowMs) {
      if (first === partition.open) partition.close()
      partition.waiting.shift()
      partition.inFlight.push(first)
      this.giveUp(first, this.tooLate(first, this.reasonOf(partition)))
      first = partition.waiting[0] ?? partition.open
    }
    return first?.deadlineMs ?? Infinity
  }

  /** Ends a batch that was under way. Its records fail; its sequence is lost. */
  giveUp(batch: ProducerBatch, error: Error): void {
    this.leave(batch)
    const { partition } = batch
    if (batch.baseSequence >= 0 && batch.producerId === partition.producerId && batch.producerEpoch === partition.producerEpoch) {
      partition.needsEpoch = true
    }
    this.parts.accumulator.release(batch, false)
    batch.fail(error, batch.recordsCount)
    this.parts.onRoom()
  }

  failPartition(partition: PartitionBatches, error: Error): void {
    partition.close()
    for (const batch of partition.waiting.splice(0)) this.giveUp(batch, error)
  }

  failAll(error: Error): void {
    for (const partition of [...this.parts.accumulator.active]) this.failPartition(partition, error)
  }

  private take(batch: ProducerBatch, answer: PartitionAnswer, endpoints: ProduceResponse['nodeEndpoints']): void {
    const { errorCode } = answer
    switch (errorCode) {
      case kafkaErrors.NONE:
      case kafkaErrors.DUPLICATE_SEQUENCE_NUMBER:
        this.succeed(batch, errorCode === kafkaErrors.NONE ? answer.baseOffset : -1, answer.logAppendTimeMs)
        return
      case kafkaErrors.MESSAGE_TOO_LARGE:
        if (batch.recordsCount > 1) this.split(batch)
        else this.giveUp(batch, this.refusal(batch, answer))
        return
      case kafkaErrors.OUT_OF_ORDER_SEQUENCE_NUMBER:
      case kafkaErrors.UNKNOWN_PRODUCER_ID:
      case kafkaErrors.INVALID_PRODUCER_EPOCH:
      case kafkaErrors.PRODUCER_FENCED:
        this.outOfOrder(batch, answer)
        return
      default:
        this.refused(batch, answer, endpoints)
    }
  }

  private succeed(batch: ProducerBatch, baseOffset: number, appendTimeMs: number): void {
    this.leave(batch)
    batch.partition.acknowledged(batch)
    const { recordsCount } = batch
    this.parts.accumulator.release(batch, batch.attempts === 1)
    batch.succeed(baseOffset, appendTimeMs, recordsCount)
    this.parts.onRoom()
  }

  /** The broker's log does not end where this batch should begin, or it knows nothing of this producer. The batch was not stored. */
  private outOfOrder(batch: ProducerBatch, answer: PartitionAnswer): void {
    const { partition } = batch
    const isCurrent = batch.producerId === partition.producerId && batch.producerEpoch === partition.producerEpoch
    batch.maybeStored = false
    if (batch.baseSequence < 0) {
      this.giveUp(batch, this.refusal(batch, answer))
      return
    }
    const code = answer.errorCode
    if (code === kafkaErrors.INVALID_PRODUCER_EPOCH || code === kafkaErrors.PRODUCER_FENCED) this.parts.identity.reject(batch.producerId)
    const wasLost = code === kafkaErrors.OUT_OF_ORDER_SEQUENCE_NUMBER && isCurrent && !partition.needsEpoch && partition.isExpected(batch)
    if (wasLost) {
      this.giveUp(batch, new MillraceError('MR_CLIENT_SEQUENCE_LOST', {
        topic: partition.topic.name, partition: partition.index, error: kafkaErrorName(code),
      }))
      return
    }
    // A batch before this one failed, and this one only followed it; or the broker has forgotten the producer, which is no loss of records.
    if (code !== kafkaErrors.OUT_OF_ORDER_SEQUENCE_NUMBER && isCurrent) partition.needsEpoch = true
    this.again(batch, this.refusal(batch, answer))
  }

  private refused(batch: ProducerBatch, answer: PartitionAnswer, endpoints: ProduceResponse['nodeEndpoints']): void {
    const { errorCode } = answer
    const { partition } = batch
    if (perhapsStored.has(errorCode)) batch.maybeStored = true
    let isElsewhere = false
    if (misplaced.has(errorCode)) {
      const { leaderId, leaderEpoch } = answer.currentLeader
      const nodes = endpoints.map(({ nodeId, host, port, rack }) => ({ id: nodeId, host, port, rack }))
      const before = partition.topic.info?.partitions[partition.index]?.leaderId
      this.parts.metadata.learnLeader(partition.topic.name, partition.index, leaderId, leaderEpoch, nodes)
      isElsewhere = leaderId >= 0 && partition.topic.info?.partitions[partition.index]?.leaderId !== before
      if (!isElsewhere) this.parts.metadata.refresh()
    }
    const refusal = this.refusal(batch, answer)
    if (!kafkaError(errorCode).retriable) this.giveUp(batch, refusal)
    else {
      this.warnOfRefusals(batch, refusal)
      this.again(batch, refusal, isElsewhere)
    }
  }

  /** At the 4th attempt, the 8th and so on: a new leader is no news, but who waits for minutes should learn why after a second. */
  private warnOfRefusals(batch: ProducerBatch, error: Error): void {
    const { attempts, partition } = batch
    if (attempts < 4 || (attempts & (attempts - 1)) !== 0) return
    this.parts.world.logger?.warn('a batch is refused again and again', { topic: partition.topic.name, partition: partition.index, attempts, error })
  }

  /** Puts a batch back to be sent again, after a while unless `atOnce`; gives it up when its time is over. */
  private again(batch: ProducerBatch, reason: Error, atOnce = false): void {
    const { world, client } = this.parts
    const nowMs = world.clock.monotonicMs()
    if (nowMs >= batch.deadlineMs) {
      this.giveUp(batch, this.tooLate(batch, reason.message))
      return
    }
    const { partition } = batch
    this.leave(batch)
    batch.lastProblem = reason.message
    partition.putBack(batch)
    if (atOnce) return
    partition.retryAtMs = Math.max(partition.retryAtMs, nowMs + backoffMs(batch.attempts, client.backoff, () => world.random.fraction()))
  }

  /**
   * A batch above what the topic takes is sent as two halves, as often as needed. Together they have the sequence numbers of the whole, so that nothing else
   * changes its place.
   */
  private split(batch: ProducerBatch): void {
    const { accumulator, world } = this.parts
    const { partition } = batch
    const reader = new BatchReader(world.compression).open(batch.bytes!)
    const halfCount = batch.recordsCount >> 1
    const halves: ProducerBatch[] = []
    for (const [from, count] of [[0, halfCount], [halfCount, batch.recordsCount - halfCount]] as const) {
      const builder = new BatchBuilder(world.compression, batch.bytes!.length)
      for (let index = 0; index < count && reader.next(); index++) builder.append(reader.timestamp, reader.key(), reader.value(), reader.headers())
      const halvings = batch.halvings + 1
      // The order of the second half lies between that of the whole and of the next one.
      const order = batch.order + (from === 0 ? 0 : 2 ** -halvings)
      const { createdMs, deadlineMs, receipt } = batch
      const half = new ProducerBatch({ partition, builder, order, createdMs, deadlineMs }, { receipt, receiptIndex: batch.receiptIndex + from, halvings })
      if (batch.baseSequence >= 0) {
        half.producerId = batch.producerId
        half.producerEpoch = batch.producerEpoch
        half.baseSequence = sequenceAfter(batch.baseSequence, from)
      }
      // It follows a batch that failed, so it goes alone like one that is sent again.
      half.attempts = 1
      halves.push(half)
    }
    this.leave(batch)
    accumulator.release(batch, false)
    for (const half of halves) {
      accumulator.adopt(half)
      partition.putBack(half)
    }
  }

  private leave(batch: ProducerBatch): void {
    const { inFlight } = batch.partition
    const at = inFlight.indexOf(batch)
    if (at >= 0) inFlight.splice(at, 1)
  }

  private tooLate(batch: ProducerBatch, reason: string): MillraceError {
    const { topic, index: partition } = batch.partition
    return new MillraceError('MR_CLIENT_DELIVERY_TIMEOUT', {
      topic: topic.name, partition, timeoutMs: this.parts.deliveryTimeoutMs, reason: batch.lastProblem ?? reason,
    })
  }

  private reasonOf(partition: PartitionBatches): string {
    const { metadata } = this.parts
    if (metadata.lastFailure instanceof Error) return metadata.lastFailure.message
    const leaderId = partition.topic.info?.partitions[partition.index]?.leaderId ?? -1
    return leaderId < 0 ? 'it has no leader' : `it could not be sent to its leader, broker ${leaderId}`
  }

  private refusal(batch: ProducerBatch, answer: PartitionAnswer): MillraceError {
    const { topic, index: partition } = batch.partition
    const message = answer.errorMessage ?? answer.recordErrors[0]?.batchIndexErrorMessage
    return brokerError(answer.errorCode, { what: `producing to ${topic.name}-${partition}`, topic: topic.name, partition, message })
  }
}
