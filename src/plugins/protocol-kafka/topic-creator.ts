import { isMillraceError } from '../../kernel/errors/index.ts'
import { type Controller, type CreatedTopic } from '../../kernel/ports/controller.ts'
import { type Logger } from '../../kernel/ports/telemetry.ts'
import { apiKeys } from '../../wire/api-keys.ts'
import { kafkaErrors } from '../../wire/kafka-error-codes.ts'
import { codeOf } from './core/error-code.ts'
import { type ServingTools } from './serving-tools.ts'
import { withDeadline } from './with-deadline.ts'

/** A client waits so long for a topic that its question creates; after that it is told to ask again. */
const waitMs = 2000

/** So many are created with one command. */
const topicsAtOnce = 100

/** Creates topics with the broker's defaults because somebody asked for them. Two who ask for one topic wait for one creation. */
export class TopicCreator {
  private readonly controller: Controller
  private readonly tools: ServingTools
  private readonly logger: Logger
  private readonly underWay = new Map<string, Promise<number>>()

  constructor(controller: Controller, tools: ServingTools, logger: Logger) {
    this.controller = controller
    this.tools = tools
    this.logger = logger
  }

  /**
   * `done` is called once, later, with the Kafka codes of the topics that are not there: LEADER_NOT_AVAILABLE for one that is still being
   * created. The logs of those that are there are made, unless that takes too long. Names have been checked.
   */
  ensure(names: readonly string[], done: (codes: ReadonlyMap<string, number>) => void): void {
    this.create(names.filter((name) => !this.underWay.has(name)))
    const codes = new Map<string, number>(names.map((name) => [name, kafkaErrors.LEADER_NOT_AVAILABLE]))
    const all = Promise.all(names.map((name) => this.underWay.get(name)!.then((code) => { codes.set(name, code) })))
    withDeadline(this.tools.deadlines, waitMs, all, () => { done(codes) })
  }

  /** In slices, each when the one before is done and others had their turn: a client may ask for thousands. */
  private create(names: readonly string[]): void {
    let before: Promise<unknown> | undefined
    for (let at = 0; at < names.length; at += topicsAtOnce) {
      const slice = names.slice(at, at + topicsAtOnce)
      const topics = slice.map((name) => ({ name, partitions: -1, replicationFactor: -1, assignment: undefined, configs: new Map<string, string>() }))
      const creation = before === undefined ? this.controller.createTopics(topics, false) : before.then(() => this.controller.createTopics(topics, false))
      const turn = (): Promise<void> => new Promise((resolve) => { this.tools.timers.soon(resolve) })
      before = creation.then(turn, turn)
      this.follow(slice, creation)
    }
  }

  private follow(names: readonly string[], creation: Promise<readonly CreatedTopic[]>): void {
    names.forEach((name, index) => {
      const made = creation.then(async (created) => {
        const { id, error } = created[index]!
        if (error !== undefined) throw error
        await this.tools.made(id)
      })
      this.underWay.set(name, made.then(() => undefined, (error: unknown) => error).then((error) => {
        this.underWay.delete(name)
        return this.codeFor(name, error)
      }))
    })
  }

  private codeFor(name: string, error: unknown): number {
    if (error === undefined) {
      this.logger.info(`created topic ${name}, which a client asked for`, { topic: name })
      return kafkaErrors.LEADER_NOT_AVAILABLE
    }
    // Somebody else was first, or the controller is moving: the client shall ask again.
    if (isMillraceError(error, 'MR_TOPIC_EXISTS') || (isMillraceError(error) && error.row.retriable)) return kafkaErrors.LEADER_NOT_AVAILABLE
    this.logger.warn(`could not create topic ${name}, which a client asked for`, { topic: name, error })
    return codeOf(error, apiKeys.Metadata, 0)
  }
}
