import { describe, expect, it } from 'vitest'
import { zeroUuid } from '../../src/kernel/model/ids.ts'
import { SimWorld } from '../../src/testkit/world/sim-world.ts'
import { type SimMachine } from '../../src/testkit/world/sim-machine.ts'
import { makeController, type RunningController } from '../unit/plugins/cluster-metadata/controller-bench.ts'
import { newTopic, registration } from '../unit/plugins/cluster-metadata/core/metadata-fixtures.ts'
import { seedsOf } from '../integration/seeds.ts'

/** What is known of a topic: its id, undefined when it is gone, or both sides of a command that was not answered. */
interface Known {
  id: string | undefined
  underWay: 'create' | 'delete' | undefined
}

/** What was answered, through all lives of the broker. */
class Facts {
  readonly topics = new Map<string, Known>()
  readonly producerIds = new Set<number>()
  readonly leaderEpochs = new Map<string, number>()
  brokerEpoch = 0
  answers = 0
}

/** One client: it alone creates and deletes the topics of its names, one command at a time. */
async function client(world: SimWorld, name: string, { controller, metadata }: RunningController, facts: Facts, brokerEpoch: number): Promise<void> {
  for (let count = 0; count < 25; count++) {
    const topic = `${name}-${world.prng.below(3)}`
    const known = facts.topics.get(topic) ?? { id: undefined, underWay: undefined }
    facts.topics.set(topic, known)
    if (world.prng.chance(0.2)) {
      const { first } = await controller.allocateProducerIds(1, brokerEpoch)
      expect(facts.producerIds.has(first)).toBe(false)
      facts.producerIds.add(first)
    } else if (known.id === undefined) {
      known.underWay = 'create'
      const [created] = await controller.createTopics([newTopic(topic)], false)
      expect(created!.error).toBeUndefined()
      expect(metadata.image().topics.get(topic)!.id).toBe(created!.id)
      Object.assign(known, { id: created!.id, underWay: undefined })
    } else {
      known.underWay = 'delete'
      const [deleted] = await controller.deleteTopics([{ name: topic, id: zeroUuid }])
      expect(deleted!.error).toBeUndefined()
      Object.assign(known, { id: undefined, underWay: undefined })
    }
    facts.answers++
    world.trace(`${topic} ${known.id ?? 'gone'}`)
    if (world.prng.chance(0.3)) await world.sleep(world.prng.float() * 5)
  }
}

function checkFacts({ metadata }: RunningController, facts: Facts): void {
  const image = metadata.image()
  for (const [name, known] of facts.topics) {
    const found = image.topics.get(name)?.id
    if (known.underWay === undefined) expect(found, name).toBe(known.id)
    else if (known.underWay === 'delete') expect([known.id, undefined], name).toContain(found)
    Object.assign(known, { id: found, underWay: undefined })
  }
  for (const first of facts.producerIds) expect(image.nextProducerId).toBeGreaterThan(first)
  for (const topic of image.topics.values()) {
    for (const { partition, leaderEpoch } of topic.partitions) {
      const key = `${topic.id} ${partition}`
      expect(leaderEpoch, key).toBeGreaterThanOrEqual(facts.leaderEpochs.get(key) ?? 0)
      facts.leaderEpochs.set(key, leaderEpoch)
    }
  }
}

async function live(world: SimWorld, machine: SimMachine, life: number, facts: Facts): Promise<void> {
  const { keyValues, files } = machine.start()
  const running = makeController(keyValues, { files, snapshotEntries: 7, seed: world.seed + life })
  await running.start()
  checkFacts(running, facts)
  const epoch = await running.controller.registerBroker(registration(1, life))
  expect(epoch).toBeGreaterThan(facts.brokerEpoch)
  facts.brokerEpoch = epoch
  checkFacts(running, facts)
  await Promise.all(['a', 'b', 'c'].map((name) => client(world, name, running, facts, epoch)))
  await running.stop()
}

/** Several lives of one broker, each ended by a kill, a power cut, or an orderly stop. */
async function run(seed: number): Promise<{ readonly digest: string, readonly answers: number }> {
  const world = new SimWorld({ seed })
  const machine = world.machine('broker')
  const facts = new Facts()
  for (let life = 1; life <= 10; life++) {
    await world.run(async () => {
      await Promise.race([live(world, machine, life, facts), world.sleep(world.prng.float() * 150)])
      machine.crash(world.prng.chance(0.5) ? 'kill' : 'power')
    })
  }
  return { digest: world.digest(), answers: facts.answers }
}

/** New ones with CRASH_SEEDS=n, one alone with SEED=n. */
const seeds = seedsOf([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])

describe('metadata through crashes', () => {
  it.each(seeds)('seed %i: what was answered holds in every later life', async (seed) => {
    expect((await run(seed)).answers).toBeGreaterThan(20)
  })

  it('a seed repeats its run', async () => {
    expect(await run(4711)).toEqual(await run(4711))
  })

  it('a disk that loses its newest synced writes is noticed, and the broker does not start', async () => {
    const world = new SimWorld({ seed: 5 })
    const machine = world.machine('broker')
    await world.run(async () => {
      const { keyValues, files } = machine.start()
      const first = makeController(keyValues, { files })
      await first.start()
      await first.controller.registerBroker(registration(1))
      const older = keyValues.image('/meta/log')
      await first.controller.createTopics([newTopic('a')], false)
      await first.stop()
      keyValues.restore('/meta/log', older)
      const second = makeController(keyValues, { files })
      await expect(second.start()).rejects.toMatchObject({ code: 'MR_CLUSTER_METADATA_CORRUPT', details: { index: 3 } })
      await second.stop()
    })
  })
})
