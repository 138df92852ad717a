import { AssertionError } from '../../../base/assert.ts'
import { isMillraceError } from '../../../kernel/errors/index.ts'
import { type ClusterMetadata } from '../../../kernel/ports/cluster-metadata.ts'
import { type Exchange } from '../../../kernel/ports/protocol-handler.ts'
import { type Replica } from '../../../kernel/ports/replicator.ts'
import { type Logger } from '../../../kernel/ports/telemetry.ts'
import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { type FetchRequest } from '../../../wire/messages/01-fetch.ts'
import { codeForVersion, codeOf } from '../core/error-code.ts'
import { type Deadline, type Expiring } from '../deadlines.ts'
import { leaderOf, LeaderHints, noLeader } from '../partition-leader.ts'
import { type ServingTools } from '../serving-tools.ts'
import { type TopicEntry } from '../topic-lookup.ts'
import { FetchPartition, type FetchProgress } from './fetch-partition.ts'
import { distinctPartitions } from './fetch-topics.ts'

export interface FetchParts {
  readonly tools: ServingTools
  readonly metadata: ClusterMetadata
  readonly logger: Logger
  /** `fetch.max.bytes` */
  readonly fetchBytesMax: number
  /** Above so many bytes in answers that have not left, a fetch gets its first batch alone, and its peer nothing more until that has left. */
  readonly outstandingBytesMax: number
}

/** What all Fetch requests share. */
export interface FetchHost {
  readonly parts: FetchParts
  /** Bytes of logs in answers that have not left. */
  outstandingBytes: number
  /** The broker stops: nobody waits any more. */
  readonly stopping: boolean
  /** The fetch waits. */
  enter(run: FetchRun): void
  leave(run: FetchRun): void
}

interface AbortedTransaction {
  readonly producerId: number
  readonly firstOffset: number
}
const noAborted: readonly AbortedTransaction[] = []

/**
 * One Fetch request from its arrival to its answer: reads all partitions; if that is too little, waits for a watermark to move or the time to
 * be over, and reads again. Nothing that was read is held while it waits.
 */
export class FetchRun implements Expiring, FetchProgress {
  readonly request: FetchRequest
  private readonly handler: FetchHost
  private readonly exchange: Exchange
  private readonly topics: FetchRequest['topics']
  private readonly partitions: FetchPartition[] = []
  private deadline: Deadline | undefined
  private waiting = false
  private gone = false
  private hearsGone = false
  /** The time is over: answer with what is there. */
  private last = false
  /** Partitions of which an answer can not wait: errors, and logs that have parted. */
  private urgent = 0
  private totalBytes = 0
  private bytesMax = 0
  /** The partition to be read next, and whether the loop over them runs. */
  private next = 0
  private looping = false

  constructor(handler: FetchHost, request: FetchRequest, exchange: Exchange) {
    this.handler = handler
    this.request = request
    this.exchange = exchange
    this.topics = distinctPartitions(request.topics, this.byId)
    for (const topic of this.topics) {
      for (const partition of topic.partitions) this.partitions.push(new FetchPartition(this, topic, partition))
    }
  }

  start(): void {
    this.last = this.request.maxWaitMs <= 0 || this.handler.stopping || this.partitions.length === 0
    this.readAll()
  }

  /** Also called at a stop of the broker: an early answer is a valid one. */
  expired(): void {
    this.last = true
    if (!this.waiting) return
    this.stopWaiting()
    this.readAll()
  }

  woken(partition: FetchPartition): void {
    if (!this.waiting) return
    if (partition.waitFailure === undefined && !this.worthReading()) {
      partition.waitOn()
      return
    }
    this.stopWaiting()
    this.readAll()
  }

  readEnded(partition: FetchPartition, error: unknown): void {
    if (error !== undefined) this.fail(partition, error)
    this.totalBytes += partition.bytes.length
    if (!this.looping) this.goOn()
  }

  private fail(partition: FetchPartition, error: unknown): void {
    if (error instanceof AssertionError) throw error
    if (!isMillraceError(error)) this.handler.parts.logger.error('a fetch could not be read', { partition: partition.asked.partition, error })
    this.refuse(partition, codeOf(error, this.exchange.apiKey, this.exchange.apiVersion))
  }

  private refuse(partition: FetchPartition, code: number): void {
    partition.errorCode = code
    this.urgent++
    this.handler.parts.tools.metrics.error(this.exchange.apiKey, code)
  }

  /** Reads all partitions anew, in their order, one after the other: what one takes of the limit the next does not get. */
  private readAll(): void {
    const { outstandingBytes, parts } = this.handler
    this.urgent = 0
    this.totalBytes = 0
    this.bytesMax = outstandingBytes > parts.outstandingBytesMax ? 0 : Math.min(this.request.maxBytes, parts.fetchBytesMax)
    for (const partition of this.partitions) partition.reset()
    this.next = 0
    this.goOn()
  }

  private goOn(): void {
    if (this.gone) return
    this.looping = true
    while (this.next < this.partitions.length) {
      if (this.read(this.partitions[this.next++]!)) continue
      this.looping = false
      this.hearGone()
      return
    }
    this.looping = false
    if (this.last || this.urgent > 0 || this.isEnough()) this.answer()
    else this.wait()
  }

  /** False when the read ends later. */
  private read(partition: FetchPartition): boolean {
    try {
      return this.readPartition(partition)
    } catch (error) {
      this.fail(partition, error)
      return true
    }
  }

  private readPartition(partition: FetchPartition): boolean {
    const { asked } = partition
    const topic = this.lookUp(partition)
    const replica = leaderOf(topic, asked.partition, asked.currentLeaderEpoch)
    if (typeof replica === 'number') {
      this.refuse(partition, topic === undefined && this.byId ? kafkaErrors.UNKNOWN_TOPIC_ID : codeForVersion(replica, this.exchange.apiKey, this.exchange.apiVersion))
      return true
    }
    partition.replica = replica
    // Where the offset is the end of the log nothing is read that could fail: waiting once more would fail at once, for ever.
    if (partition.waitFailure !== undefined) {
      this.fail(partition, partition.waitFailure)
      return true
    }
    // Quirk 28. As Kafka does, by the topic's setting: batches that a producer chose to send as zstd go out to whoever asks.
    if (this.exchange.apiVersion < 10 && replica.settings.compressionType === 'zstd') {
      this.refuse(partition, kafkaErrors.UNSUPPORTED_COMPRESSION_TYPE)
      return true
    }
    partition.highWatermarkSeen = replica.highWatermark
    const { log } = replica
    const { fetchOffset } = asked
    if (asked.lastFetchedEpoch >= 0 && this.diverges(partition)) return true
    if (fetchOffset < log.startOffset || fetchOffset > log.endOffset) {
      this.refuse(partition, kafkaErrors.OFFSET_OUT_OF_RANGE)
      return true
    }
    const endOffset = this.readableEnd(replica)
    const room = Math.min(asked.partitionMaxBytes, this.bytesMax - this.totalBytes)
    if (fetchOffset >= endOffset || (room <= 0 && this.totalBytes > 0)) return true
    return partition.readFrom({ offset: fetchOffset, endOffset, maxBytes: Math.max(0, room), atLeastOneBatch: this.totalBytes === 0 })
  }

  private get byId(): boolean {
    return this.exchange.apiVersion >= 13
  }

  private lookUp({ topic }: FetchPartition): TopicEntry | undefined {
    const { topics } = this.handler.parts.tools
    return this.byId ? topics.byId(topic.topicId) : topics.byName(topic.topic)
  }

  /** Whether the client has read what this log does not have (KIP-595): it is told where its log and this one part. */
  private diverges(partition: FetchPartition): boolean {
    const { lastFetchedEpoch, fetchOffset } = partition.asked
    const end = partition.replica!.log.epochEnd(lastFetchedEpoch)
    if (end.leaderEpoch < 0 || end.endOffset < 0) {
      this.refuse(partition, kafkaErrors.OFFSET_OUT_OF_RANGE)
      return true
    }
    if (end.leaderEpoch >= lastFetchedEpoch && end.endOffset >= fetchOffset) return false
    partition.divergingEpoch = { epoch: end.leaderEpoch, endOffset: end.endOffset }
    this.urgent++
    return true
  }

  private wait(): void {
    for (const partition of this.partitions) partition.letGo()
    this.deadline ??= this.handler.parts.tools.deadlines.after(this.request.maxWaitMs, this)
    this.waiting = true
    this.handler.enter(this)
    this.hearGone()
    for (const partition of this.partitions) partition.wait()
  }

  private stopWaiting(): void {
    if (!this.waiting) return
    this.waiting = false
    this.handler.leave(this)
    for (const partition of this.partitions) partition.cancelWait()
  }

  /** Logs may give less than there is, up to the end of a segment: such a fetch does not wait for what is there already. */
  private isEnough(): boolean {
    return this.totalBytes >= this.request.minBytes || (this.totalBytes > 0 && this.worthReading())
  }

  /** Whether about as much as is wanted can be read. */
  private worthReading(): boolean {
    let bytes = 0
    for (const partition of this.partitions) bytes += partition.estimate(this.readableEnd(partition.replica!))
    return bytes >= this.request.minBytes
  }

  /** What the client may see: records below this offset. */
  private readableEnd(replica: Replica): number {
    return this.request.isolationLevel === 1 ? replica.lastStableOffset : replica.highWatermark
  }

  private hearGone(): void {
    if (this.hearsGone) return
    this.hearsGone = true
    this.exchange.onGone(() => { this.cancel() })
  }

  private cancel(): void {
    this.gone = true
    this.stopWaiting()
    this.dropDeadline()
    for (const partition of this.partitions) partition.cancelRead()
  }

  private dropDeadline(): void {
    if (this.deadline !== undefined) this.handler.parts.tools.deadlines.remove(this.deadline)
    this.deadline = undefined
  }

  private answer(): void {
    this.dropDeadline()
    const { exchange, partitions, totalBytes, handler } = this
    const hints = this.urgent > 0 && exchange.apiVersion >= 16 ? new LeaderHints(handler.parts.metadata, exchange.listener) : undefined
    let at = 0
    const responses = this.topics.map(({ topic, topicId, partitions: { length } }) => ({
      topic, topicId, partitions: partitions.slice(at, at += length).map((partition) => this.data(partition, hints)),
    }))
    const response = { errorCode: kafkaErrors.NONE, sessionId: 0, responses, nodeEndpoints: hints?.endpoints() ?? [] }
    handler.outstandingBytes += totalBytes
    // When memory is short a peer that does not read has one answer in it, whatever more it asks for.
    const letGo = totalBytes > 0 && handler.outstandingBytes > handler.parts.outstandingBytesMax ? exchange.holdOthers() : undefined
    exchange.reply(response, () => {
      handler.outstandingBytes -= totalBytes
      letGo?.()
      for (const partition of partitions) partition.letGo()
    })
  }

  private data(partition: FetchPartition, hints: LeaderHints | undefined) {
    const { asked, replica, errorCode, bytes } = partition
    const known = errorCode === kafkaErrors.NONE && replica !== undefined
    const aborted = this.request.isolationLevel === 1 ? noAborted : null
    if (bytes.length > 0) this.lookUp(partition)?.instruments.fetchedBytes.add(bytes.length)
    return {
      partitionIndex: asked.partition,
      errorCode,
      highWatermark: known ? replica.highWatermark : -1,
      lastStableOffset: known ? replica.lastStableOffset : -1,
      logStartOffset: known ? replica.log.startOffset : -1,
      divergingEpoch: partition.divergingEpoch,
      currentLeader: hints !== undefined && leaderMoved(errorCode) ? hints.hint(this.lookUp(partition), asked.partition) : noLeader,
      // Quirk 37: read_committed gets a list, sorted by offset, of which nothing is in it while there are no transactions.
      abortedTransactions: aborted,
      preferredReadReplica: -1,
      records: bytes,
    }
  }
}

const leaderMoved = (code: number): boolean => code === kafkaErrors.NOT_LEADER_OR_FOLLOWER || code === kafkaErrors.FENCED_LEADER_EPOCH
