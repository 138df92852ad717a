import { utf8Length } from '../../../base/bytes-writer.ts'
import { type Exchange, type ProtocolHandler } from '../../../kernel/ports/protocol-handler.ts'
import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { type ConsumerGroupHeartbeatRequest, type consumerGroupHeartbeatApi } from '../../../wire/messages/68-consumer-group-heartbeat.ts'
import { type ResponseDraftOf } from '../../../wire/schema/message.ts'
import { assignedOf } from '../core/consumer/assigned.ts'
import { awayEpoch } from '../core/consumer/consumer-group.ts'
import { type Refusal } from '../core/consumer/heartbeat.ts'
import { memberId as freshId } from '../core/member-id.ts'
import { rangeOf } from '../core/version-ranges.ts'
import { ask, type HandlerParts } from '../handler-parts.ts'

type Response = ResponseDraftOf<typeof consumerGroupHeartbeatApi>

/** Characters of an id, and topics of a subscription: all of them are kept, and written with each change. */
const idLengthMax = 250
const topicsMax = 10_000
const topicLengthMax = 249
/** Bytes of UTF-8 of all of them: a member is written as one record, into a topic whose batches have 1 MiB at most by default. */
const subscriptionBytesMax = 512 * 1024
/** Milliseconds. A member that is to give partitions up is not waited for any longer. */
const rebalanceTimeoutMsMax = 24 * 60 * 60 * 1000

/**
 * ConsumerGroupHeartbeat v0-1: a member of the consumer protocol (KIP-848) joins with epoch 0, leaves with -1, or with -2 for a while where it is static, and
 * is told what it has (quirk 55). v0 makes its id, in v1 it has one; v1 knows subscriptions by pattern.
 */
export class ConsumerGroupHeartbeatHandler implements ProtocolHandler {
  readonly apiKey = 68
  readonly minVersion = rangeOf(68).minVersion
  readonly maxVersion = rangeOf(68).maxVersion
  private readonly parts: HandlerParts

  constructor(parts: HandlerParts) {
    this.parts = parts
  }

  handle(request: ConsumerGroupHeartbeatRequest, exchange: Exchange): void {
    const { groups, random, assignors } = this.parts
    const { groupId, memberEpoch: epoch, instanceId, rackId, rebalanceTimeoutMs, subscribedTopicNames, subscribedTopicRegex, serverAssignor, topicPartitions } = request
    const fault = requestFault(request, exchange.apiVersion) ?? assignorFault(serverAssignor, assignors) ?? this.patternFault(subscribedTopicRegex)
    if (fault !== undefined) {
      exchange.reply({ ...this.failure(request, fault.errorCode), errorMessage: fault.errorMessage })
      return
    }
    const memberId = request.memberId === '' ? freshId(exchange.clientId ?? '', random.bytes(16)) : request.memberId
    ask(this.parts, exchange, {
      type: 'consumerHeartbeat', groupId, memberId, epoch, instanceId, rackId,
      rebalanceTimeoutMs: Math.min(rebalanceTimeoutMs, rebalanceTimeoutMsMax),
      topics: subscribedTopicNames === null ? null : [...new Set(subscribedTopicNames)].sort(),
      pattern: subscribedTopicRegex,
      serverAssignor,
      owned: topicPartitions === null ? null : assignedOf(topicPartitions),
      clientId: exchange.clientId ?? '',
      clientHost: `/${exchange.peer.host}`,
    }, (errorCode, reply) => {
      if (reply === undefined) return this.failure(request, errorCode)
      if (reply.unresolved !== undefined) groups.resolvePattern(groupId, reply.unresolved)
      return reply.response
    })
  }

  failure(_request: unknown, errorCode: number): Response {
    return { errorCode, throttleTimeMs: 0, memberEpoch: 0, heartbeatIntervalMs: 0, assignment: null }
  }

  private patternFault(pattern: string | null): Refusal | undefined {
    const errorMessage = pattern === null || pattern === '' ? undefined : this.parts.groups.patternFault(pattern)
    return errorMessage === undefined ? undefined : { errorCode: kafkaErrors.INVALID_REGULAR_EXPRESSION, errorMessage }
  }
}

function requestFault(request: ConsumerGroupHeartbeatRequest, apiVersion: number): Refusal | undefined {
  const { groupId, memberId, memberEpoch, instanceId, rackId, subscribedTopicNames } = request
  const invalid = (errorMessage: string): Refusal => ({ errorCode: kafkaErrors.INVALID_REQUEST, errorMessage })
  if (groupId === '') return invalid('the group has no name')
  if (memberEpoch < awayEpoch) return invalid(`there is no member epoch ${memberEpoch}`)
  if (memberId === '' && (apiVersion > 0 || memberEpoch !== 0)) return invalid('the member has no id')
  if (instanceId === '' || rackId === '') return invalid('an instance id or rack that is given is not empty')
  if (memberEpoch === awayEpoch && instanceId === null) return invalid('only a member with an instance id leaves for a while')
  for (const id of [memberId, instanceId, rackId]) if ((id?.length ?? 0) > idLengthMax) return invalid(`an id has more than ${idLengthMax} characters`)
  if (subscribedTopicNames !== null && subscribedTopicNames.length > topicsMax) return invalid(`the subscription has ${subscribedTopicNames.length} topics, and ${topicsMax} are allowed: use a pattern`)
  if (subscribedTopicNames?.some((name) => name.length > topicLengthMax) === true) return invalid(`the subscription has a name of more than ${topicLengthMax} characters, which no topic has`)
  const bytes = (subscribedTopicNames ?? []).reduce((sum, name) => sum + utf8Length(name), 0)
  if (bytes > subscriptionBytesMax) return invalid(`the names of the subscription have ${bytes} bytes, and ${subscriptionBytesMax} are allowed: use a pattern`)
  return memberEpoch === 0 ? joinFault(request, invalid) : undefined
}

/** Who joins says everything; an empty list of topics, and an empty pattern, say that it reads nothing yet. */
function joinFault({ rebalanceTimeoutMs, subscribedTopicNames, subscribedTopicRegex, topicPartitions }: ConsumerGroupHeartbeatRequest, invalid: (message: string) => Refusal): Refusal | undefined {
  if (rebalanceTimeoutMs < 0) return invalid('a member that joins says its rebalance timeout')
  if (topicPartitions === null || topicPartitions.length > 0) return invalid('a member that joins owns no partitions, and says so')
  return subscribedTopicNames === null && subscribedTopicRegex === null ? invalid('a member that joins says what it reads') : undefined
}

function assignorFault(name: string | null, served: readonly string[]): Refusal | undefined {
  if (name === null || served.includes(name)) return undefined
  return { errorCode: kafkaErrors.UNSUPPORTED_ASSIGNOR, errorMessage: `there is no assignor ${name.slice(0, idLengthMax)}: group.consumer.assignors has ${served.join(', ')}` }
}
