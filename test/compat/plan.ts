import { type Codec, codecs, type CompatClient } from './client.ts'
import { type DatasetKind } from './dataset.ts'

/** One topic that one client writes with one codec, and who reads it back. */
export interface TopicPlan {
  readonly topic: string
  readonly producer: CompatClient
  readonly codec: Codec
  readonly kind: DatasetKind
  readonly records: number
  readonly partitions: number
  readonly consumers: readonly CompatClient[]
}

export interface PlanOptions {
  readonly clients: readonly CompatClient[]
  readonly records: number
  /** Who reads what others wrote: everybody everything, or everybody each other client once, codecs taking turns. */
  readonly cross: 'all' | 'turns'
}

const BINARY_RECORDS_MAX = 2000

/**
 * Every producer writes with every codec it has, and reads all of that back itself if it can. The readers that can
 * take it read what others wrote.
 */
export function makePlan ({ clients, records, cross }: PlanOptions): TopicPlan[] {
  const plans: TopicPlan[] = []
  const add = (producer: CompatClient, p: number, codec: Codec, kind: DatasetKind, count: number): void => {
    const consumers = clients.filter((consumer, c) => {
      if (!consumer.consume || !consumer.reads.includes(kind)) return false
      if (consumer === producer || cross === 'all') return true
      return codecs[(p + c) % codecs.length] === codec
    })
    plans.push({
      topic: `compat-${producer.name}-${codec}${kind === 'binary' ? '-binary' : ''}`,
      producer,
      codec,
      kind,
      records: count,
      // A reader of one partition must still see all that its own producer wrote
      partitions: producer.readsOnePartition ? 1 : 3,
      consumers,
    })
  }
  clients.forEach((producer, p) => {
    if (!producer.produce) return
    for (const codec of producer.codecs) add(producer, p, codec, producer.writes, records)
    if (!producer.writesBinary) return
    const chosen = cross === 'all' ? producer.codecs : producer.codecs.filter((_, i) => i % 2 === p % 2)
    for (const codec of chosen) add(producer, p, codec, 'binary', Math.min(records, BINARY_RECORDS_MAX))
  })
  return plans
}
