import { MillraceError } from '../../../kernel/errors/index.ts'
import { type Exchange, type ProtocolHandler } from '../../../kernel/ports/protocol-handler.ts'
import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { type findCoordinatorApi, type FindCoordinatorRequest } from '../../../wire/messages/10-find-coordinator.ts'
import { type ResponseDraftOf } from '../../../wire/schema/message.ts'
import { rangeOf } from '../core/version-ranges.ts'

type Response = ResponseDraftOf<typeof findCoordinatorApi>

const groupKey = 0
const transactionKey = 1
const shareKey = 2

/**
 * FindCoordinator v0-6. This broker coordinates neither groups nor transactions, and says so for every key: COORDINATOR_NOT_AVAILABLE would
 * make clients ask for ever, so the answer is UNSUPPORTED_VERSION with a message, which all of them report and give up on.
 */
export class FindCoordinatorHandler implements ProtocolHandler {
  readonly apiKey = 10
  readonly minVersion = rangeOf(10).min
  readonly maxVersion = rangeOf(10).max

  handle(request: FindCoordinatorRequest, exchange: Exchange): void {
    const { keyType } = request
    const { row, message } = new MillraceError(keyType === transactionKey ? 'MR_TRANSACTION_UNSUPPORTED' : 'MR_GROUP_UNSUPPORTED')
    if (keyType === groupKey || keyType === transactionKey || (keyType === shareKey && exchange.apiVersion >= 6)) {
      exchange.reply(answer(request, exchange.apiVersion, row.kafka, message))
    } else {
      exchange.reply(answer(request, exchange.apiVersion, kafkaErrors.INVALID_REQUEST, `key type ${keyType} is not known`))
    }
  }

  failure(request: FindCoordinatorRequest, errorCode: number, exchange: Exchange): Response {
    return answer(request, exchange.apiVersion, errorCode, null)
  }
}

/** One result a key (quirk 54); v4 and later have the array even for one (quirk 52). */
function answer({ coordinatorKeys }: FindCoordinatorRequest, apiVersion: number, errorCode: number, errorMessage: string | null): Response {
  const nobody = { nodeId: -1, host: '', port: -1, errorCode, errorMessage }
  return apiVersion < 4 ? nobody : { coordinators: coordinatorKeys.map((key) => ({ key, ...nobody })) }
}
