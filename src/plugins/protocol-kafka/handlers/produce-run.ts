import { AssertionError } from '../../../base/assert.ts'
import { errorTable, errorText, isMillraceError, MillraceError } from '../../../kernel/errors/index.ts'
import { topicNameLengthMax } from '../../../kernel/model/topic-name.ts'
import { type ClusterMetadata } from '../../../kernel/ports/cluster-metadata.ts'
import { type Compression } from '../../../kernel/ports/compression.ts'
import { type Exchange } from '../../../kernel/ports/protocol-handler.ts'
import { type Replica, type WatermarkWaiter } from '../../../kernel/ports/replicator.ts'
import { type Logger } from '../../../kernel/ports/telemetry.ts'
import { type BatchCheck, type BatchFindings, stampBatch } from '../../../kernel/record/batch-check.ts'
import { batchHeaderBytes, codecOf, isTransactional } from '../../../kernel/record/batch-header.ts'
import { codecNamed, codecZstd, decompressesInline } from '../../../kernel/record/compression-codec.ts'
import { kafkaErrorName, kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { type ProduceRequest } from '../../../wire/messages/00-produce.ts'
import { codeForVersion, codeOf } from '../core/error-code.ts'
import { type Deadline, type Expiring } from '../deadlines.ts'
import { leaderOf, type LeaderHint, LeaderHints, noLeader } from '../partition-leader.ts'
import { type ServingTools } from '../serving-tools.ts'
import { type TopicEntry } from '../topic-lookup.ts'
import { type Recoder, type Recoding } from './recoder.ts'

export interface ProduceParts {
  readonly tools: ServingTools
  readonly metadata: ClusterMetadata
  readonly compression: Compression
  readonly logger: Logger
  /** Most bytes that one batch may decompress to. */
  readonly decompressedBytesMax: number
}

/** What all Produce requests share. */
export interface ProduceHost {
  readonly parts: ProduceParts
  /** One for all batches that are checked on the spot: a check ends before another begins. */
  readonly check: BatchCheck
  /** For those that were decompressed elsewhere, under the larger bound. */
  readonly lateCheck: BatchCheck
  /** For topics that have a codec of their own. */
  readonly recoder: Recoder
}

type PartitionData = ProduceRequest['topicData'][number]['partitionData'][number]

interface RecordError {
  readonly batchIndex: number
  readonly batchIndexErrorMessage: string | null
}

interface PartitionAnswer {
  readonly index: number
  errorCode: number
  baseOffset: number
  logAppendTimeMs: number
  logStartOffset: number
  recordErrors: readonly RecordError[]
  errorMessage: string | null
  currentLeader: LeaderHint
}

const noRecordErrors: readonly RecordError[] = []

/** A batch that was appended and waits for its watermark. */
class PartitionWait implements WatermarkWaiter {
  readonly offset: number
  readonly replica: Replica
  readonly answer: PartitionAnswer
  private readonly run: ProduceRun
  over = false

  constructor(run: ProduceRun, replica: Replica, answer: PartitionAnswer, offset: number) {
    this.run = run
    this.replica = replica
    this.answer = answer
    this.offset = offset
  }

  reached(): void {
    this.over = true
    this.run.settled()
  }

  failed(error: unknown): void {
    this.over = true
    this.run.refuse(this.answer, error)
    this.run.settled()
  }
}

/** One Produce request from its arrival to its answer. */
export class ProduceRun implements Expiring {
  private readonly handler: ProduceHost
  private readonly request: ProduceRequest
  private readonly exchange: Exchange
  private readonly responses: { name: string, topicId: string, partitionResponses: PartitionAnswer[] }[] = []
  /** Partitions whose outcome is not known yet, and one for `start` itself. */
  private open = 1
  private waits: PartitionWait[] | undefined
  private deadline: Deadline | undefined
  private letGo: (() => void) | undefined
  private hints: LeaderHints | undefined
  private gone = false
  private waiting = false
  /** The time for acknowledgements is over. */
  private late = false

  constructor(handler: ProduceHost, request: ProduceRequest, exchange: Exchange) {
    this.handler = handler
    this.request = request
    this.exchange = exchange
  }

  start(): void {
    const { topics } = this.handler.parts.tools
    const { acks, transactionalId, topicData } = this.request
    const refused = transactionalId !== null ? new MillraceError('MR_TRANSACTION_UNSUPPORTED') : undefined
    for (const { name, topicId, partitionData } of topicData) {
      const partitionResponses: PartitionAnswer[] = []
      this.responses.push({ name, topicId, partitionResponses })
      const topic = topics.byName(name)
      for (const partition of partitionData) {
        const answer = newAnswer(partition.index)
        partitionResponses.push(answer)
        if (acks < -1 || acks > 1) this.refuseWith(answer, kafkaErrors.INVALID_REQUIRED_ACKS, `acks=${acks}; 0, 1 and -1 are there`)
        else if (refused !== undefined) this.refuse(answer, refused)
        else this.take(topic, name, partition, answer)
      }
    }
    if (this.open > 1) this.wait()
    this.settled()
  }

  /** One partition has its outcome. */
  settled(): void {
    if (--this.open === 0) this.finish()
  }

  expired(): void {
    this.deadline = undefined
    this.late = true
    for (const wait of this.waits ?? []) {
      if (wait.over) continue
      wait.over = true
      wait.replica.cancel(wait)
      this.refuseLate(wait.answer)
      this.settled()
    }
  }

  /** Fails one partition with what was thrown. */
  refuse(answer: PartitionAnswer, error: unknown): void {
    if (error instanceof AssertionError) throw error
    if (!isMillraceError(error)) this.handler.parts.logger.error('a batch could not be appended', { partition: answer.index, error })
    const code = codeOf(error, this.exchange.apiKey, this.exchange.apiVersion)
    this.refuseWith(answer, code, isMillraceError(error) ? error.message : 'the broker failed; its log says why')
  }

  private refuseLate(answer: PartitionAnswer): void {
    this.refuseWith(answer, kafkaErrors.REQUEST_TIMED_OUT, `not acknowledged by all in-sync replicas within ${this.request.timeoutMs} ms`)
  }

  private refuseWith(answer: PartitionAnswer, code: number, message: string | null): void {
    answer.errorCode = code
    answer.errorMessage = message
    this.handler.parts.tools.metrics.error(this.exchange.apiKey, code)
  }

  /** Checks a batch and appends it, now or when its records have been decompressed elsewhere. */
  private take(topic: TopicEntry | undefined, name: string, partition: PartitionData, answer: PartitionAnswer): void {
    const replica = leaderOf(topic, partition.index, -1)
    if (typeof replica === 'number') {
      const code = codeForVersion(replica, this.exchange.apiKey, this.exchange.apiVersion)
      this.refuseWith(answer, code, replica === kafkaErrors.UNKNOWN_TOPIC_OR_PARTITION ? unknownText(name, partition.index) : null)
      if (replica === kafkaErrors.NOT_LEADER_OR_FOLLOWER) this.hintLeader(answer, topic!)
      return
    }
    const { check, parts } = this.handler
    const { settings } = replica
    const { records } = partition
    if (topic!.image.internal) {
      this.refuseWith(answer, kafkaErrors.INVALID_TOPIC_EXCEPTION, `${name} is the broker's own topic`)
    } else if (this.request.acks === -1 && topic!.partition(partition.index)!.isr.length < settings.minInsyncReplicas) {
      this.refuseWith(answer, kafkaErrors.NOT_ENOUGH_REPLICAS, `fewer than min.insync.replicas=${settings.minInsyncReplicas} replicas are in sync`)
    } else if (records === null) {
      this.refuseWith(answer, kafkaErrors.INVALID_RECORD, 'no batch for a partition')
    } else if (settings.compressionType !== 'producer' && isInOther(records, settings.compressionType)) {
      this.takeRecoded(topic!, replica, partition, answer)
    } else if (settings.batchCheck === 'records' && isDear(records)) {
      if (check.checkHeader(records, 0, records.length, settings)) this.checkLater(topic!, replica, partition, answer)
      else this.refuseChecked(check, topic!, replica, records, answer)
    } else {
      const nowMs = parts.tools.clock.wallMs()
      if (check.check(records, 0, records.length, settings, nowMs)) this.append(check, topic!, replica, records, answer, nowMs)
      else if (check.code === 'MR_RECORD_DECOMPRESSED_TOO_LARGE') this.checkLater(topic!, replica, partition, answer)
      else this.refuseChecked(check, topic!, replica, records, answer)
    }
  }

  /** Decompresses on another thread. The requests behind it wait, so that the order of the batches stays (quirk 9). */
  private checkLater(topic: TopicEntry, replica: Replica, partition: PartitionData, answer: PartitionAnswer): void {
    const { lateCheck: check, parts } = this.handler
    this.exchange.keepBytes()
    this.letGo ??= this.exchange.holdOthers()
    const records = partition.records!
    this.open++
    parts.compression.decompressLater(codecOf(records, 0), records.subarray(batchHeaderBytes), parts.decompressedBytesMax, (error, plain) => {
      // Whether the client is still there makes no difference: the batch came whole, and nobody may send it again (quirk 25).
      if (this.exchange.abandoned) return
      try {
        const nowMs = parts.tools.clock.wallMs()
        const passed = error === undefined || error === null
          ? check.checkRecords(records, 0, plain!, 0, plain!.length, replica.settings, nowMs)
          : check.refuseDecompression(error)
        if (passed) this.append(check, topic, replica, records, answer, nowMs)
        else this.refuseChecked(check, topic, replica, records, answer)
      } catch (thrown) {
        this.refuse(answer, thrown)
      }
      this.settled()
    })
  }

  /** Puts a batch into the topic's own codec and appends it, at once or when that has been done elsewhere. */
  private takeRecoded(topic: TopicEntry, replica: Replica, partition: PartitionData, answer: PartitionAnswer): void {
    const { check, recoder, parts } = this.handler
    const { settings } = replica
    if (!check.checkHeader(partition.records!, 0, partition.records!.length, settings)) {
      this.refuseChecked(check, topic, replica, partition.records!, answer)
      return
    }
    const { exchange } = this
    const { clock } = parts.tools
    const recodingOf = (records: Uint8Array, settled: () => void): Recoding => ({
      topic: topic.image.name, settings, records, nowMs: () => clock.wallMs(),
      get abandoned() { return exchange.abandoned },
      recoded: (batch, found) => { this.append(found, topic, replica, batch, answer, clock.wallMs()); settled() },
      refused: (by) => { this.refuseChecked(by, topic, replica, records, answer); settled() },
      failed: (error) => { this.refuse(answer, error); settled() },
    })
    try {
      if (recoder.now(recodingOf(partition.records!, () => undefined))) return
    } catch (error) {
      this.refuse(answer, error)
      return
    }
    this.exchange.keepBytes()
    this.letGo ??= this.exchange.holdOthers()
    this.open++
    recoder.later(recodingOf(partition.records!, () => { this.settled() }))
  }

  /** Appends what the check has passed. */
  private append(
    check: BatchFindings, topic: TopicEntry, replica: Replica, records: Uint8Array, answer: PartitionAnswer, nowMs: number,
  ): void {
    const { settings } = replica
    const { recordsCount } = check
    if (this.exchange.apiVersion < 7 && check.codec === codecZstd) {
      this.refuseWith(answer, kafkaErrors.UNSUPPORTED_COMPRESSION_TYPE, 'zstd needs Produce v7')
      return
    }
    try {
      if (isTransactional(records, 0)) throw new MillraceError('MR_TRANSACTION_UNSUPPORTED')
      stampBatch(records, 0, check, settings, nowMs)
      const outcome = replica.append(records, 0, records.length)
      answer.baseOffset = outcome.baseOffset
      answer.logStartOffset = replica.log.startOffset
      if (settings.timestampType === 'LogAppendTime' && !outcome.duplicate) answer.logAppendTimeMs = nowMs
      if (!outcome.duplicate) {
        topic.instruments.producedBytes.add(records.length)
        topic.instruments.producedRecords.add(recordsCount)
      }
      if (this.request.acks !== -1 || this.gone || replica.highWatermark > outcome.lastOffset) return
      if (this.late) {
        this.refuseLate(answer)
        return
      }
      const wait = new PartitionWait(this, replica, answer, outcome.lastOffset + 1)
      if (this.waits === undefined) this.waits = [wait]
      else this.waits.push(wait)
      this.open++
      replica.wait(wait)
    } catch (error) {
      this.refuse(answer, error)
      if (answer.errorCode === kafkaErrors.NOT_LEADER_OR_FOLLOWER) this.hintLeader(answer, topic)
    }
  }

  private refuseChecked(check: BatchCheck, topic: TopicEntry, replica: Replica, records: Uint8Array, answer: PartitionAnswer): void {
    const { refusal } = check
    const code = codeForVersion(errorTable[refusal].kafka, this.exchange.apiKey, this.exchange.apiVersion)
    this.refuseWith(answer, code, errorText(refusal, check.details(topic.image.name, replica.settings, records.length)))
    if (this.exchange.apiVersion >= 8 && check.badRecords.length > 0) {
      answer.recordErrors = check.badRecords.map((batchIndex) => ({ batchIndex, batchIndexErrorMessage: check.reason }))
    }
  }

  private hintLeader(answer: PartitionAnswer, topic: TopicEntry): void {
    if (this.exchange.apiVersion < 10) return
    this.hints ??= new LeaderHints(this.handler.parts.metadata, this.exchange.listener)
    answer.currentLeader = this.hints.hint(topic, answer.index)
  }

  private wait(): void {
    const { tools } = this.handler.parts
    tools.metrics.waitingProduces++
    this.deadline = tools.deadlines.after(this.request.timeoutMs, this)
    this.waiting = true
    this.exchange.onGone(() => { this.cancel() })
  }

  private stopWaiting(): void {
    if (!this.waiting) return
    this.waiting = false
    const { tools } = this.handler.parts
    tools.metrics.waitingProduces--
    if (this.deadline !== undefined) tools.deadlines.remove(this.deadline)
  }

  /** The client is gone: what is appended stays, what is begun is appended, nobody is told. */
  private cancel(): void {
    this.gone = true
    this.stopWaiting()
    for (const wait of this.waits ?? []) {
      if (wait.over) continue
      wait.over = true
      wait.replica.cancel(wait)
      this.open--
    }
    if (this.open === 0) this.finish()
  }

  private finish(): void {
    this.stopWaiting()
    if (this.exchange.abandoned) return
    if (this.request.acks === 0) this.finishSilently()
    else if (this.gone) this.exchange.silence()
    else if (this.hints === undefined) this.exchange.reply({ responses: this.responses })
    else this.exchange.reply({ responses: this.responses, nodeEndpoints: this.hints.endpoints() })
    this.letGo?.()
  }

  private finishSilently(): void {
    for (const { name, partitionResponses } of this.responses) {
      for (const { index, errorCode, errorMessage } of partitionResponses) {
        if (errorCode === kafkaErrors.NONE) continue
        const reason = errorMessage ?? kafkaErrorName(errorCode)
        this.exchange.abort(new MillraceError('MR_PROTOCOL_UNANSWERABLE', { topic: name, partition: index, reason }))
        return
      }
    }
    this.exchange.silence()
  }
}

/** Whether these records, behind a header, are in another codec than the topic has. */
function isInOther(records: Uint8Array, compressionType: string): boolean {
  return records.length > batchHeaderBytes && codecOf(records, 0) !== codecNamed(compressionType)
}

/** Whether decompressing these records would hold up the event loop. */
function isDear(records: Uint8Array): boolean {
  if (records.length <= batchHeaderBytes) return false
  const codec = codecOf(records, 0)
  return codec !== 0 && !decompressesInline(codec, records.length - batchHeaderBytes)
}

/** Every partition of a topic gets its own: a name that no topic can have is not repeated in each. */
function unknownText(name: string, partition: number): string {
  return name.length > topicNameLengthMax ? 'no topic has so long a name' : `${name}-${partition} does not exist`
}

function newAnswer(index: number): PartitionAnswer {
  return {
    index, errorCode: kafkaErrors.NONE, baseOffset: -1, logAppendTimeMs: -1, logStartOffset: -1, recordErrors: noRecordErrors, errorMessage: null,
    currentLeader: noLeader,
  }
}
