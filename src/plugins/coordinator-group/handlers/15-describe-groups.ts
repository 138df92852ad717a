import { type Exchange, type ProtocolHandler } from '../../../kernel/ports/protocol-handler.ts'
import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { type describeGroupsApi, type DescribeGroupsRequest } from '../../../wire/messages/15-describe-groups.ts'
import { type ResponseDraftOf } from '../../../wire/schema/message.ts'
import { type GroupReplies } from '../core/group-commands.ts'
import { describedDead } from '../core/group-views.ts'
import { rangeOf } from '../core/version-ranges.ts'
import { codeFor, Gathering, groupOperations, type HandlerParts } from '../handler-parts.ts'

/** DescribeGroups v0-6: one result a group (quirk 54); one that is not there is a dead one, and an error from v6 on (quirk 53). */
export class DescribeGroupsHandler implements ProtocolHandler {
  readonly apiKey = 15
  readonly minVersion = rangeOf(15).minVersion
  readonly maxVersion = rangeOf(15).maxVersion
  private readonly parts: HandlerParts

  constructor(parts: HandlerParts) {
    this.parts = parts
  }

  handle(request: DescribeGroupsRequest, exchange: Exchange): void {
    const { groups, logger } = this.parts
    const described: GroupReplies['describe'][] = []
    const gathering = new Gathering(exchange, request.groups.length, () => ({ groups: described }))
    request.groups.forEach((groupId, index) => {
      groups.submit({ type: 'describe', groupId }, (error, reply) => {
        const group = reply ?? describedDead(groupId, codeFor(error, exchange, logger), null)
        const known = asVersion(group, exchange)
        described[index] = request.includeAuthorizedOperations && known.errorCode === kafkaErrors.NONE ? { ...known, authorizedOperations: groupOperations } : known
        gathering.settled()
      })
    })
  }

  failure(request: DescribeGroupsRequest, errorCode: number): ResponseDraftOf<typeof describeGroupsApi> {
    return { groups: request.groups.map((groupId) => describedDead(groupId, errorCode, null)) }
  }
}

function asVersion(group: GroupReplies['describe'], { apiVersion }: Exchange): GroupReplies['describe'] {
  if (apiVersion >= 6) return group
  return { ...group, errorMessage: null, errorCode: group.errorCode === kafkaErrors.GROUP_ID_NOT_FOUND ? kafkaErrors.NONE : group.errorCode }
}
