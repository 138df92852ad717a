import { type Exchange, type ProtocolHandler } from '../../../kernel/ports/protocol-handler.ts'
import { type deleteGroupsApi, type DeleteGroupsRequest } from '../../../wire/messages/42-delete-groups.ts'
import { type ResponseDraftOf } from '../../../wire/schema/message.ts'
import { type GroupReplies } from '../core/group-commands.ts'
import { rangeOf } from '../core/version-ranges.ts'
import { codeFor, Gathering, type HandlerParts } from '../handler-parts.ts'

/** DeleteGroups v0-3: groups without members, and all that they have committed; each by itself. v3 says why one could not be. */
export class DeleteGroupsHandler implements ProtocolHandler {
  readonly apiKey = 42
  readonly minVersion = rangeOf(42).minVersion
  readonly maxVersion = rangeOf(42).maxVersion
  private readonly parts: HandlerParts

  constructor(parts: HandlerParts) {
    this.parts = parts
  }

  handle({ groupsNames }: DeleteGroupsRequest, exchange: Exchange): void {
    const { groups, logger } = this.parts
    const results: GroupReplies['delete'][] = []
    const gathering = new Gathering(exchange, groupsNames.length, () => ({ throttleTimeMs: 0, results }))
    groupsNames.forEach((groupId, index) => {
      groups.submit({ type: 'delete', groupId }, (error, reply) => {
        results[index] = reply ?? { groupId, errorCode: codeFor(error, exchange, logger) }
        gathering.settled()
      })
    })
  }

  failure({ groupsNames }: DeleteGroupsRequest, errorCode: number): ResponseDraftOf<typeof deleteGroupsApi> {
    return { throttleTimeMs: 0, results: groupsNames.map((groupId) => ({ groupId, errorCode })) }
  }
}
