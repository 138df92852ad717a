import { describe, expect, it } from 'vitest'
import { type GroupWorld, inGroupWorld, Listening } from './group-world.ts'

async function fill(world: GroupWorld): Promise<void> {
  const client = world.client()
  await client.admin().createTopics([{ name: 'orders', partitions: 2 }])
  await client.producer().sendMany(Array.from({ length: 20 }, (_, index) => ({ topic: 'orders', partition: index % 2, value: `${Math.floor(index / 2)}` })))
  await client.close()
}

describe.each(['classic', 'consumer'] as const)('listeners of a member, %s protocol', (groupProtocol) => {
  const options = { groupId: 'g', groupProtocol, pollIntervalMsMax: 3000, sessionTimeoutMs: 10_000 }

  it.each(['onAssigned', 'onRevoked'] as const)('may not keep it in the group for ever: where %s does not end, others have its partitions, and poll says so', listener => inGroupWorld(async (world) => {
    await fill(world)
    let end = (): void => undefined
    let waits = 0
    const stuck = (): Promise<void> => waits++ > 0 ? Promise.resolve() : new Promise((resolve) => { end = resolve })
    const client = world.client()
    const member = new Listening(world, client, options).subscribe(['orders'], { [listener]: stuck })
    const other = new Listening(world, client, options)
    if (listener === 'onRevoked') await member.until(() => member.read.length === 20)
    other.subscribe(['orders'])
    const polling = member.until(() => member.refused.length > 0)
    await other.until(() => other.consumer.assignment().length === 2)
    await polling
    expect(member.refused).toEqual(['MR_CLIENT_GROUP_LISTENER_STUCK'])
    expect(world.logger.lines.some(({ message }) => message.includes(`${listener} of this member of group g`))).toBe(true)
    await member.during(1000)
    expect([member.told.length, member.consumer.groupMembership().generation]).toEqual([listener === 'onAssigned' ? 1 : 2, -1])
    end()
    await Promise.all([member, other].map(each => each.until(() => [member, other].every(({ consumer }) => consumer.assignment().length === 1))))
    expect(member.refused).toHaveLength(1)
    await Promise.all([member, other].map(({ consumer }) => consumer.close()))
    await client.close()
  }))

  it('are not called beside a handler: what is lost meanwhile is told of in the next poll', () => inGroupWorld(async (world) => {
    await fill(world)
    const client = world.client()
    const member = new Listening(world, client, options).subscribe(['orders'])
    const other = new Listening(world, client, options)
    await member.until(() => member.consumer.assignment().length === 2)
    other.subscribe(['orders'])
    const before = [...member.told]
    await other.until(() => other.consumer.assignment().length === 2)
    expect(member.consumer.groupMembership().generation).toBe(-1)
    expect(member.told).toEqual(before)
    await Promise.all([member, other].map(each => each.until(() => [member, other].every(({ consumer }) => consumer.assignment().length === 1))))
    expect(member.told[before.length]).toBe('!orders-0 orders-1')
    await Promise.all([member, other].map(({ consumer }) => consumer.close()))
    await client.close()
  }))

  it('are told of a loss by close and unsubscribe too, which a member that is out may call first', () => inGroupWorld(async (world) => {
    await fill(world)
    const client = world.client()
    for (const how of ['close', 'unsubscribe'] as const) {
      const member = new Listening(world, client, options).subscribe(['orders'])
      await member.until(() => member.consumer.assignment().length === 2)
      await world.passes(5000)
      expect(member.told).toHaveLength(1)
      await member.consumer[how]()
      expect(member.told).toEqual(['+orders-0 orders-1', '!orders-0 orders-1'])
      await member.consumer.close()
    }
    await client.close()
  }))

  it('are followed by no record of what was lost while a loop stood still', () => inGroupWorld(async (world) => {
    await fill(world)
    const client = world.client()
    const member = new Listening(world, client, { ...options, autoCommit: false }).subscribe(['orders'])
    const given: string[] = []
    for await (const { partition, offset } of member.consumer) {
      given.push(`${partition}/${offset}`)
      if (given.length === 3) await world.passes(5000)
      if (given.length === 6) break
    }
    // Nothing was committed: after the third it begins anew.
    expect(member.told).toEqual(['+orders-0 orders-1', '!orders-0 orders-1', '+orders-0 orders-1'])
    const again = given.slice(3)
    expect(new Set(given.slice(0, 3)).has(again[0]!)).toBe(true)
    await member.consumer.close()
    await client.close()
  }))
})
