import { type Exchange, type ProtocolHandler } from '../../../kernel/ports/protocol-handler.ts'
import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { type heartbeatApi, type HeartbeatRequest } from '../../../wire/messages/12-heartbeat.ts'
import { type ResponseDraftOf } from '../../../wire/schema/message.ts'
import { rangeOf } from '../core/version-ranges.ts'
import { ask, isNamed, type HandlerParts } from '../handler-parts.ts'

/** Heartbeat v0-4: a sign of life, and how a member learns that it has to join again (quirk 47). v3 knows static members. */
export class HeartbeatHandler implements ProtocolHandler {
  readonly apiKey = 12
  readonly minVersion = rangeOf(12).minVersion
  readonly maxVersion = rangeOf(12).maxVersion
  private readonly parts: HandlerParts

  constructor(parts: HandlerParts) {
    this.parts = parts
  }

  handle({ groupId, generationId, memberId, groupInstanceId }: HeartbeatRequest, exchange: Exchange): void {
    if (!isNamed(groupId)) {
      exchange.reply({ errorCode: kafkaErrors.INVALID_GROUP_ID })
      return
    }
    ask(this.parts, exchange, { type: 'heartbeat', groupId, generation: generationId, memberId, instanceId: groupInstanceId },
      (errorCode, reply) => reply ?? { errorCode })
  }

  failure(_request: unknown, errorCode: number): ResponseDraftOf<typeof heartbeatApi> {
    return { errorCode }
  }
}
