import { isMillraceError, MillraceError } from '../../../kernel/errors/index.ts'
import { type Exchange, type ProtocolHandler } from '../../../kernel/ports/protocol-handler.ts'
import { type Logger } from '../../../kernel/ports/telemetry.ts'
import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { type initProducerIdApi, type InitProducerIdRequest } from '../../../wire/messages/22-init-producer-id.ts'
import { type ResponseDraftOf } from '../../../wire/schema/message.ts'
import { rangeOf } from '../core/version-ranges.ts'
import { type ProducerIdPool } from '../producer-id-pool.ts'

type Response = ResponseDraftOf<typeof initProducerIdApi>

/**
 * InitProducerId v0-5: a producer id that nobody had before, with epoch 0, for idempotence. As in Kafka, a producer without a transactional id
 * gets a new id whatever id it had.
 *
 * Left out: transactions. A transactional id is refused for good: up to version 1, in which kafkajs asks, with UNSUPPORTED_VERSION; from version 2 on with
 * TRANSACTIONAL_ID_AUTHORIZATION_FAILED, the one code that librdkafka does not ask again after. The answer has no room for a message, so the log says why, once.
 */
export class InitProducerIdHandler implements ProtocolHandler {
  readonly apiKey = 22
  readonly minVersion = rangeOf(22).min
  readonly maxVersion = rangeOf(22).max
  private readonly pool: ProducerIdPool
  private readonly logger: Logger
  private hasTold = false

  constructor(pool: ProducerIdPool, logger: Logger) {
    this.pool = pool
    this.logger = logger
  }

  handle(request: InitProducerIdRequest, exchange: Exchange): void {
    const { transactionalId, producerId, producerEpoch } = request
    if (transactionalId === '' || (producerId === -1) !== (producerEpoch === -1)) {
      exchange.reply(this.failure(request, kafkaErrors.INVALID_REQUEST))
      return
    }
    if (transactionalId !== null) {
      this.tell(transactionalId)
      exchange.reply(this.failure(request, exchange.apiVersion < 2 ? kafkaErrors.UNSUPPORTED_VERSION : kafkaErrors.TRANSACTIONAL_ID_AUTHORIZATION_FAILED))
      return
    }
    this.pool.take((error, id) => {
      if (error === undefined) exchange.reply({ throttleTimeMs: 0, errorCode: kafkaErrors.NONE, producerId: id, producerEpoch: 0 } satisfies Response)
      else exchange.reply(this.failure(request, this.codeFor(error)))
    })
  }

  failure(_request: unknown, errorCode: number): Response {
    return { throttleTimeMs: 0, errorCode, producerId: -1, producerEpoch: -1 }
  }

  private tell(transactionalId: string): void {
    if (this.hasTold) return
    this.hasTold = true
    const error = new MillraceError('MR_TRANSACTION_UNSUPPORTED')
    this.logger.warn('a transactional producer was refused, as all are', { transactionalId, code: error.code, reason: error.message })
  }

  /** Clients try again after COORDINATOR_LOAD_IN_PROGRESS, and do not after most others. A broker whose disk fails ends, and the next start may have ids. */
  private codeFor(error: unknown): number {
    if (isMillraceError(error) && error.row.retriable) return kafkaErrors.COORDINATOR_LOAD_IN_PROGRESS
    this.logger.error('no producer ids could be had', { error })
    return isMillraceError(error) && error.row.kind === 'operational' ? kafkaErrors.COORDINATOR_LOAD_IN_PROGRESS : kafkaErrors.UNKNOWN_SERVER_ERROR
  }
}
