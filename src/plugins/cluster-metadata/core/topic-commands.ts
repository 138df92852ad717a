import { repeated } from '../../../base/repeated.ts'
import { checkTopicConfigs } from '../../../kernel/config/check-config.ts'
import { resolveTopicConfigs, type BrokerValue } from '../../../kernel/config/resolve-topic-settings.ts'
import { type StoreLimits } from '../../../kernel/config/store-limits.ts'
import { isMillraceError, MillraceError } from '../../../kernel/errors/millrace-error.ts'
import { zeroUuid, type Uuid } from '../../../kernel/model/ids.ts'
import { checkNewTopicName, collisionKey, isInternalTopic } from '../../../kernel/model/topic-name.ts'
import { type CreatedTopic, type CreateTopic, type DeletedTopic } from '../../../kernel/ports/controller.ts'
import { usableBrokers } from './broker-registry.ts'
import { type Decision } from './decision.ts'
import { type MetadataImage } from './metadata-image.ts'
import { type MetadataRecord } from './metadata-records.ts'
import { checkAssignment, placePartitions, type Replicas } from './partition-placement.ts'

/** What the broker's settings say about topics. */
export interface TopicRules {
  readonly partitionsDefault: number
  readonly replicationFactorDefault: number
  readonly deletionAllowed: boolean
  /** Of one topic, and of what one request creates or adds. */
  readonly partitionsMax: number
  readonly brokerValue: BrokerValue
  readonly storeLimits: StoreLimits
}

export interface TopicName {
  readonly name: string | undefined
  readonly id: Uuid
}

/** A random id that is not taken. */
export type NewTopicId = (taken: (id: Uuid) => boolean) => Uuid

/**
 * Creates the topics that can be created; the others get an error each. Names are checked against the image and one another. Placement
 * begins at a random broker. With `validateOnly` there are no records.
 */
export function decideCreation(image: MetadataImage, topics: readonly CreateTopic[], validateOnly: boolean, rules: TopicRules,
  nextUint32: () => number, newTopicId: NewTopicId): Decision<readonly CreatedTopic[]> {
  const creation = new TopicCreation(image, rules, nextUint32, newTopicId)
  const twice = repeated(topics.map((topic) => topic.name))
  const reply = topics.map((topic) => {
    try {
      if (twice.has(topic.name)) throw namedTwice(topic.name)
      return creation.create(topic, validateOnly)
    } catch (error) {
      if (isMillraceError(error)) return refusedTopic(topic.name, error)
      throw error
    }
  })
  return { records: validateOnly ? [] : creation.records, reply }
}

/** Deletes the topics that exist; the others get an error each. */
export function decideDeletion(image: MetadataImage, topics: readonly TopicName[], rules: TopicRules): Decision<readonly DeletedTopic[]> {
  const records: MetadataRecord[] = []
  const found = topics.map(({ name, id }) => (name === undefined ? image.topicsById.get(id) : image.topics.get(name)))
  const twice = repeated(found.map((topic) => topic?.id))
  const reply = topics.map(({ name, id }, index): DeletedTopic => {
    const topic = found[index]
    if (!rules.deletionAllowed) return { name, id, error: new MillraceError('MR_TOPIC_DELETION_DISABLED') }
    if (topic === undefined) return { name, id, error: unknownTopic(name, id) }
    const error = twice.has(topic.id) ? namedTwice(topic.name) : undefined
    if (error === undefined) records.push({ type: 'topicDeleted', topicId: topic.id })
    return { name: topic.name, id: topic.id, error }
  })
  return { records, reply }
}

/** Takes the broker from those that have yet to remove their logs of these topics; a topic that waits for nobody is forgotten. */
export function decideConfirmation(image: MetadataImage, nodeId: number, topicIds: readonly Uuid[]): Decision<undefined> {
  const records: MetadataRecord[] = []
  for (const topicId of new Set(topicIds)) {
    const waited = image.removals.get(topicId)
    if (waited?.includes(nodeId) === true) records.push({ type: 'topicRemoval', topicId, nodeIds: waited.filter((id) => id !== nodeId) })
  }
  return { records, reply: undefined }
}

class TopicCreation {
  readonly records: MetadataRecord[] = []
  private readonly image: MetadataImage
  private readonly rules: TopicRules
  private readonly nextUint32: () => number
  private readonly newTopicId: NewTopicId
  private readonly brokers: readonly number[]
  private readonly namesByKey = new Map<string, string>()
  private readonly ids = new Set<Uuid>()
  private readonly configsByOverrides = new Map<string, CreatedTopic['configs']>()
  private partitions = 0

  constructor(image: MetadataImage, rules: TopicRules, nextUint32: () => number, newTopicId: NewTopicId) {
    this.image = image
    this.rules = rules
    this.nextUint32 = nextUint32
    this.newTopicId = newTopicId
    this.brokers = usableBrokers(image)
  }

  create(topic: CreateTopic, validateOnly: boolean): CreatedTopic {
    const { name } = topic
    this.checkName(name)
    const { values, warnings } = checkTopicConfigs(topic.configs, this.rules.storeLimits)
    const overrides = isInternalTopic(name) ? alwaysSynced(values) : values
    const placement = this.place(topic)
    this.partitions += placement.length
    this.namesByKey.set(collisionKey(name), name)
    const id = validateOnly ? zeroUuid : this.record(name, placement, overrides)
    return {
      name, error: undefined, id, partitions: placement.length, replicationFactor: placement[0]!.length,
      configs: this.configsOf(overrides), warnings,
    }
  }

  /** Topics of one request mostly have the same settings: one list for all that have. */
  private configsOf(overrides: ReadonlyMap<string, string>): CreatedTopic['configs'] {
    const key = JSON.stringify([...overrides])
    const known = this.configsByOverrides.get(key)
    if (known !== undefined) return known
    const configs = resolveTopicConfigs(overrides, this.rules.brokerValue).map(({ row, text, source }) => ({ name: row.name, value: text, source }))
    this.configsByOverrides.set(key, configs)
    return configs
  }

  private checkName(name: string): void {
    checkNewTopicName(name)
    if (this.image.topics.has(name)) throw new MillraceError('MR_TOPIC_EXISTS', { topic: name })
    const key = collisionKey(name)
    const other = this.namesByKey.get(key) ?? this.image.namesByCollisionKey.get(key)
    if (other === undefined) return
    const reason = `it differs from topic ${other} only in "." and "_", which metrics cannot tell apart`
    throw new MillraceError('MR_TOPIC_NAME_INVALID', { topic: name, reason })
  }

  private place(topic: CreateTopic): readonly Replicas[] {
    return topic.assignment === undefined ? this.placeByCount(topic) : this.placeAsAssigned(topic, topic.assignment)
  }

  private placeAsAssigned(topic: CreateTopic, assignment: readonly Replicas[]): readonly Replicas[] {
    const { name, partitions, replicationFactor } = topic
    if (partitions !== -1 || replicationFactor !== -1) {
      const reason = 'an assignment excludes a number of partitions and a replication factor; both must be -1'
      throw new MillraceError('MR_TOPIC_REQUEST_INVALID', { topic: name, reason })
    }
    if (assignment.length === 0) throw new MillraceError('MR_TOPIC_ASSIGNMENT_INVALID', { topic: name, reason: 'the assignment is empty' })
    this.checkPartitionCount(name, assignment.length)
    checkAssignment(name, assignment, new Set(this.brokers))
    return assignment
  }

  private placeByCount({ name, partitions, replicationFactor }: CreateTopic): readonly Replicas[] {
    const { partitionsDefault, replicationFactorDefault } = this.rules
    const count = partitions === -1 ? partitionsDefault : partitions
    const factor = replicationFactor === -1 ? replicationFactorDefault : replicationFactor
    if (factor < 1) {
      const reason = `replication factor ${factor}; it must be one or more, or -1 for the default`
      throw new MillraceError('MR_TOPIC_REPLICATION_INVALID', { topic: name, reason })
    }
    if (count < 1) {
      const reason = `${count} partitions; it must be one or more, or -1 for the default`
      throw new MillraceError('MR_TOPIC_PARTITIONS_INVALID', { topic: name, reason })
    }
    this.checkPartitionCount(name, count)
    if (factor > this.brokers.length) {
      const reason = `replication factor ${factor} needs as many brokers, and ${this.brokers.length} are registered`
      throw new MillraceError('MR_TOPIC_REPLICATION_INVALID', { topic: name, reason })
    }
    return placePartitions(this.brokers, count, factor, this.nextUint32() % this.brokers.length)
  }

  private checkPartitionCount(topic: string, partitions: number): void {
    const { partitionsMax } = this.rules
    if (this.partitions + partitions <= partitionsMax) return
    const reason = partitions > partitionsMax ? `${partitions} partitions are over the limit of ${partitionsMax}`
      : `the topics of this request have more than ${partitionsMax} partitions together`
    throw new MillraceError('MR_TOPIC_PARTITIONS_INVALID', { topic, reason })
  }

  private isTaken(id: Uuid): boolean {
    return this.ids.has(id) || this.image.topicsById.has(id) || this.image.removals.has(id)
  }

  private record(name: string, placement: readonly Replicas[], overrides: ReadonlyMap<string, string>): Uuid {
    const topicId = this.newTopicId((candidate) => this.isTaken(candidate))
    this.ids.add(topicId)
    this.records.push({ type: 'topicCreated', topicId, name })
    placement.forEach((replicas, partition) => {
      const [leader] = replicas
      this.records.push({ type: 'partitionCreated', topicId, partition, leader: leader!, leaderEpoch: 0, partitionEpoch: 0, replicas, isr: replicas })
    })
    for (const [key, value] of overrides) this.records.push({ type: 'topicConfigSet', topicId, name: key, value })
    return topicId
  }
}

export const unknownTopic = (name: string | undefined, topicId: Uuid): MillraceError =>
  (name === undefined ? new MillraceError('MR_TOPIC_UNKNOWN_ID', { topicId }) : new MillraceError('MR_TOPIC_UNKNOWN', { topic: name }))

export const namedTwice = (topic: string): MillraceError =>
  new MillraceError('MR_TOPIC_REQUEST_INVALID', { topic, reason: 'it is named more than once in the request' })

/** What the broker keeps for itself is synced before it is acknowledged, whatever the default of topics. */
export const alwaysSynced = (values: ReadonlyMap<string, string>): ReadonlyMap<string, string> => new Map([...values, ['durability', 'fsync']])

const refusedTopic = (name: string, error: MillraceError): CreatedTopic =>
  ({ name, error, id: zeroUuid, partitions: -1, replicationFactor: -1, configs: [], warnings: [] })
