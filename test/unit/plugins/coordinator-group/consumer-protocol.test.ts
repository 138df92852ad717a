import { describe, expect, it } from 'vitest'
import { consumerGroupHeartbeatApi } from '../../../../src/wire/messages/68-consumer-group-heartbeat.ts'
import { ConsumerMember, describeConsumers, settle } from './consumer-member.ts'
import { GroupWorld } from './group-world.ts'

const all = ['orders-0', 'orders-1', 'orders-2']

/** Members `m1`, `m2`, … that read the same, as far as they can get. */
async function gathered(world: GroupWorld, count: number): Promise<ConsumerMember[]> {
  const members = Array.from({ length: count }, (_, index) => new ConsumerMember(world, `m${index + 1}`))
  for (const member of members) await member.join()
  await settle(...members)
  return members
}

describe('joining', () => {
  it('quirk 55: a member that joins with epoch 0 is in at once, with all partitions of an empty group, and told when to be heard again', async () => {
    const world = await GroupWorld.start({ 'group.consumer.heartbeat.interval.ms': '1234' })
    const member = new ConsumerMember(world, 'm1')
    expect(await member.join()).toMatchObject({ errorCode: 0, memberId: 'm1', memberEpoch: 1, heartbeatIntervalMs: 1234 })
    expect(member.owned).toEqual(all)
    expect((await member.beat()).assignment).toBeNull()
  })

  it('quirk 55: in v0 the broker makes the id, in v1 the member has one', async () => {
    const world = await GroupWorld.start()
    const request = { groupId: 'g', memberId: '', memberEpoch: 0, rebalanceTimeoutMs: 1000, subscribedTopicNames: ['orders'], topicPartitions: [] }
    const { memberId, errorCode } = await world.client().call(consumerGroupHeartbeatApi, 0, request)
    expect(errorCode).toBe(0)
    expect(memberId).toMatch(/^test-[0-9a-f-]{36}$/)
    expect((await world.client().call(consumerGroupHeartbeatApi, 1, request)).errorCode).toBe(42)
  })

  it.each<[string, object]>([
    ['an empty list of topics', { subscribedTopicNames: [] }],
    ['an empty pattern', { subscribedTopicNames: null, subscribedTopicRegex: '' }],
    ['an empty list and an empty pattern', { subscribedTopicNames: [], subscribedTopicRegex: '' }],
    ['a pattern that no topic has', { subscribedTopicNames: null, subscribedTopicRegex: 'no-such-.*' }],
    ['a topic that is not there', { subscribedTopicNames: ['no-such'] }],
  ])('who joins with %s is a member that has nothing, beside others and over a reload, until it reads something', async (_what, subscription) => {
    const world = await GroupWorld.start()
    const [idle, other] = [new ConsumerMember(world, 'm1'), new ConsumerMember(world, 'm2')]
    expect(await idle.join(subscription)).toMatchObject({ errorCode: 0, memberEpoch: 1, assignment: { topicPartitions: [] } })
    await other.join()
    await settle(idle, other)
    expect([idle.owned, other.owned]).toEqual([[], all])
    await world.reload()
    await settle(idle, other)
    expect((await describeConsumers(world)).groupState).toBe('Stable')
    expect(await idle.beat({ subscribedTopicNames: ['orders'], subscribedTopicRegex: '' })).toMatchObject({ errorCode: 0 })
    await settle(idle, other)
    expect([idle.owned.length, [...idle.owned, ...other.owned].sort()]).toEqual([1, all])
  })

  it('three members have a partition each, none before its former owner has said that it has given it up', async () => {
    const world = await GroupWorld.start()
    const [first, second] = [new ConsumerMember(world, 'm1'), new ConsumerMember(world, 'm2')]
    await first.join()
    expect(await second.join()).toMatchObject({ errorCode: 0, memberEpoch: 2, assignment: { topicPartitions: [] } })
    // Asked to give one up; it stays in its epoch until it has.
    expect((await first.beat()).memberEpoch).toBe(1)
    expect(first.owned).toEqual(['orders-0', 'orders-1'])
    expect((await second.beat()).assignment).toBeNull()
    expect((await first.beat()).memberEpoch).toBe(1)
    expect((await first.confirm(all)).memberEpoch).toBe(1)
    expect((await second.beat()).assignment).toBeNull()
    // What it keeps it was told when it was asked: nothing changes with the epoch.
    expect(await first.confirm()).toMatchObject({ memberEpoch: 2, assignment: null })
    await second.beat()
    expect(second.owned).toEqual(['orders-2'])
    const third = new ConsumerMember(world, 'm3')
    await third.join()
    await settle(first, second, third)
    expect([first, second, third].map(({ owned, epoch }) => [owned.length, epoch])).toEqual([[1, 3], [1, 3], [1, 3]])
    expect([...first.owned, ...second.owned, ...third.owned].sort()).toEqual(all)
  })

  it('a member that joins again, as after a lost answer, has all that it had, in a later epoch', async () => {
    const world = await GroupWorld.start()
    const member = new ConsumerMember(world, 'm1')
    await member.join()
    expect(await member.join()).toMatchObject({ errorCode: 0, memberEpoch: 2 })
    expect(member.owned).toEqual(all)
  })

  it('group.consumer.max.size is the most members; one that is in may come again', async () => {
    const world = await GroupWorld.start({ 'group.consumer.max.size': '1' })
    const member = new ConsumerMember(world, 'm1')
    await member.join()
    expect(await new ConsumerMember(world, 'm2').join()).toMatchObject({ errorCode: 81, errorMessage: expect.stringContaining('group.consumer.max.size=1') as string })
    expect((await member.join()).errorCode).toBe(0)
  })

  it('a member that knows no group or that no group knows is told so', async () => {
    const world = await GroupWorld.start()
    const member = new ConsumerMember(world, 'm1')
    member.epoch = 4
    expect((await member.beat()).errorCode).toBe(69)
    await new ConsumerMember(world, 'm2').join()
    expect((await member.beat()).errorCode).toBe(25)
    expect((await member.leave()).errorCode).toBe(25)
  })
})

describe('epochs', () => {
  it('quirk 55: another epoch than the member\'s is FENCED_MEMBER_EPOCH; the one before it is heard where the answer may be lost', async () => {
    const world = await GroupWorld.start()
    const [first, second] = await gathered(world, 2)
    expect(first!.epoch).toBe(2)
    expect((await first!.beat({ memberEpoch: 3 })).errorCode).toBe(110)
    expect((await first!.beat({ memberEpoch: 1 })).errorCode).toBe(110)
    expect(await first!.beat({ memberEpoch: 1, topicPartitions: world.listed(first!.owned) })).toMatchObject({ errorCode: 0, memberEpoch: 2 })
    expect((await first!.beat({ memberEpoch: 1, topicPartitions: world.listed(second!.owned) })).errorCode).toBe(110)
  })

  it('what a member of an older epoch commits or fetches is STALE_MEMBER_EPOCH, and of one that is out UNKNOWN_MEMBER_ID', async () => {
    const world = await GroupWorld.start()
    const [first, second] = await gathered(world, 2)
    expect(await first!.commit(5)).toBe(0)
    expect(await first!.commit(9, 1)).toBe(113)
    expect(await first!.commit(9, 3)).toBe(113)
    expect(await first!.fetch()).toEqual([0, 5])
    expect(await first!.fetch(1)).toEqual([113, undefined])
    expect(await first!.commit(9, 2, 8)).toBe(35)
    expect(await first!.commit(9, -1)).toBe(113)
    await second!.leave()
    expect(await second!.commit(9, 2)).toBe(25)
    expect(await second!.fetch(2)).toEqual([25, undefined])
    expect(await first!.fetch(-1, null)).toEqual([0, 5])
  })

  it('an operator commits while the group is empty', async () => {
    const world = await GroupWorld.start()
    const [member] = await gathered(world, 1)
    const operator = new ConsumerMember(world, '')
    expect(await operator.commit(7, -1)).toBe(25)
    await member!.leave()
    expect(await operator.commit(7, -1)).toBe(0)
    expect(await world.committed()).toBe(7)
  })
})

describe('leaving', () => {
  it('a member that leaves is answered with epoch -1, and the others have what it had', async () => {
    const world = await GroupWorld.start()
    const [first, second] = await gathered(world, 2)
    expect(await first!.leave()).toMatchObject({ errorCode: 0, memberEpoch: -1 })
    await second!.beat()
    expect(second!.owned).toEqual(all)
    await second!.leave()
    expect(await describeConsumers(world)).toMatchObject({ groupState: 'Empty', members: [] })
  })

  it('a member that is not heard from within the session timeout is out', async () => {
    const world = await GroupWorld.start({ 'group.consumer.session.timeout.ms': '45000' })
    const [first, second] = await gathered(world, 2)
    for (let count = 0; count < 5; count++) {
      await world.pass(10_000)
      await second!.beat()
    }
    expect(second!.owned).toEqual(all)
    expect((await first!.beat()).errorCode).toBe(25)
  })

  it('a member that does not give up what it is asked to within its rebalance timeout is out, though it is heard from', async () => {
    const world = await GroupWorld.start()
    const [first, second] = [new ConsumerMember(world, 'm1'), new ConsumerMember(world, 'm2')]
    first.rebalanceTimeoutMs = 15_000
    await first.join()
    await second.join()
    await first.beat()
    await world.pass(14_000)
    expect((await first.beat()).errorCode).toBe(0)
    await world.pass(1001)
    expect((await first.beat()).errorCode).toBe(25)
    await second.beat()
    expect(second.owned).toEqual(all)
  })

  it('a static member that leaves with -2 finds its partitions again under another id, in the same epoch, within its session', async () => {
    const world = await GroupWorld.start()
    const [first, second] = [new ConsumerMember(world, 'm1', ['orders'], 'i1'), new ConsumerMember(world, 'm2', ['orders'], 'i2')]
    await first.join()
    await second.join()
    await settle(first, second)
    const { owned } = first
    const again = new ConsumerMember(world, 'm3', ['orders'], 'i1')
    expect(await again.join()).toMatchObject({ errorCode: 111 })
    expect(await first.leave(-2)).toMatchObject({ errorCode: 0, memberEpoch: -2 })
    expect(await again.join()).toMatchObject({ errorCode: 0, memberEpoch: 2 })
    expect(again.owned).toEqual(owned)
    first.epoch = 2
    expect((await first.beat()).errorCode).toBe(82)
    expect(await first.commit(1, 2)).toBe(82)
    await again.leave(-2)
    await world.pass(44_000)
    await second.beat()
    await world.pass(1001)
    await second.beat()
    expect(second.owned).toEqual(all)
  })
})

describe('topics', () => {
  it('that grow, come or go are followed by whoever reads them', async () => {
    const world = await GroupWorld.start()
    const member = new ConsumerMember(world, 'm1', ['orders', 'parcels'])
    await member.join()
    world.broker.cluster.topic('parcels', 1)
    await member.beat()
    expect(member.owned).toEqual([...all, 'parcels-0'])
    world.broker.cluster.replaceTopic('orders', (topic) => ({ ...topic, partitions: [...topic.partitions, { ...topic.partitions[0]!, partition: 3 }] }))
    await member.beat()
    expect(member.owned).toEqual([...all, 'orders-3', 'parcels-0'])
    world.broker.cluster.drop('parcels')
    await member.confirm(member.owned.slice(0, 4))
    expect(member.owned).toEqual([...all, 'orders-3'])
    const { epoch } = member
    world.broker.cluster.topic('others', 1)
    await member.beat()
    expect(member.epoch).toBe(epoch)
  })

  it('a member that reads something else is given that, and gives up the rest first', async () => {
    const world = await GroupWorld.start()
    const [member] = await gathered(world, 1)
    await member!.beat({ subscribedTopicNames: ['letters'] })
    expect(member!.owned).toEqual([])
    await member!.confirm()
    expect(member!.owned).toEqual(['letters-0'])
  })

  it('by pattern are those whose whole name it matches, without the brokers\' own, and also those that come later', async () => {
    const world = await GroupWorld.start()
    const member = new ConsumerMember(world, 'm1')
    member.pattern = '.*r.*'
    expect(await member.join()).toMatchObject({ errorCode: 0, assignment: { topicPartitions: [] } })
    await world.pass(1)
    await member.beat()
    expect(member.owned).toEqual(['letters-0', ...all])
    world.broker.cluster.topic('parcels', 1)
    await member.beat()
    await world.pass(1)
    await member.beat()
    expect(member.owned).toEqual(['letters-0', ...all, 'parcels-0'])
    await world.reload()
    expect((await member.beat()).errorCode).toBe(0)
    expect((await describeConsumers(world)).members[0]).toMatchObject({ subscribedTopicRegex: '.*r.*', subscribedTopicNames: [] })
    await member.beat({ subscribedTopicRegex: '', subscribedTopicNames: ['letters'] })
    expect((await describeConsumers(world)).members[0]).toMatchObject({ subscribedTopicRegex: '', subscribedTopicNames: ['letters'] })
    await member.confirm(['letters-0'])
    expect(member.owned).toEqual(['letters-0'])
    expect(world.machine().consumers.groups.get('g')!.patterns.size).toBe(0)
  })

  it.each(['[a', '(?=a)b', '(a)\\1', 'a{1000}a{1000}', '((a{10}){10}){10}(b{9}){99}', 'x'.repeat(1001)])('a pattern that is none, or too large, is INVALID_REGULAR_EXPRESSION: %s', async (pattern) => {
    const world = await GroupWorld.start()
    const member = new ConsumerMember(world, 'm1')
    member.pattern = pattern
    expect(await member.join()).toMatchObject({ errorCode: 128, errorMessage: expect.stringContaining('pattern') as string })
    expect(world.machine().consumers.groups.size).toBe(0)
  })

  it('the group has the assignor that most members ask for, the first of group.consumer.assignors where nobody asks; one that is not there is refused', async () => {
    const world = await GroupWorld.start()
    const members = ['range', 'range', null].map((serverAssignor, index) => Object.assign(new ConsumerMember(world, `m${index}`), { serverAssignor }))
    for (const member of members) await member.join()
    expect((await describeConsumers(world)).assignorName).toBe('range')
    const other = Object.assign(new ConsumerMember(world, 'm9'), { serverAssignor: 'mine' })
    expect(await other.join()).toMatchObject({ errorCode: 112, errorMessage: expect.stringContaining('uniform, range') as string })
  })

  it('targets are not computed again within group.consumer.assignment.interval.ms, and by themselves after it', async () => {
    const world = await GroupWorld.start({ 'group.consumer.assignment.interval.ms': '1000' })
    const [first, second] = [new ConsumerMember(world, 'm1'), new ConsumerMember(world, 'm2')]
    await first.join()
    expect(await second.join()).toMatchObject({ errorCode: 0, memberEpoch: 1 })
    expect(await describeConsumers(world)).toMatchObject({ groupState: 'Assigning', groupEpoch: 2, assignmentEpoch: 1 })
    await world.pass(1001)
    expect(await describeConsumers(world)).toMatchObject({ groupState: 'Reconciling', groupEpoch: 2, assignmentEpoch: 2 })
    await settle(first, second)
    expect(second.owned).toHaveLength(1)
  })
})
