import { backoffMs } from '../../base/backoff.ts'
import { MillraceError } from '../../kernel/errors/index.ts'
import { kafkaError, kafkaErrors, listOffsetsApi } from '../../wire/index.ts'
import { call } from '../channel/call.ts'
import { brokerError, isRetriable } from '../client-error.ts'
import { type ClientSettings } from '../client-options.ts'
import { type ClientWorld } from '../client-world.ts'
import { pause } from '../pause.ts'
import { type BrokerPool } from './broker-pool.ts'
import { type Metadata } from './metadata.ts'
import { leaderless } from './topic-info.ts'

/** What ListOffsets takes in place of a time. */
export const latestTimestamp = -1
export const earliestTimestamp = -2
/** The record with the largest timestamp. */
export const maxTimestamp = -3

export interface OffsetQuestion {
  readonly topic: string
  readonly partition: number
  /** In milliseconds since the epoch: the first offset whose record is not older; or one of the constants above. */
  readonly timestamp: number
}

/** An offset that was asked for. */
export interface OffsetAnswer {
  readonly topic: string
  readonly partition: number
  /** -1 when there is no such record. */
  readonly offset: number
  /** Of the record found; -1 for the ends of the log. */
  readonly timestamp: number
  /** Of the record found, or of the end; -1 where the broker does not tell. */
  readonly leaderEpoch: number
}

export interface LookupParts {
  readonly world: ClientWorld
  readonly client: ClientSettings
  readonly pool: BrokerPool
  readonly metadata: Metadata
}

export interface LookupOptions {
  readonly isolationLevel: 0 | 1
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

/**
 * Asks the leaders for offsets, and again those whose answer may be better later. The answers are in the order of the questions. Topics are tracked
 * meanwhile. Rejects with what cannot get better, or, when the time is up, with what kept it from being answered.
 */
export async function lookUpOffsets(parts: LookupParts, questions: readonly OffsetQuestion[], options: LookupOptions): Promise<OffsetAnswer[]> {
  const { world, metadata } = parts
  const topics = [...new Set(questions.map(question => question.topic))]
  for (const topic of topics) metadata.track(topic, false)
  const sinceMs = world.clock.monotonicMs()
  const deadlineMs = sinceMs + options.timeoutMs
  const answers = new Map<OffsetQuestion, OffsetAnswer>()
  try {
    for (let attempt = 1; ; attempt++) {
      const open = questions.filter(question => !answers.has(question))
      if (open.length === 0) return questions.map(question => answers.get(question)!)
      const remainingMs = deadlineMs - world.clock.monotonicMs()
      const byLeader = await leadersOf(parts, open, sinceMs, Math.max(1, remainingMs), options.signal)
      const problems = await Promise.all([...byLeader].map(([leaderId, group]) => askLeader(parts, leaderId, group, options, answers)))
      const problem = problems.find(each => each !== undefined)
      if (problem === undefined) continue
      if (!isRetriable(problem) || world.clock.monotonicMs() >= deadlineMs) throw problem as Error
      metadata.refresh()
      await pause(world.timers, backoffMs(attempt, parts.client.backoff, () => world.random.fraction()), options.signal)
    }
  } finally {
    for (const topic of topics) metadata.untrack(topic)
  }
}

/** Groups questions by the leaders of their partitions, waiting for these to be known. A picture from before `sinceMs` may lack partitions that were added. */
function leadersOf(
  parts: LookupParts, questions: readonly OffsetQuestion[], sinceMs: number, timeoutMs: number, signal: AbortSignal | undefined,
): Promise<Map<number, OffsetQuestion[]>> {
  const { metadata } = parts
  const look = (): Map<number, OffsetQuestion[]> | undefined => {
    const groups = new Map<number, OffsetQuestion[]>()
    for (const question of questions) {
      const info = metadata.topic(question.topic)
      const error = metadata.topicError(question.topic)
      if (info === undefined && error !== undefined && !error.row.retriable) throw error
      if (info !== undefined && question.partition >= info.partitions.length) {
        if (metadata.pictureMs < sinceMs) return undefined
        throw new MillraceError('MR_CLIENT_PARTITION_UNKNOWN', {
          topic: question.topic, partition: question.partition, count: info.partitions.length,
        })
      }
      const leaderId = info?.partitions[question.partition]?.leaderId ?? -1
      if (leaderId < 0) return undefined
      groups.set(leaderId, [...groups.get(leaderId) ?? [], question])
    }
    return groups
  }
  const late = (): Error => {
    const unknown = questions.find(({ topic }) => metadata.topic(topic) === undefined)?.topic
    if (metadata.lastFailure instanceof Error) return metadata.lastFailure
    if (unknown !== undefined) return metadata.topicError(unknown) ?? new MillraceError('MR_TOPIC_UNKNOWN', { topic: unknown })
    for (const { topic, partition } of questions) {
      const info = metadata.topic(topic)?.partitions[partition]
      if (info?.leaderId === -1) return leaderless(topic, info)
    }
    return brokerError(kafkaErrors.LEADER_NOT_AVAILABLE, { what: 'asking for offsets' })
  }
  return metadata.waitFor(look, { timeoutMs, signal, late })
}

/** Adds the answers of one leader. Gives the first problem, if there was one; never rejects. */
async function askLeader(
  parts: LookupParts, leaderId: number, questions: readonly OffsetQuestion[], options: LookupOptions, answers: Map<OffsetQuestion, OffsetAnswer>,
): Promise<unknown> {
  const { pool, metadata, client } = parts
  const channel = pool.channel(leaderId, 'control')
  if (channel === undefined) return brokerError(kafkaErrors.LEADER_NOT_AVAILABLE, { what: 'asking for offsets' })
  const byTopic = new Map<string, OffsetQuestion[]>()
  for (const question of questions) byTopic.set(question.topic, [...byTopic.get(question.topic) ?? [], question])
  // A request asks once for a partition; a second question about one waits for the next round.
  const asked = new Map<string, OffsetQuestion>()
  const topics = [...byTopic].map(([name, group]) => ({
    name,
    partitions: group.filter(question => !asked.has(keyOf(question)) && asked.set(keyOf(question), question)).map(question => ({
      partitionIndex: question.partition, timestamp: question.timestamp,
      currentLeaderEpoch: metadata.topic(name)?.partitions[question.partition]?.leaderEpoch ?? -1,
    })),
  }))
  const oldest = questions.some(({ timestamp }) => timestamp === maxTimestamp) ? 7 : options.isolationLevel === 1 ? 2 : 1
  try {
    const response = await call(channel, listOffsetsApi, () => ({
      replicaId: -1, isolationLevel: options.isolationLevel, topics, timeoutMs: client.requestTimeoutMs,
    }), { timeoutMs: client.requestTimeoutMs, signal: options.signal, oldest })
    let problem: unknown
    for (const topic of response.topics) {
      for (const { partitionIndex: partition, errorCode, offset, timestamp, leaderEpoch } of topic.partitions) {
        const question = asked.get(keyOf({ topic: topic.name, partition }))
        if (question === undefined) continue
        if (errorCode === kafkaErrors.NONE) answers.set(question, { topic: topic.name, partition, offset, timestamp, leaderEpoch })
        else {
          const error = brokerError(errorCode, { what: `asking for an offset of ${topic.name}-${partition}`, topic: topic.name, partition })
          if (problem === undefined || !kafkaError(errorCode).retriable) problem = error
        }
      }
    }
    return problem
  } catch (error) {
    return error
  }
}

function keyOf({ topic, partition }: { topic: string, partition: number }): string {
  return `${topic}/${partition}`
}
