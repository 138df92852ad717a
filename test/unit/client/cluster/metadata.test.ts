import { describe, expect, it } from 'vitest'
import { topicFrom, withLeader } from '../../../../src/client/cluster/topic-info.ts'
import { kafkaErrors, type MetadataRequest } from '../../../../src/wire/index.ts'
import { testWorld } from '../world/client-world.ts'

function answer(id: string, leaders: readonly (readonly [leaderId: number, leaderEpoch: number])[]): Parameters<typeof topicFrom>[0] {
  return {
    errorCode: 0, name: 't', topicId: id, isInternal: false, topicAuthorizedOperations: 0,
    partitions: leaders.map(([leaderId, leaderEpoch], partitionIndex) => ({
      errorCode: 0, partitionIndex, leaderId, leaderEpoch, replicaNodes: [], isrNodes: [], offlineReplicas: [],
    })),
  }
}

describe('the picture of a topic', () => {
  it('does not go back to a leader of an older epoch', () => {
    const known = topicFrom(answer('x', [[1, 5], [1, 5]]), undefined)
    const next = topicFrom(answer('x', [[2, 4], [3, 6]]), known)
    expect(next.partitions.map(partition => [partition.leaderId, partition.leaderEpoch])).toEqual([[1, 5], [3, 6]])
  })

  it('begins anew for a topic of another id', () => {
    const known = topicFrom(answer('x', [[1, 5]]), undefined)
    expect(topicFrom(answer('y', [[2, 0]]), known).partitions[0]).toMatchObject({ leaderId: 2, leaderEpoch: 0 })
  })

  it('believes every answer of a broker without epochs', () => {
    const known = topicFrom(answer('x', [[1, -1]]), undefined)
    expect(topicFrom(answer('x', [[2, -1]]), known).partitions[0]!.leaderId).toBe(2)
  })

  it('takes a leader that a broker names only when that is news', () => {
    const known = topicFrom(answer('x', [[1, 5]]), undefined)
    expect(withLeader(known, 0, 2, 5)).toBe(known)
    expect(withLeader(known, 0, -1, 9)).toBe(known)
    expect(withLeader(known, 3, 2, 9)).toBe(known)
    expect(withLeader(known, 0, 2, 6).partitions[0]).toMatchObject({ leaderId: 2, leaderEpoch: 6 })
  })
})

describe('a client finding its cluster', () => {
  it('takes the first broker of the list that answers', async () => {
    const world = await testWorld({ nodes: 2 })
    world.cluster.addTopic('t', [1])
    const client = world.client({ bootstrap: 'nowhere:9092, b2:1, b2:9092' })
    await world.complete(client.producer().send({ topic: 't', value: 'x' }), 5000)
  })

  it('goes back to the list when all brokers it knew are gone', async () => {
    const world = await testWorld({ nodes: 3 })
    world.cluster.addTopic('t', [2])
    const client = world.client({ bootstrap: 'b1:9092,b3:9092', retryBackoffMsMax: 200 })
    const producer = client.producer()
    await world.complete(producer.send({ topic: 't', value: 'x' }))
    // The cluster comes to consist of broker 3 alone, at its old address.
    for (const id of [1, 2]) {
      await world.complete(world.cluster.nodes.get(id)!.stop())
      world.cluster.nodes.delete(id)
    }
    world.cluster.moveLeader('t', 0, 3)
    await world.complete(producer.send({ topic: 't', value: 'y' }), 30_000)
    expect(world.cluster.log('t', 0).records()).toHaveLength(2)
  })

  it('starts over from the list when the cluster tells it to', async () => {
    const world = await testWorld({ nodes: 2 })
    world.cluster.addTopic('t', [1])
    const client = world.client()
    const producer = client.producer()
    await world.complete(producer.send({ topic: 't', value: 'x' }))
    let isTold = false
    world.cluster.script = call => {
      if (call.api.key !== 3 || isTold) return undefined
      isTold = true
      return { respond: { brokers: [], topics: [], errorCode: kafkaErrors.REBOOTSTRAP_REQUIRED } }
    }
    await world.complete(producer.send({ topic: 'u', value: 'x' }).catch(() => undefined).then(() => undefined), 100_000)
    expect(isTold).toBe(true)
    await world.complete(producer.send({ topic: 't', value: 'y' }))
  })

  it('asks again when the picture has become old, and not while nobody needs it', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    const client = world.client({ metadataAgeMsMax: 10_000 })
    const producer = client.producer()
    await world.complete(producer.send({ topic: 't', value: 'x' }))
    const before = world.cluster.callsOf(3).length
    await world.scheduler.runFor(35_000)
    expect(world.cluster.callsOf(3).length - before).toBe(3)
    await world.complete(producer.close())
    await world.scheduler.runFor(15_000)
    const after = world.cluster.callsOf(3).length
    await world.scheduler.runFor(60_000)
    expect(world.cluster.callsOf(3)).toHaveLength(after)
  })

  it('lets only those topics be created that somebody writes to', async () => {
    const world = await testWorld()
    world.cluster.createsTopics = true
    const client = world.client()
    const consumer = client.consumer()
    consumer.assign([{ topic: 'read', partition: 0 }])
    await world.complete(client.producer().send({ topic: 'written', value: 'x' }))
    expect([...world.cluster.topics.keys()]).toEqual(['written'])
    const creating = world.cluster.callsOf(3).map(call => call.request as MetadataRequest).filter(request => request.allowAutoTopicCreation)
    expect(creating.every(request => request.topics!.every(topic => topic.name === 'written'))).toBe(true)
  })

  it('asks a few times a second at most while a topic is missing', async () => {
    const world = await testWorld()
    const consumer = world.client().consumer()
    consumer.assign([{ topic: 'missing', partition: 0 }])
    await world.scheduler.runFor(60_000)
    expect(world.cluster.callsOf(3).length).toBeLessThan(100)
  })
})

describe('settings of a client', () => {
  it.each([
    ['no broker', { bootstrap: '' }], ['a broker without a port', { bootstrap: 'host' }], ['a port that is none', { bootstrap: 'host:99999' }],
    ['an unknown mechanism', { sasl: { mechanism: 'GSSAPI' as never, username: 'u', password: 'p' } }], ['an empty user', { sasl: { mechanism: 'PLAIN' as const, username: '', password: 'p' } }],
    ['a timeout of nothing', { requestTimeoutMs: 0 }], ['a fraction', { metadataAgeMsMax: 1.5 }],
  ])('are refused with %s', async (_name, settings) => {
    const world = await testWorld()
    expect(() => world.client(settings)).toThrow(expect.objectContaining({ code: 'MR_CLIENT_SETTING' }))
  })

  it.each([
    ['acks', { acks: 2 as never }], ['idempotence', { idempotence: true, acks: 1 as const }], ['compression', { compression: 'zip' as never }],
    ['inFlightMax', { inFlightMax: 6 }], ['lingerMs', { lingerMs: -1 }],
  ])('of a producer: %s is checked', async (key, options) => {
    const world = await testWorld()
    expect(() => world.client().producer(options)).toThrow(expect.objectContaining({ code: 'MR_CLIENT_SETTING', details: expect.objectContaining({ key }) }))
  })

  it('takes addresses of version 6', async () => {
    const world = await testWorld()
    expect(() => world.client({ bootstrap: '[::1]:9092' })).not.toThrow()
  })
})
