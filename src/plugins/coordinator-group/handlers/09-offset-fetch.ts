import { zeroUuid } from '../../../kernel/model/ids.ts'
import { type Exchange, type ProtocolHandler } from '../../../kernel/ports/protocol-handler.ts'
import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { type offsetFetchApi, type OffsetFetchRequest } from '../../../wire/messages/09-offset-fetch.ts'
import { type ResponseDraftOf } from '../../../wire/schema/message.ts'
import { type FetchedOffset } from '../core/group-commands.ts'
import { noOffset } from '../core/offset-commands.ts'
import { rangeOf } from '../core/version-ranges.ts'
import { codeFor, Gathering, type HandlerParts } from '../handler-parts.ts'

type Response = ResponseDraftOf<typeof offsetFetchApi>

/** Topics with the partitions that are asked for; null for all. By name, from v10 on by id: then a topic that is not there has no name. */
type Wanted = readonly { readonly name: string | undefined, readonly topicId: string, readonly partitionIndexes: readonly number[] }[] | null

interface Asked {
  readonly groupId: string
  readonly topics: Wanted
  readonly memberId: string | null
  readonly memberEpoch: number
}

interface GroupAnswer {
  readonly groupId: string
  readonly topics: readonly {
    readonly name: string
    readonly topicId: string
    readonly partitions: { partitionIndex: number, committedOffset: number, committedLeaderEpoch: number, metadata: string, errorCode: number }[]
  }[]
  readonly errorCode: number
}

/**
 * OffsetFetch v1-10: what is committed and synced. An offset that is not there is -1 and no error; null topics are all (quirk 51). v2 has a code for the
 * group, v5 leader epochs, v7 waits for transactions, of which there are none here, v8 asks for several groups at once,
 * v9 says which member asks in which epoch, v10 has topics by their ids.
 */
export class OffsetFetchHandler implements ProtocolHandler {
  readonly apiKey = 9
  readonly minVersion = rangeOf(9).minVersion
  readonly maxVersion = rangeOf(9).maxVersion
  private readonly parts: HandlerParts

  constructor(parts: HandlerParts) {
    this.parts = parts
  }

  handle(request: OffsetFetchRequest, exchange: Exchange): void {
    const { groups, logger } = this.parts
    const asked = this.askedOf(request, exchange)
    const answers: GroupAnswer[] = []
    const gathering = new Gathering(exchange, asked.length, () => asVersion(answers, exchange))
    asked.forEach(({ groupId, topics, memberId, memberEpoch }, index) => {
      const wanted = topics?.flatMap(({ name, partitionIndexes }) => name === undefined ? [] : [{ topic: name, partitions: partitionIndexes }])
      groups.submit({ type: 'fetch', groupId, memberId, epoch: memberEpoch, wanted }, (error, reply) => {
        const errorCode = reply?.errorCode ?? codeFor(error, exchange, logger)
        const offsets = reply?.offsets ?? []
        answers[index] = errorCode !== kafkaErrors.NONE ? refused(groupId, topics, errorCode, exchange)
          : { groupId, errorCode: kafkaErrors.NONE, topics: topics === null ? this.all(offsets, exchange) : this.wanted(topics, offsets) }
        gathering.settled()
      })
    })
  }

  failure(request: OffsetFetchRequest, errorCode: number, exchange: Exchange): Response {
    return asVersion(this.askedOf(request, exchange).map(({ groupId, topics }) => refused(groupId, topics, errorCode, exchange)), exchange)
  }

  /** In the order of the request, which is that of the offsets. */
  private wanted(topics: NonNullable<Wanted>, offsets: readonly FetchedOffset[]): GroupAnswer['topics'] {
    let next = 0
    return topics.map(({ name, topicId, partitionIndexes }) => ({
      name: name ?? '',
      topicId,
      partitions: partitionIndexes.map((partition) => {
        if (name === undefined) return { ...partitionAnswer({ ...noOffset, topic: '', partition }), errorCode: kafkaErrors.UNKNOWN_TOPIC_ID }
        const offset = offsets[next++]!
        return partitionAnswer(this.isOfTopic(offset) ? offset : { ...noOffset, topic: name, partition })
      }),
    }))
  }

  private all(offsets: readonly FetchedOffset[], { apiVersion }: Exchange): GroupAnswer['topics'] {
    const known = this.parts.metadata.image().topics
    const topics = new Map<string, ReturnType<typeof partitionAnswer>[]>()
    for (const offset of offsets) {
      if (!this.isOfTopic(offset)) continue
      const partitions = topics.get(offset.topic)
      if (partitions === undefined) topics.set(offset.topic, [partitionAnswer(offset)])
      else partitions.push(partitionAnswer(offset))
    }
    return Array.from(topics, ([name, partitions]) => ({ name, topicId: known.get(name)?.id ?? zeroUuid, partitions })).filter(({ topicId }) => apiVersion < 10 || topicId !== zeroUuid)
  }

  private askedOf(request: OffsetFetchRequest, { apiVersion }: Exchange): readonly Asked[] {
    if (apiVersion < 8) return [{ groupId: request.groupId, topics: request.topics?.map((topic) => ({ ...topic, topicId: zeroUuid })) ?? null, memberId: null, memberEpoch: -1 }]
    if (apiVersion < 10) return request.groups
    const { topicsById } = this.parts.metadata.image()
    return request.groups.map((group) => ({ ...group, topics: group.topics?.map((topic) => ({ ...topic, name: topicsById.get(topic.topicId)?.name })) ?? null }))
  }

  /** Whether it was committed for the topic that is there, and not for one that had its name before. */
  private isOfTopic({ topic, topicId }: FetchedOffset): boolean {
    const id = this.parts.metadata.image().topics.get(topic)?.id
    return topicId === zeroUuid || id === topicId
  }
}

function partitionAnswer({ partition, offset, leaderEpoch, metadata }: FetchedOffset): GroupAnswer['topics'][number]['partitions'][number] {
  return { partitionIndex: partition, committedOffset: offset, committedLeaderEpoch: leaderEpoch, metadata, errorCode: kafkaErrors.NONE }
}

/** v1 has no code for the group: each partition has it. */
function refused(groupId: string, topics: Wanted, errorCode: number, { apiVersion }: Exchange): GroupAnswer {
  if (apiVersion >= 2) return { groupId, errorCode, topics: [] }
  const partition = { committedOffset: -1, committedLeaderEpoch: -1, metadata: '', errorCode }
  return { groupId, errorCode, topics: (topics ?? []).map(({ name, topicId, partitionIndexes }) => ({ name: name ?? '', topicId, partitions: partitionIndexes.map((partitionIndex) => ({ partitionIndex, ...partition })) })) }
}

function asVersion(answers: readonly GroupAnswer[], { apiVersion }: Exchange): Response {
  return apiVersion < 8 ? { topics: answers[0]!.topics, errorCode: answers[0]!.errorCode } : { groups: answers }
}
