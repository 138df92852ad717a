import { describe, expect, it } from 'vitest'
import { alterPartitionReassignmentsApi, listPartitionReassignmentsApi } from '../../../../../src/wire/messages/index.ts'
import { TestBroker } from '../fixture/test-broker.ts'

const incarnationId = 'AAAAAAAAAAAAAAAAAAAAAg'

async function broker(): Promise<TestBroker> {
  const started = await TestBroker.start()
  started.cluster.topic('t', 2)
  started.cluster.brokers.set(2, { nodeId: 2, epoch: 8, incarnationId, endpoints: [], rack: undefined, fenced: true })
  return started
}

function ask(on: TestBroker, topics: readonly (readonly [name: string, ...partitions: (readonly [index: number, replicas: readonly number[] | null])[]])[], allowReplicationFactorChange?: boolean) {
  return on.connect().call(alterPartitionReassignmentsApi, allowReplicationFactorChange === undefined ? 0 : 1, {
    timeoutMs: 1000, ...(allowReplicationFactorChange === undefined ? {} : { allowReplicationFactorChange }),
    topics: topics.map(([name, ...partitions]) => ({ name, partitions: partitions.map(([partitionIndex, replicas]) => ({ partitionIndex, replicas: replicas === null ? null : [...replicas] })) })),
  })
}

const codes = async (answer: ReturnType<typeof ask>) => (await answer).responses.map(({ name, partitions }) => [name, ...partitions.map(({ errorCode }) => errorCode)].join(' '))

describe('AlterPartitionReassignments', () => {
  it('to the place that a partition has succeeds and changes nothing', async () => {
    const on = await broker()
    const before = on.cluster.image().index
    for (const allow of [undefined, true, false]) {
      const answer = await ask(on, [['t', [0, [1]], [1, [1]]]], allow)
      expect(answer).toMatchObject({ errorCode: 0, errorMessage: null, allowReplicationFactorChange: allow ?? true })
      expect(answer.responses[0]!.partitions.map(({ errorCode, errorMessage }) => [errorCode, errorMessage])).toEqual([[0, null], [0, null]])
    }
    expect(on.cluster.image().index).toBe(before)
  })

  it.each<[string, readonly number[] | null, boolean, number]>([
    ['a cancellation, while nothing is under way', null, true, 85],
    ['no replica', [], true, 39],
    ['an unknown broker', [7], true, 39],
    ['a negative broker', [-1], true, 39],
    ['a broker twice', [1, 1], true, 39],
    ['an unknown broker among others, and another number of them', [1, 7], false, 39],
    ['another number of replicas where that is not allowed', [1, 2], false, 38],
    ['another number of replicas', [1, 2], true, 39],
    ['another broker that is registered', [2], false, 39],
  ])('%s is refused with a reason', async (_title, replicas, allow, code) => {
    const on = await broker()
    const [partition] = (await ask(on, [['t', [0, replicas]]], allow)).responses[0]!.partitions
    expect(partition!.errorCode).toBe(code)
    expect(partition!.errorMessage).not.toBeNull()
  })

  it('answers each partition that was named, in order, however often it is', async () => {
    const on = await broker()
    expect(await codes(ask(on, [['t', [0, [1]], [7, [1]], [-1, null], [0, [7]]], ['none', [0, [1]], [0, null]], ['t'], ['t', [1, [1]]]]))).toEqual(['t 0 3 3 39', 'none 3 3', 't', 't 0'])
    expect(await codes(ask(on, []))).toEqual([])
  })
})

describe('ListPartitionReassignments', () => {
  it('there are none, of all or of some, known or not', async () => {
    const on = await broker()
    for (const topics of [null, [], [{ name: 't', partitionIndexes: [0, 0, 7] }, { name: 'none', partitionIndexes: [0] }]]) {
      expect(await on.connect().call(listPartitionReassignmentsApi, 0, { topics, timeoutMs: 1000 })).toEqual({ throttleTimeMs: 0, errorCode: 0, errorMessage: null, topics: [] })
    }
  })
})
