import { type Prng } from '../../../src/base/prng.ts'
import { type History, type PartitionKey } from '../history.ts'

/** One topic, from its creation to its deletion; with durability `os`, to the next power cut, behind which nothing of it is promised. */
export interface Topic {
  readonly name: string
  readonly id: string
  /** Counts power cuts, where those matter. */
  readonly life: number
  readonly partitions: number
  readonly durability: 'fsync' | 'os'
  /** Retention may take its beginning. */
  readonly trimmed: boolean
  /** Its records have keys, of which compaction keeps the last. */
  readonly compacted?: boolean
  /** Somebody has begun to delete it, or it is over: what its name means is not certain any more. */
  doomed: boolean
  /** Somebody has asked for records to be deleted. */
  deletesRecords?: boolean
}

export interface Place {
  readonly topic: Topic
  readonly partition: number
}

export const keyOf = ({ topic, partition }: Place): PartitionKey => `${topic.name}/${topic.id}/${topic.life}/${partition}`

/**
 * The topics that are there. A call by name that began and ended while a topic was not doomed was about that topic: a name is used again only
 * when the topic that had it is certainly gone.
 */
export class Topics {
  private readonly history: History
  private readonly live = new Map<string, Topic>()

  constructor(history: History) {
    this.history = history
  }

  add(topic: Topic): void {
    this.live.set(topic.name, topic)
    for (let partition = 0; partition < topic.partitions; partition++) {
      this.history.add({ kind: 'created', partition: keyOf({ topic, partition }), trimmed: topic.trimmed, ...(topic.compacted === true ? { compacted: true } : {}) })
    }
  }

  doom(topic: Topic): void {
    topic.doomed = true
  }

  /** The power was cut. */
  cut(): void {
    for (const topic of this.all()) {
      if (topic.durability === 'fsync' || topic.doomed) continue
      this.doom(topic)
      this.remove(topic)
      // How much of it a deletion has taken before is not promised either.
      this.add({ ...topic, life: topic.life + 1, doomed: false, trimmed: topic.trimmed || topic.deletesRecords === true })
    }
  }

  /** It is certainly gone. */
  remove(topic: Topic): void {
    this.live.delete(topic.name)
    for (let partition = 0; partition < topic.partitions; partition++) this.history.add({ kind: 'deleted', partition: keyOf({ topic, partition }) })
  }

  has(name: string): boolean {
    return this.live.has(name)
  }

  all(): Topic[] {
    return [...this.live.values()]
  }

  pick(prng: Prng): Topic | undefined {
    const topics = this.all().filter(topic => !topic.doomed)
    return topics.length === 0 ? undefined : prng.pick(topics)
  }

  pickPlace(prng: Prng): Place | undefined {
    const topic = this.pick(prng)
    return topic === undefined ? undefined : { topic, partition: prng.below(topic.partitions) }
  }
}
