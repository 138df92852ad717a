import { describe, expect, it } from 'vitest'
import { MillraceError } from '../../../../../src/kernel/errors/index.ts'
import { electLeadersApi } from '../../../../../src/wire/messages/index.ts'
import { TestBroker } from '../fixture/test-broker.ts'

type Asked = readonly (readonly [topic: string, ...partitions: number[]])[] | null

function ask(broker: TestBroker, asked: Asked, electionType = 0, version = 2) {
  return broker.connect().call(electLeadersApi, version, {
    ...(version > 0 ? { electionType } : {}), topicPartitions: asked?.map(([topic, ...partitions]) => ({ topic, partitions })) ?? null, timeoutMs: 1000,
  })
}

const inShort = ({ errorCode, replicaElectionResults }: Awaited<ReturnType<typeof ask>>) =>
  [errorCode, ...replicaElectionResults.map(({ topic, partitionResult }) => [topic, ...partitionResult.map(({ partitionId, errorCode: code }) => `${partitionId}:${code}`)].join(' '))]

async function brokerWithTrouble(): Promise<TestBroker> {
  const broker = await TestBroker.start()
  const replicas = broker.cluster.topic('t', 3)
  replicas[1]!.failure = new MillraceError('MR_LOG_DIRECTORY_OFFLINE', { path: '/data', reason: 'EIO' })
  broker.cluster.topic('well', 2)
  return broker
}

describe('ElectLeaders', () => {
  it('of a partition that its only replica leads is not needed: 84, in every version and for both types', async () => {
    const broker = await TestBroker.start()
    broker.cluster.topic('t', 2)
    for (const version of [0, 1, 2]) expect(inShort(await ask(broker, [['t', 1, 0]], 0, version))).toEqual([0, 't 1:84 0:84'])
    expect(inShort(await ask(broker, [['t', 0]], 1))).toEqual([0, 't 0:84'])
  })

  it('answers each partition that was named, in order, however often it is', async () => {
    const broker = await TestBroker.start()
    broker.cluster.topic('t', 1)
    expect(inShort(await ask(broker, [['t', 0, 7, -1, 0], ['none', 0], ['t', 0], ['t'], ['bad name', 0]]))).toEqual([0, 't 0:84 7:3 -1:3 0:84', 'none 0:3', 't 0:84', 't', 'bad name 0:3'])
    const { replicaElectionResults } = await ask(broker, [['t', 7], ['none', 0]])
    expect(replicaElectionResults.map(({ partitionResult }) => partitionResult[0]!.errorMessage)).toEqual(['topic t has 1 partitions', 'topic none does not exist'])
    expect(inShort(await ask(broker, []))).toEqual([0])
  })

  it('of a partition whose replica is not served finds nobody: 80 for the preferred leader, 83 for any', async () => {
    const broker = await brokerWithTrouble()
    expect(inShort(await ask(broker, [['t', 0, 1]], 0))).toEqual([0, 't 0:84 1:80'])
    expect(inShort(await ask(broker, [['t', 0, 1]], 1))).toEqual([0, 't 0:84 1:83'])
  })

  it('null asks for all, and answers those alone whose election was needed', async () => {
    const broker = await brokerWithTrouble()
    expect(inShort(await ask(broker, null, 0))).toEqual([0, 't 1:80'])
    expect(inShort(await ask(broker, null, 1))).toEqual([0, 't 1:83'])
    broker.cluster.drop('t')
    expect(inShort(await ask(broker, null, 0))).toEqual([0])
  })

  it('a partition that is not made yet needs no election', async () => {
    const broker = await TestBroker.start()
    broker.cluster.slowPartitions = [0]
    broker.cluster.topic('t', 1)
    expect(inShort(await ask(broker, [['t', 0]]))).toEqual([0, 't 0:84'])
  })

  it('a type that there is not is 42 for the request and for each partition', async () => {
    const broker = await TestBroker.start()
    broker.cluster.topic('t', 1)
    for (const type of [2, -1, 127]) {
      expect(inShort(await ask(broker, [['t', 0, 7]], type))).toEqual([42, 't 0:42 7:42'])
      expect(inShort(await ask(broker, null, type))).toEqual([42])
    }
    expect((await ask(broker, [['t', 0]], 2)).replicaElectionResults[0]!.partitionResult[0]!.errorMessage).toContain('no election of type 2')
  })
})
