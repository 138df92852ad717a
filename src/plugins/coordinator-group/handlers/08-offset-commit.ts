import { type ClusterImage, type TopicImage } from '../../../kernel/ports/cluster-metadata.ts'
import { type Exchange, type ProtocolHandler } from '../../../kernel/ports/protocol-handler.ts'
import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { type offsetCommitApi, type OffsetCommitRequest } from '../../../wire/messages/08-offset-commit.ts'
import { type ResponseDraftOf } from '../../../wire/schema/message.ts'
import { type OffsetToCommit } from '../core/group-commands.ts'
import { rangeOf } from '../core/version-ranges.ts'
import { ask, hasPartition, type HandlerParts } from '../handler-parts.ts'

type Response = ResponseDraftOf<typeof offsetCommitApi>

/**
 * OffsetCommit v2-10: written and synced before it is answered. A member commits in its generation, anybody else while the group has no members (quirk
 * 50). Up to v4 the offsets may have a time of their own; v6 keeps leader epochs, v7 knows static members, v9 members of the consumer protocol, v10 topics by
 * their ids.
 * Offsets are kept with the id of their topic: those of a topic that was deleted are not told for another of its name.
 */
export class OffsetCommitHandler implements ProtocolHandler {
  readonly apiKey = 8
  readonly minVersion = rangeOf(8).minVersion
  readonly maxVersion = rangeOf(8).maxVersion
  private readonly parts: HandlerParts

  constructor(parts: HandlerParts) {
    this.parts = parts
  }

  handle(request: OffsetCommitRequest, exchange: Exchange): void {
    const { groupId, generationIdOrMemberEpoch: generation, memberId, groupInstanceId, retentionTimeMs } = request
    const find = finder(this.parts.metadata.image(), exchange.apiVersion)
    const offsets = offsetsOf(request, find)
    if (offsets.length === 0) {
      exchange.reply(answer(request, find, () => kafkaErrors.NONE))
      return
    }
    ask(this.parts, exchange, {
      type: 'commit', groupId, generation, memberId, instanceId: groupInstanceId, retentionMs: retentionTimeMs, offsets, knowsEpochs: exchange.apiVersion >= 9,
    }, (errorCode, codes) => {
      let next = 0
      return answer(request, find, () => codes?.[next++] ?? errorCode)
    })
  }

  failure(request: OffsetCommitRequest, errorCode: number): Response {
    return { topics: request.topics.map(({ name, topicId, partitions }) => ({ name, topicId, partitions: partitions.map(({ partitionIndex }) => ({ partitionIndex, errorCode })) })) }
  }
}

interface Find {
  readonly topic: (said: { readonly name: string, readonly topicId: string }) => TopicImage | undefined
  /** The code for a topic that is not there. */
  readonly unknown: number
}

function finder({ topics, topicsById }: ClusterImage, apiVersion: number): Find {
  return apiVersion >= 10 ? { topic: ({ topicId }) => topicsById.get(topicId), unknown: kafkaErrors.UNKNOWN_TOPIC_ID }
    : { topic: ({ name }) => topics.get(name), unknown: kafkaErrors.UNKNOWN_TOPIC_OR_PARTITION }
}

/** Those of partitions that there are, in the order of the request. */
function offsetsOf({ topics }: OffsetCommitRequest, find: Find): OffsetToCommit[] {
  return topics.flatMap((said) => {
    const topic = find.topic(said)
    return topic === undefined ? [] : said.partitions.filter(({ partitionIndex }) => hasPartition(topic, partitionIndex)).map((partition): OffsetToCommit => ({
      topic: topic.name,
      topicId: topic.id,
      partition: partition.partitionIndex,
      offset: partition.committedOffset,
      leaderEpoch: partition.committedLeaderEpoch,
      // Quirk 50: no text is an empty one.
      metadata: partition.committedMetadata ?? '',
    }))
  })
}

/** `codeOf` gives the codes of what was committed, one after another. */
function answer({ topics }: OffsetCommitRequest, find: Find, codeOf: () => number): Response {
  return {
    topics: topics.map((said) => {
      const topic = find.topic(said)
      const codeFor = (partition: number): number => {
        if (topic === undefined) return find.unknown
        return hasPartition(topic, partition) ? codeOf() : kafkaErrors.UNKNOWN_TOPIC_OR_PARTITION
      }
      return { name: said.name, topicId: said.topicId, partitions: said.partitions.map(({ partitionIndex }) => ({ partitionIndex, errorCode: codeFor(partitionIndex) })) }
    }),
  }
}
