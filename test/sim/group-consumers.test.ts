import { describe, expect, it } from 'vitest'
import { Prng } from '../../src/base/prng.ts'
import { type GroupConsumer, type TopicPartition } from '../../src/client/index.ts'
import { createSimBroker, type SimBroker } from '../../src/harness/index.ts'
import { seedsOf } from '../integration/seeds.ts'

const partitions = 4

/** What all members together have seen, by partition. */
class Seen {
  /** Offsets that were given to some member. */
  readonly read = new Map<number, Set<number>>()
  /** Behind the last offset whose commit was answered. */
  readonly committed = new Map<number, number>()
  /** Records given to a member again though they had been committed. */
  readonly again: string[] = []

  take(partition: number, offset: number): void {
    const offsets = this.read.get(partition) ?? new Set()
    if (offset < (this.committed.get(partition) ?? 0)) this.again.push(`${partition}/${offset}`)
    this.read.set(partition, offsets.add(offset))
  }

  commit(partition: number, offset: number): void {
    this.committed.set(partition, Math.max(this.committed.get(partition) ?? 0, offset))
  }

  get total(): number {
    return [...this.read.values()].reduce((sum, { size }) => sum + size, 0)
  }
}

const passes = (sim: SimBroker, ms: number): Promise<void> => new Promise((resolve) => { sim.clientWorld('watch').timers.after(ms, resolve) })

/** Reads and commits until it is told to stop. */
async function member(sim: SimBroker, consumer: GroupConsumer, seen: Seen, prng: Prng, stop: AbortSignal): Promise<void> {
  consumer.subscribe(['orders'], {
    onAssigned: async (assigned: readonly TopicPartition[]) => {
      for (const each of assigned) expect(await consumer.position(each)).toBeLessThanOrEqual((seen.read.get(each.partition)?.size ?? 0))
    },
  })
  while (!stop.aborted) {
    const records = await consumer.poll({ maxRecords: 10, timeoutMs: 500 })
    for (const { partition, offset } of records) seen.take(partition, offset)
    await passes(sim, prng.between(0, 20))
    if (records.length === 0 || prng.chance(0.2)) continue
    const ends = new Map<number, number>()
    for (const { partition, offset } of records) ends.set(partition, offset + 1)
    try {
      await consumer.commit([...ends].map(([partition, offset]) => ({ topic: 'orders', partition, offset })), { timeoutMs: 5000 })
      for (const [partition, offset] of ends) seen.commit(partition, offset)
    } catch (error) {
      // The broker is away, or others have the partitions by now.
      expect(['MR_CLIENT_GROUP_COMMIT_REFUSED', 'MR_CLIENT_NO_BROKERS', 'MR_NET_CONNECT', 'MR_CLIENT_DISCONNECTED', 'MR_CLIENT_REQUEST_TIMEOUT', 'MR_CLIENT_BROKER_BUSY']).toContain((error as { code?: string }).code)
    }
  }
}

async function run(seed: number, groupProtocol: 'classic' | 'consumer'): Promise<{ seen: Seen, sent: number }> {
  const sim = await createSimBroker({ seed, options: { broker: { 'group.initial.rebalance.delay.ms': '0', 'group.consumer.min.heartbeat.interval.ms': '500', 'group.consumer.heartbeat.interval.ms': '500' } } })
  const prng = new Prng(seed)
  const seen = new Seen()
  let sent = 0
  await sim.run(async () => {
    await sim.start()
    await sim.client('admin').admin().createTopics([{ name: 'orders', partitions }])
    const stop = new AbortController()
    const clients = Array.from({ length: 3 }, (_, index) => sim.client(`reader-${index}`))
    const consumers = clients.map(client => client.consumer({ groupId: 'billing', groupProtocol, sessionTimeoutMs: 6000, heartbeatIntervalMs: 500, autoCommit: false }))
    const running = consumers.map(consumer => member(sim, consumer, seen, prng, stop.signal))
    const writing = (async () => {
      const producer = sim.client('writer').producer()
      while (!stop.signal.aborted) {
        const receipts = await producer.sendMany(Array.from({ length: 5 }, () => ({ topic: 'orders', partition: prng.between(0, partitions - 1), value: 'x' })))
        sent += receipts.length
        await passes(sim, 20)
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
    const { seen, sent } = await run(seed, groupProtocol)
    expect(seen.total).toBe(sent)
    expect(seen.again).toEqual([])
    expect([...seen.committed.values()].reduce((sum, each) => sum + each, 0)).toBeGreaterThan(sent / 4)
  })
})
