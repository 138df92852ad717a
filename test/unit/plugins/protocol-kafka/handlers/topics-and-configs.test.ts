import { describe, expect, it } from 'vitest'
import { deferred } from '../../../../../src/base/deferred.ts'
import { createTopicsApi, deleteTopicsApi, describeClusterApi, describeConfigsApi, findCoordinatorApi } from '../../../../../src/wire/messages/index.ts'
import { brokerConfigTable } from '../../../../../src/kernel/config/broker-config-table.ts'
import { topicConfigTable } from '../../../../../src/kernel/config/topic-config-table.ts'
import { TestBroker, turn } from '../fixture/test-broker.ts'

const topic = (name: string, more: object = {}) => ({ name, numPartitions: 2, replicationFactor: 1, assignments: [], configs: [], ...more })

describe('CreateTopics', () => {
  it('quirk 20: validateOnly checks all and creates nothing', async () => {
    const broker = await TestBroker.start()
    const answer = await broker.connect().call(createTopicsApi, 5, { topics: [topic('good'), topic('bad name')], timeoutMs: 1000, validateOnly: true })
    expect(answer.topics.map(({ name, errorCode }) => [name, errorCode])).toEqual([['good', 0], ['bad name', 17]])
    expect(answer.topics[1]!.errorMessage).toContain('only letters')
    expect(broker.cluster.topics.size).toBe(0)
  })

  it('logs what has no effect of a topic that is made, and not of one that is only checked', async () => {
    const broker = await TestBroker.start()
    const topics = [topic('t', { configs: [{ name: 'flush.ms', value: '5' }] })]
    await broker.connect().call(createTopicsApi, 5, { topics, timeoutMs: 1000, validateOnly: true })
    expect(broker.logger.atLeast('warn')).toEqual([])
    await broker.connect().call(createTopicsApi, 5, { topics, timeoutMs: 1000 })
    expect(broker.logger.atLeast('warn').map(({ message }) => message)).toEqual(['topic t: flush.ms has no effect here'])
  })

  it('quirk 20: v5 answers with partitions, replication and the settings that the controller tells, v7 with the id', async () => {
    const broker = await TestBroker.start()
    broker.cluster.defaultPartitions = 4
    const client = broker.connect()
    const five = await client.call(createTopicsApi, 5, { topics: [topic('five', { numPartitions: -1, replicationFactor: -1 })], timeoutMs: 1000 })
    expect(five.topics[0]).toMatchObject({ numPartitions: 4, replicationFactor: 1, configs: [{ name: 'retention.ms', value: '604800000', configSource: 5, readOnly: false }] })
    const seven = await client.call(createTopicsApi, 7, { topics: [topic('seven')], timeoutMs: 1000 })
    expect(seven.topics[0]!.topicId).toBe(broker.cluster.topics.get('seven')!.id)
  })

  it('quirk 20: a name that is there twice is 42, once, and the others are created', async () => {
    const broker = await TestBroker.start()
    const answer = await broker.connect().call(createTopicsApi, 4, { topics: [topic('a'), topic('b'), topic('a')], timeoutMs: 1000 })
    expect(answer.topics.map(({ name, errorCode }) => [name, errorCode])).toEqual([['a', 42], ['b', 0]])
    expect([...broker.cluster.topics.keys()]).toEqual(['b'])
  })

  it('quirk 20: an assignment excludes the counts, and has to be without gaps', async () => {
    const broker = await TestBroker.start()
    const assigned = (indexes: number[], more: object = {}) =>
      topic(`t${indexes.join('')}${Object.keys(more).length}`, { numPartitions: -1, replicationFactor: -1, assignments: indexes.map((partitionIndex) => ({ partitionIndex, brokerIds: [1] })), ...more })
    const answer = await broker.connect().call(createTopicsApi, 4, {
      topics: [assigned([1, 0]), assigned([0], { numPartitions: 1 }), assigned([0, 2]), assigned([0, 0]), assigned([-1])], timeoutMs: 1000,
    })
    expect(answer.topics.map(({ errorCode }) => errorCode)).toEqual([0, 42, 39, 39, 39])
    expect(broker.cluster.creations).toEqual([expect.objectContaining({ assignment: [[1], [1]] })])
  })

  it('each topic has its own outcome, with the reason', async () => {
    const broker = await TestBroker.start()
    broker.cluster.topic('old')
    const answer = await broker.connect().call(createTopicsApi, 7, {
      topics: [topic('old'), topic('zero', { numPartitions: 0 }), topic('three', { replicationFactor: 3 }), topic('fine')], timeoutMs: 1000,
    })
    expect(answer.topics.map(({ errorCode }) => errorCode)).toEqual([36, 37, 38, 0])
    expect(answer.topics[0]!.errorMessage).toBe('topic old exists already; choose another name, or delete it first')
  })

  it('what takes longer than the client waits is 7', async () => {
    const broker = await TestBroker.start()
    const gate = deferred()
    broker.cluster.creationGate = gate.promise
    const call = broker.connect().call(createTopicsApi, 7, { topics: [topic('slow')], timeoutMs: 300 })
    await turn()
    broker.timers.advance(300)
    expect((await call).topics[0]).toMatchObject({ errorCode: 7 })
    gate.resolve()
    await turn()
  })

  it('the answer waits for the logs; a topic that is not complete in time is 7 and there all the same, others have their own answer', async () => {
    const broker = await TestBroker.start()
    const client = broker.connect()
    broker.cluster.slowPartitions = [1]
    let answered = false
    const patient = client.call(createTopicsApi, 7, { topics: [topic('large')], timeoutMs: 5000 })
    void patient.then(() => { answered = true })
    await turn()
    broker.timers.advance(4999)
    await turn()
    expect([answered, broker.cluster.topics.has('large')]).toEqual([false, true])
    broker.cluster.finish()
    expect((await patient).topics[0]).toMatchObject({ errorCode: 0, numPartitions: 2 })
    const hasty = client.call(createTopicsApi, 7, { topics: [topic('small', { numPartitions: 1 }), topic('large'), topic('slow')], timeoutMs: 300 })
    await turn()
    broker.cluster.finishOf('small')
    await turn()
    broker.timers.advance(300)
    expect((await hasty).topics.map(({ name, errorCode }) => [name, errorCode])).toEqual([['small', 0], ['large', 36], ['slow', 7]])
    expect(broker.cluster.topics.has('slow')).toBe(true)
    broker.cluster.finish()
    expect(broker.cluster.replica(broker.cluster.topics.get('slow')!.id, 1)).toBeDefined()
    await turn()
  })

  it('one that is only checked waits for no log, and a stop ends the wait with 41', async () => {
    const broker = await TestBroker.start()
    const client = broker.connect()
    broker.cluster.slowPartitions = [0]
    expect((await client.call(createTopicsApi, 7, { topics: [topic('t')], timeoutMs: 300, validateOnly: true })).topics[0]).toMatchObject({ errorCode: 0 })
    const call = client.call(createTopicsApi, 7, { topics: [topic('t')], timeoutMs: 300 })
    await turn()
    const stopping = broker.server.stop()
    expect((await call).topics[0]).toMatchObject({ errorCode: 41 })
    await stopping
  })

  it('a controller that is elsewhere is 41 for each topic', async () => {
    const broker = await TestBroker.start()
    const { MillraceError } = await import('../../../../../src/kernel/errors/index.ts')
    broker.cluster.createTopics = async () => { throw new MillraceError('MR_CLUSTER_NOT_CONTROLLER', { nodeId: 1, leaderId: 2 }) }
    expect((await broker.connect().call(createTopicsApi, 7, { topics: [topic('a'), topic('b')], timeoutMs: 300 })).topics.map(({ errorCode }) => errorCode)).toEqual([41, 41])
  })
})

describe('DeleteTopics', () => {
  it('deletes by name, and by id from v6 on; one result each, in their order (quirk 54)', async () => {
    const broker = await TestBroker.start()
    for (const name of ['a', 'b', 'c']) broker.cluster.topic(name)
    const { id } = broker.cluster.topics.get('b')!
    const client = broker.connect()
    const five = await client.call(deleteTopicsApi, 5, { topicNames: ['nobody', 'a'], timeoutMs: 100 })
    expect(five.responses.map(({ name, errorCode }) => [name, errorCode])).toEqual([['nobody', 3], ['a', 0]])
    const unknown = 'unknown0000AAAAAAAAAAA'
    const six = await client.call(deleteTopicsApi, 6, { topics: [{ topicId: unknown }, { topicId: id }, { name: 'c', topicId: id }, { topicId: 'AAAAAAAAAAAAAAAAAAAAAA' }], timeoutMs: 100 })
    expect(six.responses.map(({ name, topicId, errorCode }) => [name, topicId, errorCode])).toEqual([
      [null, unknown, 100], ['b', id, 0], ['c', id, 42], [null, 'AAAAAAAAAAAAAAAAAAAAAA', 42],
    ])
    expect([...broker.cluster.topics.keys()]).toEqual(['c'])
  })

  it('a topic that is there twice is 42 in both places', async () => {
    const broker = await TestBroker.start()
    broker.cluster.topic('a')
    const answer = await broker.connect().call(deleteTopicsApi, 5, { topicNames: ['a', 'a'], timeoutMs: 100 })
    expect(answer.responses.map(({ errorCode }) => errorCode)).toEqual([42, 42])
    expect(broker.cluster.topics.size).toBe(1)
  })

  it('where it is disabled the answer is 73, and 42 before v3', async () => {
    const broker = await TestBroker.start({ settings: { 'delete.topic.enable': 'false' } })
    broker.cluster.topic('a')
    const code = async (version: number) => (await broker.connect().call(deleteTopicsApi, version, { topicNames: ['a'], timeoutMs: 100 })).responses[0]!.errorCode
    expect([await code(2), await code(3)]).toEqual([42, 73])
  })
})

describe('DescribeConfigs', () => {
  it('quirk 21: lists every setting of a topic and of the broker, those at their default included, for null or no keys', async () => {
    const broker = await TestBroker.start({ settings: { 'log.retention.ms': '1000' } })
    broker.cluster.topic('t', 1, {}, { overrides: new Map([['cleanup.policy', 'compact']]) })
    for (const configurationKeys of [null, []]) {
      const answer = await broker.connect().call(describeConfigsApi, 4, {
        resources: [{ resourceType: 2, resourceName: 't', configurationKeys }, { resourceType: 4, resourceName: '1', configurationKeys }],
        includeSynonyms: true, includeDocumentation: true,
      })
      const [topicResult, brokerResult] = answer.results
      expect(topicResult!.configs.map(({ name }) => name)).toEqual(topicConfigTable.filter(({ internal }) => internal === undefined).map(({ name }) => name))
      const config = (name: string) => topicResult!.configs.find((each) => each.name === name)!
      expect(config('cleanup.policy')).toMatchObject({ value: 'compact', configSource: 1, configType: 7, readOnly: false })
      expect(config('retention.ms')).toMatchObject({ value: '1000', configSource: 4, configType: 5 })
      expect(config('retention.ms').synonyms[0]).toEqual({ name: 'log.retention.ms', value: '1000', source: 4 })
      expect(config('segment.bytes')).toMatchObject({ configSource: 5, documentation: expect.stringMatching(/\w/) })
      expect(brokerResult!.configs.map(({ name }) => name)).toEqual(brokerConfigTable.filter(({ internal }) => internal === undefined).map(({ name }) => name))
      expect(brokerResult!.configs.find(({ name }) => name === 'num.partitions')).toMatchObject({ configType: 3, readOnly: true })
    }
  })

  it('a topic with damaged offsets tells them in one setting more, which is read only and at its default; one without has none', async () => {
    const broker = await TestBroker.start()
    const [, damaged] = broker.cluster.topic('t', 2)
    const ask = async (keys: string[] | null) => (await broker.connect().call(describeConfigsApi, 4, { resources: [{ resourceType: 2, resourceName: 't', configurationKeys: keys }] })).results[0]!.configs
    const before = await ask(null)
    expect(await ask(['millrace.damaged.offsets'])).toEqual([])
    Object.defineProperty(damaged!.log, 'damage', { value: [{ first: 3, last: 5 }, { first: 9, last: 9 }] })
    expect(await ask(['millrace.damaged.offsets'])).toMatchObject([{ name: 'millrace.damaged.offsets', value: '1:3-5,1:9-9', readOnly: true, configSource: 5 }])
    expect((await ask(null)).length).toBe(before.length + 1)
  })

  it('a topic with an end that is missing tells its offsets in one setting more, and one without has none', async () => {
    const broker = await TestBroker.start()
    const [, lost] = broker.cluster.topic('t', 2)
    const ask = async () => (await broker.connect().call(describeConfigsApi, 4, { resources: [{ resourceType: 2, resourceName: 't', configurationKeys: ['millrace.missing.offsets'] }] })).results[0]!.configs
    expect(await ask()).toEqual([])
    Object.defineProperty(lost!.log, 'missing', { value: { first: 200, last: 399 } })
    expect(await ask()).toMatchObject([{ name: 'millrace.missing.offsets', value: '1:200-399', readOnly: true, configSource: 5 }])
  })

  it('where the compaction of a topic stands is told to who asks for it by name, and to all while a round has failed; before version 4 no more than a value may hold', async () => {
    const broker = await TestBroker.start()
    const partitions = broker.cluster.topic('t', 2_000)
    const ask = async (keys: string[] | null, version = 4) => (await broker.connect().call(describeConfigsApi, version, { resources: [{ resourceType: 2, resourceName: 't', configurationKeys: keys }] })).results[0]!.configs
    const name = 'millrace.compaction.state'
    expect(await ask([name])).toEqual([])
    const before = await ask(null)
    const tell = (index: number, failure?: { reason: string, nextTryMs: number }) =>
      Object.defineProperty(partitions[index]!.log, 'compaction', { configurable: true, value: { cleanedTo: 5, dirtyBytes: 100, dirtyRatio: 0.5, lastRoundMs: 1_700_000_000_000, failure } })
    tell(1)
    expect(await ask([name, 'cleanup.policy'])).toMatchObject([{ name: 'cleanup.policy' }, { name, value: '1:5:100:50:1700000000000', readOnly: true, configSource: 5 }])
    expect(await ask(null)).toEqual(before)
    for (let index = 0; index < 2_000; index++) tell(index)
    tell(1_999, { reason: 'no space', nextTryMs: 1_700_000_030_000 })
    const told = (await ask(null)).filter((each) => each.name === name)
    expect(told[0]!.value!.split(',').length).toBe(2_000)
    const [short] = await ask([name], 3)
    expect(short!.value!.length).toBeGreaterThan(32_700)
    expect(short!.value!.length).toBeLessThanOrEqual(32_767)
    expect(short!.value!).toMatch(/^1999:5:100:50:1700000000000:1700000030000:no%20space,0:/)
  })

  it('keys choose; synonyms and documentation come when asked for', async () => {
    const broker = await TestBroker.start()
    broker.cluster.topic('t')
    const answer = await broker.connect().call(describeConfigsApi, 3, { resources: [{ resourceType: 2, resourceName: 't', configurationKeys: ['retention.ms', 'no.such'] }] })
    expect(answer.results[0]!.configs).toEqual([expect.objectContaining({ name: 'retention.ms', synonyms: [], documentation: null })])
  })

  it('one result for each resource, also for those that are not there', async () => {
    const broker = await TestBroker.start()
    const ask = [[2, 'nobody'], [2, 'bad name'], [4, '7'], [4, ''], [8, '1'], [32, 'group'], [2, 'nobody']].map(([resourceType, resourceName]) =>
      ({ resourceType: resourceType as number, resourceName: resourceName as string, configurationKeys: null }))
    const answer = await broker.connect().call(describeConfigsApi, 1, { resources: ask })
    expect(answer.results.map(({ errorCode, configs }) => [errorCode, configs.length])).toEqual([[3, 0], [17, 0], [42, 0], [0, 0], [42, 0], [42, 0]])
    expect(answer.results[2]!.errorMessage).toContain('this is broker 1, not 7')
  })
})

describe('DescribeCluster', () => {
  it('quirk 24: endpoint type 1 are brokers; controllers are 114, others 115', async () => {
    const client = (await TestBroker.start()).connect()
    expect(await client.call(describeClusterApi, 1, { endpointType: 1, includeClusterAuthorizedOperations: false })).toMatchObject({
      errorCode: 0, controllerId: 1, brokers: [{ brokerId: 1, host: '127.0.0.1', port: 9092, rack: null }], clusterAuthorizedOperations: -2147483648,
    })
    expect((await client.call(describeClusterApi, 1, { endpointType: 2, includeClusterAuthorizedOperations: false })).errorCode).toBe(114)
    expect((await client.call(describeClusterApi, 1, { endpointType: 9, includeClusterAuthorizedOperations: false })).errorCode).toBe(115)
    expect((await client.call(describeClusterApi, 0, { includeClusterAuthorizedOperations: true })).clusterAuthorizedOperations).toBe(8096)
  })

  it('quirk 24: brokers that are not known to be alive are told to who asks for them, which v2 can', async () => {
    const broker = await TestBroker.start()
    const [endpoints, incarnationId] = [[{ listener: 'PLAINTEXT', host: 'elsewhere', port: 1 }], 'AAAAAAAAAAAAAAAAAAAAAg']
    broker.cluster.brokers.set(2, { nodeId: 2, epoch: 8, incarnationId, endpoints, rack: 'r', fenced: true })
    broker.cluster.brokers.set(3, { nodeId: 3, epoch: 9, incarnationId, endpoints: [{ listener: 'OTHER', host: 'elsewhere', port: 2 }], rack: undefined, fenced: true })
    const asked = async (version: number, more: object) => (await broker.connect().call(describeClusterApi, version, { includeClusterAuthorizedOperations: false, ...more })).brokers
    for (const version of [0, 1]) expect((await asked(version, {})).map(({ brokerId }) => brokerId)).toEqual([1])
    expect((await asked(2, { includeFencedBrokers: false })).map(({ brokerId, isFenced }) => [brokerId, isFenced])).toEqual([[1, false]])
    expect(await asked(2, { includeFencedBrokers: true })).toEqual([
      expect.objectContaining({ brokerId: 1, isFenced: false }), { brokerId: 2, host: 'elsewhere', port: 1, rack: 'r', isFenced: true },
    ])
  })
})

describe('FindCoordinator', () => {
  it('while there are no coordinators, says so for good: 35 with a reason, which clients do not retry', async () => {
    const client = (await TestBroker.start()).connect()
    expect(await client.call(findCoordinatorApi, 0, { key: 'g' })).toMatchObject({ errorCode: 35, nodeId: -1 })
    expect((await client.call(findCoordinatorApi, 3, { key: 'g', keyType: 0 })).errorMessage).toContain('coordinates no consumer groups')
    expect((await client.call(findCoordinatorApi, 3, { key: 'x', keyType: 1 })).errorMessage).toContain('no transactions')
    expect((await client.call(findCoordinatorApi, 3, { key: 'x', keyType: 9 })).errorCode).toBe(42)
  })

  it('quirk 52: from v4 on one result a key, also for one', async () => {
    const client = (await TestBroker.start()).connect()
    for (const keys of [['a'], ['a', 'b', 'c'], []]) {
      const { coordinators } = await client.call(findCoordinatorApi, 6, { coordinatorKeys: keys })
      expect(coordinators.map(({ key, errorCode }) => [key, errorCode])).toEqual(keys.map((key) => [key, 35]))
    }
  })
})
