import { describe, expect, it } from 'vitest'
import { Prng } from '../../../../../src/base/prng.ts'
import { MillraceError } from '../../../../../src/kernel/errors/index.ts'
import { describeTopicPartitionsApi, metadataApi } from '../../../../../src/wire/messages/index.ts'
import { seedOf } from '../../../../integration/seeds.ts'
import { TestBroker } from '../fixture/test-broker.ts'

interface Cursor { readonly topicName: string, readonly partitionIndex: number }

const ask = (broker: TestBroker, names: readonly string[], responsePartitionLimit = 2000, cursor: Cursor | null = null) =>
  broker.connect().call(describeTopicPartitionsApi, 0, { topics: names.map((name) => ({ name })), responsePartitionLimit, cursor })

/** Topics with the numbers of their partitions, and where the answer ends. */
const inShort = ({ topics, nextCursor }: Awaited<ReturnType<typeof ask>>) => [
  topics.map(({ name, errorCode, partitions }) => `${name}:${errorCode === 0 ? partitions.map(({ partitionIndex }) => partitionIndex).join() : `error ${errorCode}`}`).join(' '),
  nextCursor === null ? null : `${nextCursor.topicName}-${nextCursor.partitionIndex}`,
]

async function brokerWith(topics: Readonly<Record<string, number>>, settings: Readonly<Record<string, string>> = {}): Promise<TestBroker> {
  const broker = await TestBroker.start({ settings })
  for (const [name, partitions] of Object.entries(topics)) broker.cluster.topic(name, partitions)
  return broker
}

describe('DescribeTopicPartitions', () => {
  it('tells topics in the order of their names, each once, with all that Metadata tells', async () => {
    const broker = await brokerWith({ b: 1, a: 2 })
    const { topics } = await ask(broker, ['b', 'a', 'b'])
    const metadata = await broker.connect().call(metadataApi, 12, { topics: [{ name: 'a' }], includeTopicAuthorizedOperations: true })
    expect(topics.map(({ name }) => name)).toEqual(['a', 'b'])
    const { partitions, ...topic } = topics[0]!
    const { partitions: known, ...same } = metadata.topics[0]!
    expect(topic).toEqual(same)
    expect(partitions).toEqual(known.map((partition) => ({ ...partition, eligibleLeaderReplicas: [], lastKnownElr: [] })))
  })

  it('without names all topics are told, internal ones too, and none is created', async () => {
    const broker = await brokerWith({ b: 1, __consumer_offsets: 1, a: 1 })
    const answer = await ask(broker, [])
    expect(inShort(answer)).toEqual(['__consumer_offsets:0 a:0 b:0', null])
    expect(answer.topics.map(({ isInternal }) => isInternal)).toEqual([true, false, false])
    broker.cluster.drop('a')
    expect(inShort(await ask(broker, []))).toEqual(['__consumer_offsets:0 b:0', null])
    expect(inShort(await ask(broker, ['nobody', 'bad name', '']))).toEqual([':error 17 bad name:error 17 nobody:error 3', null])
    expect(broker.cluster.topics.has('nobody')).toBe(false)
  })

  it.each<[number, string, string | null]>([
    [1, 'a:0', 'a-1'],
    [3, 'a:0,1,2', 'b-0'],
    [4, 'a:0,1,2 b:0', 'b-1'],
    [5, 'a:0,1,2 b:0,1', 'c-0'],
    [6, 'a:0,1,2 b:0,1 c:0', null],
    [0x7fff_ffff, 'a:0,1,2 b:0,1 c:0', null],
    [0, 'a:0', 'a-1'],
    [-5, 'a:0', 'a-1'],
  ])('quirk 23: a limit of %i partitions gives as many, one at least, and the cursor to go on with', async (limit, topics, next) => {
    const broker = await brokerWith({ a: 3, b: 2, c: 1 })
    expect(inShort(await ask(broker, ['c', 'b', 'a'], limit))).toEqual([topics, next])
  })

  it('the broker has a limit of its own', async () => {
    const broker = await brokerWith({ a: 3, b: 2 }, { 'max.request.partition.size.limit': '4' })
    expect(inShort(await ask(broker, [], 100))).toEqual(['a:0,1,2 b:0', 'b-1'])
    expect(inShort(await ask(broker, [], 2))).toEqual(['a:0,1', 'a-2'])
  })

  it.each<[string, readonly string[], Cursor, string]>([
    ['in the middle of a topic', ['a', 'b'], { topicName: 'a', partitionIndex: 2 }, 'a:2 b:0,1'],
    ['at a topic', ['a', 'b'], { topicName: 'b', partitionIndex: 0 }, 'b:0,1'],
    ['at the end of a topic, which is told without partitions', ['a', 'b'], { topicName: 'a', partitionIndex: 3 }, 'a: b:0,1'],
    ['at a topic that is not there and was asked for', ['a', 'aa', 'b'], { topicName: 'aa', partitionIndex: 7 }, 'aa:error 3 b:0,1'],
    ['at one that was deleted meanwhile, among all', [], { topicName: 'aa', partitionIndex: 7 }, 'b:0,1'],
    ['behind all', [], { topicName: 'z', partitionIndex: 0 }, ''],
    ['at a topic that was not asked for', ['a', 'b'], { topicName: 'c', partitionIndex: 0 }, 'a:error 42 b:error 42'],
    ['below partition 0', ['a', 'b'], { topicName: 'b', partitionIndex: -1 }, 'a:error 42 b:error 42'],
    ['below partition 0, among all', [], { topicName: 'b', partitionIndex: -1 }, 'b:error 42'],
  ])('a cursor %s', async (_title, names, cursor, expected) => {
    const broker = await brokerWith({ a: 3, b: 2 })
    expect(inShort(await ask(broker, names, 100, cursor))).toEqual([expected, null])
  })

  it('quirk 23: page by page with any limits all partitions are told, each once, while topics come and go between the pages', async () => {
    const seed = seedOf(1)
    const random = new Prng(seed)
    for (let run = 0; run < 40; run++) {
      const lasting = Object.fromEntries(Array.from({ length: random.between(1, 8) }, (_, index) => [`t${index}`, random.between(1, 9)]))
      const broker = await brokerWith(lasting)
      const expected = Object.entries(lasting).flatMap(([name, partitions]) => Array.from({ length: partitions }, (_, index) => `${name}-${index}`))
      const named = random.chance(0.5) ? Object.keys(lasting) : []
      const told: string[] = []
      let cursor: Cursor | null = null
      do {
        const limit = random.between(1, 5)
        const page: Awaited<ReturnType<typeof ask>> = await ask(broker, named, limit, cursor)
        const found = page.topics.flatMap(({ name, partitions }) => partitions.map(({ partitionIndex }) => `${name}-${partitionIndex}`))
        expect(found.length, `seed ${seed}`).toBeLessThanOrEqual(limit)
        told.push(...found.filter((name) => !name.startsWith('x')))
        cursor = page.nextCursor
        for (const name of ['x', 't0x', 't3x'].filter(() => random.chance(0.3))) {
          if (broker.cluster.topics.has(name)) broker.cluster.drop(name)
          else broker.cluster.topic(name, 2)
        }
      } while (cursor !== null)
      expect(told.filter((name) => !name.includes('x')), `seed ${seed}`).toEqual(expected)
    }
  })

  it('a partition that is not served has no leader and no error, and its replica here is offline', async () => {
    const broker = await TestBroker.start()
    const [, failed] = broker.cluster.topic('t', 2)
    failed!.failure = new MillraceError('MR_LOG_DIRECTORY_OFFLINE', { path: '/data', reason: 'EIO' })
    const { topics } = await ask(broker, ['t'])
    expect(topics[0]!.partitions.map(({ errorCode, leaderId, leaderEpoch, offlineReplicas }) => [errorCode, leaderId, leaderEpoch, offlineReplicas]))
      .toEqual([[0, 1, 3, []], [0, -1, 3, [1]]])
  })
})
