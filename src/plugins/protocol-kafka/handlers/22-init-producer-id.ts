import { isMillraceError } from '../../../kernel/errors/index.ts'
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
 * Left out: transactions. A transactional id is refused with UNSUPPORTED_VERSION, which every client takes for final.
 */
export class InitProducerIdHandler implements ProtocolHandler {
  readonly apiKey = 22
  readonly minVersion = rangeOf(22).min
  readonly maxVersion = rangeOf(22).max
  private readonly pool: ProducerIdPool
  private readonly logger: Logger

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
      exchange.reply(this.failure(request, kafkaErrors.UNSUPPORTED_VERSION))
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

  /** Clients try again after COORDINATOR_LOAD_IN_PROGRESS, and do not after most others. A broker whose disk fails ends, and the next start may have ids. */
  private codeFor(error: unknown): number {
    if (isMillraceError(error) && error.row.retriable) return kafkaErrors.COORDINATOR_LOAD_IN_PROGRESS
    this.logger.error('no producer ids could be had', { error })
    return isMillraceError(error) && error.row.kind === 'operational' ? kafkaErrors.COORDINATOR_LOAD_IN_PROGRESS : kafkaErrors.UNKNOWN_SERVER_ERROR
  }
}
