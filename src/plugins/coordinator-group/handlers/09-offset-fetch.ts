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

/** Topics with the partitions that are asked for; null for all. */
type Wanted = readonly { readonly name: string, readonly partitionIndexes: readonly number[] }[] | null

interface GroupAnswer {
  readonly groupId: string
  readonly topics: readonly {
    readonly name: string
    readonly partitions: { partitionIndex: number, committedOffset: number, committedLeaderEpoch: number, metadata: string, errorCode: number }[]
  }[]
  readonly errorCode: number
}

/**
 * OffsetFetch v1-9: what is committed and synced. An offset that is not there is -1 and no error; null topics are all (quirk 51). v2 has a code for the
 * group, v5 leader epochs, v7 waits for transactions, of which there are none here, v8 asks for several groups at once.
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
    const asked = askedOf(request, exchange)
    const answers: GroupAnswer[] = []
    const gathering = new Gathering(exchange, asked.length, () => asVersion(answers, exchange))
    asked.forEach(({ groupId, topics }, index) => {
      const wanted = topics?.map(({ name, partitionIndexes }) => ({ topic: name, partitions: partitionIndexes }))
      groups.submit({ type: 'fetch', groupId, wanted }, (error, offsets) => {
        answers[index] = offsets === undefined ? refused(groupId, topics, codeFor(error, exchange, logger), exchange)
          : { groupId, errorCode: kafkaErrors.NONE, topics: topics === null ? this.all(offsets) : this.wanted(topics, offsets) }
        gathering.settled()
      })
    })
  }

  failure(request: OffsetFetchRequest, errorCode: number, exchange: Exchange): Response {
    return asVersion(askedOf(request, exchange).map(({ groupId, topics }) => refused(groupId, topics, errorCode, exchange)), exchange)
  }

  /** In the order of the request, which is that of the offsets. */
  private wanted(topics: NonNullable<Wanted>, offsets: readonly FetchedOffset[]): GroupAnswer['topics'] {
    let next = 0
    return topics.map(({ name, partitionIndexes }) => ({
      name,
      partitions: partitionIndexes.map((partition) => {
        const offset = offsets[next++]!
        return partitionAnswer(this.isOfTopic(offset) ? offset : { ...noOffset, topic: name, partition })
      }),
    }))
  }

  private all(offsets: readonly FetchedOffset[]): GroupAnswer['topics'] {
    const topics = new Map<string, ReturnType<typeof partitionAnswer>[]>()
    for (const offset of offsets) {
      if (!this.isOfTopic(offset)) continue
      const partitions = topics.get(offset.topic)
      if (partitions === undefined) topics.set(offset.topic, [partitionAnswer(offset)])
      else partitions.push(partitionAnswer(offset))
    }
    return Array.from(topics, ([name, partitions]) => ({ name, partitions }))
  }

  /** Whether it was committed for this topic, and not for one that had its name before. */
  private isOfTopic({ topic, topicId }: FetchedOffset): boolean {
    const id = this.parts.metadata.image().topics.get(topic)?.id
    return topicId === zeroUuid || id === undefined || id === topicId
  }
}

function askedOf(request: OffsetFetchRequest, { apiVersion }: Exchange): readonly { readonly groupId: string, readonly topics: Wanted }[] {
  return apiVersion < 8 ? [{ groupId: request.groupId, topics: request.topics }] : request.groups
}

function partitionAnswer({ partition, offset, leaderEpoch, metadata }: FetchedOffset): GroupAnswer['topics'][number]['partitions'][number] {
  return { partitionIndex: partition, committedOffset: offset, committedLeaderEpoch: leaderEpoch, metadata, errorCode: kafkaErrors.NONE }
}

/** v1 has no code for the group: each partition has it. */
function refused(groupId: string, topics: Wanted, errorCode: number, { apiVersion }: Exchange): GroupAnswer {
  if (apiVersion >= 2) return { groupId, errorCode, topics: [] }
  const partition = { committedOffset: -1, committedLeaderEpoch: -1, metadata: '', errorCode }
  return { groupId, errorCode, topics: (topics ?? []).map(({ name, partitionIndexes }) => ({ name, partitions: partitionIndexes.map((partitionIndex) => ({ partitionIndex, ...partition })) })) }
}

function asVersion(answers: readonly GroupAnswer[], { apiVersion }: Exchange): Response {
  return apiVersion < 8 ? { topics: answers[0]!.topics, errorCode: answers[0]!.errorCode } : { groups: answers }
}
