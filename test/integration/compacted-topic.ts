import { expect } from 'vitest'
import { type Broker } from '../../src/broker/index.ts'
import { createClient } from '../../src/client/index.ts'
import { LogCompaction } from '../../src/kernel/index.ts'

export interface KeptRecord {
  readonly offset: number
  readonly key: string
  /** Null for a tombstone. */
  readonly value: string | null
}

export interface CompactedTopic {
  readonly name: string
  /** What is left, in order. */
  readonly kept: readonly KeptRecord[]
  /** Of the records that were written, by offset. */
  readonly written: readonly KeptRecord[]
  /** Behind the last record. */
  readonly end: number
  /** The longest range of offsets of which nothing is left, and the one behind it, which is there. */
  readonly gap: { readonly first: number, readonly next: number }
}

/** When the first record was written; each later one a second after the one before. */
export const firstTimestamp = 1_700_000_000_000

/** Segments of so few bytes that each few records close one. */
export const smallSegments = { 'cleanup.policy': 'compact', 'internal.segment.bytes': '2048', 'min.cleanable.dirty.ratio': '0.01' }

/**
 * A topic of one partition, written in batches of four with a producer that has an id, and compacted: keys that stay with batches between them that go, a long run of one key that is
 * overtaken again and again, and tombstones. The active segment is not compacted, nor is what
 * is not known yet to be on the disk; their records stay until the next round.
 */
export async function compactedTopic(broker: Broker, name: string): Promise<CompactedTopic> {
  const keys = [...Array.from({ length: 60 }, (_, index) => (index % 12 < 4 ? `stays-${index}` : 'hot')), 'gone', ...Array.from({ length: 600 }, () => 'hot'), ...Array.from({ length: 40 }, (_, index) => `key-${index % 30}`)]
  const written = keys.map((key, offset): KeptRecord => ({ offset, key, value: key === 'gone' || offset === 661 ? null : `${key} at ${offset} ${'.'.repeat(40)}` }))
  const client = createClient({ inProcess: { dispatcher: broker.dispatcher } })
  try {
    await client.admin().createTopics([{ name, partitions: 1, configs: smallSegments }])
    const producer = client.producer()
    for (let at = 0; at < written.length; at += 4) {
      await producer.sendMany(written.slice(at, at + 4).map(({ offset, key, value }) => ({ topic: name, partition: 0, key, value, timestamp: firstTimestamp + offset * 1000 })))
    }
    await producer.flush()
    // What is closed is compacted when it is known to be on the disk, which takes a while.
    for (;;) {
      const { logsFailed } = await broker.port(LogCompaction).compact()
      expect(logsFailed).toBe(0)
      const kept = await recordsFrom(broker, name, 0, written.length - 1)
      const gap = longestGap(kept)
      if (gap.next - gap.first > 500) return { name, kept, written, end: written.length, gap }
    }
  } finally {
    await client.close()
  }
}

function longestGap(kept: readonly KeptRecord[]): CompactedTopic['gap'] {
  let gap = { first: 0, next: 0 }
  for (const [index, { offset }] of kept.entries()) {
    const first = index === 0 ? 0 : kept[index - 1]!.offset + 1
    if (offset - first > gap.next - gap.first) gap = { first, next: offset }
  }
  return gap
}

/** What a consumer of the partition reads up to the offset `last`, which must be there. */
export async function recordsFrom(broker: Broker, topic: string, offset: number, last: number): Promise<KeptRecord[]> {
  const client = createClient({ inProcess: { dispatcher: broker.dispatcher } })
  try {
    const consumer = client.consumer()
    consumer.assign([{ topic, partition: 0, offset }])
    const records: KeptRecord[] = []
    while (records.at(-1)?.offset !== last) {
      for (const record of await consumer.poll()) records.push({ offset: record.offset, key: record.keyText()!, value: record.value === null ? null : record.text()! })
    }
    return records
  } finally {
    await client.close()
  }
}
