import { describe, expect, it } from 'vitest'
import { deferred } from '../../../../../src/base/deferred.ts'
import { MillraceError } from '../../../../../src/kernel/errors/index.ts'
import { fetchApi, listOffsetsApi, metadataApi, produceApi } from '../../../../../src/wire/messages/index.ts'
import { batchOf } from '../fixture/batches.ts'
import { fetchById, produce } from '../fixture/requests.ts'
import { TestBroker, turn } from '../fixture/test-broker.ts'

const names = (answer: { topics: readonly { name: string | null }[] }): (string | null)[] => answer.topics.map(({ name }) => name)

describe('Metadata', () => {
  it('quirk 13: no topics mean all in v0 and none later, where null means all', async () => {
    const broker = await TestBroker.start()
    broker.cluster.topic('a')
    broker.cluster.topic('b')
    const client = broker.connect()
    expect(names(await client.call(metadataApi, 0, { topics: [] }))).toEqual(['a', 'b'])
    for (const version of [1, 8, 12]) {
      const none = await client.call(metadataApi, version, { topics: [] })
      expect(none).toMatchObject({ topics: [], brokers: [{ nodeId: 1, host: '127.0.0.1', port: 9092 }], controllerId: 1 })
      expect(names(await client.call(metadataApi, version, { topics: null }))).toEqual(['a', 'b'])
    }
  })

  it('quirk 14: an unknown topic is created when the client allows it, and the first answer has its leaders', async () => {
    const broker = await TestBroker.start()
    broker.cluster.defaultPartitions = 3
    const answer = await broker.connect().call(metadataApi, 4, { topics: [{ name: 'new' }, { name: 'new' }], allowAutoTopicCreation: true })
    expect(answer.topics).toHaveLength(1)
    expect(answer.topics[0]).toMatchObject({ errorCode: 0, name: 'new' })
    expect(answer.topics[0]!.partitions.map(({ leaderId }) => leaderId)).toEqual([1, 1, 1])
    expect(broker.cluster.creations).toEqual([expect.objectContaining({ name: 'new', partitions: -1, replicationFactor: -1 })])
  })

  it('quirk 14: clients below v4 can not forbid it; one that forbids it is told 3, as is everybody when the broker forbids it', async () => {
    const broker = await TestBroker.start()
    const client = broker.connect()
    expect((await client.call(metadataApi, 3, { topics: [{ name: 'old' }] })).topics[0]!.errorCode).toBe(0)
    expect((await client.call(metadataApi, 4, { topics: [{ name: 'no' }], allowAutoTopicCreation: false })).topics[0]).toMatchObject({ errorCode: 3, name: 'no' })
    const strict = await TestBroker.start({ settings: { 'auto.create.topics.enable': 'false' } })
    expect((await strict.connect().call(metadataApi, 12, { topics: [{ name: 'no' }] })).topics[0]!.errorCode).toBe(3)
    expect(strict.cluster.creations).toEqual([])
  })

  it('quirk 14: a bad name is 17 at once and never created', async () => {
    const broker = await TestBroker.start()
    const answer = await broker.connect().call(metadataApi, 12, { topics: [{ name: 'a/b' }, { name: '' }, { name: '..' }, { name: 'x'.repeat(250) }] })
    expect(answer.topics.map(({ errorCode }) => errorCode)).toEqual([17, 17, 17, 17])
    expect(broker.cluster.creations).toEqual([])
  })

  it('thousands of unknown topics are created a hundred at a time, and others have their turn between', async () => {
    const broker = await TestBroker.start()
    const asked = Array.from({ length: 450 }, (_, index) => ({ name: `t-${index}` }))
    const atOnce: number[] = []
    let before = 0
    const turns = broker.cluster.createTopics.bind(broker.cluster)
    broker.cluster.createTopics = (topics, validateOnly) => {
      atOnce.push(topics.length)
      return turns(topics, validateOnly)
    }
    let isDone = false
    const call = broker.connect().call(metadataApi, 12, { topics: asked }).finally(() => { isDone = true })
    while (!isDone) {
      await turn(1)
      broker.timers.advance(0)
      expect(atOnce.length - before).toBeLessThanOrEqual(1)
      before = atOnce.length
    }
    expect(atOnce).toEqual([100, 100, 100, 100, 50])
    expect((await call).topics.map(({ name, errorCode }) => [name, errorCode])).toEqual(asked.map(({ name }) => [name, 0]))
  })

  it('two who ask for one unknown topic wait for one creation; one that takes too long is 5, which clients retry', async () => {
    const broker = await TestBroker.start()
    const gate = deferred()
    broker.cluster.creationGate = gate.promise
    const calls = [broker.connect(), broker.connect()].map((client) => client.call(metadataApi, 12, { topics: [{ name: 'slow' }] }))
    await turn()
    broker.timers.advance(2000)
    expect((await Promise.all(calls)).map(({ topics }) => topics[0]!.errorCode)).toEqual([5, 5])
    expect(broker.cluster.creations).toHaveLength(1)
    const third = broker.connect().call(metadataApi, 12, { topics: [{ name: 'slow' }] })
    gate.resolve()
    expect((await third).topics[0]!.errorCode).toBe(0)
    expect(broker.cluster.creations).toHaveLength(1)
  })

  it('a creation that is refused is answered with its reason, one that may succeed later with 5', async () => {
    const broker = await TestBroker.start()
    const client = broker.connect()
    const refuse = async (error: Error): Promise<number> => {
      broker.cluster.createTopics = async () => { throw error }
      return (await client.call(metadataApi, 12, { topics: [{ name: 'x' }] })).topics[0]!.errorCode
    }
    expect(await refuse(new MillraceError('MR_TOPIC_REPLICATION_INVALID', { topic: 'x', reason: 'one broker' }))).toBe(38)
    expect(await refuse(new MillraceError('MR_CLUSTER_NOT_CONTROLLER', { nodeId: 1, leaderId: 2 }))).toBe(5)
    expect(await refuse(new Error('a bug'))).toBe(-1)
  })

  it('quirk 15: a topic that is listed is whole: every partition has its leader', async () => {
    const broker = await TestBroker.start()
    broker.cluster.topic('t', 4)
    const [topic] = (await broker.connect().call(metadataApi, 12, { topics: null })).topics
    const gate = deferred()
    broker.cluster.creationGate = gate.promise
    const creation = broker.connect().call(metadataApi, 12, { topics: [{ name: 'new' }] })
    await turn()
    // One that is being made is not listed.
    expect((await broker.connect().call(metadataApi, 12, { topics: null })).topics.map(({ name }) => name)).toEqual(['t'])
    gate.resolve()
    await creation
    expect((await broker.connect().call(metadataApi, 12, { topics: null })).topics.map(({ name, partitions }) => [name, partitions.every(({ leaderId }) => leaderId === 1)])).toEqual([['t', true], ['new', true]])
    expect(topic!.partitions).toEqual([0, 1, 2, 3].map((partitionIndex) => ({
      errorCode: 0, partitionIndex, leaderId: 1, leaderEpoch: 3, replicaNodes: [1], isrNodes: [1], offlineReplicas: [],
    })))
  })

  it('quirk 16: topic ids are given from v10 on and taken from v12 on; an unknown one is 100, and a topic made again has another', async () => {
    const broker = await TestBroker.start()
    broker.cluster.topic('t')
    const client = broker.connect()
    const { topicId } = (await client.call(metadataApi, 10, { topics: [{ name: 't' }] })).topics[0]!
    expect(topicId).toBe(broker.cluster.topics.get('t')!.id)
    expect((await client.call(metadataApi, 12, { topics: [{ name: null, topicId }] })).topics[0]).toMatchObject({ errorCode: 0, name: 't' })
    expect((await client.call(metadataApi, 11, { topics: [{ name: null, topicId }] })).topics[0]!.errorCode).toBe(42)
    broker.cluster.drop('t')
    broker.cluster.topic('t')
    expect((await client.call(metadataApi, 12, { topics: [{ name: null, topicId }] })).topics[0]).toMatchObject({ errorCode: 100, name: null, topicId })
    expect((await client.call(metadataApi, 12, { topics: [{ name: 't' }] })).topics[0]!.topicId).not.toBe(topicId)
  })

  it('quirk 17: leader epochs are real', async () => {
    const broker = await TestBroker.start()
    broker.cluster.topic('t')
    const answer = await broker.connect().call(metadataApi, 7, { topics: null })
    expect(answer.topics[0]!.partitions[0]!.leaderEpoch).toBe(3)
  })

  it('quirk 18: the controller is a broker that is listed', async () => {
    const answer = await (await TestBroker.start()).connect().call(metadataApi, 7, { topics: null })
    expect(answer.brokers.map(({ nodeId }) => nodeId)).toContain(answer.controllerId)
  })

  it('a leader that is not there is 5, one that this listener does not reach is 72, and 5 for clients before v6', async () => {
    const broker = await TestBroker.start()
    broker.cluster.topic('t', 3)
    const other = { epoch: 1, incarnationId: 'AAAAAAAAAAAAAAAAAAAAAA', rack: undefined, fenced: false }
    broker.cluster.brokers.set(2, { nodeId: 2, ...other, endpoints: [{ listener: 'OTHER', host: 'h', port: 1 }] })
    broker.cluster.brokers.set(3, { nodeId: 3, ...other, fenced: true, endpoints: [{ listener: 'PLAINTEXT', host: 'h', port: 1 }] })
    broker.cluster.replaceTopic('t', (image) => ({ ...image, partitions: image.partitions.map((partition, index) => ({ ...partition, leader: [2, 3, -1][index]!, replicas: [2, 3] })) }))
    const client = broker.connect()
    const now = (await client.call(metadataApi, 12, { topics: null })).topics[0]!
    expect(now.partitions.map(({ errorCode, leaderId, offlineReplicas }) => [errorCode, leaderId, offlineReplicas])).toEqual([[72, -1, [3]], [5, -1, [3]], [5, -1, [3]]])
    expect((await client.call(metadataApi, 5, { topics: null })).topics[0]!.partitions.map(({ errorCode }) => errorCode)).toEqual([5, 5, 5])
    expect((await client.call(metadataApi, 5, { topics: null })).brokers.map(({ nodeId }) => nodeId)).toEqual([1])
  })

  it('a partition whose log this broker lacks or cannot serve has no leader, and its replica here is offline', async () => {
    const broker = await TestBroker.start()
    const [, failed] = broker.cluster.topic('t', 3)
    failed!.failure = new MillraceError('MR_LOG_DIRECTORY_OFFLINE', { path: '/data', reason: 'EIO' })
    broker.cluster.replicasById.get(broker.cluster.topics.get('t')!.id)!.pop()
    const client = broker.connect()
    const shown = async () => (await client.call(metadataApi, 12, { topics: [{ name: 't' }], allowAutoTopicCreation: false })).topics[0]!
      .partitions.map(({ errorCode, leaderId, offlineReplicas, isrNodes }) => [errorCode, leaderId, offlineReplicas, isrNodes])
    expect(await shown()).toEqual([[0, 1, [], [1]], [5, -1, [1], [1]], [5, -1, [1], [1]]])
    failed!.failure = undefined
    expect((await shown())[1]).toEqual([0, 1, [], [1]])
  })

  it('a partition that is not made yet has no leader and is not offline; data requests for it are told 6 without a leader to go to', async () => {
    const broker = await TestBroker.start()
    broker.cluster.slowPartitions = [1]
    broker.cluster.topic('t', 2)
    const client = broker.connect()
    const shown = async () => (await client.call(metadataApi, 12, { topics: [{ name: 't' }] })).topics[0]!
      .partitions.map(({ errorCode, leaderId, offlineReplicas }) => [errorCode, leaderId, offlineReplicas])
    expect(await shown()).toEqual([[0, 1, []], [5, -1, []]])
    const produced = await client.call(produceApi, 10, produce('t', batchOf(['x']), { index: 1 }))
    expect(produced.responses[0]!.partitionResponses[0]).toMatchObject({ errorCode: 6, currentLeader: { leaderId: -1, leaderEpoch: -1 } })
    const topicId = broker.cluster.topics.get('t')!.id
    const fetched = await client.call(fetchApi, 16, fetchById(topicId, [0, 0]))
    expect(fetched.responses[0]!.partitions[1]).toMatchObject({ errorCode: 6, currentLeader: { leaderId: -1, leaderEpoch: -1 } })
    const listed = await client.call(listOffsetsApi, 7, { replicaId: -1, topics: [{ name: 't', partitions: [{ partitionIndex: 1, timestamp: -1 }] }] })
    expect(listed.topics[0]!.partitions[0]).toMatchObject({ errorCode: 6 })
    broker.cluster.finish()
    expect(await shown()).toEqual([[0, 1, []], [0, 1, []]])
  })

  it('an unknown topic is shown when its logs are made, or after two seconds with 5 for those that are not', async () => {
    const broker = await TestBroker.start()
    broker.cluster.slowPartitions = [1]
    broker.cluster.defaultPartitions = 2
    const codes = ({ topics }: { topics: readonly { partitions: readonly { errorCode: number }[] }[] }) => topics[0]!.partitions.map(({ errorCode }) => errorCode)
    let answered = false
    const first = broker.connect().call(metadataApi, 12, { topics: [{ name: 'a' }] })
    void first.then(() => { answered = true })
    await turn()
    expect([broker.cluster.topics.has('a'), answered]).toEqual([true, false])
    broker.cluster.finish()
    expect(codes(await first)).toEqual([0, 0])
    const second = broker.connect().call(metadataApi, 12, { topics: [{ name: 'b' }] })
    await turn()
    broker.timers.advance(2000)
    expect(codes(await second)).toEqual([0, 5])
    broker.cluster.finish()
    await turn()
  })

  it('quirk 19: an address is told in the family in which the listener has it, never as a name that may stand for another', async () => {
    const broker = await TestBroker.start({ settings: { listeners: 'SIX://[::1]:9092,FOUR://127.0.0.1:9093' } })
    const hosts = async (port: number) => (await broker.connect(port).call(metadataApi, 1, { topics: [] })).brokers.map(({ host }) => host)
    expect([await hosts(9092), await hosts(9093)]).toEqual([['::1'], ['127.0.0.1']])
  })

  it('a client is told the address of the listener that it came through', async () => {
    const broker = await TestBroker.start({ settings: { 'listeners': 'PLAINTEXT://127.0.0.1:9092,LAN://127.0.0.1:9093', 'advertised.listeners': 'LAN://kafka.lan:19093' } })
    const brokers = async (port: number) => (await broker.connect(port).call(metadataApi, 1, { topics: [] })).brokers
    expect(await brokers(9092)).toMatchObject([{ host: '127.0.0.1', port: 9092 }])
    expect(await brokers(9093)).toMatchObject([{ host: 'kafka.lan', port: 19_093 }])
  })

  it('quirk 24: authorized operations are -2147483648 when nobody asks, and all when somebody does', async () => {
    const broker = await TestBroker.start()
    broker.cluster.topic('t')
    const client = broker.connect()
    const none = await client.call(metadataApi, 8, { topics: null })
    expect([none.clusterAuthorizedOperations, none.topics[0]!.topicAuthorizedOperations]).toEqual([-2147483648, -2147483648])
    const all = await client.call(metadataApi, 8, { topics: null, includeClusterAuthorizedOperations: true, includeTopicAuthorizedOperations: true })
    expect([all.clusterAuthorizedOperations, all.topics[0]!.topicAuthorizedOperations]).toEqual([8096, 3576])
  })
})
