import { type TopicImage } from '../../../kernel/ports/cluster-metadata.ts'
import { type Exchange, type ProtocolHandler } from '../../../kernel/ports/protocol-handler.ts'
import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { type offsetCommitApi, type OffsetCommitRequest } from '../../../wire/messages/08-offset-commit.ts'
import { type ResponseDraftOf } from '../../../wire/schema/message.ts'
import { type OffsetToCommit } from '../core/group-commands.ts'
import { rangeOf } from '../core/version-ranges.ts'
import { ask, type HandlerParts } from '../handler-parts.ts'

type Response = ResponseDraftOf<typeof offsetCommitApi>

/**
 * OffsetCommit v2-9: written and synced before it is answered. A member commits in its generation, anybody else while the group has no members (quirk
 * 50). Up to v4 the offsets may have a time of their own; v6 keeps leader epochs, v7 knows static members, v9 a code for groups that are not there.
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
    const known = this.parts.metadata.image().topics
    const offsets = offsetsOf(request, known)
    if (offsets.length === 0) {
      exchange.reply(answer(request, known, () => kafkaErrors.NONE))
      return
    }
    ask(this.parts, exchange, {
      type: 'commit', groupId, generation, memberId, instanceId: groupInstanceId, retentionMs: retentionTimeMs, offsets, knowsGroupNotFound: exchange.apiVersion >= 9,
    }, (errorCode, codes) => {
      let next = 0
      return answer(request, known, () => codes?.[next++] ?? errorCode)
    })
  }

  failure(request: OffsetCommitRequest, errorCode: number): Response {
    return { topics: request.topics.map(({ name, topicId, partitions }) => ({ name, topicId, partitions: partitions.map(({ partitionIndex }) => ({ partitionIndex, errorCode })) })) }
  }
}

type Topics = ReadonlyMap<string, TopicImage>

/** Those of topics that there are, in the order of the request. */
function offsetsOf({ topics }: OffsetCommitRequest, known: Topics): OffsetToCommit[] {
  return topics.flatMap(({ name, partitions }) => {
    const topic = known.get(name)
    return topic === undefined ? [] : partitions.map((partition): OffsetToCommit => ({
      topic: name,
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
function answer({ topics }: OffsetCommitRequest, known: Topics, codeOf: () => number): Response {
  return {
    topics: topics.map(({ name, topicId, partitions }) => ({
      name, topicId, partitions: partitions.map(({ partitionIndex }) => ({ partitionIndex, errorCode: known.has(name) ? codeOf() : kafkaErrors.UNKNOWN_TOPIC_OR_PARTITION })),
    })),
  }
}
