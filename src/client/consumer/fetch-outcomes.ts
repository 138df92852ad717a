import { backoffMs } from '../../base/backoff.ts'
import { type MillraceError } from '../../kernel/errors/index.ts'
import { kafkaError, kafkaErrors, type FetchResponse } from '../../wire/index.ts'
import { brokerError, isRetriable } from '../client-error.ts'
import { type ClientSettings } from '../client-options.ts'
import { type ClientWorld } from '../client-world.ts'
import { type Metadata } from '../cluster/metadata.ts'
import { type ConsumerSettings } from './consumer-settings.ts'
import { type FetchAnswer, type FetchPart, type forEachAnswer } from './fetch-request.ts'
import { chunkEnd, FetchedChunk } from './fetched-chunk.ts'

const noBytes = new Uint8Array(0)

export interface FetchOutcomeParts {
  readonly world: ClientWorld
  readonly client: ClientSettings
  readonly settings: ConsumerSettings
  readonly metadata: Metadata
}

/** What becomes of a partition after an answer to a fetch, or without one. */
export class FetchOutcomes {
  private readonly parts: FetchOutcomeParts

  constructor(parts: FetchOutcomeParts) {
    this.parts = parts
  }

  lost(part: FetchPart, error: unknown): void {
    const { partition } = part
    partition.preferredReplica = -1
    if (partition.round !== part.round) return
    if (isRetriable(error)) this.delay(part)
    else partition.fail(error as MillraceError)
  }

  /** Gives how many bytes of records came. */
  answered(parts: readonly FetchPart[], response: FetchResponse, byId: boolean, forEach: typeof forEachAnswer): number {
    let bytes = 0
    if (response.errorCode !== kafkaErrors.NONE) {
      const error = brokerError(response.errorCode, { what: 'Fetch' })
      for (const part of parts) this.lost(part, error)
      return 0
    }
    forEach(parts, response, byId, (part, answer) => {
      // An answer to a question from before a seek.
      if (part.partition.round !== part.round) return
      if (answer === undefined) this.delay(part)
      else bytes += this.take(part, answer, response)
    })
    return bytes
  }

  private take(part: FetchPart, answer: FetchAnswer, response: FetchResponse): number {
    const { partition } = part
    switch (answer.errorCode) {
      case kafkaErrors.NONE:
        return this.keep(part, answer)
      case kafkaErrors.OFFSET_OUT_OF_RANGE:
        // A replica may be behind; the leader knows.
        if (partition.preferredReplica >= 0) partition.preferredReplica = -1
        else partition.isOutOfRange = true
        return 0
      default:
        this.refused(part, answer, response)
        return 0
    }
  }

  private keep(part: FetchPart, answer: FetchAnswer): number {
    const { world, client, settings } = this.parts
    const { partition } = part
    partition.failures = 0
    partition.highWatermark = settings.isolationLevel === 1 && answer.lastStableOffset >= 0 ? answer.lastStableOffset : answer.highWatermark
    partition.logStartOffset = answer.logStartOffset
    if (answer.preferredReadReplica >= 0) {
      partition.preferredReplica = answer.preferredReadReplica
      partition.preferredUntilMs = world.clock.monotonicMs() + client.metadataAgeMsMax
    }
    const bytes = answer.records ?? noBytes
    if (bytes.length === 0) return 0
    const end = chunkEnd(bytes)
    if (end.nextOffset < 0) {
      // Brokers of old cut a batch off that does not fit; ask for as much as it needs.
      partition.bytesMax = Math.max(end.batchBytesNeeded, 2 * Math.max(partition.bytesMax, settings.partitionBytesMax))
      return bytes.length
    }
    partition.bytesMax = 0
    partition.chunks.push(new FetchedChunk(bytes, {
      topic: partition.topic, partition: partition.partition, fetchOffset: part.fetchOffset, checkCrcs: settings.checkCrcs,
      aborted: settings.isolationLevel === 1 ? answer.abortedTransactions ?? [] : [], reader: partition.reader,
    }))
    partition.chunkBytes += bytes.length
    partition.fetchOffset = Math.max(partition.fetchOffset, end.nextOffset)
    partition.fetchedEpoch = end.leaderEpoch
    return bytes.length
  }

  private refused(part: FetchPart, answer: FetchAnswer, response: FetchResponse): void {
    const { partition } = part
    const { topic, partition: index } = partition
    partition.preferredReplica = -1
    if (!kafkaError(answer.errorCode).retriable) {
      partition.fail(brokerError(answer.errorCode, { what: `fetching from ${topic}-${index}`, topic, partition: index }))
      return
    }
    const { leaderId, leaderEpoch } = answer.currentLeader
    const nodes = response.nodeEndpoints.map(({ nodeId, host, port, rack }) => ({ id: nodeId, host, port, rack }))
    const { metadata } = this.parts
    const before = metadata.topic(topic)?.partitions[index]?.leaderId
    metadata.learnLeader(topic, index, leaderId, leaderEpoch, nodes)
    if (leaderId >= 0 && metadata.topic(topic)?.partitions[index]?.leaderId !== before) return
    metadata.refresh()
    this.delay(part)
    this.warnOfRefusals(part, answer.errorCode)
  }

  /** At the 4th attempt, the 8th and so on: a new leader is no news, but who waits at a damaged record would wait for ever without knowing why. */
  private warnOfRefusals({ partition, fetchOffset }: FetchPart, errorCode: number): void {
    const { topic, partition: index, failures } = partition
    if (failures < 4 || (failures & (failures - 1)) !== 0) return
    const message = errorCode === kafkaErrors.KAFKA_STORAGE_ERROR ? 'it cannot be read from the disk there; what lies behind may be' : null
    const error = brokerError(errorCode, { what: `fetching from ${topic}-${index} at offset ${fetchOffset}`, topic, partition: index, message })
    this.parts.world.logger?.warn('a fetch is refused again and again', { topic, partition: index, offset: fetchOffset, attempts: failures, error })
  }

  private delay({ partition }: FetchPart): void {
    const { world, client } = this.parts
    partition.failures++
    partition.retryAtMs = world.clock.monotonicMs() + backoffMs(partition.failures, client.backoff, () => world.random.fraction())
  }
}
