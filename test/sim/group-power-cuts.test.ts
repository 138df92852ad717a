import { describe, expect, it } from 'vitest'
import { Prng } from '../../src/base/prng.ts'
import { createSimBroker, type SimBroker } from '../../src/harness/index.ts'
import { findCoordinatorApi, joinGroupApi, offsetCommitApi, offsetFetchApi, syncGroupApi } from '../../src/wire/index.ts'
import { seedsOf } from '../integration/seeds.ts'
import { RawClient } from './workload/raw-client.ts'

/** What clients know of one group from its answers. */
interface Known {
  sent: number
  /** The last offset whose commit was answered with success, or that a fetch has told. */
  promised: number
  generation: number
  commits: number
}

const passes = (sim: SimBroker, ms: number): Promise<void> => new Promise((resolve) => { sim.clientWorld('watch').timers.after(ms, resolve) })

/** Commits one offset after another as somebody in no group, and looks at it now and then, until the broker is gone. */
async function commitOn(sim: SimBroker, client: RawClient, known: Known): Promise<void> {
  for (;;) {
    await passes(sim, 4)
    const committedOffset = ++known.sent
    const { topics } = await client.ask(offsetCommitApi, 2, 9, () => ({
      groupId: 'alone', generationIdOrMemberEpoch: -1, memberId: '', topics: [{ name: 'orders', partitions: [{ partitionIndex: 0, committedOffset, committedMetadata: 'm' }] }],
    }))
    if (topics[0]!.partitions[0]!.errorCode === 0) {
      known.promised = committedOffset
      known.commits++
    }
    if (known.sent % 5 === 0) known.promised = Math.max(known.promised, await fetched(client))
  }
}

async function fetched(client: RawClient): Promise<number> {
  for (;;) {
    const answer = await client.ask(offsetFetchApi, 2, 7, () => ({ groupId: 'alone', topics: [{ name: 'orders', partitionIndexes: [0] }] }))
    if (answer.errorCode === 0) return answer.topics[0]!.partitions[0]!.committedOffset
    expect([14, 15, 16]).toContain(answer.errorCode)
  }
}

/** Joins a group of one again and again; the number of each generation is new. */
async function joinOn(sim: SimBroker, client: RawClient, known: Known, prng: Prng): Promise<void> {
  let memberId = ''
  for (;;) {
    await passes(sim, 10)
    const answer = await client.ask(joinGroupApi, 3, 3, () => ({
      groupId: 'members', sessionTimeoutMs: 6000, rebalanceTimeoutMs: 6000, memberId, protocolType: 'consumer', protocols: [{ name: 'range', metadata: new Uint8Array(2) }],
    }))
    if (answer.errorCode !== 0) {
      memberId = ''
      continue
    }
    memberId = answer.memberId
    expect(answer.generationId).toBeGreaterThan(known.generation)
    known.generation = answer.generationId
    // Then the generation is one that its leader has never assigned.
    if (prng.chance(0.05)) return
    await client.ask(syncGroupApi, 2, 2, () => ({ groupId: 'members', generationId: known.generation, memberId, assignments: [{ memberId, assignment: new Uint8Array(3) }] }))
  }
}

async function run(seed: number, lives: number): Promise<Known> {
  const sim = await createSimBroker({ seed, options: { broker: { 'group.initial.rebalance.delay.ms': '0' } } })
  const prng = new Prng(seed)
  const known: Known = { sent: 0, promised: -1, generation: 0, commits: 0 }
  await sim.run(async () => {
    await sim.start()
    await sim.client().admin().createTopics([{ name: 'orders', partitions: 1 }])
    for (let life = 0; life < lives; life++) {
      const [one, two] = [0, 1].map((index) => new RawClient(sim.clientWorld(`client-${life}-${index}`), prng))
      for (;;) if ((await one!.ask(findCoordinatorApi, 1, 3, () => ({ key: 'alone', keyType: 0 }))).errorCode === 0) break
      const now = await fetched(one!)
      expect(now).toBeGreaterThanOrEqual(known.promised)
      expect(now).toBeLessThanOrEqual(known.sent)
      // What was told once holds from then on, whether its commit was answered or not.
      known.promised = now
      const work = [commitOn(sim, one!, known), joinOn(sim, two!, known, prng)].map((each) => each.catch((error: unknown) => { if ((error as Error).name === 'AssertionError') throw error }))
      await passes(sim, prng.between(20, 1200))
      if (prng.chance(0.3)) sim.kill()
      else sim.powerCut()
      await Promise.all(work)
      one!.close()
      two!.close()
      await sim.start()
    }
    await sim.stop()
  })
  return known
}

describe('groups on a machine whose power is cut', () => {
  it.each(seedsOf([1, 2, 3]))('lose no commit that was answered or told, and no number of a generation is given twice, seed %i', { timeout: 60_000 }, async (seed) => {
    const { commits, generation } = await run(seed, 5)
    expect(commits).toBeGreaterThan(10)
    expect(generation).toBeGreaterThan(5)
  })
})
