import { describe, expect, it } from 'vitest'
import { Prng } from '../../src/base/prng.ts'
import { type ConsumerRecord, type GroupConsumer, type OffsetToCommit, type TopicPartition } from '../../src/client/index.ts'
import { createSimBroker, type SimBroker } from '../../src/harness/index.ts'
import { seedsOf } from '../integration/seeds.ts'

const partitions = 4

/** What all members together have seen, by topic and partition. */
class Seen {
  /** Offsets that were given to some member. */
  readonly read = new Map<string, Set<number>>()
  /** Behind the last offset whose commit was answered. */
  readonly committed = new Map<string, number>()
  /** Records given to a member again though they had been committed. */
  readonly again: string[] = []

  take(partition: string, offset: number): void {
    const offsets = this.read.get(partition) ?? new Set()
    if (offset < (this.committed.get(partition) ?? 0)) this.again.push(`${partition}/${offset}`)
    this.read.set(partition, offsets.add(offset))
  }

  commit(partition: string, offset: number): void {
    this.committed.set(partition, Math.max(this.committed.get(partition) ?? 0, offset))
  }

  get total(): number {
    return [...this.read.values()].reduce((sum, { size }) => sum + size, 0)
  }
}

/** How members behave. */
interface Manners {
  readonly topics: readonly string[] | { readonly re2: string }
  /** How likely a handler, or a listener, takes longer than the group waits for it. */
  readonly late: number
  /** Whether a commit is waited for before the next poll. */
  readonly awaits: boolean
}

const pollIntervalMsMax = 4000
const keyOf = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`

const passes = (sim: SimBroker, ms: number): Promise<void> => new Promise((resolve) => { sim.clientWorld('watch').timers.after(ms, resolve) })

/** Reads and commits until it is told to stop. */
async function member(sim: SimBroker, consumer: GroupConsumer, seen: Seen, prng: Prng, { topics, late, awaits }: Manners, stop: AbortSignal): Promise<void> {
  const lateOrNot = (): Promise<void> => passes(sim, prng.chance(late) ? prng.between(pollIntervalMsMax, 3 * pollIntervalMsMax) : prng.between(0, 20))
  consumer.subscribe(topics, {
    onAssigned: async (assigned: readonly TopicPartition[]) => {
      for (const each of assigned) expect(await consumer.position(each)).toBeLessThanOrEqual((seen.read.get(keyOf(each))?.size ?? 0))
      await lateOrNot()
    },
    onRevoked: lateOrNot,
  })
  const open = new Set<Promise<void>>()
  while (!stop.aborted) {
    let records: ConsumerRecord[] = []
    try {
      records = await consumer.poll({ maxRecords: 10, timeoutMs: 500 })
    } catch (error) {
      expect((error as { code?: string }).code).toBe('MR_CLIENT_GROUP_LISTENER_STUCK')
    }
    for (const record of records) seen.take(keyOf(record), record.offset)
    await lateOrNot()
    if (records.length === 0 || prng.chance(0.2)) continue
    const ends = new Map<string, OffsetToCommit>()
    for (const record of records) ends.set(keyOf(record), { topic: record.topic, partition: record.partition, offset: record.offset + 1 })
    const done = commitAll(consumer, seen, ends, awaits ? 5000 : 30_000).finally(() => { open.delete(done) })
    open.add(done)
    if (awaits) await done
  }
  await Promise.all(open)
}

async function commitAll(consumer: GroupConsumer, seen: Seen, ends: ReadonlyMap<string, OffsetToCommit>, timeoutMs: number): Promise<void> {
  try {
    await consumer.commit([...ends.values()], { timeoutMs })
    for (const [partition, { offset }] of ends) seen.commit(partition, offset)
  } catch (error) {
    // The broker is away, or others have the partitions by now.
    expect(['MR_CLIENT_GROUP_COMMIT_REFUSED', 'MR_CLIENT_NO_BROKERS', 'MR_NET_CONNECT', 'MR_CLIENT_DISCONNECTED', 'MR_CLIENT_REQUEST_TIMEOUT', 'MR_CLIENT_BROKER_BUSY']).toContain((error as { code?: string }).code)
  }
}

async function run(seed: number, groupProtocol: 'classic' | 'consumer', manners: Manners, later: readonly string[] = []): Promise<{ seen: Seen, sent: number }> {
  const sim = await createSimBroker({ seed, options: { broker: { 'group.initial.rebalance.delay.ms': '0', 'group.consumer.min.heartbeat.interval.ms': '500', 'group.consumer.heartbeat.interval.ms': '500' } } })
  const prng = new Prng(seed)
  const seen = new Seen()
  let sent = 0
  await sim.run(async () => {
    await sim.start()
    await sim.client('admin').admin().createTopics([{ name: 'orders', partitions }])
    const stop = new AbortController()
    const clients = Array.from({ length: 3 }, (_, index) => sim.client(`reader-${index}`))
    const consumers = clients.map(client => client.consumer({ groupId: 'billing', groupProtocol, sessionTimeoutMs: 6000, heartbeatIntervalMs: 500, pollIntervalMsMax: manners.late > 0 ? pollIntervalMsMax : 300_000, autoCommit: false }))
    const running = consumers.map(consumer => member(sim, consumer, seen, prng, manners, stop.signal))
    const writing = (async () => {
      const client = sim.client('writer')
      const producer = client.producer()
      const topics = ['orders']
      const coming = [...later]
      while (!stop.signal.aborted) {
        const receipts = await producer.sendMany(Array.from({ length: 5 }, () => ({ topic: topics[prng.between(0, topics.length - 1)]!, partition: prng.between(0, partitions - 1), value: 'x' })))
        sent += receipts.length
        await passes(sim, 20)
        if (coming.length > 0 && sent >= 100 * topics.length) {
          topics.push(coming.shift()!)
          await client.admin().createTopics([{ name: topics.at(-1)!, partitions }]).catch((error: unknown) => { expect(error).toMatchObject({ code: 'MR_TOPIC_EXISTS' }) })
        }
        if (sent >= 400) return
      }
    })()
    for (let life = 0; life < 4; life++) {
      await passes(sim, prng.between(200, 3000))
      if (prng.chance(0.3)) await sim.stop()
      else if (prng.chance(0.5)) sim.kill()
      else sim.powerCut()
      await passes(sim, prng.between(0, 2000))
      await sim.start()
    }
    await writing
    while (seen.total < sent) await passes(sim, 100)
    stop.abort()
    await Promise.all(running)
    await Promise.all(clients.map(client => client.close()))
    await sim.stop()
  }, { withinMs: 600_000 })
  return { seen, sent }
}

describe.each(['classic', 'consumer'] as const)('three members of a group of the %s protocol, whose broker is stopped, killed and cut off from power', (groupProtocol) => {
  it.each(seedsOf([1, 2, 3, 4]))('read every record, and none again whose commit was answered, seed %i', { timeout: 120_000 }, async (seed) => {
    const { seen, sent } = await run(seed, groupProtocol, { topics: ['orders'], late: 0, awaits: true })
    expect(seen.total).toBe(sent)
    expect(seen.again).toEqual([])
    expect([...seen.committed.values()].reduce((sum, each) => sum + each, 0)).toBeGreaterThan(sent / 4)
  })

  it.each(seedsOf([1, 2, 3, 4, 5, 6]))('read every record, and none again whose commit was answered, when handlers and listeners take too long and nobody waits for commits, seed %i', { timeout: 120_000 }, async (seed) => {
    const { seen, sent } = await run(seed, groupProtocol, { topics: ['orders'], late: 0.05, awaits: false })
    expect(seen.total).toBe(sent)
    expect(seen.again).toEqual([])
  })
})

describe('three members whose broker matches a pattern, to which topics come', () => {
  it.each(seedsOf([1, 2, 3, 4]))('read every record of each, and none again whose commit was answered, seed %i', { timeout: 120_000 }, async (seed) => {
    const { seen, sent } = await run(seed, 'consumer', { topics: { re2: 'orders.*' }, late: 0.02, awaits: false }, ['orders-2', 'orders-3'])
    expect(seen.total).toBe(sent)
    expect(seen.again).toEqual([])
    expect(new Set([...seen.read.keys()].map(key => key.split('/')[0]))).toEqual(new Set(['orders', 'orders-2', 'orders-3']))
  })
})
