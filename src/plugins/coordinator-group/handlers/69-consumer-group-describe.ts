import { type Exchange, type ProtocolHandler } from '../../../kernel/ports/protocol-handler.ts'
import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { type ConsumerGroupDescribeRequest, type consumerGroupDescribeApi } from '../../../wire/messages/69-consumer-group-describe.ts'
import { type ResponseDraftOf } from '../../../wire/schema/message.ts'
import { type GroupReplies } from '../core/group-commands.ts'
import { undescribed } from '../core/consumer/consumer-views.ts'
import { rangeOf } from '../core/version-ranges.ts'
import { codeFor, Gathering, groupOperations, type HandlerParts } from '../handler-parts.ts'

/** ConsumerGroupDescribe v0-1: one result a group, in the order of the request; one of the classic protocol is not there (quirk 54). v1 tells which protocol a member speaks. */
export class ConsumerGroupDescribeHandler implements ProtocolHandler {
  readonly apiKey = 69
  readonly minVersion = rangeOf(69).minVersion
  readonly maxVersion = rangeOf(69).maxVersion
  private readonly parts: HandlerParts

  constructor(parts: HandlerParts) {
    this.parts = parts
  }

  handle({ groupIds, includeAuthorizedOperations }: ConsumerGroupDescribeRequest, exchange: Exchange): void {
    const { groups, logger } = this.parts
    const described: GroupReplies['consumerDescribe'][] = []
    const gathering = new Gathering(exchange, groupIds.length, () => ({ throttleTimeMs: 0, groups: described }))
    groupIds.forEach((groupId, index) => {
      if (groupId === '') {
        described[index] = undescribed(groupId, kafkaErrors.INVALID_GROUP_ID, 'the group has no name')
        gathering.settled()
        return
      }
      groups.submit({ type: 'consumerDescribe', groupId }, (error, reply) => {
        const group = reply ?? undescribed(groupId, codeFor(error, exchange, logger), null)
        described[index] = includeAuthorizedOperations && group.errorCode === kafkaErrors.NONE ? { ...group, authorizedOperations: groupOperations } : group
        gathering.settled()
      })
    })
  }

  failure({ groupIds }: ConsumerGroupDescribeRequest, errorCode: number): ResponseDraftOf<typeof consumerGroupDescribeApi> {
    return { throttleTimeMs: 0, groups: groupIds.map((groupId) => undescribed(groupId, errorCode, null)) }
  }
}
