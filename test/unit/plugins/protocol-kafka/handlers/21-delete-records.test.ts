import { describe, expect, it } from 'vitest'
import { MillraceError } from '../../../../../src/kernel/errors/index.ts'
import { deleteRecordsApi, fetchApi } from '../../../../../src/wire/messages/index.ts'
import { batchOf } from '../fixture/batches.ts'
import { TestBroker, turn } from '../fixture/test-broker.ts'
import { type TestReplica } from '../fixture/test-cluster.ts'

const fill = (replica: TestReplica, count: number): void => {
  for (let i = 0; i < count; i++) {
    const batch = batchOf(['a', 'b'])
    replica.append(batch, 0, batch.length)
  }
}

async function remove(broker: TestBroker, asked: readonly (readonly [topic: string, partition: number, offset: number])[], version = 2) {
  const { topics } = await broker.connect().call(deleteRecordsApi, version, {
    topics: asked.map(([name, partitionIndex, offset]) => ({ name, partitions: [{ partitionIndex, offset }] })), timeoutMs: 1000,
  })
  return topics.map(({ name, partitions: [answer] }) => [name, answer!.partitionIndex, answer!.errorCode, answer!.lowWatermark])
}

describe('DeleteRecords', () => {
  it('raises the start of the log, in every version, and never lowers it', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    fill(replica!, 5)
    for (const version of [0, 1, 2]) expect(await remove(broker, [['t', 0, 3 + version]], version)).toEqual([['t', 0, 0, 3 + version]])
    expect(await remove(broker, [['t', 0, 1]])).toEqual([['t', 0, 0, 5]])
    expect(replica!.log.startOffset).toBe(5)
  })

  it('-1 is the high watermark, and nothing goes above it', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    replica!.follows = false
    fill(replica!, 5)
    replica!.advance(6)
    expect(await remove(broker, [['t', 0, 7]])).toEqual([['t', 0, 1, -1]])
    expect(await remove(broker, [['t', 0, -2]])).toEqual([['t', 0, 1, -1]])
    expect(replica!.log.startOffset).toBe(0)
    expect(await remove(broker, [['t', 0, -1]])).toEqual([['t', 0, 0, 6]])
  })

  it('what is deleted is out of range for a fetch at once', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    fill(replica!, 3)
    await remove(broker, [['t', 0, 4]])
    const fetch = async (fetchOffset: number) => (await broker.connect().call(fetchApi, 12, {
      maxWaitMs: 0, minBytes: 0, topics: [{ topic: 't', partitions: [{ partition: 0, fetchOffset, partitionMaxBytes: 1000 }] }],
    })).responses[0]!.partitions[0]!
    expect(await fetch(3)).toMatchObject({ errorCode: 1 })
    expect(await fetch(4)).toMatchObject({ errorCode: 0, logStartOffset: 4 })
  })

  it('topics that do not give up records by themselves, and internal ones, refuse', async () => {
    const broker = await TestBroker.start()
    for (const [name, settings, more] of [['compacted', { delete: false, compact: true }, {}], ['both', { delete: true, compact: true }, {}], ['__consumer_offsets', {}, { internal: true }]] as const) {
      fill(broker.cluster.topic(name, 1, settings, more)[0]!, 2)
    }
    expect(await remove(broker, [['compacted', 0, 1], ['both', 0, 1], ['__consumer_offsets', 0, 1]])).toEqual([['compacted', 0, 44, -1], ['both', 0, 0, 1], ['__consumer_offsets', 0, 17, -1]])
  })

  it('answers each partition by itself: unknown, led elsewhere, failing, named twice', async () => {
    const broker = await TestBroker.start()
    const replicas = broker.cluster.topic('t', 4)
    for (const replica of replicas) fill(replica, 2)
    replicas[1]!.leader = false
    replicas[2]!.log.deleteTo = () => { throw new MillraceError('MR_FILE_NO_SPACE', { path: '/data', operation: 'write' }) }
    expect(await remove(broker, [['none', 0, 1], ['t', 9, 1], ['t', 1, 1], ['t', 2, 1], ['t', 3, 1], ['t', 3, 2], ['t', 0, 2]]))
      .toEqual([['none', 0, 3, -1], ['t', 9, 3, -1], ['t', 1, 6, -1], ['t', 2, 56, -1], ['t', 3, 42, -1], ['t', 3, 42, -1], ['t', 0, 0, 2]])
    expect(replicas[3]!.log.startOffset).toBe(0)
  })

  it('many partitions are done in slices, so that others are served between them', async () => {
    const broker = await TestBroker.start()
    const replicas = broker.cluster.topic('t', 50)
    let done = 0
    for (const replica of replicas) {
      fill(replica, 1)
      const { log } = replica
      const deleteTo = log.deleteTo.bind(log)
      log.deleteTo = offset => {
        broker.timers.clock.advance(2)
        done++
        deleteTo(offset)
      }
    }
    const doneBefore: number[] = []
    const soon = broker.timers.soon.bind(broker.timers)
    broker.timers.soon = callback => {
      doneBefore.push(done)
      soon(callback)
    }
    const answered = remove(broker, replicas.map((_, partition) => ['t', partition, 1] as const))
    while (done < 50) {
      await turn()
      broker.timers.runSoon()
    }
    expect((await answered).every(([, , code, start]) => code === 0 && start === 1)).toBe(true)
    const slices = doneBefore.filter((count, index) => count > 0 && count !== doneBefore[index - 1])
    expect(slices).toEqual(Array.from({ length: 16 }, (_, index) => 3 * (index + 1)))
  })
})
