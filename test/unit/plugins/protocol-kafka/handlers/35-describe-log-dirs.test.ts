import { describe, expect, it } from 'vitest'
import { type DirectoryStatus } from '../../../../../src/kernel/ports/log-store.ts'
import { type PartitionLog } from '../../../../../src/kernel/ports/partition-log.ts'
import { describeLogDirsApi } from '../../../../../src/wire/messages/index.ts'
import { batchOf } from '../fixture/batches.ts'
import { TestBroker } from '../fixture/test-broker.ts'

type Asked = readonly (readonly [topic: string, ...partitions: number[]])[] | null

const ask = (broker: TestBroker, asked: Asked, version = 5) =>
  broker.connect().call(describeLogDirsApi, version, { topics: asked?.map(([topic, ...partitions]) => ({ topic, partitions })) ?? null })

const inShort = ({ results }: Awaited<ReturnType<typeof ask>>) => results.map(({ errorCode, logDir, topics }) =>
  [errorCode, logDir, ...topics.map(({ name, partitions }) => `${name}:${partitions.map(({ partitionIndex }) => partitionIndex).join()}`).sort()])

const directory = (path: string, logs: readonly PartitionLog[], more: Partial<DirectoryStatus> = {}): DirectoryStatus =>
  ({ path, id: 'AAAAAAAAAAAAAAAAAAAAAQ', offline: undefined, partitions: logs.length, usedBytes: 0, logs: () => logs, ...more })

describe('DescribeLogDirs', () => {
  it('tells the size of each log, in every version, and a store in memory as one directory', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t', 2)
    const batch = batchOf(['a', 'b'])
    replica!.append(batch, 0, batch.length)
    for (const version of [1, 2, 3, 4, 5]) {
      const { errorCode, results } = await ask(broker, null, version)
      expect([errorCode, results.map(({ logDir, errorCode: code }) => [logDir, code])]).toEqual([0, [['(memory)', 0]]])
      expect(results[0]!.topics).toEqual([{
        name: 't', partitions: [{ partitionIndex: 0, partitionSize: batch.length, offsetLag: 0, isFutureKey: false }, { partitionIndex: 1, partitionSize: 0, offsetLag: 0, isFutureKey: false }],
      }])
      expect(results[0]).toMatchObject({ totalBytes: -1, usableBytes: -1, isCordoned: false })
    }
  })

  it('null is all, an empty list is the directories alone, and what is not here is left out', async () => {
    const broker = await TestBroker.start()
    broker.cluster.topic('a', 3)
    broker.cluster.topic('b', 1)
    expect(inShort(await ask(broker, null))).toEqual([[0, '(memory)', 'a:0,1,2', 'b:0']])
    expect(inShort(await ask(broker, []))).toEqual([[0, '(memory)']])
    expect(inShort(await ask(broker, [['a', 1, 7, -1, 1], ['none', 0], ['bad name', 0], ['b'], ['a', 2]]))).toEqual([[0, '(memory)', 'a:1,2']])
  })

  it('each log is told in the directory that it lies in, with what the disk has from v4 on; one that is out of service tells its path alone', async () => {
    const broker = await TestBroker.start()
    const [first, second] = broker.cluster.topic('t', 2)
    const space = () => ({ freeBytes: 10, totalBytes: 30 })
    broker.store.directories = () => [
      directory('/one', [first!.log], { space }), directory('/two', [second!.log], { offline: 'EIO', space }), directory('/three', [second!.log], { space: () => undefined }),
    ]
    expect(inShort(await ask(broker, null))).toEqual([[0, '/one', 't:0'], [56, '/two'], [0, '/three', 't:1']])
    const bytes = async (version: number) => (await ask(broker, null, version)).results.map(({ totalBytes, usableBytes }) => [totalBytes, usableBytes])
    expect(await bytes(4)).toEqual([[30, 10], [-1, -1], [-1, -1]])
    expect(await bytes(3)).toEqual([[-1, -1], [-1, -1], [-1, -1]])
  })

  it('a log of a deleted topic that waits for its removal is not told for another topic of its name', async () => {
    const broker = await TestBroker.start()
    broker.cluster.topic('t', 2)
    broker.cluster.drop('t')
    expect(inShort(await ask(broker, null))).toEqual([[0, '(memory)']])
    broker.cluster.topic('t', 1)
    expect([...broker.store.logs()]).toHaveLength(3)
    expect(inShort(await ask(broker, null))).toEqual([[0, '(memory)', 't:0']])
    expect(inShort(await ask(broker, [['t', 0, 1]]))).toEqual([[0, '(memory)', 't:0']])
  })
})
