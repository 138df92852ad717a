import { repeated } from '../../../base/repeated.ts'
import { isMillraceError, MillraceError } from '../../../kernel/errors/millrace-error.ts'
import { zeroUuid } from '../../../kernel/model/ids.ts'
import { type TopicImage } from '../../../kernel/ports/cluster-metadata.ts'
import { type ExtendedTopic, type MorePartitions } from '../../../kernel/ports/controller.ts'
import { usableBrokers } from './broker-registry.ts'
import { type Decision } from './decision.ts'
import { type MetadataImage } from './metadata-image.ts'
import { type MetadataRecord } from './metadata-records.ts'
import { checkAssignment, placePartitions, type Replicas } from './partition-placement.ts'
import { namedTwice, unknownTopic, type TopicRules } from './topic-commands.ts'

/**
 * Adds partitions to the topics that can have them; the others get an error each. Placement begins at a random broker, and a partition gets as
 * many replicas as partition 0 of its topic. With `validateOnly` there are no records.
 */
export function decideMorePartitions(image: MetadataImage, topics: readonly MorePartitions[], validateOnly: boolean, rules: TopicRules,
  nextUint32: () => number): Decision<readonly ExtendedTopic[]> {
  const extension = new TopicExtension(image, rules, nextUint32)
  const twice = repeated(topics.map((topic) => topic.name))
  const reply = topics.map((topic) => {
    try {
      if (twice.has(topic.name)) throw namedTwice(topic.name)
      return extension.extend(topic)
    } catch (error) {
      if (isMillraceError(error)) return refused(topic.name, error)
      throw error
    }
  })
  return { records: validateOnly ? [] : extension.records, reply }
}

class TopicExtension {
  readonly records: MetadataRecord[] = []
  private readonly image: MetadataImage
  private readonly rules: TopicRules
  private readonly nextUint32: () => number
  private readonly brokers: readonly number[]

  constructor(image: MetadataImage, rules: TopicRules, nextUint32: () => number) {
    this.image = image
    this.rules = rules
    this.nextUint32 = nextUint32
    this.brokers = usableBrokers(image)
  }

  extend({ name, partitions, assignment }: MorePartitions): ExtendedTopic {
    const topic = this.image.topics.get(name)
    if (topic === undefined) throw unknownTopic(name, zeroUuid)
    if (topic.internal) {
      const reason = 'what is kept in it is found by its number of partitions, so that more of them would lose it; set the number before the topic is made'
      throw new MillraceError('MR_TOPIC_REQUEST_INVALID', { topic: name, reason })
    }
    const had = topic.partitions.length
    if (partitions <= had) throw tooFew(name, partitions, had)
    this.checkLimit(name, partitions, partitions - had)
    const placement = assignment === undefined ? this.place(topic, partitions - had) : this.checked(topic, partitions - had, assignment)
    placement.forEach((replicas, index) => {
      const record = { topicId: topic.id, partition: had + index, leader: replicas[0]!, leaderEpoch: 0, partitionEpoch: 0, replicas, isr: replicas }
      this.records.push({ type: 'partitionCreated', ...record })
    })
    return { name, error: undefined, id: topic.id, partitions }
  }

  private checkLimit(topic: string, partitions: number, added: number): void {
    const { partitionsMax } = this.rules
    if (partitions <= partitionsMax && this.records.length + added <= partitionsMax) return
    const reason = partitions > partitionsMax ? `${partitions} partitions are over the limit of ${partitionsMax}`
      : `the topics of this request are to get more than ${partitionsMax} partitions together`
    throw new MillraceError('MR_TOPIC_PARTITIONS_INVALID', { topic, reason })
  }

  private place(topic: TopicImage, count: number): readonly Replicas[] {
    const factor = factorOf(topic)
    if (factor > this.brokers.length) {
      const reason = `its replication factor ${factor} needs as many brokers, and ${this.brokers.length} are registered`
      throw new MillraceError('MR_TOPIC_REPLICATION_INVALID', { topic: topic.name, reason })
    }
    return placePartitions(this.brokers, count, factor, this.nextUint32() % this.brokers.length)
  }

  private checked(topic: TopicImage, count: number, assignment: readonly Replicas[]): readonly Replicas[] {
    const { name, partitions } = topic
    if (assignment.length !== count) {
      const reason = `${count} partitions are to be added, and ${assignment.length} are assigned`
      throw new MillraceError('MR_TOPIC_ASSIGNMENT_INVALID', { topic: name, reason })
    }
    checkAssignment(name, assignment, new Set(this.brokers), partitions.length, factorOf(topic))
    return assignment
  }
}

const factorOf = ({ partitions }: TopicImage): number => partitions[0]!.replicas.length

function tooFew(topic: string, partitions: number, had: number): MillraceError {
  const reason = partitions === had ? `it has ${had} partitions already` : `it has ${had} partitions, and partitions are only added: ${partitions} would be fewer`
  return new MillraceError('MR_TOPIC_PARTITIONS_INVALID', { topic, reason })
}

const refused = (name: string, error: MillraceError): ExtendedTopic => ({ name, error, id: zeroUuid, partitions: -1 })
