import { backoffMs } from '../../base/backoff.ts'
import { isMillraceError, MillraceError } from '../../kernel/errors/index.ts'
import { kafkaError, kafkaErrors, offsetForLeaderEpochApi } from '../../wire/index.ts'
import { call } from '../channel/call.ts'
import { brokerError, isRetriable } from '../client-error.ts'
import { earliestTimestamp, latestTimestamp, lookUpOffsets, type LookupParts } from '../cluster/offset-lookup.ts'
import { type AssignedPartition, type Start } from './assigned-partition.ts'
import { type ConsumerSettings } from './consumer-settings.ts'

export interface PositionLookupParts extends LookupParts {
  readonly settings: ConsumerSettings
  readonly onNews: () => void
}

/** Finds out where to read: the offsets of starts that are none, and whether a position still holds under a new leader. */
export class PositionLookup {
  private readonly parts: PositionLookupParts
  private wanted: AssignedPartition[] = []
  private readonly abort = new AbortController()

  constructor(parts: PositionLookupParts) {
    this.parts = parts
  }

  /** To be looked up with the next `run`; nothing while it is being looked up. */
  want(partition: AssignedPartition): void {
    if (!partition.isLookingUp) this.wanted.push(partition)
  }

  run(): void {
    if (this.wanted.length === 0) return
    const wanted = this.wanted
    this.wanted = []
    for (const partition of wanted) partition.isLookingUp = true
    const located = wanted.filter(partition => partition.phase === 'locating')
    // One by one: an unknown topic must not keep the others waiting.
    for (const partition of located) void this.locate(partition)
    for (const partition of wanted) if (partition.phase === 'checking') void this.check(partition)
  }

  close(): void {
    this.abort.abort(new MillraceError('MR_CLIENT_CLOSED', { what: 'consumer' }))
  }

  /** Never rejects. */
  private async locate(partition: AssignedPartition): Promise<void> {
    const { round, topic, partition: index } = partition
    const start = partition.start!
    try {
      const options = {
        isolationLevel: this.parts.settings.isolationLevel, timeoutMs: this.parts.client.requestTimeoutMs, signal: this.abort.signal,
      }
      let [answer] = await lookUpOffsets(this.parts, [{ topic, partition: index, timestamp: timestampOf(start) }], options)
      if (answer!.offset < 0) {
        // No record is as young as that: begin with the next one.
        [answer] = await lookUpOffsets(this.parts, [{ topic, partition: index, timestamp: latestTimestamp }], options)
      }
      if (partition.round !== round) return
      partition.seek(Math.max(0, answer!.offset), answer!.leaderEpoch)
    } catch (error) {
      this.failed(partition, round, error)
    }
    this.parts.onNews()
  }

  /** Asks the new leader where the epoch of our last batch ends in its log. Never rejects. */
  private async check(partition: AssignedPartition): Promise<void> {
    const { round, topic, partition: index, fetchedEpoch, leaderEpoch } = partition
    try {
      const leaderId = this.parts.metadata.topic(topic)?.partitions[index]?.leaderId ?? -1
      const channel = leaderId < 0 ? undefined : this.parts.pool.channel(leaderId, 'control')
      if (channel === undefined) throw brokerError(kafkaErrors.LEADER_NOT_AVAILABLE, { what: 'OffsetForLeaderEpoch' })
      const response = await call(channel, offsetForLeaderEpochApi, () => ({
        replicaId: -1,
        topics: [{ topic, partitions: [{ partition: index, currentLeaderEpoch: leaderEpoch, leaderEpoch: fetchedEpoch }] }],
      }), { timeoutMs: this.parts.client.requestTimeoutMs, signal: this.abort.signal, oldest: 3 })
      if (partition.round !== round) return
      const answer = response.topics[0]?.partitions[0]
      if (answer === undefined) throw brokerError(kafkaErrors.UNKNOWN_SERVER_ERROR, { what: 'OffsetForLeaderEpoch' })
      if (answer.errorCode !== kafkaErrors.NONE) {
        const error = brokerError(answer.errorCode, { what: `checking the position in ${topic}-${index}`, topic, partition: index })
        if (kafkaError(answer.errorCode).retriable) throw error
        partition.fail(error)
        return
      }
      partition.isLookingUp = false
      partition.phase = 'reading'
      if (answer.endOffset < partition.fetchOffset) this.cutBack(partition, answer.endOffset)
    } catch (error) {
      // A broker that cannot be asked has no truncation to tell of.
      if (isMillraceError(error, 'MR_CLIENT_UNSUPPORTED') && partition.round === round) {
        partition.isLookingUp = false
        partition.phase = 'reading'
      } else this.failed(partition, round, error)
    }
    this.parts.onNews()
  }

  /** The new leader lacks what was read: -1 where it cannot even tell from where on. */
  private cutBack(partition: AssignedPartition, endOffset: number): void {
    const { topic, partition: index, position } = partition
    const { onOffsetOutOfRange } = this.parts.settings
    if (endOffset >= 0 && endOffset >= position) {
      // Only what was fetched ahead is gone.
      partition.seek(position)
    } else if (onOffsetOutOfRange === 'error') {
      partition.fail(new MillraceError('MR_CLIENT_LOG_TRUNCATED', { topic, partition: index, offset: position, endOffset }))
    } else if (endOffset >= 0) {
      partition.seek(endOffset)
    } else {
      partition.seek(onOffsetOutOfRange === 'earliest' ? 'beginning' : 'end')
    }
  }

  private failed(partition: AssignedPartition, round: number, error: unknown): void {
    if (partition.round !== round || this.abort.signal.aborted) return
    partition.isLookingUp = false
    if (isMillraceError(error) && !isRetriable(error)) {
      partition.fail(error)
      return
    }
    const { world, client, metadata } = this.parts
    if (!isMillraceError(error)) world.logger?.error('a position could not be looked up', { error })
    metadata.refresh()
    partition.failures++
    partition.retryAtMs = world.clock.monotonicMs() + backoffMs(partition.failures, client.backoff, () => world.random.fraction())
  }
}

function timestampOf(start: Exclude<Start, number>): number {
  if (start === 'beginning') return earliestTimestamp
  return start === 'end' ? latestTimestamp : start.timestamp
}
