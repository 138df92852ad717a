import { type Exchange, type ProtocolHandler } from '../../../kernel/ports/protocol-handler.ts'
import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { type joinGroupApi, type JoinGroupRequest } from '../../../wire/messages/11-join-group.ts'
import { type ResponseDraftOf } from '../../../wire/schema/message.ts'
import { refusedJoin } from '../core/group-turn.ts'
import { memberId as freshId } from '../core/member-id.ts'
import { rangeOf } from '../core/version-ranges.ts'
import { ask, isNamed, type HandlerParts } from '../handler-parts.ts'

type Response = ResponseDraftOf<typeof joinGroupApi>

/** Of one member. Clients name some few; each is kept, and looked at when one is chosen. */
const protocolsMax = 1000

/**
 * JoinGroup v0-9: makes a member, and answers when the others have joined too. It may wait for as long as the rebalance timeout; what follows on its
 * connection is answered behind it.
 *
 * v0 has no rebalance timeout and takes the session timeout for it (quirk 44); v4 asks a dynamic member to come again with its id; v5 knows static members (quirk
 * 49); before v7 a protocol name is never null (quirk 45); v9 may tell a static leader to assign nothing. More than a thousand protocols are INVALID_REQUEST.
 */
export class JoinGroupHandler implements ProtocolHandler {
  readonly apiKey = 11
  readonly minVersion = rangeOf(11).minVersion
  readonly maxVersion = rangeOf(11).maxVersion
  private readonly parts: HandlerParts

  constructor(parts: HandlerParts) {
    this.parts = parts
  }

  handle(request: JoinGroupRequest, exchange: Exchange): void {
    const { groupId, memberId, groupInstanceId: instanceId, sessionTimeoutMs, rebalanceTimeoutMs, protocolType, protocols, reason } = request
    const { apiVersion } = exchange
    if (!isNamed(groupId)) {
      exchange.reply(this.failure(request, kafkaErrors.INVALID_GROUP_ID, exchange))
      return
    }
    if (protocols.length > protocolsMax) {
      exchange.reply(this.failure(request, kafkaErrors.INVALID_REQUEST, exchange))
      return
    }
    ask(this.parts, exchange, {
      type: 'join', groupId, memberId, instanceId, sessionTimeoutMs, protocolType, reason,
      rebalanceTimeoutMs: apiVersion === 0 || rebalanceTimeoutMs < 0 ? sessionTimeoutMs : rebalanceTimeoutMs,
      // The bytes of the request are gone when the group is asked what it knows of the member.
      protocols: protocols.map(({ name, metadata }) => ({ name, metadata: metadata.slice() })),
      clientId: exchange.clientId ?? '',
      clientHost: `/${exchange.peer.host}`,
      freshMemberId: freshId(instanceId ?? exchange.clientId ?? '', this.parts.random.bytes(16)),
      idFirst: apiVersion >= 4,
      maySkip: apiVersion >= 9,
    }, (errorCode, reply) => asVersion(reply ?? refusedJoin(memberId, errorCode), apiVersion))
  }

  failure({ memberId }: JoinGroupRequest, errorCode: number, { apiVersion }: Exchange): Response {
    return asVersion(refusedJoin(memberId, errorCode), apiVersion)
  }

  /** Members that wait for others are told to look for their coordinator. */
  stopWaiting(): void {
    this.parts.groups.stopWaiting()
  }
}

const asVersion = (response: Response, apiVersion: number): Response => apiVersion >= 7 ? response : { ...response, protocolName: response.protocolName ?? '' }
