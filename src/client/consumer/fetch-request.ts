import { zeroUuid } from '../../base/uuid.ts'
import { type fetchApi, type FetchResponse, type RequestDraftOf } from '../../wire/index.ts'
import { type AssignedPartition } from './assigned-partition.ts'

/** Versions from 13 on name topics by id alone: not for topics whose id is not known. */
export const newestByName = 12

/** A partition as it was asked for. */
export interface FetchPart {
  readonly partition: AssignedPartition
  readonly topicId: string
  readonly round: number
  readonly fetchOffset: number
  readonly leaderEpoch: number
}

export type FetchAnswer = FetchResponse['responses'][number]['partitions'][number]

export interface FetchLimits {
  readonly maxWaitMs: number
  readonly minBytes: number
  readonly maxBytes: number
  readonly partitionBytesMax: number
  readonly isolationLevel: 0 | 1
  readonly rack: string
}

type FetchTopics = RequestDraftOf<typeof fetchApi>['topics'][number]

/** A full fetch without a session: with the few partitions of one consumer a session saves little. */
export function fetchRequest(parts: readonly FetchPart[], limits: FetchLimits): RequestDraftOf<typeof fetchApi> {
  const topics = new Map<string, FetchTopics & { partitions: FetchTopics['partitions'][number][] }>()
  for (const { partition, topicId, fetchOffset, leaderEpoch } of parts) {
    let topic = topics.get(partition.topic)
    if (topic === undefined) {
      topic = { topic: partition.topic, topicId, partitions: [] }
      topics.set(partition.topic, topic)
    }
    topic.partitions.push({
      partition: partition.partition, currentLeaderEpoch: leaderEpoch, fetchOffset,
      partitionMaxBytes: Math.max(partition.bytesMax, limits.partitionBytesMax),
    })
  }
  return {
    maxWaitMs: limits.maxWaitMs, minBytes: limits.minBytes, maxBytes: limits.maxBytes, isolationLevel: limits.isolationLevel,
    topics: [...topics.values()], rackId: limits.rack,
  }
}

export const hasTopicIds = (parts: readonly FetchPart[]): boolean => parts.every(part => part.topicId !== zeroUuid)

/** Calls `take` with each part and its answer; undefined where the broker did not speak of it. */
export function forEachAnswer(
  parts: readonly FetchPart[], response: FetchResponse, byId: boolean, take: (part: FetchPart, answer: FetchAnswer | undefined) => void,
): void {
  const answers = new Map<string, FetchAnswer>()
  for (const topic of response.responses) {
    for (const partition of topic.partitions) answers.set(`${byId ? topic.topicId : topic.topic}/${partition.partitionIndex}`, partition)
  }
  for (const part of parts) {
    take(part, answers.get(`${byId ? part.topicId : part.partition.topic}/${part.partition.partition}`))
  }
}
