import { describe, expect, it } from 'vitest'
import { deferred } from '../../../../../src/base/deferred.ts'
import { createPartitionsApi, listOffsetsApi, metadataApi } from '../../../../../src/wire/messages/index.ts'
import { TestBroker, turn } from '../fixture/test-broker.ts'

type Asked = readonly [name: string, count: number, assignment?: readonly (readonly number[])[]]

function ask(broker: TestBroker, topics: readonly Asked[], { version = 3, validateOnly = false, timeoutMs = 1000 } = {}) {
  return broker.connect().call(createPartitionsApi, version, {
    topics: topics.map(([name, count, assignment]) => ({ name, count, assignments: assignment?.map((brokerIds) => ({ brokerIds: [...brokerIds] })) ?? null })), timeoutMs, validateOnly,
  })
}

const codes = async (answer: ReturnType<typeof ask>) => (await answer).results.map(({ name, errorCode }) => [name, errorCode])

describe('CreatePartitions', () => {
  it('adds partitions in every version, which the next request on any connection finds', async () => {
    const broker = await TestBroker.start()
    broker.cluster.topic('t', 1)
    for (const version of [0, 1, 2, 3]) {
      expect(await codes(ask(broker, [['t', 2 + version]], { version }))).toEqual([['t', 0]])
      const { topics } = await broker.connect().call(metadataApi, 12, { topics: [{ name: 't' }] })
      expect(topics[0]!.partitions.map(({ errorCode, leaderId }) => [errorCode, leaderId])).toEqual(Array.from({ length: 2 + version }, () => [0, 1]))
      const offsets = await broker.connect().call(listOffsetsApi, 2, { replicaId: -1, topics: [{ name: 't', partitions: [{ partitionIndex: 1 + version, timestamp: -1 }] }] })
      expect(offsets.topics[0]!.partitions[0]).toMatchObject({ errorCode: 0, offset: 0 })
    }
  })

  it('validateOnly adds nothing', async () => {
    const broker = await TestBroker.start()
    broker.cluster.topic('t', 1)
    expect(await codes(ask(broker, [['t', 2], ['t2', 2]], { validateOnly: true }))).toEqual([['t', 0], ['t2', 3]])
    expect(broker.cluster.topics.get('t')!.partitions).toHaveLength(1)
  })

  it('each topic has its own outcome, with the reason; one named twice is 42, once, and gets none', async () => {
    const broker = await TestBroker.start()
    for (const name of ['a', 'b', 'c']) broker.cluster.topic(name, 2)
    const { results } = await ask(broker, [['b', 3], ['a', 3], ['none', 3], ['c', 2], ['b', 4]])
    expect(results.map(({ name, errorCode }) => [name, errorCode])).toEqual([['b', 42], ['a', 0], ['none', 3], ['c', 37]])
    expect(results[0]!.errorMessage).toBe('the topic is there twice')
    expect(results[2]!.errorMessage).toMatch(/^topic none does not exist/)
    expect(['a', 'b'].map((name) => broker.cluster.topics.get(name)!.partitions.length)).toEqual([3, 2])
  })

  it('an assignment comes to the controller as it was given, and null as none', async () => {
    const broker = await TestBroker.start()
    broker.cluster.topic('a', 1)
    broker.cluster.topic('b', 1)
    await ask(broker, [['a', 3, [[1], [2, 1]]], ['b', 2]])
    await ask(broker, [['b', 3, []]])
    expect(broker.cluster.extensions.map(({ assignment }) => assignment)).toEqual([[[1], [2, 1]], undefined, []])
  })

  it('no topic is answered at once, and only topics named twice are without asking the controller', async () => {
    const broker = await TestBroker.start()
    expect(await codes(ask(broker, []))).toEqual([])
    expect(await codes(ask(broker, [['t', 2], ['t', 2]]))).toEqual([['t', 42]])
    expect(broker.cluster.extensions).toEqual([])
  })

  it('the answer waits for the logs; a topic that is not complete in time is 7 and has its partitions all the same, others have their own answer', async () => {
    const broker = await TestBroker.start()
    broker.cluster.topic('slow', 1)
    broker.cluster.topic('bad', 2)
    broker.cluster.slowPartitions = [1]
    const answer = ask(broker, [['slow', 2], ['bad', 1]], { timeoutMs: 300 })
    await turn()
    broker.timers.advance(300)
    expect(await codes(answer)).toEqual([['slow', 7], ['bad', 37]])
    expect(broker.cluster.topics.get('slow')!.partitions).toHaveLength(2)
    const later = ask(broker, [['slow', 3]])
    let answered = false
    void later.then(() => { answered = true })
    await turn()
    expect(answered).toBe(false)
    broker.cluster.finish()
    expect(await codes(later)).toEqual([['slow', 0]])
  })

  it('what takes longer than the client waits is 7 for each topic', async () => {
    const broker = await TestBroker.start()
    for (const name of ['a', 'b']) broker.cluster.topic(name, 1)
    const gate = deferred()
    broker.cluster.creationGate = gate.promise
    const answer = ask(broker, [['a', 2], ['b', 2]], { timeoutMs: 300 })
    await turn()
    broker.timers.advance(300)
    expect(await codes(answer)).toEqual([['a', 7], ['b', 7]])
    gate.resolve()
    await turn()
  })

  it('a controller that fails is told as its error, or as -1 with a line in the log', async () => {
    const broker = await TestBroker.start()
    broker.cluster.topic('a', 1)
    broker.cluster.createPartitions = () => Promise.reject(new Error('out of order'))
    const { results } = await ask(broker, [['a', 2]])
    expect(results).toEqual([{ name: 'a', errorCode: -1, errorMessage: 'the broker failed; its log says why' }])
    expect(broker.logger.atLeast('error').map(({ message }) => message)).toEqual(['partitions could not be added'])
  })
})
