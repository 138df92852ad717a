import { type Exchange, type ProtocolHandler } from '../../../kernel/ports/protocol-handler.ts'
import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { type leaveGroupApi, type LeaveGroupRequest } from '../../../wire/messages/13-leave-group.ts'
import { type ResponseDraftOf } from '../../../wire/schema/message.ts'
import { rangeOf } from '../core/version-ranges.ts'
import { ask, isNamed, type HandlerParts } from '../handler-parts.ts'

type Response = ResponseDraftOf<typeof leaveGroupApi>

/** LeaveGroup v0-5: up to v2 one member, whose code is that of the answer; from v3 several, each with its own, by instance id where they are static (quirk 49). v5 says why. */
export class LeaveGroupHandler implements ProtocolHandler {
  readonly apiKey = 13
  readonly minVersion = rangeOf(13).minVersion
  readonly maxVersion = rangeOf(13).maxVersion
  private readonly parts: HandlerParts

  constructor(parts: HandlerParts) {
    this.parts = parts
  }

  handle(request: LeaveGroupRequest, exchange: Exchange): void {
    const { groupId, memberId } = request
    const isSingle = exchange.apiVersion < 3
    if (!isNamed(groupId)) {
      exchange.reply(this.failure(request, kafkaErrors.INVALID_GROUP_ID))
      return
    }
    const members = isSingle ? [{ memberId, instanceId: null, reason: null }]
      : request.members.map((each) => ({ memberId: each.memberId, instanceId: each.groupInstanceId, reason: each.reason }))
    ask(this.parts, exchange, { type: 'leave', groupId, members }, (errorCode, reply): Response => {
      if (reply === undefined) return this.failure(request, errorCode)
      return isSingle ? { errorCode: reply.members![0]!.errorCode!, members: [] } : reply
    })
  }

  failure(_request: unknown, errorCode: number): Response {
    return { errorCode, members: [] }
  }
}
