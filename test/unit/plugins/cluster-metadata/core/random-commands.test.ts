import { describe, expect, it } from 'vitest'
import { Prng } from '../../../../../src/base/prng.ts'
import { zeroUuid } from '../../../../../src/kernel/model/ids.ts'
import { type TopicImage } from '../../../../../src/kernel/ports/cluster-metadata.ts'
import { type ConfigChange } from '../../../../../src/kernel/ports/controller.ts'
import { imageFromRecords, imageRecords } from '../../../../../src/plugins/cluster-metadata/core/image-snapshot.ts'
import { type MetadataImage } from '../../../../../src/plugins/cluster-metadata/core/metadata-image.ts'
import { decodeRecords, encodeRecords } from '../../../../../src/plugins/cluster-metadata/core/record-codec.ts'
import { ControllerBench, newTopic, registration, settingsOf } from './metadata-fixtures.ts'
import { seedOf } from '../../../../integration/seeds.ts'

const firstSeed = seedOf(1)

/** The metadata as the plainest possible program would keep it. */
class NaiveCluster {
  readonly topics = new Map<string, { id: string, partitions: number, overrides: Map<string, string>, epochs: number[], leaders: number[] }>()
  readonly lives = new Map<number, number>()
  /** Of deleted topics: `id node` of each log that is not confirmed to be gone. */
  readonly removals = new Set<string>()
  nextProducerId = 0
}

/** Everything that an image says, in a form that compares. */
const plain = (image: MetadataImage) => ({
  clusterId: image.clusterId,
  brokers: [...image.brokers.values()].sort((left, right) => left.nodeId - right.nodeId),
  topics: [...image.topics.values()].sort(byName),
  byId: [...image.topicsById].map(([id, topic]) => `${id} ${topic.name}`).sort(),
  keys: [...image.namesByCollisionKey].map((pair) => pair.join(' ')).sort(),
  features: [...image.features],
  removals: removalsOf(image),
  nextProducerId: image.nextProducerId,
})
/** Items of a list are in no order. */
const sorted = ([name, value]: readonly [string, string]): [string, string] => [name, value.split(',').sort().join(',')]
const removalsOf = (image: MetadataImage): string[] => [...image.removals].flatMap(([id, nodeIds]) => nodeIds.map((nodeId) => `${id} ${nodeId}`)).sort()
const byName = (left: TopicImage, right: TopicImage): number => (left.name < right.name ? -1 : 1)

function step(bench: ControllerBench, model: NaiveCluster, random: Prng): void {
  const names = ['a', 'b', 'a.b', 'a_b', 'c-d', 'e', 'f']
  const name = random.pick(names)
  const taken = model.topics.has(name) || [...model.topics.keys()].some((other) => other.replaceAll('.', '_') === name.replaceAll('.', '_'))
  switch (random.below(8)) {
    case 0:
    case 1: {
      const partitions = random.pick([-1, 0, 1, 4])
      const replicationFactor = random.pick([-1, 1, 2])
      const configs = new Map(random.chance(0.5) ? [['retention.ms', String(random.below(9))]] : [])
      const brokers = model.lives.size
      const [created] = bench.create(newTopic(name, { partitions, replicationFactor, configs }))
      const allowed = !taken && partitions !== 0 && (replicationFactor === -1 ? 1 : replicationFactor) <= brokers
      expect(created!.error === undefined).toBe(allowed)
      if (allowed) {
        const leaders = bench.image.topics.get(name)!.partitions.map((partition) => partition.leader)
        model.topics.set(name, { id: created!.id, partitions: partitions === -1 ? 3 : partitions, overrides: configs, leaders, epochs: leaders.map(() => 0) })
      }
      return
    }
    case 2: {
      const byId = random.chance(0.5)
      const known = model.topics.get(name)
      const logs = [...new Set(bench.image.topics.get(name)?.partitions.flatMap(({ replicas }) => replicas))]
      const [deleted] = bench.run({ type: 'deleteTopics', topics: [byId ? { name: undefined, id: known?.id ?? zeroUuid } : { name, id: zeroUuid }] })
      expect(deleted!.error === undefined).toBe(known !== undefined)
      model.topics.delete(name)
      for (const nodeId of logs) model.removals.add(`${known!.id} ${nodeId}`)
      return
    }
    case 5: {
      const known = model.topics.get(name)
      const partitions = random.pick([0, 2, 3, 5, 9])
      const [extended] = bench.run({ type: 'createPartitions', topics: [{ name, partitions, assignment: undefined }], validateOnly: false })
      const allowed = known !== undefined && partitions > known.partitions
      expect(extended!.error === undefined).toBe(allowed)
      if (!allowed) return
      const added = bench.image.topics.get(name)!.partitions.slice(known.partitions).map((partition) => partition.leader)
      known.leaders.push(...added)
      known.epochs.push(...added.map(() => 0))
      known.partitions = partitions
      return
    }
    case 6: {
      alter(bench, model, random, name)
      return
    }
    case 4: {
      const nodeId = random.between(1, 3)
      const ids = [...bench.image.removals.keys(), zeroUuid].filter(() => random.chance(0.7))
      bench.run({ type: 'confirmRemovals', nodeId, topicIds: [...ids, ...ids] })
      for (const id of ids) model.removals.delete(`${id} ${nodeId}`)
      return
    }
    case 3: {
      const nodeId = random.between(1, 3)
      const life = (model.lives.get(nodeId) ?? -1) + (random.chance(0.7) || !model.lives.has(nodeId) ? 1 : 0)
      const fresh = model.lives.get(nodeId) !== life
      bench.run({ type: 'registerBroker', registration: registration(nodeId, life) })
      model.lives.set(nodeId, life)
      if (fresh) for (const topic of model.topics.values()) topic.leaders.forEach((leader, index) => { if (leader === nodeId) topic.epochs[index]!++ })
      return
    }
    default: {
      const nodeId = random.between(1, 3)
      const broker = bench.image.brokers.get(nodeId)
      if (broker === undefined) return
      const block = bench.run({ type: 'allocateProducerIds', nodeId, brokerEpoch: broker.epoch })
      expect(block).toEqual({ first: model.nextProducerId, count: 1000 })
      model.nextProducerId += 1000
    }
  }
}

/** A change that is refused changes nothing of its topic; one that is only checked nothing at all, and is answered the same. */
function alter(bench: ControllerBench, model: NaiveCluster, random: Prng, topic: string): void {
  const known = model.topics.get(topic)
  const replaces = random.chance(0.3)
  const wanted = ['retention.ms', 'segment.ms', 'cleanup.policy', 'nonsense'].filter(() => random.chance(0.4))
  const changes = wanted.map((name): ConfigChange => {
    const values = name === 'cleanup.policy' ? ['compact', 'delete', ''] : ['1', '2', 'soon']
    const operation = replaces ? 'set' : random.pick(['set', 'delete', ...name === 'cleanup.policy' ? ['append', 'subtract'] as const : []] as const)
    return { name, operation, value: operation === 'delete' ? null : random.pick(values) }
  })
  const allowed = known !== undefined && changes.every(({ name, operation, value }) => operation === 'delete' || (name !== 'nonsense' && value !== 'soon'))
  const command = { type: 'alterConfigs', alterations: [{ topic, replaces, changes }, { topic: 'nobody', replaces, changes: [] }] } as const
  const checked = bench.run({ ...command, validateOnly: true })
  const [altered, nobody] = bench.run({ ...command, validateOnly: false })
  expect([altered, nobody]).toEqual(checked)
  expect([altered!.error === undefined, nobody!.error?.code]).toEqual([allowed, 'MR_TOPIC_UNKNOWN'])
  if (!allowed) return
  const before = new Map(known.overrides)
  if (replaces) known.overrides.clear()
  for (const { name, operation, value } of changes) {
    const list = (before.get(name) ?? 'delete').split(',').filter((item) => item !== '' && item !== value)
    if (operation === 'delete') known.overrides.delete(name)
    else known.overrides.set(name, operation === 'set' ? value! : [...list, ...operation === 'append' && value !== '' ? [value] : []].join(','))
  }
}

describe('random commands', () => {
  it(`leave what the plainest program would have, in every image, and a snapshot of it is equal (seeds from ${firstSeed})`, () => {
    for (let run = 0; run < 30; run++) {
      const seed = firstSeed + run
      const random = new Prng(seed)
      const bench = new ControllerBench({}, seed)
      const model = new NaiveCluster()
      try {
        for (let count = 0; count < 80; count++) {
          const before = bench.image
          const told = plain(before)
          step(bench, model, random)
          expect(plain(before)).toEqual(told)
        }
        const { image } = bench
        expect([...image.topics.keys()].sort()).toEqual([...model.topics.keys()].sort())
        expect(removalsOf(image)).toEqual([...model.removals].sort())
        for (const [name, expected] of model.topics) {
          const topic = image.topics.get(name)!
          expect(topic.id).toBe(expected.id)
          expect(topic.partitions.map((partition) => partition.leaderEpoch)).toEqual(expected.epochs)
          expect(topic.partitions).toHaveLength(expected.partitions)
          expect(new Map([...topic.overrides].map(sorted))).toEqual(new Map([...expected.overrides].map(sorted)))
          expect(topic.settings).toEqual(settingsOf(expected.overrides))
        }
        const restored = imageFromRecords(decodeRecords(encodeRecords(imageRecords(image))), image.index, image.controllerId, settingsOf)
        expect(plain(restored)).toEqual(plain(image))
        expect(encodeRecords(imageRecords(restored))).toEqual(encodeRecords(imageRecords(image)))
      } catch (error) {
        throw new Error(`seed ${seed}`, { cause: error })
      }
    }
  })

  it('decide never changes the machine: asking twice gives the same records', () => {
    const bench = new ControllerBench()
    bench.run({ type: 'registerBroker', registration: registration(1) })
    const names = (records: readonly object[]): string => JSON.stringify(records.map((record) => 'name' in record ? record.name : 0))
    const command = { type: 'createTopics', topics: [newTopic('a'), newTopic('b')], validateOnly: false } as const
    expect(names(bench.decide(command).records)).toBe(names(bench.decide(command).records))
  })
})
