/** A partition by name. */
export interface TopicPartition {
  readonly topic: string
  readonly partition: number
}

/** Partitions of one topic, as the protocol lists them. */
export interface TopicWithPartitions {
  readonly topic: string
  readonly partitions: readonly number[]
}

/** Equal for equal partitions; names of topics have no slash. */
export function keyOf({ topic, partition }: TopicPartition): string {
  return `${topic}/${partition}`
}

/** By topic, then by number. */
export function compareTopicPartitions(a: TopicPartition, b: TopicPartition): number {
  return a.topic === b.topic ? a.partition - b.partition : a.topic < b.topic ? -1 : 1
}

/** Those of `all` that are not in `others`. */
export function without(all: readonly TopicPartition[], others: readonly TopicPartition[]): TopicPartition[] {
  const keys = new Set(others.map(keyOf))
  return all.filter(each => !keys.has(keyOf(each)))
}

/** Topics and partitions in order. */
export function byTopic(partitions: readonly TopicPartition[]): TopicWithPartitions[] {
  const topics = new Map<string, number[]>()
  for (const { topic, partition } of [...partitions].sort(compareTopicPartitions)) {
    const known = topics.get(topic)
    if (known === undefined) topics.set(topic, [partition])
    else if (known.at(-1) !== partition) known.push(partition)
  }
  return [...topics].map(([topic, numbers]) => ({ topic, partitions: numbers }))
}

export function fromTopics(topics: readonly TopicWithPartitions[]): TopicPartition[] {
  return topics.flatMap(({ topic, partitions }) => partitions.map(partition => ({ topic, partition })))
}
