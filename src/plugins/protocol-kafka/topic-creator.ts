import { type Controller } from '../../kernel/ports/controller.ts'
import { type Logger } from '../../kernel/ports/telemetry.ts'
import { kafkaErrors } from '../../wire/kafka-error-codes.ts'
import { codeOf } from './core/error-code.ts'
import { type Expiring } from './deadlines.ts'
import { type ServingTools } from './serving-tools.ts'

/** A client waits so long for a topic that its question creates; after that it is told to ask again. */
const waitMs = 2000
const metadataKey = 3

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
   * created. Names have been checked.
   */
  ensure(names: readonly string[], done: (codes: ReadonlyMap<string, number>) => void): void {
    this.create(names.filter((name) => !this.underWay.has(name)))
    new CreationWait(this.tools, names.map((name) => [name, this.underWay.get(name)!] as const), done).start()
  }

  private create(names: readonly string[]): void {
    if (names.length === 0) return
    const topics = names.map((name) => ({ name, partitions: -1, replicationFactor: -1, assignment: undefined, configs: new Map<string, string>() }))
    const creation = this.controller.createTopics(topics, false).then(
      (created) => created.map(({ error }) => error),
      (error: unknown) => names.map(() => error),
    )
    names.forEach((name, index) => {
      this.underWay.set(name, creation.then((errors) => {
        this.underWay.delete(name)
        return this.codeFor(name, errors[index])
      }))
    })
  }

  private codeFor(name: string, error: unknown): number {
    const code = error === undefined ? kafkaErrors.NONE : codeOf(error, metadataKey, 0)
    if (code === kafkaErrors.NONE) this.logger.info(`created topic ${name}, which a client asked for`, { topic: name })
    // Another node may have been first.
    if (code === kafkaErrors.NONE || code === kafkaErrors.TOPIC_ALREADY_EXISTS || code === kafkaErrors.NOT_CONTROLLER) return kafkaErrors.LEADER_NOT_AVAILABLE
    this.logger.warn(`could not create topic ${name}, which a client asked for`, { topic: name, error })
    return code
  }
}

class CreationWait implements Expiring {
  private readonly tools: ServingTools
  private readonly creations: readonly (readonly [name: string, code: Promise<number>])[]
  private readonly done: (codes: ReadonlyMap<string, number>) => void
  private readonly codes = new Map<string, number>()
  private over = false

  constructor(tools: ServingTools, creations: CreationWait['creations'], done: CreationWait['done']) {
    this.tools = tools
    this.creations = creations
    this.done = done
  }

  start(): void {
    for (const [name] of this.creations) this.codes.set(name, kafkaErrors.LEADER_NOT_AVAILABLE)
    const deadline = this.tools.deadlines.after(waitMs, this)
    void Promise.all(this.creations.map(async ([name, code]) => { this.codes.set(name, await code) })).then(() => {
      this.tools.deadlines.remove(deadline)
      this.end()
    })
  }

  expired(): void {
    this.end()
  }

  private end(): void {
    if (this.over) return
    this.over = true
    this.done(this.codes)
  }
}
