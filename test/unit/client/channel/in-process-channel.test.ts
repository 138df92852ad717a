import { describe, expect, it } from 'vitest'
import { Client } from '../../../../src/client/client.ts'
import { clientSettings } from '../../../../src/client/client-options.ts'
import { testWorld, type TestWorld } from '../world/client-world.ts'
import { FakeDispatcher } from '../world/fake-dispatcher.ts'

async function worldInside(nodes = 1): Promise<{ world: TestWorld, dispatcher: FakeDispatcher, client: Client }> {
  const world = await testWorld({ nodes })
  const dispatcher = new FakeDispatcher(world.cluster, 1)
  const client = new Client(world.world, clientSettings({ inProcess: { dispatcher, ...(nodes > 1 ? { nodeId: 1 } : {}) } }))
  world.clients.push(client)
  return { world, dispatcher, client }
}

describe('a client of a broker in its own process', () => {
  it('writes and reads without a connection', async () => {
    const { world, client } = await worldInside()
    world.cluster.addTopic('t', [1, 1])
    const places = await world.complete(client.producer().sendMany(Array.from({ length: 100 }, (_, index) => ({ topic: 't', key: `k${index}`, value: `v${index}` }))))
    expect(new Set(places.map(place => place.partition))).toEqual(new Set([0, 1]))
    const consumer = client.consumer()
    consumer.assign([{ topic: 't', partition: 0 }, { topic: 't', partition: 1 }])
    const seen: string[] = []
    while (seen.length < 100) seen.push(...(await world.complete(consumer.poll())).map(record => record.text()!))
    expect(seen.sort()).toEqual(Array.from({ length: 100 }, (_, index) => `v${index}`).sort())
    expect(world.cluster.nodes.get(1)!.accepted).toBe(0)
  })

  it('owns the records it was given, though the broker takes its buffers back', async () => {
    const { world, client, dispatcher } = await worldInside()
    world.cluster.addTopic('t', [1])
    await world.complete(client.producer().sendMany([{ topic: 't', value: 'one' }, { topic: 't', value: 'two' }]))
    const consumer = client.consumer()
    consumer.assign([{ topic: 't', partition: 0 }])
    const records = await world.complete(consumer.poll())
    await world.scheduler.runFor(2000)
    expect(records.map(record => record.text())).toEqual(['one', 'two'])
    await world.complete(client.close())
    await world.scheduler.runFor(2000)
    expect(dispatcher.released).toBe(dispatcher.dispatched)
  })

  it('reaches the other brokers of a cluster over the network', async () => {
    const { world, client } = await worldInside(2)
    world.cluster.addTopic('t', [1, 2])
    const producer = client.producer()
    await world.complete(Promise.all([0, 1].map(partition => producer.send({ topic: 't', partition, value: 'x' }))))
    expect(world.cluster.nodes.get(1)!.accepted).toBe(0)
    expect(world.cluster.nodes.get(2)!.accepted).toBe(1)
    expect([0, 1].map(partition => world.cluster.log('t', partition).records().length)).toEqual([1, 1])
  })

  it('resolves with offset -1 for acks 0', async () => {
    const { world, client } = await worldInside()
    world.cluster.addTopic('t', [1])
    expect(await world.complete(client.producer({ acks: 0 }).send({ topic: 't', value: 'x' }))).toMatchObject({ offset: -1 })
  })

  it('fails what is under way when it is closed, and takes no notice of late answers', async () => {
    const { world, client } = await worldInside()
    world.cluster.addTopic('t', [1])
    const consumer = client.consumer()
    consumer.assign([{ topic: 't', partition: 0 }])
    const polled = consumer.poll().catch((error: unknown) => error)
    await world.scheduler.runFor(100)
    await world.complete(client.close())
    expect(await polled).toMatchObject({ code: 'MR_CLIENT_CLOSED' })
    await world.scheduler.runFor(1000)
  })
})
