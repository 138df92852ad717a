import { describe, expect, it } from 'vitest'
import { topicConfigTable } from '../../../../../src/kernel/config/topic-config-table.ts'
import { zeroUuid } from '../../../../../src/kernel/model/ids.ts'
import { type CreateTopic } from '../../../../../src/kernel/ports/controller.ts'
import { benchWithBrokers, ControllerBench, incarnation, newTopic, registration } from './metadata-fixtures.ts'

const kafkaCode = (topic: { readonly error: { readonly row: { readonly kafka: number } } | undefined }): number => topic.error?.row.kafka ?? 0

describe('creating topics', () => {
  it('quirk 20: -1 takes the defaults, and the answer carries partitions, replication and every setting', () => {
    const bench = benchWithBrokers(1)
    const [created] = bench.create(newTopic('a', { configs: new Map([['retention.ms', '7']]) }))
    expect(created).toMatchObject({ name: 'a', error: undefined, partitions: 3, replicationFactor: 1, warnings: [] })
    const configs = new Map(created!.configs.map((entry) => [entry.name, entry]))
    expect([...configs.keys()]).toEqual(topicConfigTable.filter((row) => !row.internal).map((row) => row.name))
    expect(configs.get('retention.ms')).toEqual({ name: 'retention.ms', value: '7', source: 'topic' })
    expect(configs.get('segment.bytes')).toEqual({ name: 'segment.bytes', value: '1073741824', source: 'default' })
  })

  it('a default that the broker was given has the broker as its source', () => {
    const [created] = benchWithBrokers(1).create('a')
    expect(created!.configs.find((entry) => entry.name === 'retention.ms')).toEqual({ name: 'retention.ms', value: '3600000', source: 'broker' })
  })

  it('quirk 20: validateOnly checks all and creates nothing', () => {
    const bench = benchWithBrokers(1)
    const command = { type: 'createTopics', topics: [newTopic('a'), newTopic('b', { partitions: 0 })], validateOnly: true } as const
    const { records, reply } = bench.decide(command)
    expect(records).toEqual([])
    expect(reply.map(kafkaCode)).toEqual([0, 37])
    expect(reply[0]).toMatchObject({ id: zeroUuid, partitions: 3 })
    expect(bench.create('a').map(kafkaCode)).toEqual([0])
  })

  it('quirk 20: a name that is twice in a request is refused with 42, wherever it stands', () => {
    expect(benchWithBrokers(1).create('a', 'b', 'a').map(kafkaCode)).toEqual([42, 0, 42])
  })

  it('thousands that are refused are answered without a stack each', () => {
    const bench = benchWithBrokers(1)
    const bad = bench.create('a/b', 'a'.repeat(250), newTopic('b', { partitions: 0 }), newTopic('c', { configs: new Map([['retention.mss', '1']]) }))
    const { reply } = bench.decide({ type: 'deleteTopics', topics: [{ name: 'nobody', id: zeroUuid }] })
    for (const { error } of [...bad, ...reply]) expect(error!.stack).not.toMatch(/\n\s+at /)
  })

  it('topics with equal settings share one list of them, others have their own', () => {
    const configs = new Map([['retention.ms', '7']])
    const [a, b, c, d] = benchWithBrokers(1).create('a', 'b', newTopic('c', { configs }), newTopic('d', { configs }))
    expect([a!.configs === b!.configs, c!.configs === d!.configs, a!.configs === c!.configs]).toEqual([true, true, false])
    expect(c!.configs.find(({ name }) => name === 'retention.ms')).toEqual({ name: 'retention.ms', value: '7', source: 'topic' })
  })

  it('quirk 20: an assignment excludes the counts', () => {
    const assignment = [[1], [1]]
    const bench = benchWithBrokers(1)
    expect(bench.create(newTopic('a', { assignment, partitions: 2 }), newTopic('b', { assignment, replicationFactor: 1 }), newTopic('c', { assignment }))
      .map(kafkaCode)).toEqual([42, 42, 0])
    expect(bench.image.topics.get('c')!.partitions).toHaveLength(2)
  })

  it.each<[string, Partial<CreateTopic>, number]>([
    ['no partition', { partitions: 0 }, 37],
    ['fewer than none', { partitions: -2 }, 37],
    ['more partitions than the limit', { partitions: 101 }, 37],
    ['no replica', { replicationFactor: 0 }, 38],
    ['fewer than none, replicas', { replicationFactor: -2 }, 38],
    ['more replicas than brokers', { replicationFactor: 3 }, 38],
    ['an empty assignment', { assignment: [] }, 39],
    ['a partition without replicas', { assignment: [[1], []] }, 39],
    ['an assignment to an unknown broker', { assignment: [[9]] }, 39],
    ['an assignment that names a broker twice', { assignment: [[1, 1]] }, 39],
    ['an uneven assignment', { assignment: [[1, 2], [1]] }, 39],
    ['an unknown setting', { configs: new Map([['retention.mss', '1']]) }, 40],
    ['a wrong value', { configs: new Map([['retention.ms', 'x']]) }, 40],
    ['a null value', { configs: new Map([['retention.ms', null]]) }, 40],
    ['what is not supported', { configs: new Map([['remote.storage.enable', 'true']]) }, 40],
  ])('%s is refused', (_title, change, code) => {
    const bench = benchWithBrokers(2)
    const { records, reply } = bench.decide({ type: 'createTopics', topics: [newTopic('a', change)], validateOnly: false })
    expect(kafkaCode(reply[0]!)).toBe(code)
    expect(records).toEqual([])
  })

  it.each([['a b', 17], ['', 17], ['..', 17], ['x'.repeat(250), 17], ['__cluster_metadata', 29]])('the name %j is refused', (name, code) => {
    expect(benchWithBrokers(1).create(name).map(kafkaCode)).toEqual([code])
  })

  it('an existing name is refused with 36, one that metrics could not tell from it with 17', () => {
    const bench = benchWithBrokers(1)
    expect(bench.create('a.b', 'a_b', 'a-b').map(kafkaCode)).toEqual([0, 17, 0])
    expect(bench.create('a.b', 'a_b').map(kafkaCode)).toEqual([36, 17])
    bench.run({ type: 'deleteTopics', topics: [{ name: 'a.b', id: zeroUuid }] })
    expect(bench.create('a_b').map(kafkaCode)).toEqual([0])
  })

  it('the topics of one request share the limit of partitions', () => {
    expect(benchWithBrokers(1).create(newTopic('a', { partitions: 60 }), newTopic('b', { partitions: 41 }), newTopic('c', { partitions: 40 })).map(kafkaCode)).toEqual([0, 37, 0])
  })

  it('without a broker nothing can be placed', () => {
    const bench = new ControllerBench()
    expect(bench.create('a').map(kafkaCode)).toEqual([38])
  })

  it('leaders go around the brokers, and replicas follow them', () => {
    const bench = benchWithBrokers(3)
    bench.create(newTopic('a', { partitions: 6, replicationFactor: 2 }))
    const { partitions } = bench.image.topics.get('a')!
    const leaders = partitions.map((partition) => partition.leader)
    expect([1, 2, 3].map((id) => leaders.filter((leader) => leader === id).length)).toEqual([2, 2, 2])
    for (const partition of partitions) {
      expect(partition.replicas[0]).toBe(partition.leader)
      expect(partition.replicas[1]).toBe(partition.leader % 3 + 1)
      expect(partition).toMatchObject({ isr: partition.replicas, leaderEpoch: 0, partitionEpoch: 0 })
    }
  })

  it('internal topics are always synced', () => {
    const bench = benchWithBrokers(1)
    bench.create(newTopic('__consumer_offsets', { configs: new Map([['cleanup.policy', 'compact'], ['durability', 'os']]) }))
    expect(bench.image.topics.get('__consumer_offsets')).toMatchObject({ internal: true, settings: { durability: 'fsync', compact: true } })
  })

  it('settings without effect are accepted, and told of', () => {
    const [created] = benchWithBrokers(1).create(newTopic('a', { configs: new Map([['preallocate', 'true']]) }))
    expect(created!.warnings).toEqual(['preallocate has no effect here: segments end with their last batch'])
  })

  it('settings that the store of this composition cannot keep are accepted, and told of', () => {
    const bench = benchWithBrokers(1, { storeLimits: { durable: 'acme-store forgets' } })
    const [created] = bench.create(newTopic('a', { configs: new Map([['durability', 'fsync']]) }), newTopic('b'))
    expect(created!.warnings).toEqual(['durability=fsync has no effect here: acme-store forgets'])
    expect(bench.image.topics.get('a')!.settings.durability).toBe('fsync')
  })
})

describe('deleting topics', () => {
  it('by name and by id, unknown ones with 3 and 100, one named twice with 42', () => {
    const bench = benchWithBrokers(1)
    const [a, b] = bench.create('a', 'b', 'c')
    const deleted = bench.run({ type: 'deleteTopics', topics: [
      { name: 'a', id: zeroUuid }, { name: undefined, id: b!.id }, { name: 'nope', id: zeroUuid }, { name: undefined, id: incarnation(1, 1) },
      { name: 'c', id: zeroUuid }, { name: 'c', id: zeroUuid },
    ] })
    expect(deleted.map(kafkaCode)).toEqual([0, 0, 3, 100, 42, 42])
    expect(deleted[0]).toMatchObject({ name: 'a', id: a!.id })
    expect(deleted[1]).toMatchObject({ name: 'b', id: b!.id })
    expect([...bench.image.topics.keys()]).toEqual(['c'])
  })

  it('quirk 16: a topic made again has another id', () => {
    const bench = benchWithBrokers(1)
    const [first] = bench.create('a')
    bench.run({ type: 'deleteTopics', topics: [{ name: 'a', id: zeroUuid }] })
    const [second] = bench.create('a')
    expect(second!.error).toBeUndefined()
    expect(second!.id).not.toBe(first!.id)
    expect(bench.image.topicsById.has(first!.id)).toBe(false)
  })

  it('is refused with 73 where delete.topic.enable is false', () => {
    const bench = benchWithBrokers(1, { deletionAllowed: false })
    bench.create('a')
    expect(bench.run({ type: 'deleteTopics', topics: [{ name: 'a', id: zeroUuid }] }).map(kafkaCode)).toEqual([73])
    expect(bench.image.topics.has('a')).toBe(true)
  })
})

describe('brokers', () => {
  it('get a larger epoch at each life, and the same one when a life registers twice', () => {
    const bench = new ControllerBench()
    const epochs = [registration(1), registration(2), registration(1), registration(1, 1), registration(2, 1)]
      .map((each) => bench.run({ type: 'registerBroker', registration: each }))
    expect(epochs).toEqual([1, 2, 1, 3, 4])
    expect(bench.image.brokers.get(1)).toMatchObject({ epoch: 3, incarnationId: incarnation(1, 1), endpoints: [{ port: 9093 }], rack: 'rack-1' })
  })

  it('that begin a new life are named leader again: leader and partition epochs of what they lead grow by one', () => {
    const bench = benchWithBrokers(2)
    bench.create(newTopic('a', { assignment: [[1, 2], [2, 1]] }))
    bench.run({ type: 'registerBroker', registration: registration(1, 1) })
    bench.run({ type: 'registerBroker', registration: registration(1, 1) })
    expect(bench.image.topics.get('a')!.partitions).toMatchObject([{ leader: 1, leaderEpoch: 1, partitionEpoch: 1 }, { leader: 2, leaderEpoch: 0, partitionEpoch: 0 }])
  })
})

describe('producer ids', () => {
  it('come in blocks that follow one another, whoever asks', () => {
    const bench = benchWithBrokers(2)
    const blocks = [[1, 1], [2, 2], [1, 1]].map(([nodeId, brokerEpoch]) => bench.run({ type: 'allocateProducerIds', nodeId: nodeId!, brokerEpoch: brokerEpoch! }))
    expect(blocks).toEqual([{ first: 0, count: 1000 }, { first: 1000, count: 1000 }, { first: 2000, count: 1000 }])
  })

  it('are refused to a broker that is unknown, or was registered again since', () => {
    const bench = benchWithBrokers(1)
    expect(() => bench.run({ type: 'allocateProducerIds', nodeId: 9, brokerEpoch: 1 })).toThrow(/not registered/)
    expect(() => bench.run({ type: 'allocateProducerIds', nodeId: 1, brokerEpoch: 0 })).toThrow(/registered again/)
  })
})
