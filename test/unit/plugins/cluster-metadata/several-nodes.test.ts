import { describe, expect, it } from 'vitest'
import { Prng } from '../../../../src/base/prng.ts'
import { isMillraceError } from '../../../../src/kernel/errors/index.ts'
import { zeroUuid } from '../../../../src/kernel/model/ids.ts'
import { ControllerService } from '../../../../src/plugins/cluster-metadata/controller-service.ts'
import { MetadataPublisher } from '../../../../src/plugins/cluster-metadata/metadata-publisher.ts'
import { nullLogger } from '../../../../src/testkit/world/null-telemetry.ts'
import { clusterId, newTopic, registration, rules, settingsOf } from './core/metadata-fixtures.ts'
import { SharedLog } from './shared-log.ts'
import { seedOf } from '../../../integration/seeds.ts'

const firstSeed = seedOf(1)

function makeNodes(shared: SharedLog, seed: number) {
  return shared.members.map((_, node) => {
    const metadata = new MetadataPublisher()
    const random = new Prng(seed + node)
    const controller = new ControllerService({ clusterId, rules, settingsOf }, shared.consensus(node), metadata, () => random.uint32(), nullLogger)
    return { controller, metadata }
  })
}

type Nodes = ReturnType<typeof makeNodes>

/** What was answered, for the checks at the end. */
interface Answered {
  readonly topicIds: string[]
  readonly producerIds: number[]
}

async function ask(nodes: Nodes, random: Prng, answered: Answered): Promise<void> {
  const { controller, metadata } = random.pick(nodes)
  const name = random.pick(['a', 'b', 'c', 'd'])
  try {
    switch (random.below(4)) {
      case 0: {
        const [created] = await controller.createTopics([newTopic(name)], false)
        if (created!.error === undefined) answered.topicIds.push(created!.id)
        else expect(created!.error.code === 'MR_TOPIC_EXISTS' || created!.error.code === 'MR_TOPIC_REPLICATION_INVALID').toBe(true)
        return
      }
      case 1:
        await controller.deleteTopics([{ name, id: zeroUuid }])
        return
      case 2: {
        const nodeId = random.between(1, 2)
        await controller.registerBroker(registration(nodeId, random.below(1000)))
        return
      }
      default: {
        const broker = metadata.image().brokers.get(1)
        if (broker !== undefined) answered.producerIds.push((await controller.allocateProducerIds(1, broker.epoch)).first)
      }
    }
  } catch (error) {
    // Not the leader, or no longer: nothing is known of the command then. Or another registration came between.
    if (!isMillraceError(error)) throw error
  }
}

describe('a controller on several nodes', () => {
  it(`all come to the same metadata through changes of the leader, and nothing that was answered is given twice (seeds from ${firstSeed})`, async () => {
    for (let run = 0; run < 40; run++) {
      const seed = firstSeed + run
      const random = new Prng(seed)
      const shared = new SharedLog(3)
      const nodes = makeNodes(shared, seed)
      const answered: Answered = { topicIds: [], producerIds: [] }
      const epochs = new Map<string, number>()
      for (const { metadata } of nodes) {
        metadata.subscribe((image) => {
          for (const topic of image.topics.values()) {
            for (const partition of topic.partitions) {
              const key = `${nodes.findIndex((node) => node.metadata === metadata)} ${topic.id} ${partition.partition}`
              expect(partition.leaderEpoch, `seed ${seed}`).toBeGreaterThanOrEqual(epochs.get(key) ?? 0)
              epochs.set(key, partition.leaderEpoch)
            }
          }
        })
      }
      const starts = nodes.map(({ controller }) => controller.start())
      const asked: Promise<void>[] = []
      for (let step = 0; step < 150; step++) {
        const choice = random.below(10)
        if (choice < 5) asked.push(ask(nodes, random, answered))
        else if (choice < 8) shared.commit(random.below(shared.waiting + 1))
        else if (choice < 9) shared.catchUp(random.below(3))
        else if (random.chance(0.4)) shared.elect(random.below(3), random.below(shared.waiting + 1))
        if (random.chance(0.5)) await Promise.resolve()
      }
      for (let turn = 0; turn < 20; turn++) {
        shared.commit(shared.waiting)
        await new Promise((resolve) => setImmediate(resolve))
      }
      for (const node of [0, 1, 2]) shared.catchUp(node)
      await Promise.all([...asked, ...starts])
      const [first, ...others] = nodes.map(({ controller }) => controller.snapshot())
      for (const other of others) expect(Buffer.compare(other, first!), `seed ${seed}`).toBe(0)
      expect(new Set(answered.topicIds).size, `seed ${seed}`).toBe(answered.topicIds.length)
      expect(new Set(answered.producerIds).size, `seed ${seed}`).toBe(answered.producerIds.length)
      expect(nodes.map(({ metadata }) => metadata.image().clusterId)).toEqual([clusterId, clusterId, clusterId])
    }
  })
})
