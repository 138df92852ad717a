import { describe, expect, it } from 'vitest'
import { MillraceError } from '../../../../../src/kernel/errors/index.ts'
import { batchesIn } from '../../../../../src/kernel/record/record-batch.ts'
import { fetchApi, produceApi } from '../../../../../src/wire/messages/index.ts'
import { batchOf } from '../fixture/batches.ts'
import { fetch, fetchById, produce } from '../fixture/requests.ts'
import { TestBroker, turn } from '../fixture/test-broker.ts'
import { joined } from '../fixture/test-socket.ts'
import { type TestReplica } from '../fixture/test-cluster.ts'

const fill = (replica: TestReplica, ...batches: readonly Uint8Array[]): void => { for (const batch of batches) replica.append(batch, 0, batch.length) }
const offsets = (records: Uint8Array | null): number[] => Array.from(batchesIn(records!), ({ baseOffset }) => baseOffset)

/** Whether a promise has settled by now. */
async function settled(promise: Promise<unknown>): Promise<boolean> {
  let done = false
  void promise.then(() => { done = true })
  await turn()
  return done
}

describe('a partition that is named many times', () => {
  it('is read, waited for and answered once, at its first place, with what was said last; by name and by id', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t', 2)
    broker.cluster.topic('u')
    const waits: number[] = []
    const wait = replica!.wait.bind(replica)
    replica!.wait = (waiter) => {
      waits.push(waiter.offset)
      wait(waiter)
    }
    const one = (partition: number, fetchOffset: number) => ({ partition, fetchOffset, partitionMaxBytes: 1000 })
    const many = [...Array.from({ length: 5000 }, () => one(0, 9)), one(1, 0), one(0, 0)]
    const topics = [{ topic: 't', partitions: many }, { topic: 'u', partitions: [one(0, 0)] }, { topic: 't', partitions: [one(1, 0), one(0, 0)] }]
    const idOf = (topic: string): string => broker.cluster.topics.get(topic)!.id
    for (const version of [12, 13]) {
      const named = version === 12 ? topics : topics.map(({ topic, partitions }) => ({ topicId: idOf(topic), partitions }))
      const call = broker.connect().call(fetchApi, version, { maxWaitMs: 500, minBytes: 1, maxBytes: 1_000_000, forgottenTopicsData: [], topics: named })
      await turn()
      expect(waits.splice(0)).toHaveLength(1)
      broker.timers.advance(500)
      const { responses } = await call
      expect(responses.map((response) => [version === 12 ? response.topic : response.topicId, response.partitions.map(({ partitionIndex, errorCode }) => [partitionIndex, errorCode])]))
        .toEqual([[version === 12 ? 't' : idOf('t'), [[0, 0], [1, 0]]], [version === 12 ? 'u' : idOf('u'), [[0, 0]]]])
    }
  })
})

describe('waiting', () => {
  it('quirk 34: a fetch waits for minBytes, and is answered when they are there', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    const batch = batchOf(['x'.repeat(100)])
    const call = broker.connect().call(fetchApi, 12, fetch('t', [0], { maxWaitMs: 10_000, minBytes: batch.length * 3 - 20 }))
    fill(replica!, batch.slice())
    expect(await settled(call)).toBe(false)
    fill(replica!, batch.slice())
    expect(await settled(call)).toBe(false)
    fill(replica!, batch.slice())
    expect(offsets((await call).responses[0]!.partitions[0]!.records)).toEqual([0, 1, 2])
    expect(broker.tools.deadlines.size).toBe(1)
  })

  it('quirk 34: or when maxWaitMs is over, with what is there', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    const client = broker.connect()
    const empty = client.call(fetchApi, 12, fetch('t', [0], { maxWaitMs: 500 }))
    await turn()
    broker.timers.advance(499)
    expect(await settled(empty)).toBe(false)
    broker.timers.advance(1)
    expect((await empty).responses[0]!.partitions[0]).toMatchObject({ errorCode: 0, highWatermark: 0 })
    const some = client.call(fetchApi, 12, fetch('t', [0], { maxWaitMs: 500, minBytes: 1_000_000 }))
    fill(replica!, batchOf(['x']))
    await turn()
    broker.timers.advance(500)
    expect(offsets((await some).responses[0]!.partitions[0]!.records)).toEqual([0])
  })

  it('what is in the log and above the high watermark is waited for, and "at once" gives nothing of it', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    replica!.follows = false
    fill(replica!, batchOf(['x']), batchOf(['y']))
    const now = await broker.connect().call(fetchApi, 12, fetch('t', [1]))
    expect(now.responses[0]!.partitions[0]).toMatchObject({ errorCode: 0, highWatermark: 0 })
    const call = broker.connect().call(fetchApi, 12, fetch('t', [0], { maxWaitMs: 1000 }))
    expect(await settled(call)).toBe(false)
    replica!.advance(1)
    expect(offsets((await call).responses[0]!.partitions[0]!.records)).toEqual([0])
  })

  it('quirk 34: errors are answered at once, whatever else could be waited for', async () => {
    const broker = await TestBroker.start()
    broker.cluster.topic('t', 2)
    const call = broker.connect().call(fetchApi, 12, fetch('t', [0, 99], { maxWaitMs: 10_000 }))
    expect((await call).responses[0]!.partitions.map(({ errorCode }) => errorCode)).toEqual([0, 1])
  })

  it('quirk 34: the log end waits; beyond it and below the log start is 1', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    fill(replica!, batchOf(['a']), batchOf(['b']), batchOf(['c']))
    replica!.log.deleteTo(1)
    const code = async (offset: number) => (await broker.connect().call(fetchApi, 12, fetch('t', [offset]))).responses[0]!.partitions[0]!
    expect(await code(3)).toMatchObject({ errorCode: 0, highWatermark: 3, logStartOffset: 1 })
    expect(await code(4)).toMatchObject({ errorCode: 1, highWatermark: -1 })
    expect((await code(0)).errorCode).toBe(1)
    expect(offsets((await code(1)).records)).toEqual([1, 2])
  })

  it('a leader that moves, or a topic that is deleted, while a fetch waits is told at once', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    broker.cluster.topic('gone')
    const moved = broker.connect().call(fetchApi, 12, fetch('t', [0], { maxWaitMs: 10_000 }))
    const deleted = broker.connect().call(fetchApi, 12, fetch('gone', [0], { maxWaitMs: 10_000 }))
    replica!.lose(new MillraceError('MR_REPLICA_NOT_LEADER', { nodeId: 1, topic: 't', partition: 0 }))
    expect((await moved).responses[0]!.partitions[0]!.errorCode).toBe(6)
    broker.cluster.drop('gone')
    expect((await deleted).responses[0]!.partitions[0]!.errorCode).toBe(3)
  })

  it('a thousand waiting fetches have one timer between them and leave nothing behind', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    const calls = Array.from({ length: 1000 }, () => broker.connect().call(fetchApi, 12, fetch('t', [0], { maxWaitMs: 5000 })))
    expect(broker.timers.pending).toBe(1)
    expect(broker.metrics.value('millrace_protocol_waiting_requests')).toContainEqual({ labels: { api: 'Fetch' }, value: 1000 })
    fill(replica!, batchOf(['x']))
    await Promise.all(calls)
    expect(replica!.waiters.size).toBe(0)
    expect(broker.tools.metrics.waitingFetches).toBe(0)
  })
})

describe('batches', () => {
  it('quirk 35: come whole: an offset inside a batch gives that batch, the first one even above all limits', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    fill(replica!, batchOf(['a', 'b', 'c']), batchOf(['d'.repeat(500)]))
    const get = async (offset: number, limits: object) => offsets((await broker.connect().call(fetchApi, 12, fetch('t', [offset], limits))).responses[0]!.partitions[0]!.records)
    expect(await get(2, {})).toEqual([0, 3])
    expect(await get(2, { partitionMaxBytes: 10 })).toEqual([0])
    expect(await get(3, { partitionMaxBytes: 1, maxBytes: 1 })).toEqual([3])
    expect(await get(3, { maxBytes: 0 })).toEqual([3])
  })

  it('quirk 35: partitions are read in the order of the request, and share its limit', async () => {
    const broker = await TestBroker.start()
    const replicas = broker.cluster.topic('t', 3)
    const batch = batchOf(['x'.repeat(1000)])
    for (const replica of replicas) fill(replica, batch.slice(), batch.slice())
    const request = fetch('t', [0, 0, 0], { maxBytes: batch.length * 3 + 100 })
    const got = async (order: number[]) => {
      const [topic] = request.topics
      const answer = await broker.connect().call(fetchApi, 12, { ...request, topics: [{ ...topic, partitions: order.map((index) => topic!.partitions[index]!) }] })
      return answer.responses[0]!.partitions.map(({ partitionIndex, records }) => [partitionIndex, offsets(records).length])
    }
    expect(await got([0, 1, 2])).toEqual([[0, 2], [1, 1], [2, 0]])
    expect(await got([2, 0, 1])).toEqual([[2, 2], [0, 1], [1, 0]])
  })

  it('the broker\'s own fetch.max.bytes holds too, and above fetchedBytesMax on their way a fetch gets its first batch', async () => {
    const batch = batchOf(['x'.repeat(1000)])
    const small = await TestBroker.start({ settings: { 'fetch.max.bytes': '3000' } })
    fill(small.cluster.topic('t')[0]!, batch.slice(), batch.slice(), batch.slice(), batch.slice())
    expect(offsets((await small.connect().call(fetchApi, 12, fetch('t', [0]))).responses[0]!.partitions[0]!.records)).toEqual([0, 1])
    const busy = await TestBroker.start({ config: { fetchedBytesMax: 1_048_576 } })
    const large = batchOf([{ value: new Uint8Array(300_000) }])
    fill(busy.cluster.topic('t')[0]!, large.slice(), large.slice(), large.slice())
    const slow = Array.from({ length: 4 }, () => busy.connect())
    for (const client of slow) {
      client.socket.room = 0
      void client.call(fetchApi, 12, fetch('t', [0]))
    }
    await turn()
    const next = () => busy.connect().call(fetchApi, 12, fetch('t', [0], { partitionMaxBytes: 1e7, maxBytes: 1e7 }))
    const [replica] = busy.cluster.replicas()
    const asked: number[] = []
    const read = replica!.log.read.bind(replica!.log)
    replica!.log.read = (request, sink) => {
      asked.push(request.maxBytes)
      return read(request, sink)
    }
    await next()
    for (const client of slow) client.socket.drain()
    await next()
    expect(asked).toEqual([0, 1e7])
  })

  it('above fetchedBytesMax on their way a peer that does not read gets one answer, however many it asks for, and the others when it reads', async () => {
    const broker = await TestBroker.start({ config: { fetchedBytesMax: 1_048_576 } })
    const large = batchOf([{ value: new Uint8Array(300_000) }])
    fill(broker.cluster.topic('t')[0]!, large.slice(), large.slice(), large.slice(), large.slice())
    const [replica] = broker.cluster.replicas()
    let reads = 0
    const read = replica!.log.read.bind(replica!.log)
    replica!.log.read = (request, sink) => {
      reads++
      return read(request, sink)
    }
    const slow = Array.from({ length: 12 }, () => broker.connect())
    const answers = slow.flatMap((client) => {
      client.socket.room = 0
      const frames = Array.from({ length: 5 }, () => client.frame(fetchApi, 12, fetch('t', [0], { partitionMaxBytes: 1e7, maxBytes: 1e7 })))
      client.socket.give(joined(frames.map(({ bytes }) => bytes)))
      return frames.map(({ response }) => response)
    })
    await turn()
    // Four answers of a batch reach the bound, be they one peer's; everybody else has one.
    expect(reads).toBeLessThanOrEqual(slow.length + 3)
    const honest = broker.connect()
    expect(offsets((await honest.call(fetchApi, 12, fetch('t', [1]))).responses[0]!.partitions[0]!.records).length).toBeGreaterThan(0)
    slow[0]!.socket.destroy()
    for (const client of slow.slice(1)) client.socket.drain()
    const rest = await Promise.all(answers.slice(5))
    expect(rest.every(({ responses }) => offsets(responses[0]!.partitions[0]!.records).length > 0)).toBe(true)
    expect(rest).toHaveLength(55)
  })

  it('quirk 34: a log that gives less than there is does not make a fetch wait', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    const batch = batchOf(['x'.repeat(1000)])
    fill(replica!, batch.slice(), batch.slice(), batch.slice())
    const read = replica!.log.read.bind(replica!.log)
    replica!.log.read = (request, sink) => read({ ...request, maxBytes: 1 }, sink)
    const answer = await broker.connect().call(fetchApi, 12, fetch('t', [0], { minBytes: batch.length * 2, maxWaitMs: 10_000 }))
    expect(offsets(answer.responses[0]!.partitions[0]!.records)).toEqual([0])
  })

  it('quirk 36: no records are an empty field, not null', async () => {
    const broker = await TestBroker.start()
    broker.cluster.topic('t')
    for (const version of [4, 11, 12, 16]) {
      const request = version < 13 ? fetch('t', [0]) : fetchById(broker.cluster.topics.get('t')!.id, [0])
      expect((await broker.connect().call(fetchApi, version, request)).responses[0]!.partitions[0]!.records).toEqual(new Uint8Array())
    }
  })

  it('quirk 37: watermarks are told; read_committed reads below the last stable offset', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    fill(replica!, batchOf(['a']), batchOf(['b']), batchOf(['c']))
    replica!.stable = 2
    const get = async (isolationLevel: number) => (await broker.connect().call(fetchApi, 12, fetch('t', [0], { isolationLevel }))).responses[0]!.partitions[0]!
    expect(await get(0)).toMatchObject({ highWatermark: 3, lastStableOffset: 2, logStartOffset: 0, abortedTransactions: null })
    expect(offsets((await get(0)).records)).toEqual([0, 1, 2])
    expect(offsets((await get(1)).records)).toEqual([0, 1])
    expect((await get(1)).abortedTransactions).toEqual([])
  })

  it('quirk 37: a read_committed fetch at the last stable offset wakes when that moves', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    fill(replica!, batchOf(['a']))
    replica!.stable = 0
    const call = broker.connect().call(fetchApi, 12, fetch('t', [0], { isolationLevel: 1, maxWaitMs: 10_000 }))
    fill(replica!, batchOf(['b']))
    expect(await settled(call)).toBe(false)
    replica!.stable = undefined
    fill(replica!, batchOf(['c']))
    expect(offsets((await call).responses[0]!.partitions[0]!.records)).toEqual([0, 1, 2])
  })

  it('quirk 28: before v10 a topic whose codec is zstd is 76; batches that a producer compressed so go out to everybody', async () => {
    const broker = await TestBroker.start()
    const get = async (topic: string, version: number) => (await broker.connect().call(fetchApi, version, fetch(topic, [0]))).responses[0]!.partitions[0]!
    fill(broker.cluster.topic('zstd', 1, { compressionType: 'zstd' })[0]!, batchOf(['a'], { codec: 4 }))
    fill(broker.cluster.topic('as-sent')[0]!, batchOf(['a'], { codec: 4 }))
    expect(await get('zstd', 9)).toMatchObject({ errorCode: 76, records: new Uint8Array() })
    expect(offsets((await get('zstd', 10)).records)).toEqual([0])
    expect(offsets((await get('as-sent', 9)).records)).toEqual([0])
  })
})

describe('sessions, ids, epochs', () => {
  it('quirk 40: the session id is 0 in every answer; a fetch that refers to a session is 70, without partitions', async () => {
    const broker = await TestBroker.start()
    broker.cluster.topic('t')
    const ask = (sessionId: number, sessionEpoch: number) => broker.connect().call(fetchApi, 12, { ...fetch('t', [0]), sessionId, sessionEpoch })
    for (const [id, epoch] of [[0, 0], [0, -1], [5, 0], [5, -1]] as const) expect(await ask(id, epoch)).toMatchObject({ errorCode: 0, sessionId: 0, responses: [{ topic: 't' }] })
    for (const [id, epoch] of [[5, 1], [0, 7]] as const) expect(await ask(id, epoch)).toMatchObject({ errorCode: 70, sessionId: 0, responses: [] })
  })

  it('quirk 16: from v13 on by topic id, of which an unknown one is 100 in each partition', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    fill(replica!, batchOf(['a']))
    const { id } = broker.cluster.topics.get('t')!
    expect(offsets((await broker.connect().call(fetchApi, 13, fetchById(id, [0]))).responses[0]!.partitions[0]!.records)).toEqual([0])
    broker.cluster.drop('t')
    broker.cluster.topic('t')
    const gone = await broker.connect().call(fetchApi, 13, fetchById(id, [0, 0]))
    expect(gone.responses[0]).toMatchObject({ topicId: id, partitions: [{ errorCode: 100 }, { errorCode: 100 }] })
    expect((await broker.connect().call(fetchApi, 12, fetch('nobody', [0]))).responses[0]!.partitions[0]!.errorCode).toBe(3)
  })

  it('an older idea of the leader epoch is 74, a younger one 75', async () => {
    const broker = await TestBroker.start()
    broker.cluster.topic('t')
    const code = async (currentLeaderEpoch: number) => (await broker.connect().call(fetchApi, 12, fetch('t', [0], { currentLeaderEpoch }))).responses[0]!.partitions[0]!.errorCode
    expect([await code(-1), await code(2), await code(3), await code(4)]).toEqual([0, 74, 0, 75])
  })

  it('a client whose log has parted from this one is told where, at once (KIP-595)', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    replica!.leaderEpoch = 1
    fill(replica!, batchOf(['a']), batchOf(['b']))
    replica!.leaderEpoch = 3
    fill(replica!, batchOf(['c']))
    const get = async (offset: number, lastFetchedEpoch: number) =>
      (await broker.connect().call(fetchApi, 12, fetch('t', [offset], { lastFetchedEpoch, maxWaitMs: 10_000 }))).responses[0]!.partitions[0]!
    expect(await get(3, 2)).toMatchObject({ errorCode: 0, divergingEpoch: { epoch: 1, endOffset: 2 }, records: new Uint8Array() })
    expect(await get(3, 1)).toMatchObject({ divergingEpoch: { epoch: 1, endOffset: 2 } })
    expect(offsets((await get(2, 1)).records)).toEqual([2])
    expect(await get(2, 0)).toMatchObject({ errorCode: 0, divergingEpoch: { epoch: 0, endOffset: 0 } })
  })

  it('quirk 41: no other replica is preferred, and whoever says to be a replica is refused', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    fill(replica!, batchOf(['a']))
    expect((await broker.connect().call(fetchApi, 11, { ...fetch('t', [0]), rackId: 'r' })).responses[0]!.partitions[0]!.preferredReadReplica).toBe(-1)
    expect((await broker.connect().call(fetchApi, 11, { ...fetch('t', [0]), replicaId: 2 })).responses[0]!.partitions[0]).toMatchObject({ errorCode: 31, records: new Uint8Array() })
    const { id } = broker.cluster.topics.get('t')!
    expect((await broker.connect().call(fetchApi, 15, { ...fetchById(id, [0]), replicaState: { replicaId: 2, replicaEpoch: 1 } })).responses[0]!.partitions[0]!.errorCode).toBe(31)
  })

  it('from v16 on a wrong leader comes with the right one (KIP-951)', async () => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    replica!.leader = false
    broker.cluster.brokers.set(2, { nodeId: 2, epoch: 1, incarnationId: 'AAAAAAAAAAAAAAAAAAAAAA', rack: undefined, fenced: false, endpoints: [{ listener: 'PLAINTEXT', host: 'two', port: 2 }] })
    broker.cluster.replaceTopic('t', (image) => ({ ...image, partitions: image.partitions.map((partition) => ({ ...partition, leader: 2, leaderEpoch: 4 })) }))
    const answer = await broker.connect().call(fetchApi, 16, fetchById(broker.cluster.topics.get('t')!.id, [0]))
    expect(answer.responses[0]!.partitions[0]).toMatchObject({ errorCode: 6, currentLeader: { leaderId: 2, leaderEpoch: 4 } })
    expect(answer.nodeEndpoints).toEqual([{ nodeId: 2, host: 'two', port: 2, rack: null }])
    expect((await broker.connect().call(fetchApi, 12, fetch('t', [0]))).responses[0]!.partitions[0]!.currentLeader).toEqual({ leaderId: -1, leaderEpoch: -1 })
  })
})

describe('reads', () => {
  it('that end later are answered later, in order, and are cancelled when the client goes', async () => {
    const broker = await TestBroker.start()
    const replicas = broker.cluster.topic('t', 2)
    const ends: (() => void)[] = []
    let cancelled = 0
    for (const replica of replicas) {
      fill(replica, batchOf(['a']))
      const read = replica.log.read.bind(replica.log)
      replica.log.read = (request, sink) => {
        ends.push(() => { read(request, sink) })
        return () => { cancelled++ }
      }
    }
    const call = broker.connect().call(fetchApi, 12, fetch('t', [0, 0]))
    expect(ends).toHaveLength(1)
    ends[0]!()
    ends[1]!()
    expect((await call).responses[0]!.partitions.map(({ records }) => offsets(records))).toEqual([[0], [0]])
    const leaving = broker.connect()
    void leaving.call(fetchApi, 12, fetch('t', [0]))
    leaving.socket.close()
    expect(cancelled).toBe(1)
  })

  it('a damaged log is told for its partition alone', async () => {
    const broker = await TestBroker.start()
    const replicas = broker.cluster.topic('t', 3)
    for (const replica of replicas) fill(replica, batchOf(['a']))
    replicas[1]!.log.read = (_request, sink) => {
      sink.failed(new MillraceError('MR_LOG_CORRUPT', { topic: 't', partition: 1, offset: 0, path: 'x', reason: 'CRC' }))
      return undefined
    }
    replicas[2]!.log.read = () => { throw new MillraceError('MR_LOG_DIRECTORY_OFFLINE', { path: 'x', reason: 'EIO' }) }
    const { partitions } = (await broker.connect().call(fetchApi, 12, fetch('t', [0, 0, 0]))).responses[0]!
    expect(partitions.map(({ errorCode, records }) => [errorCode, offsets(records)])).toEqual([[0, [0]], [2, []], [56, []]])
  })

  it('are counted by topic', async () => {
    const broker = await TestBroker.start()
    broker.cluster.topic('t')
    const batch = batchOf(['x'])
    await broker.connect().call(produceApi, 9, produce('t', batch))
    await broker.connect().call(fetchApi, 12, fetch('t', [0]))
    expect(broker.metrics.count('millrace_topic_fetched_bytes_total', { topic: 't' })).toBe(batch.length)
  })
})
