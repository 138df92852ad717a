import { describe, expect, it } from 'vitest'
import { kafkaErrors, type OffsetFetchResponse } from '../../../../src/wire/index.ts'
import { type GroupWorld, inGroupWorld, type Interference, Listening } from './group-world.ts'

const offsetFetch = 9

/** Three partitions of five records each; the group has committed 2 of each. */
async function fill(world: GroupWorld): Promise<void> {
  const client = world.client({ undisturbed: true })
  await client.admin().createTopics([{ name: 'orders', partitions: 3 }])
  await client.producer().sendMany(Array.from({ length: 15 }, (_, index) => ({ topic: 'orders', partition: index % 3, value: `${Math.floor(index / 3)}` })))
  await client.admin().alterGroupOffsets('g', [0, 1, 2].map(partition => ({ topic: 'orders', partition, offset: 2 })))
  await client.close()
}

const committed = async (world: GroupWorld): Promise<number[]> => {
  const client = world.client({ undisturbed: true })
  const found = await client.admin().listGroupOffsets('g', [0, 1, 2].map(partition => ({ topic: 'orders', partition })))
  await client.close()
  return found.map(({ offset }) => offset)
}

/** Refuses the group, or these partitions alone. */
function refusing(errorCode: number, isRefused: () => boolean, only?: readonly number[]): Interference {
  return ({ apiKey }, response) => {
    if (apiKey !== offsetFetch || !isRefused()) return undefined
    const { groups, ...rest } = response as OffsetFetchResponse
    if (only === undefined) return { ...rest, groups: groups.map(group => ({ ...group, errorCode, topics: [] })) }
    return { ...rest, groups: groups.map(group => ({ ...group, topics: group.topics.map(topic => ({ ...topic, partitions: topic.partitions.map(each => only.includes(each.partitionIndex) ? { ...each, errorCode, committedOffset: -1 } : each) })) })) }
  }
}

const ofOrders = (...numbers: readonly number[]): string[] => numbers.flatMap(partition => [2, 3, 4].map(value => `orders-${partition}=${value}`)).sort()

describe.each(['classic', 'consumer'] as const)('a member that is not told where its group goes on, %s protocol', (groupProtocol) => {
  const options = { groupId: 'g', groupProtocol, autoCommitIntervalMs: 300 }

  it.each([
    [1, kafkaErrors.UNKNOWN_SERVER_ERROR, 'MR_CLIENT_BROKER_REFUSED'], [7, kafkaErrors.UNKNOWN_SERVER_ERROR, 'MR_CLIENT_BROKER_REFUSED'],
    [3, kafkaErrors.GROUP_AUTHORIZATION_FAILED, 'MR_CLIENT_NOT_AUTHORIZED'],
  ])('says so each of %i times (code %i), and reads on from there when it is told', (times, errorCode, code) => inGroupWorld(async (world) => {
    await fill(world)
    let left = times
    world.interfere = refusing(errorCode, () => left-- > 0)
    const member = new Listening(world, world.client(), options).subscribe(['orders'])
    await member.until(() => member.read.length === 9)
    expect(member.refused).toEqual(Array.from({ length: times }, () => code))
    expect([...member.read].sort()).toEqual(ofOrders(0, 1, 2))
    await member.consumer.close()
    expect(await committed(world)).toEqual([5, 5, 5])
  }))

  it('reads the partitions that it is told of meanwhile, says again and again why the others are not read, and commits nothing of those', () => inGroupWorld(async (world) => {
    await fill(world)
    let isRefused = true
    world.interfere = refusing(kafkaErrors.TOPIC_AUTHORIZATION_FAILED, () => isRefused, [1])
    const member = new Listening(world, world.client(), options).subscribe(['orders'])
    await member.until(() => member.read.length === 6)
    await member.during(20_000)
    expect([...member.read].sort()).toEqual(ofOrders(0, 2))
    expect(member.refused.length).toBeGreaterThan(10)
    expect(new Set(member.refused)).toEqual(new Set(['MR_CLIENT_NOT_AUTHORIZED']))
    await expect(member.consumer.position({ topic: 'orders', partition: 1 })).rejects.toMatchObject({ code: 'MR_CLIENT_NOT_AUTHORIZED' })
    expect(await committed(world)).toEqual([5, 2, 5])
    isRefused = false
    await member.until(() => member.read.length === 9)
    const { length } = member.refused
    await member.during(5000)
    expect(member.refused.length - length).toBeLessThanOrEqual(1)
    await member.consumer.close()
    expect(await committed(world)).toEqual([5, 5, 5])
  }))

  it('needs no answer where it is sought, and says nothing more', () => inGroupWorld(async (world) => {
    await fill(world)
    world.interfere = refusing(kafkaErrors.TOPIC_AUTHORIZATION_FAILED, () => true, [1])
    const member = new Listening(world, world.client(), options).subscribe(['orders'])
    await member.until(() => member.refused.length === 3)
    member.consumer.seek({ topic: 'orders', partition: 1, offset: 4 })
    await member.until(() => member.read.includes('orders-1=4'))
    const { length } = member.refused
    await member.during(5000)
    expect(member.refused.length - length).toBeLessThanOrEqual(1)
    expect(member.read).not.toContain('orders-1=3')
    await member.consumer.close()
  }))

  it('gives such a partition up like any other, and is told no more of it', () => inGroupWorld(async (world) => {
    await fill(world)
    world.interfere = refusing(kafkaErrors.TOPIC_AUTHORIZATION_FAILED, () => true, [0, 1, 2])
    const member = new Listening(world, world.client(), options).subscribe(['orders'])
    await member.until(() => member.refused.length === 3)
    await member.consumer.unsubscribe()
    expect(member.told).toEqual(['+orders-0 orders-1 orders-2', '-orders-0 orders-1 orders-2'])
    const asked = world.asked.filter(({ apiKey }) => apiKey === offsetFetch).length
    await world.passes(10_000)
    expect(world.asked.filter(({ apiKey }) => apiKey === offsetFetch)).toHaveLength(asked)
    const other = new Listening(world, world.client({ undisturbed: true }), options).subscribe(['orders'])
    await other.until(() => other.read.length === 9)
    await Promise.all([member, other].map(({ consumer }) => consumer.close()))
  }))
})
