import { type Exchange, type ProtocolHandler } from '../../../kernel/ports/protocol-handler.ts'
import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { type syncGroupApi, type SyncGroupRequest } from '../../../wire/messages/14-sync-group.ts'
import { type ResponseDraftOf } from '../../../wire/schema/message.ts'
import { noBytes } from '../core/classic-group.ts'
import { rangeOf } from '../core/version-ranges.ts'
import { ask, isNamed, type HandlerParts } from '../handler-parts.ts'

/** SyncGroup v0-5: the leader's brings the assignment, which is written before anybody has it; the others' wait for it (quirk 47). v5 says the protocol too, which is checked. */
export class SyncGroupHandler implements ProtocolHandler {
  readonly apiKey = 14
  readonly minVersion = rangeOf(14).minVersion
  readonly maxVersion = rangeOf(14).maxVersion
  private readonly parts: HandlerParts

  constructor(parts: HandlerParts) {
    this.parts = parts
  }

  handle(request: SyncGroupRequest, exchange: Exchange): void {
    const { groupId, generationId, memberId, groupInstanceId, protocolType, protocolName, assignments } = request
    // As in Kafka: before the group is looked at.
    if (exchange.apiVersion >= 5 && (protocolType === null || protocolName === null)) {
      exchange.reply(this.failure(request, kafkaErrors.INCONSISTENT_GROUP_PROTOCOL))
      return
    }
    if (!isNamed(groupId)) {
      exchange.reply(this.failure(request, kafkaErrors.INVALID_GROUP_ID))
      return
    }
    ask(this.parts, exchange, {
      type: 'sync', groupId, generation: generationId, memberId, instanceId: groupInstanceId, protocolType, protocol: protocolName,
      assignments: new Map(assignments.map((each) => [each.memberId, each.assignment.slice()])),
    }, (errorCode, reply) => reply ?? this.failure(request, errorCode))
  }

  failure(_request: unknown, errorCode: number): ResponseDraftOf<typeof syncGroupApi> {
    return { errorCode, assignment: noBytes }
  }
}
