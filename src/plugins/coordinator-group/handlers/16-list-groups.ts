import { type Exchange, type ProtocolHandler } from '../../../kernel/ports/protocol-handler.ts'
import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { type listGroupsApi, type ListGroupsRequest } from '../../../wire/messages/16-list-groups.ts'
import { type ResponseDraftOf } from '../../../wire/schema/message.ts'
import { rangeOf } from '../core/version-ranges.ts'
import { codeFor, type HandlerParts } from '../handler-parts.ts'

type Response = ResponseDraftOf<typeof listGroupsApi>

/** ListGroups v0-5: the groups that this broker coordinates; v4 filters by state, v5 by type (quirk 53). Whoever wants all asks every broker. */
export class ListGroupsHandler implements ProtocolHandler {
  readonly apiKey = 16
  readonly minVersion = rangeOf(16).minVersion
  readonly maxVersion = rangeOf(16).maxVersion
  private readonly parts: HandlerParts

  constructor(parts: HandlerParts) {
    this.parts = parts
  }

  handle(request: ListGroupsRequest, exchange: Exchange): void {
    let gone = false
    exchange.onGone(() => { gone = true })
    this.parts.groups.submitToAll({ type: 'list', states: request.statesFilter, types: request.typesFilter }, (error, groups) => {
      if (gone) return
      exchange.reply(groups === undefined ? this.failure(request, codeFor(error, exchange, this.parts.logger))
        : { errorCode: kafkaErrors.NONE, groups: groups.flat() } satisfies Response)
    })
  }

  failure(_request: unknown, errorCode: number): Response {
    return { errorCode, groups: [] }
  }
}
