import { isMillraceError, MillraceError } from '../../../kernel/errors/index.ts'
import { type ClusterMetadata } from '../../../kernel/ports/cluster-metadata.ts'
import { type CoordinatorFinder } from '../../../kernel/ports/coordinator-finder.ts'
import { type Exchange, type ProtocolHandler } from '../../../kernel/ports/protocol-handler.ts'
import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { type findCoordinatorApi, type FindCoordinatorRequest } from '../../../wire/messages/10-find-coordinator.ts'
import { type ResponseDraftOf } from '../../../wire/schema/message.ts'
import { codeOf } from '../core/error-code.ts'
import { reachableBrokers } from '../core/reachable-brokers.ts'
import { rangeOf } from '../core/version-ranges.ts'
import { type ServingTools } from '../serving-tools.ts'

type Response = ResponseDraftOf<typeof findCoordinatorApi>

const groupKey = 0
const transactionKey = 1
const shareKey = 2

/** Up to here the clients are that make nothing of a refusal of this call; see below. */
const namedForTransactionsMax = 2

/** The topic of coordinators may have to be made first; who waits longer for it is told to ask again. */
const waitMs = 2000

/** The outcome for one key. */
interface Found {
  readonly nodeId: number
  readonly host: string
  readonly port: number
  readonly errorCode: number
  readonly errorMessage: string | null
}

/**
 * FindCoordinator v0-6: asks whoever knows about keys of that type, and always names a coordinator, also for a key that nobody has heard of (quirk
 * 52). For a type that nobody coordinates here COORDINATOR_NOT_AVAILABLE would make clients ask for ever, so the answer is UNSUPPORTED_VERSION with a
 * message, which Java's clients and others of the newer versions report and give up on.
 *
 * Up to version 2 the coordinator of a transactional id is this broker, although it has no transactions: librdkafka asks again after that code until its time is over, and kafkajs says of
 * any error here no more than that there is no coordinator. Both give up, with the code, when InitProducerId refuses, which they ask next.
 */
export class FindCoordinatorHandler implements ProtocolHandler {
  readonly apiKey = 10
  readonly minVersion = rangeOf(10).min
  readonly maxVersion = rangeOf(10).max
  private readonly tools: ServingTools
  private readonly metadata: ClusterMetadata
  private readonly finders: readonly CoordinatorFinder[]
  private readonly nodeId: number

  constructor(tools: ServingTools, metadata: ClusterMetadata, finders: readonly CoordinatorFinder[], nodeId: number) {
    this.tools = tools
    this.metadata = metadata
    this.finders = finders
    this.nodeId = nodeId
  }

  handle(request: FindCoordinatorRequest, exchange: Exchange): void {
    const { keyType } = request
    const finder = this.finders.find((each) => each.keyType === keyType)
    if (finder !== undefined && (keyType !== shareKey || exchange.apiVersion >= 6)) {
      this.find(finder, request, exchange)
      return
    }
    if (keyType === transactionKey && exchange.apiVersion <= namedForTransactionsMax) {
      exchange.reply(answer(request, exchange.apiVersion, [this.located(this.nodeId, exchange.listener)]))
      return
    }
    const { row, message } = new MillraceError(keyType === transactionKey ? 'MR_TRANSACTION_UNSUPPORTED' : 'MR_GROUP_UNSUPPORTED')
    if (keyType === groupKey || keyType === transactionKey || (keyType === shareKey && exchange.apiVersion >= 6)) {
      exchange.reply(refusal(request, exchange.apiVersion, row.kafka, message))
    } else {
      exchange.reply(refusal(request, exchange.apiVersion, kafkaErrors.INVALID_REQUEST, `key type ${keyType} is not known`))
    }
  }

  failure(request: FindCoordinatorRequest, errorCode: number, exchange: Exchange): Response {
    return refusal(request, exchange.apiVersion, errorCode, null)
  }

  private find(finder: CoordinatorFinder, request: FindCoordinatorRequest, exchange: Exchange): void {
    const keys = keysOf(request, exchange.apiVersion)
    const found = keys.map(() => late)
    let open = keys.length
    let over = false
    const finish = (): void => {
      if (over) return
      over = true
      this.tools.deadlines.remove(deadline)
      exchange.reply(answer(request, exchange.apiVersion, found))
    }
    const deadline = this.tools.deadlines.after(waitMs, { expired: finish })
    exchange.onGone(() => {
      over = true
      this.tools.deadlines.remove(deadline)
    })
    if (open === 0) finish()
    keys.forEach((key, index) => {
      finder.find(key, (error, nodeId) => {
        found[index] = error === undefined ? this.located(nodeId, exchange.listener) : refused(codeOf(error, 10, exchange.apiVersion), isMillraceError(error) ? error.message : null)
        if (--open === 0) finish()
      })
    })
  }

  /** Where clients of this listener reach the broker. */
  private located(nodeId: number, listener: string): Found {
    const broker = reachableBrokers(this.metadata.image(), listener).find((each) => each.nodeId === nodeId)
    if (broker === undefined) return refused(kafkaErrors.COORDINATOR_NOT_AVAILABLE, `broker ${nodeId} coordinates it, and cannot be reached by this listener now`)
    return { nodeId, host: broker.host, port: broker.port, errorCode: kafkaErrors.NONE, errorMessage: null }
  }
}

const keysOf = ({ key, coordinatorKeys }: FindCoordinatorRequest, apiVersion: number): readonly string[] => apiVersion < 4 ? [key] : coordinatorKeys

const refused = (errorCode: number, errorMessage: string | null): Found => ({ nodeId: -1, host: '', port: -1, errorCode, errorMessage })

const late = refused(kafkaErrors.COORDINATOR_NOT_AVAILABLE, 'the coordinator is not known yet; ask again')

const refusal = (request: FindCoordinatorRequest, apiVersion: number, errorCode: number, errorMessage: string | null): Response =>
  answer(request, apiVersion, keysOf(request, apiVersion).map(() => refused(errorCode, errorMessage)))

/** One result a key (quirk 54); v4 and later have the array even for one, and nothing beside it (quirk 52). */
function answer(request: FindCoordinatorRequest, apiVersion: number, found: readonly Found[]): Response {
  if (apiVersion < 4) return found[0]!
  return { coordinators: request.coordinatorKeys.map((key, index) => ({ key, ...found[index]! })) }
}
