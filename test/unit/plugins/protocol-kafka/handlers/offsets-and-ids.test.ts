import { describe, expect, it } from 'vitest'
import { deferred } from '../../../../../src/base/deferred.ts'
import { MillraceError } from '../../../../../src/kernel/errors/index.ts'
import { initProducerIdApi, listOffsetsApi, offsetForLeaderEpochApi } from '../../../../../src/wire/messages/index.ts'
import { testEpochMs } from '../../../../../src/testkit/world/manual-clock.ts'
import { batchOf } from '../fixture/batches.ts'
import { TestBroker, turn } from '../fixture/test-broker.ts'
import { type TestReplica } from '../fixture/test-cluster.ts'

const fill = (replica: TestReplica, ...batches: readonly Uint8Array[]): void => { for (const batch of batches) replica.append(batch, 0, batch.length) }

async function list(broker: TestBroker, timestamp: number, { version = 9, isolationLevel = 0, currentLeaderEpoch = -1, partition = 0 } = {}) {
  const { topics } = await broker.connect().call(listOffsetsApi, version, {
    replicaId: -1, topics: [{ name: 't', partitions: [{ partitionIndex: partition, timestamp, ...(version >= 4 ? { currentLeaderEpoch } : {}) }] }],
    ...(version >= 2 ? { isolationLevel } : {}),
  })
  const { errorCode, offset, timestamp: found, leaderEpoch } = topics[0]!.partitions[0]!
  return { errorCode, offset, timestamp: found, leaderEpoch }
}

describe('ListOffsets', () => {
  it('quirk 42: the latest is the high watermark, or the last stable offset for read_committed', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    replica!.follows = false
    fill(replica!, batchOf(['a']), batchOf(['b']), batchOf(['c']), batchOf(['d']))
    replica!.advance(3)
    replica!.stable = 1
    expect(await list(broker, -1)).toEqual({ errorCode: 0, offset: 3, timestamp: -1, leaderEpoch: 3 })
    expect(await list(broker, -1, { isolationLevel: 1 })).toEqual({ errorCode: 0, offset: 1, timestamp: -1, leaderEpoch: 3 })
  })

  it('quirk 42: the earliest is the log start, with the epoch in which its record was written', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    expect(await list(broker, -2)).toEqual({ errorCode: 0, offset: 0, timestamp: -1, leaderEpoch: 3 })
    replica!.leaderEpoch = 1
    fill(replica!, batchOf(['a']), batchOf(['b']))
    replica!.leaderEpoch = 3
    fill(replica!, batchOf(['c']))
    expect(await list(broker, -2)).toMatchObject({ offset: 0, leaderEpoch: 1 })
    replica!.log.deleteTo(1)
    expect(await list(broker, -2)).toMatchObject({ offset: 1, leaderEpoch: 1 })
    expect(await list(broker, -4)).toMatchObject({ offset: 1, leaderEpoch: 1 })
    replica!.log.deleteTo(2)
    expect(await list(broker, -2)).toMatchObject({ offset: 2, leaderEpoch: 3 })
  })

  it('quirk 42: by time, the earliest record at or after it, also inside a batch; none is -1 and -1 without an error', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    const at = (...times: number[]): Uint8Array => batchOf(times.map((time) => ({ value: 'x', timestamp: testEpochMs + time })))
    fill(replica!, at(10, 20, 15), at(12), at(30))
    expect(await list(broker, testEpochMs)).toEqual({ errorCode: 0, offset: 0, timestamp: testEpochMs + 10, leaderEpoch: 3 })
    expect(await list(broker, testEpochMs + 11)).toMatchObject({ offset: 1, timestamp: testEpochMs + 20 })
    expect(await list(broker, testEpochMs + 21)).toMatchObject({ offset: 4, timestamp: testEpochMs + 30 })
    expect(await list(broker, testEpochMs + 31)).toEqual({ errorCode: 0, offset: -1, timestamp: -1, leaderEpoch: -1 })
    expect(await list(broker, testEpochMs + 11, { version: 1 })).toEqual({ errorCode: 0, offset: 1, timestamp: testEpochMs + 20, leaderEpoch: -1 })
  })

  it('quirk 42: nothing above the watermark is found by time', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    replica!.follows = false
    fill(replica!, batchOf([{ value: 'a', timestamp: testEpochMs }]), batchOf([{ value: 'b', timestamp: testEpochMs + 100 }]))
    replica!.advance(1)
    expect(await list(broker, testEpochMs + 1)).toMatchObject({ errorCode: 0, offset: -1 })
    expect(await list(broker, -3)).toMatchObject({ offset: 0, timestamp: testEpochMs })
  })

  it('quirk 42: -3 is the record with the largest timestamp; -5 is nothing without a tier', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    expect(await list(broker, -3)).toEqual({ errorCode: 0, offset: -1, timestamp: -1, leaderEpoch: -1 })
    fill(replica!, batchOf([{ value: 'a', timestamp: testEpochMs + 5 }, { value: 'b', timestamp: testEpochMs + 9 }, { value: 'c', timestamp: testEpochMs + 9 }]), batchOf(['d']))
    expect(await list(broker, -3)).toEqual({ errorCode: 0, offset: 1, timestamp: testEpochMs + 9, leaderEpoch: 3 })
    expect(await list(broker, -5)).toEqual({ errorCode: 0, offset: -1, timestamp: -1, leaderEpoch: -1 })
  })

  it('a special timestamp in a version that does not have it is 35', async () => {
    const broker = await TestBroker.start()
    broker.cluster.topic('t')
    for (const [timestamp, version] of [[-3, 6], [-4, 7], [-5, 8], [-6, 9], [-100, 9]] as const) expect((await list(broker, timestamp, { version })).errorCode).toBe(35)
    for (const [timestamp, version] of [[-1, 1], [-2, 1], [-3, 7], [-4, 8], [-5, 9]] as const) expect((await list(broker, timestamp, { version })).errorCode).toBe(0)
  })

  it('quirk 17: epochs are checked, and what does not exist is told', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    expect((await list(broker, -1, { currentLeaderEpoch: 2 })).errorCode).toBe(74)
    expect((await list(broker, -1, { currentLeaderEpoch: 4 })).errorCode).toBe(75)
    expect((await list(broker, -1, { partition: 1 })).errorCode).toBe(3)
    replica!.leader = false
    expect((await list(broker, -1)).errorCode).toBe(6)
    replica!.leader = true
    replica!.log.locate = () => { throw new MillraceError('MR_LOG_DIRECTORY_OFFLINE', { path: 'x', reason: 'EIO' }) }
    expect((await list(broker, 5)).errorCode).toBe(56)
  })

  it('a partition that is asked for twice is 42: looking up by time is not free', async () => {
    const broker = await TestBroker.start()
    broker.cluster.topic('t', 2)
    const partition = (partitionIndex: number) => ({ partitionIndex, timestamp: -1 })
    const { topics } = await broker.connect().call(listOffsetsApi, 1, {
      replicaId: -1, topics: [{ name: 't', partitions: [partition(0), partition(1)] }, { name: 'u', partitions: [] }, { name: 't', partitions: [partition(0)] }],
    })
    expect(topics.map(({ name, partitions }) => [name, partitions.map(({ partitionIndex, errorCode }) => [partitionIndex, errorCode])])).toEqual([
      ['t', [[0, 42], [1, 0], [0, 42]]], ['u', []],
    ])
  })
})

describe('OffsetForLeaderEpoch', () => {
  it('quirk 43: gives the end of an epoch; an unknown one is (-1, -1) and no error; wrong ideas of the current one are 74 and 75', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    replica!.leaderEpoch = 1
    fill(replica!, batchOf(['a', 'b']))
    replica!.leaderEpoch = 3
    fill(replica!, batchOf(['c']))
    const ask = async (leaderEpoch: number, currentLeaderEpoch = 3, name = 't') => {
      const { topics } = await broker.connect().call(offsetForLeaderEpochApi, 4, { topics: [{ topic: name, partitions: [{ partition: 0, currentLeaderEpoch, leaderEpoch }] }] })
      const { errorCode, leaderEpoch: epoch, endOffset } = topics[0]!.partitions[0]!
      return [errorCode, epoch, endOffset]
    }
    expect(await ask(1)).toEqual([0, 1, 2])
    expect(await ask(2)).toEqual([0, 1, 2])
    expect(await ask(3)).toEqual([0, 3, 3])
    expect(await ask(9)).toEqual([0, -1, -1])
    expect(await ask(1, 2)).toEqual([74, -1, -1])
    expect(await ask(1, 4)).toEqual([75, -1, -1])
    expect(await ask(1, -1, 'nobody')).toEqual([3, -1, -1])
  })

  it('the current epoch ends at the log end before any record carries it, else a consumer of an empty partition would take it for truncated', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    const ask = async (leaderEpoch: number) => {
      const { topics } = await broker.connect().call(offsetForLeaderEpochApi, 4, { topics: [{ topic: 't', partitions: [{ partition: 0, leaderEpoch }] }] })
      return topics[0]!.partitions[0]!
    }
    expect(await ask(replica!.leaderEpoch)).toMatchObject({ errorCode: 0, leaderEpoch: replica!.leaderEpoch, endOffset: 0 })
    fill(replica!, batchOf(['a', 'b']))
    replica!.leaderEpoch++
    expect(await ask(replica!.leaderEpoch)).toMatchObject({ errorCode: 0, leaderEpoch: replica!.leaderEpoch, endOffset: 2 })
  })
})

describe('InitProducerId', () => {
  const init = async (broker: TestBroker, more: object = {}, version = 4) => {
    const answer = await broker.connect().call(initProducerIdApi, version, { transactionalId: null, transactionTimeoutMs: 1000, ...more })
    return [answer.errorCode, answer.producerId, answer.producerEpoch]
  }

  it('gives ids that nobody had, from blocks that are asked for before they are used up', async () => {
    const broker = await TestBroker.start()
    const ids = await Promise.all(Array.from({ length: 25 }, () => init(broker)))
    expect(ids.map(([, id]) => id)).toEqual([...Array.from({ length: 10 }, (_, index) => 1000 + index), ...Array.from({ length: 10 }, (_, index) => 2000 + index), 3000, 3001, 3002, 3003, 3004])
    for (const [code, , epoch] of ids) expect([code, epoch]).toEqual([0, 0])
    const gate = deferred()
    broker.cluster.allocationGate = gate.promise
    for (let index = 0; index < 4; index++) await init(broker)
    expect(broker.cluster.allocations).toBe(4)
    expect(await init(broker)).toEqual([0, 3009, 0])
    const waits = init(broker)
    await turn()
    gate.resolve()
    expect(await waits).toEqual([0, 4000, 0])
  })

  it('a producer that has an id and no transactional id gets a new one, as in Kafka', async () => {
    expect(await init(await TestBroker.start(), { producerId: 77, producerEpoch: 5 })).toEqual([0, 1000, 0])
  })

  it('a transactional id is 35 up to version 1 and 53 from 2 on, an empty one 42, as is an id without an epoch', async () => {
    const broker = await TestBroker.start()
    for (const version of [0, 1]) expect(await init(broker, { transactionalId: 'tx' }, version)).toEqual([35, -1, -1])
    for (const version of [2, 3, 4, 5]) expect(await init(broker, { transactionalId: 'tx' }, version)).toEqual([53, -1, -1])
    expect(await init(broker, { transactionalId: '' })).toEqual([42, -1, -1])
    expect(await init(broker, { producerId: 5 })).toEqual([42, -1, -1])
  })

  it('while the controller can not be reached clients are told to try again', async () => {
    const broker = await TestBroker.start()
    broker.cluster.allocateProducerIds = async () => { throw new MillraceError('MR_CLUSTER_NOT_CONTROLLER', { nodeId: 1, leaderId: 2 }) }
    expect(await init(broker)).toEqual([14, -1, -1])
    broker.cluster.allocateProducerIds = async () => { throw new Error('a bug') }
    expect((await init(broker))[0]).toBe(-1)
    expect(broker.logger.atLeast('error')).toHaveLength(1)
  })

  it('where the disk of the metadata fails clients are told to try again, for the broker ends and starts anew; the log says why', async () => {
    const broker = await TestBroker.start()
    broker.cluster.allocateProducerIds = async () => { throw new MillraceError('MR_FILE_FAILED', { operation: 'stat', path: '/data/__millrace_metadata/log', reason: 'EIO' }) }
    expect(await init(broker)).toEqual([14, -1, -1])
    expect(broker.logger.atLeast('error')).toHaveLength(1)
  })
})
