import { isMillraceError } from '../../kernel/errors/index.ts'
import { type Random } from '../../kernel/ports/clock.ts'
import { type ClusterMetadata, type TopicImage } from '../../kernel/ports/cluster-metadata.ts'
import { type Exchange } from '../../kernel/ports/protocol-handler.ts'
import { type Logger } from '../../kernel/ports/telemetry.ts'
import { kafkaErrors } from '../../wire/kafka-error-codes.ts'
import { type ReplyTo } from './core/group-commands.ts'
import { type CommandOfGroup, type GroupService } from './group-service.ts'

/** What the handlers of this plugin share. */
export interface HandlerParts {
  readonly groups: GroupService
  readonly metadata: ClusterMetadata
  readonly random: Random
  readonly logger: Logger
  /** `group.consumer.assignors`. */
  readonly assignors: readonly string[]
}

/** READ, DELETE, DESCRIBE, DESCRIBE_CONFIGS and ALTER_CONFIGS, by Kafka's numbers: all that there is to do with a group, since there is no authorizer. */
export const groupOperations = (1 << 3) | (1 << 6) | (1 << 8) | (1 << 10) | (1 << 11)

/** Of a group without a name: nobody can be its member. */
export const isNamed = (groupId: string): boolean => groupId !== ''

export const hasPartition = ({ partitions }: TopicImage, partition: number): boolean => partition >= 0 && partition < partitions.length

/** The code that clients are told for what went wrong; what is no error of ours is logged. */
export function codeFor(error: unknown, exchange: Exchange, logger: Logger): number {
  if (!isMillraceError(error)) {
    logger.error('a request about groups failed for a reason that is not the client\'s', { api: exchange.apiKey, version: exchange.apiVersion, clientId: exchange.clientId, error })
    return kafkaErrors.UNKNOWN_SERVER_ERROR
  }
  if (error.code === 'MR_RECORD_TOO_LARGE') {
    logger.warn('what a group has to write is larger than a batch of __consumer_offsets may be', { api: exchange.apiKey, clientId: exchange.clientId, error })
    return exchange.apiKey === 8 ? kafkaErrors.INVALID_COMMIT_OFFSET_SIZE : kafkaErrors.UNKNOWN_SERVER_ERROR
  }
  return error.row.kafka
}

/** Gives the answer once all of `count` are there, unless the peer has gone. */
export class Gathering {
  private readonly exchange: Exchange
  private readonly answer: () => object
  private open: number
  private gone = false

  constructor(exchange: Exchange, count: number, answer: () => object) {
    this.exchange = exchange
    this.answer = answer
    this.open = count
    if (count === 0) exchange.reply(answer())
    else exchange.onGone(() => { this.gone = true })
  }

  /** One of them is there. */
  settled(): void {
    if (--this.open === 0 && !this.gone) this.exchange.reply(this.answer())
  }
}

/** Asks the group, and answers with what it says or with the code of why it cannot. */
export function ask<C extends CommandOfGroup>(
  { groups, logger }: HandlerParts, exchange: Exchange, command: C, answer: (errorCode: number, reply: ReplyTo<C> | undefined) => object,
): void {
  let response: object | undefined
  const gathering = new Gathering(exchange, 1, () => response!)
  groups.submit(command, (error, reply) => {
    response = error === undefined ? answer(kafkaErrors.NONE, reply) : answer(codeFor(error, exchange, logger), undefined)
    gathering.settled()
  })
}
