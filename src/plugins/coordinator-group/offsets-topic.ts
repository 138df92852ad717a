import { isMillraceError, MillraceError, reasonOf } from '../../kernel/errors/index.ts'
import { type BrokerSettings } from '../../kernel/ports/broker-settings.ts'
import { type ClusterMetadata, type TopicImage } from '../../kernel/ports/cluster-metadata.ts'
import { type Controller } from '../../kernel/ports/controller.ts'
import { type Logger } from '../../kernel/ports/telemetry.ts'

export const offsetsTopicName = '__consumer_offsets'

type TopicDone = (error: unknown, topic: TopicImage | undefined) => void

/** The topic in which groups are kept: made when a coordinator is first asked for, with Kafka's settings. */
export class OffsetsTopic {
  private readonly metadata: ClusterMetadata
  private readonly controller: Controller
  private readonly settings: BrokerSettings
  private readonly logger: Logger
  private waiting: TopicDone[] = []

  constructor(metadata: ClusterMetadata, controller: Controller, settings: BrokerSettings, logger: Logger) {
    this.metadata = metadata
    this.controller = controller
    this.settings = settings
    this.logger = logger
  }

  /** Undefined while nobody has asked for a coordinator. */
  get topic(): TopicImage | undefined {
    return this.metadata.image().topics.get(offsetsTopicName)
  }

  /** `done` is called once, now or when it is made; MR_COORDINATOR_UNAVAILABLE where it cannot be made now. Those who ask meanwhile wait for one creation. */
  ensure(done: TopicDone): void {
    const { topic } = this
    if (topic !== undefined) {
      done(undefined, topic)
      return
    }
    this.waiting.push(done)
    if (this.waiting.length === 1) void this.create()
  }

  private async create(): Promise<void> {
    let error: unknown
    try {
      const [created] = await this.controller.createTopics([{
        name: offsetsTopicName,
        partitions: this.settings.integer('offsets.topic.num.partitions'),
        replicationFactor: this.settings.integer('offsets.topic.replication.factor'),
        assignment: undefined,
        configs: new Map([['cleanup.policy', 'compact'], ['compression.type', 'producer'], ['segment.bytes', this.settings.text('offsets.topic.segment.bytes')]]),
      }], false)
      error = created!.error
    } catch (thrown) {
      error = thrown
    }
    const { topic } = this
    const waiting = this.waiting
    this.waiting = []
    if (topic === undefined && !isMillraceError(error, 'MR_CLUSTER_STOPPED')) this.logger.warn(`${offsetsTopicName} could not be created, so that there are no groups`, { error })
    for (const done of waiting) {
      if (topic !== undefined) done(undefined, topic)
      else done(new MillraceError('MR_COORDINATOR_UNAVAILABLE', { topic: offsetsTopicName, partition: 0, reason: reasonOf(error) }, error), undefined)
    }
  }
}
