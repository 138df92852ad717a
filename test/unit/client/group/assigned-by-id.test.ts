import { describe, expect, it } from 'vitest'
import { type MetadataResponse } from '../../../../src/wire/index.ts'
import { inGroupWorld, Listening } from './group-world.ts'

const metadata = 3

describe('a member whose partitions the coordinator names by topic id', () => {
  it('keeps what it reads when more topics come to match the pattern of the broker, and reads those too', () => inGroupWorld(async (world) => {
    const client = world.client()
    const member = new Listening(world, client, { groupId: 'g', groupProtocol: 'consumer' }).subscribe({ re2: 'orders-.*' })
    const wanted: string[] = []
    for (let topic = 1; topic <= 4; topic++) {
      await client.admin().createTopics([{ name: `orders-${topic}`, partitions: 2 }])
      wanted.push(`+orders-${topic}-0 orders-${topic}-1`)
      await member.until(() => member.told.length >= topic)
      for (let known = 1; known <= topic; known++) await client.producer().send({ topic: `orders-${known}`, partition: 0, value: `${topic}` })
      await member.until(() => member.read.length === topic * (topic + 1) / 2)
    }
    expect(member.told).toEqual(wanted)
    await member.consumer.close()
    await client.close()
  }))

  it('loses a topic that is deleted, and keeps the others', () => inGroupWorld(async (world) => {
    const client = world.client()
    await client.admin().createTopics(['orders-1', 'orders-2'].map(name => ({ name, partitions: 1 })))
    const member = new Listening(world, client, { groupId: 'g', groupProtocol: 'consumer' }).subscribe({ re2: 'orders-.*' })
    await member.until(() => member.has === 'orders-1-0 orders-2-0')
    await client.admin().deleteTopics(['orders-1'])
    await member.until(() => member.has === 'orders-2-0')
    await client.producer().send({ topic: 'orders-2', partition: 0, value: 'x' })
    await member.until(() => member.read.length === 1)
    expect(member.told.at(-1)).toBe('-orders-1-0')
    await member.consumer.close()
    await client.close()
  }))

  it.each([1, 5, 40])('reads a topic that the broker asked comes to know of only after %i questions, and asks no more then', (ignorance) => inGroupWorld(async (world) => {
    const direct = world.client({ undisturbed: true })
    await direct.admin().createTopics([{ name: 'orders', partitions: 1 }])
    await direct.producer().send({ topic: 'orders', partition: 0, value: 'x' })
    let left = ignorance
    world.interfere = ({ apiKey }, response) => {
      if (apiKey !== metadata || left-- <= 0) return undefined
      return { ...response, topics: (response as MetadataResponse).topics.map(topic => ({ ...topic, name: null, errorCode: 100, partitions: [] })) }
    }
    const client = world.client()
    const member = new Listening(world, client, { groupId: 'g', groupProtocol: 'consumer' }).subscribe({ re2: 'ord.*' })
    await member.until(() => member.read.length === 1, 120_000)
    expect(left).toBeLessThan(0)
    const before = world.asked.filter(({ apiKey }) => apiKey === metadata).length
    await member.during(30_000)
    expect(world.asked.filter(({ apiKey }) => apiKey === metadata)).toHaveLength(before)
    await member.consumer.close()
    await client.close()
    await direct.close()
  }))

  it('asks no more for an id that nobody knows once it has left', () => inGroupWorld(async (world) => {
    const direct = world.client({ undisturbed: true })
    await direct.admin().createTopics([{ name: 'orders', partitions: 1 }])
    world.interfere = ({ apiKey }, response) => apiKey === metadata ? { ...response, topics: [] } : undefined
    const client = world.client()
    const member = new Listening(world, client, { groupId: 'g', groupProtocol: 'consumer' }).subscribe({ re2: 'ord.*' })
    await member.during(20_000)
    const asked = (): number => world.asked.filter(({ apiKey }) => apiKey === metadata).length
    const before = asked()
    expect(before).toBeGreaterThan(10)
    expect(before).toBeLessThan(60)
    await member.consumer.unsubscribe()
    const after = asked()
    await world.passes(20_000)
    expect(asked() - after).toBeLessThanOrEqual(1)
    await member.consumer.close()
    await client.close()
    await direct.close()
  }))
})
