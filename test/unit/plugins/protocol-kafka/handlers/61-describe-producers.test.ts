import { describe, expect, it } from 'vitest'
import { type ActiveProducer } from '../../../../../src/kernel/ports/partition-log.ts'
import { describeProducersApi } from '../../../../../src/wire/messages/index.ts'
import { batchOf } from '../fixture/batches.ts'
import { TestBroker } from '../fixture/test-broker.ts'
import { type TestReplica } from '../fixture/test-cluster.ts'

const ask = async (broker: TestBroker, asked: readonly (readonly [name: string, ...partitions: number[]])[]) =>
  (await broker.connect().call(describeProducersApi, 0, { topics: asked.map(([name, ...partitionIndexes]) => ({ name, partitionIndexes })) })).topics

const inShort = (topics: Awaited<ReturnType<typeof ask>>) => topics.map(({ name, partitions }) =>
  [name, ...partitions.map(({ partitionIndex, errorCode, activeProducers }) => `${partitionIndex}:${errorCode === 0 ? `${activeProducers.length} producers` : `error ${errorCode}`}`)].join(' '))

/** A log that knows so many producers. `looked` counts how many were walked over. */
function crowd(replica: TestReplica, count: number, looked: { count: number } = { count: 0 }): void {
  Object.defineProperty(replica.log, 'producers', {
    get: function* (): Iterable<ActiveProducer> {
      for (let producerId = 0; producerId < count; producerId++) {
        looked.count++
        yield { producerId, epoch: 0, lastSequence: 0, lastTimestamp: 0, coordinatorEpoch: -1, transactionStart: -1 }
      }
    },
  })
}

describe('DescribeProducers', () => {
  it('tells of each producer its epoch, last sequence and time, and that it has no transaction', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t', 2)
    for (const batch of [batchOf(['a', 'b'], { producerId: 7, producerEpoch: 3, baseSequence: 0 }), batchOf(['a']), batchOf(['c'], { producerId: 7, producerEpoch: 3, baseSequence: 2 })]) {
      replica!.append(batch, 0, batch.length)
    }
    const [topic] = await ask(broker, [['t', 0, 1]])
    expect(topic!.partitions).toEqual([
      {
        partitionIndex: 0, errorCode: 0, errorMessage: null,
        activeProducers: [{ producerId: 7, producerEpoch: 3, lastSequence: 2, lastTimestamp: expect.any(Number), coordinatorEpoch: -1, currentTxnStartOffset: -1 }],
      },
      { partitionIndex: 1, errorCode: 0, errorMessage: null, activeProducers: [] },
    ])
  })

  it('answers each partition that was named, in order, however often: unknown, badly named, led elsewhere, not made, not served', async () => {
    const broker = await TestBroker.start()
    const replicas = broker.cluster.topic('t', 4)
    replicas[1]!.leader = false
    replicas[2]!.failure = new Error('EIO')
    expect(inShort(await ask(broker, [['t', 3, 9, -1, 1, 2, 3], ['none', 0], ['bad name', 0], ['', 0], ['t'], ['t', 0]])))
      .toEqual(['t 3:0 producers 9:error 3 -1:error 3 1:error 6 2:error 56 3:0 producers', 'none 0:error 3', 'bad name 0:error 17', ' 0:error 17', 't', 't 0:0 producers'])
    broker.cluster.slowPartitions = [0]
    broker.cluster.topic('slow', 1)
    expect(inShort(await ask(broker, [['slow', 0]]))).toEqual(['slow 0:error 6'])
  })

  it('one partition is told whole, however many producers it has; of more partitions as many as 20,000 producers are, the rest can be asked for alone', async () => {
    const broker = await TestBroker.start()
    const replicas = broker.cluster.topic('t', 4)
    for (const [index, count] of [25_000, 12_000, 8_000, 1].entries()) crowd(replicas[index]!, count)
    expect(inShort(await ask(broker, [['t', 0]]))).toEqual(['t 0:25000 producers'])
    expect(inShort(await ask(broker, [['t', 1, 2, 3]]))).toEqual(['t 1:12000 producers 2:8000 producers 3:error 44'])
    expect(inShort(await ask(broker, [['t', 1, 0, 3], ['none', 0]]))).toEqual(['t 1:12000 producers 0:error 44 3:error 44', 'none 0:error 3'])
    expect((await ask(broker, [['t', 0, 1]]))[0]!.partitions[1]!.errorMessage).toContain('ask for the partition alone')
  })

  it('a partition that is named thousands of times is not walked over as often', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t', 1)
    const looked = { count: 0 }
    crowd(replica!, 15_000, looked)
    const [topic] = await ask(broker, [['t', ...Array.from({ length: 19_000 }, () => 0)]])
    expect(topic!.partitions.map(({ errorCode }) => errorCode).filter((code) => code === 0)).toHaveLength(1)
    expect(looked.count).toBeLessThan(15_000 + 20_000 + 19_000)
  })

  it('a store that does not tell its producers is told of, not taken for one without', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t', 1)
    Object.defineProperty(replica!.log, 'producers', { value: undefined })
    expect(inShort(await ask(broker, [['t', 0]]))).toEqual(['t 0:error 35'])
  })
})
