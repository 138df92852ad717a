import { describe, expect, it } from 'vitest'
import { Prng } from '../../src/base/prng.ts'
import { type Admin, type GroupConsumer } from '../../src/client/index.ts'
import { createSimBroker, type SimBroker } from '../../src/harness/index.ts'
import { isMillraceError } from '../../src/kernel/errors/index.ts'
import { ClusterMetadata } from '../../src/kernel/ports/cluster-metadata.ts'
import { seedsOf } from '../integration/seeds.ts'

const topic = 'orders'
const settings = { metadataAgeMsMax: 500 }
const broker = { 'group.initial.rebalance.delay.ms': '0', 'group.consumer.min.heartbeat.interval.ms': '500', 'group.consumer.heartbeat.interval.ms': '500' }

const passes = (sim: SimBroker, ms: number): Promise<void> => new Promise((resolve) => { sim.clientWorld('watch').timers.after(ms, resolve) })

/** What was read of each partition, as the offsets that some member got. */
type Seen = Map<number, Set<number>>

async function member(consumer: GroupConsumer, seen: Seen, stop: AbortSignal): Promise<void> {
  consumer.subscribe([topic])
  while (!stop.aborted) {
    for (const { partition, offset } of await consumer.poll({ maxRecords: 50, timeoutMs: 300 })) seen.set(partition, (seen.get(partition) ?? new Set()).add(offset))
  }
}

/** Asks again until it is there: an answer that a power cut has swallowed may have been yes. */
async function extend(admin: Admin, partitions: number): Promise<void> {
  for (;;) {
    try {
      await admin.createPartitions([{ name: topic, partitions }], { timeoutMs: 5000 })
      return
    } catch (error) {
      if (isMillraceError(error, 'MR_TOPIC_PARTITIONS_INVALID')) return
      if (!isMillraceError(error)) throw error
    }
  }
}

const countHere = (sim: SimBroker): number => sim.broker.port(ClusterMetadata).image().topics.get(topic)!.partitions.length

/** Producers and a group are at work while partitions are added, and the power is cut around each addition. */
async function run(seed: number, groupProtocol: 'classic' | 'consumer'): Promise<{ written: Map<number, number>, seen: Seen }> {
  const sim = await createSimBroker({ seed, options: { broker } })
  const prng = new Prng(seed)
  const seen: Seen = new Map()
  const written = new Map<number, number>()
  await sim.run(async () => {
    await sim.start()
    const admin = sim.client('admin', settings).admin()
    await admin.createTopics([{ name: topic, partitions: 2 }])
    const stop = new AbortController()
    const clients = [0, 1].map((index) => sim.client(`reader-${index}`, settings))
    const reading = clients.map((client) => member(client.consumer({ groupId: 'g', groupProtocol, sessionTimeoutMs: 6000, heartbeatIntervalMs: 500 }), seen, stop.signal))
    const writer = sim.client('writer', settings)
    const writing = (async () => {
      const producer = writer.producer()
      // Without a partition and without a key: the producer spreads them over what it knows of.
      while (!stop.signal.aborted) {
        for (const { partition, offset } of await producer.sendMany([{ topic, value: 'x' }])) written.set(partition, Math.max(written.get(partition) ?? 0, offset + 1))
        await passes(sim, 20)
      }
    })()
    for (const partitions of [3, 5, 9]) {
      await passes(sim, prng.between(200, 1500))
      const had = countHere(sim)
      const adding = extend(admin, partitions)
      await passes(sim, prng.between(0, 30))
      if (prng.chance(0.8)) {
        const before = [...written.keys()].length
        if (prng.chance(0.5)) sim.powerCut()
        else sim.kill()
        await sim.start()
        expect([had, partitions], 'all of the new partitions are there, or none').toContain(countHere(sim))
        expect(countHere(sim)).toBeGreaterThanOrEqual(before)
      }
      await adding
      expect(countHere(sim)).toBe(partitions)
      while (written.size < partitions) await passes(sim, 100)
      while (seen.size < partitions) await passes(sim, 100)
    }
    stop.abort()
    await writing
    const total = (): number => [...seen.values()].reduce((sum, { size }) => sum + size, 0)
    await Promise.all(reading)
    // What the members had not come to is read by whoever comes next.
    const last = sim.client('last', settings)
    const consumer = last.consumer()
    consumer.assign([...written.keys()].map((partition) => ({ topic, partition, offset: 'beginning' as const })))
    const all = [...written.values()].reduce((sum, end) => sum + end, 0)
    for (let before = -1; total() < all && before !== total();) {
      before = total()
      for (const { partition, offset } of await consumer.poll({ timeoutMs: 5000 })) seen.set(partition, (seen.get(partition) ?? new Set()).add(offset))
    }
    await Promise.all([...clients, writer, last].map((client) => client.close()))
    await sim.stop()
  }, { withinMs: 600_000 })
  return { written, seen }
}

describe.each(['classic', 'consumer'] as const)('partitions that are added under load, around power cuts', (groupProtocol) => {
  it.each(seedsOf([1, 2, 3]))(`are written by producers and read by a group of the ${groupProtocol} protocol without a restart of either, and lose no record, seed %i`, { timeout: 120_000 }, async (seed) => {
    const { written, seen } = await run(seed, groupProtocol)
    expect([...written.keys()].sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8])
    for (const [partition, end] of written) expect([...seen.get(partition)!].sort((a, b) => a - b).slice(0, end), `partition ${partition}`).toEqual(Array.from({ length: end }, (_, offset) => offset))
  })
})
