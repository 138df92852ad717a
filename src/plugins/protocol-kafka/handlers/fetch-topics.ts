import { type FetchRequest } from '../../../wire/messages/01-fetch.ts'

type Topics = FetchRequest['topics']
type Topic = Topics[number]
type Partition = Topic['partitions'][number]

/**
 * Each partition once, as in Kafka: at the place where it was named first, with what was said last. One that is named a thousand times would otherwise be
 * read, waited for and answered a thousand times.
 */
export function distinctPartitions(topics: Topics, byId: boolean): Topics {
  const keyOf = byId ? idOf : nameOf
  if (!hasRepeated(topics, keyOf)) return topics
  const merged = new Map<string, { readonly topic: Topic, readonly partitions: Map<number, Partition> }>()
  for (const topic of topics) {
    const key = keyOf(topic)
    let together = merged.get(key)
    if (together === undefined) merged.set(key, together = { topic, partitions: new Map() })
    for (const partition of topic.partitions) together.partitions.set(partition.partition, partition)
  }
  return Array.from(merged.values(), ({ topic, partitions }) => ({ ...topic, partitions: [...partitions.values()] }))
}

const idOf = ({ topicId }: Topic): string => topicId
const nameOf = ({ topic }: Topic): string => topic

/** A fetch of one partition makes no set. */
function hasRepeated(topics: Topics, keyOf: (topic: Topic) => string): boolean {
  if (topics.length > 1 && new Set(topics.map(keyOf)).size < topics.length) return true
  return topics.some(({ partitions }) => partitions.length > 1 && new Set(partitions.map(({ partition }) => partition)).size < partitions.length)
}
