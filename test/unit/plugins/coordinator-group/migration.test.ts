import { describe, expect, it } from 'vitest'
import { decodeAssignment, encodeAssignment, encodeSubscription } from '../../../../src/wire/consumer-protocol.ts'
import { describeGroupsApi, joinGroupApi, syncGroupApi, type JoinGroupResponse } from '../../../../src/wire/index.ts'
import { ConsumerMember, describeConsumers } from './consumer-member.ts'
import { GroupWorld, type TestMember } from './group-world.ts'

const assignmentOf = (userData: Uint8Array | null): Uint8Array => encodeAssignment(1, { assignedPartitions: [{ topic: 'orders', partitions: [0] }], userData })

/** A consumer of the classic protocol that gives up partitions one by one, as Java's with the cooperative assignor. */
class ClassicConsumer {
  readonly member: TestMember
  readonly world: GroupWorld
  owned: string[] = []

  constructor(world: GroupWorld, options: Partial<TestMember['options']> = {}) {
    this.world = world
    this.member = world.member({ protocols: ['cooperative-sticky'], ...options })
  }

  private get subscription(): Uint8Array {
    const byTopic = new Map<string, string[]>()
    for (const each of this.owned) {
      const topic = each.slice(0, each.lastIndexOf('-'))
      byTopic.set(topic, [...byTopic.get(topic) ?? [], each])
    }
    return encodeSubscription(3, {
      topics: this.member.options.topics, userData: null, generationId: this.member.generation,
      ownedPartitions: Array.from(byTopic, ([topic, names]) => ({ topic, partitions: names.map((name) => Number(name.slice(topic.length + 1))) })),
    })
  }

  async joinOnce(): Promise<JoinGroupResponse> {
    const { member } = this
    const answer = await member.client.call(joinGroupApi, 9, { ...member.joinRequest(), protocols: member.options.protocols.map((name) => ({ name, metadata: this.subscription })) })
    if (answer.errorCode === 0 || answer.errorCode === 79) member.id = answer.memberId
    if (answer.errorCode === 0) {
      member.generation = answer.generationId
      member.isLeader = answer.leader === answer.memberId
    }
    return answer
  }

  /** In a group of the consumer protocol: joins, and has what it is told. */
  async join(): Promise<number> {
    let answer = await this.joinOnce()
    if (answer.errorCode === 79) answer = await this.joinOnce()
    return answer.errorCode === 0 ? this.sync() : answer.errorCode
  }

  async sync(assignment: readonly { memberId: string, assignment: Uint8Array }[] = []): Promise<number> {
    const answer = await this.member.client.call(syncGroupApi, 5, {
      groupId: 'g', generationId: this.member.generation, memberId: this.member.id, groupInstanceId: this.member.options.instanceId, protocolType: 'consumer',
      protocolName: this.member.options.protocols[0]!, assignments: [...assignment],
    })
    if (answer.errorCode === 0) this.owned = decodeAssignment(answer.assignment).assignedPartitions.flatMap(({ topic, partitions }) => partitions.map((each) => `${topic}-${each}`)).sort()
    return answer.errorCode
  }

  /** A heartbeat, and what it asks for. */
  async beat(): Promise<number> {
    const code = await this.member.heartbeat()
    return code === 27 ? this.join() : code
  }
}

const everything = ['orders-0', 'orders-1', 'orders-2']
const part = (...partitions: number[]): Uint8Array => encodeAssignment(1, { assignedPartitions: [{ topic: 'orders', partitions }], userData: null })

/** A stable classic group of two: orders-0 and -1, orders-2. */
async function classicGroup(world: GroupWorld): Promise<[ClassicConsumer, ClassicConsumer]> {
  const members = [new ClassicConsumer(world), new ClassicConsumer(world)] as [ClassicConsumer, ClassicConsumer]
  for (const each of members) await each.joinOnce()
  const joins = members.map((each) => each.joinOnce())
  await world.pass(1)
  await Promise.all(joins)
  const [leader, other] = members[0].member.isLeader ? members : [members[1], members[0]]
  const syncs = [leader.sync([{ memberId: leader.member.id, assignment: part(0, 1) }, { memberId: other.member.id, assignment: part(2) }]), other.sync()]
  expect(await Promise.all(syncs)).toEqual([0, 0])
  return [leader, other]
}

const typeOf = (world: GroupWorld): string => world.machine().consumers.groups.has('g') ? 'consumer' : 'classic'

describe('online migration', () => {
  it('a member of the consumer protocol makes a classic group its own; all keep what they have until they have given it up', async () => {
    const world = await GroupWorld.start()
    const [first, second] = await classicGroup(world)
    expect(await first.member.commit(5)).toBe(0)
    const member = new ConsumerMember(world, 'm1')
    expect(await member.join()).toMatchObject({ errorCode: 0, memberEpoch: 2, assignment: { topicPartitions: [] } })
    expect(typeOf(world)).toBe('consumer')
    expect((await describeConsumers(world)).members.map(({ memberType }) => memberType)).toEqual([0, 0, 1])
    expect(await world.committed()).toBe(5)
    for (let round = 0; round < 4; round++) for (const each of [first, second]) expect(await each.beat()).toBe(0)
    await member.confirm()
    expect([first.owned, second.owned, member.owned].map(({ length }) => length)).toEqual([1, 1, 1])
    expect([...first.owned, ...second.owned, ...member.owned].sort()).toEqual(everything)
    expect(await describeConsumers(world)).toMatchObject({ groupState: 'Stable' })
  })

  it('a classic member\'s commits of its generation are heard, and of an older one ILLEGAL_GENERATION', async () => {
    const world = await GroupWorld.start()
    const [first] = await classicGroup(world)
    const member = new ConsumerMember(world, 'm1')
    await member.join()
    expect(await first.member.commit(5)).toBe(0)
    for (let round = 0; round < 3; round++) await first.beat()
    expect(first.member.generation).toBe(2)
    expect(await first.member.commit(6, { generationIdOrMemberEpoch: 1 })).toBe(22)
    expect(await first.member.commit(6)).toBe(0)
    expect(await first.member.heartbeat({ generationId: 1 })).toBe(22)
  })

  it('who waits in a rebalance of the classic group is told to join again', async () => {
    const world = await GroupWorld.start()
    const [first, second] = await classicGroup(world)
    const waiting = first.joinOnce()
    const member = new ConsumerMember(world, 'm1')
    await member.join()
    expect((await waiting).errorCode).toBe(27)
    for (const each of [first, second, first, second]) await each.beat()
    await member.confirm()
    expect([...first.owned, ...second.owned, ...member.owned].sort()).toEqual(everything)
  })

  it('when the last member of the consumer protocol leaves, the group is classic again, in a later generation', async () => {
    const world = await GroupWorld.start()
    const [first, second] = await classicGroup(world)
    const member = new ConsumerMember(world, 'm1')
    await member.join()
    for (let round = 0; round < 4; round++) for (const each of [first, second]) await each.beat()
    await member.confirm()
    const { generation } = first.member
    await member.leave()
    expect(typeOf(world)).toBe('classic')
    expect(world.machine().groups.get('g')).toMatchObject({ state: 'PreparingRebalance', generation: 3, protocol: 'cooperative-sticky' })
    const joins = [first, second].map((each) => each.joinOnce())
    await world.pass(1)
    for (const answer of await Promise.all(joins)) expect(answer).toMatchObject({ errorCode: 0, generationId: 4 })
    expect(await first.member.commit(1, { generationIdOrMemberEpoch: generation })).toBe(22)
    const { groups } = await world.client().call(describeGroupsApi, 6, { groups: ['g'] })
    expect(groups[0]).toMatchObject({ errorCode: 0, groupState: 'CompletingRebalance' })
  })

  it.each([
    ['DISABLED', 69, 'consumer'], ['DOWNGRADE', 69, 'consumer'], ['UPGRADE', 0, 'consumer'], ['bidirectional', 0, 'classic'],
  ])('group.consumer.migration.policy %s: an upgrade is answered with code %d', async (policy, code, last) => {
    const world = await GroupWorld.start({ 'group.consumer.migration.policy': policy })
    await classicGroup(world)
    const member = new ConsumerMember(world, 'm1')
    expect((await member.join()).errorCode).toBe(code)
    if (code !== 0) {
      expect(typeOf(world)).toBe('classic')
      return
    }
    await member.leave()
    expect(typeOf(world)).toBe(last)
  })

  it.each<[string, Uint8Array, RegExp | undefined]>([
    ['user data', assignmentOf(Uint8Array.of(7)), /user data/],
    ['bytes that cannot be read', Uint8Array.of(0, 1, 9), /cannot be understood/],
    ['empty user data', assignmentOf(new Uint8Array(0)), undefined],
    ['no user data', assignmentOf(null), undefined],
    ['no bytes', new Uint8Array(0), undefined],
  ])('a group of which a member is assigned %s is upgraded only where nothing of that is lost', async (_what, assignment, refusal) => {
    const world = await GroupWorld.start()
    const [first, second] = [new ClassicConsumer(world), new ClassicConsumer(world)]
    for (const each of [first, second]) await each.joinOnce()
    const joins = [first, second].map((each) => each.joinOnce())
    await world.pass(1)
    await Promise.all(joins)
    const leader = first.member.isLeader ? first : second
    const member = { memberId: (leader === first ? second : first).member.id, assignment }
    await leader.member.sync([], { protocolName: 'cooperative-sticky', assignments: [{ memberId: leader.member.id, assignment: assignmentOf(null) }, member] })
    const answer = await new ConsumerMember(world, 'm1').join()
    expect(answer.errorCode).toBe(refusal === undefined ? 0 : 69)
    if (refusal !== undefined) expect(answer.errorMessage).toMatch(refusal)
    expect(typeOf(world)).toBe(refusal === undefined ? 'consumer' : 'classic')
  })

  it('a group of something else than consumers stays as it is', async () => {
    const world = await GroupWorld.start()
    await world.stable(world.member({ protocolType: 'connect', protocols: ['eager'] }))
    expect(await new ConsumerMember(world, 'm1').join()).toMatchObject({ errorCode: 69, errorMessage: expect.stringContaining('no group of consumers') as string })
    expect(typeOf(world)).toBe('classic')
  })

  it('a group without members is of the protocol of whoever comes, and its epochs go on', async () => {
    const world = await GroupWorld.start()
    const [first, second] = await classicGroup(world)
    await first.member.leave()
    await second.member.leave()
    // Two generations have been: the second one when nobody was left.
    await world.pass(1)
    const { generation } = world.machine().groups.get('g')!
    const member = new ConsumerMember(world, 'm1')
    await member.join()
    expect(member.epoch).toBe(generation + 1)
    await member.leave()
    expect(typeOf(world)).toBe('consumer')
    const third = new ClassicConsumer(world)
    await third.joinOnce()
    expect(typeOf(world)).toBe('classic')
    await world.reload()
    third.member.id = ''
    await third.joinOnce()
    const joining = third.joinOnce()
    await world.pass(1)
    expect(await joining).toMatchObject({ errorCode: 0, generationId: generation + 3 })
  })

  it('a classic member that does not join again within its rebalance timeout is out', async () => {
    const world = await GroupWorld.start()
    const [first, second] = await classicGroup(world)
    const member = new ConsumerMember(world, 'm1')
    await member.join()
    for (let passed = 0; passed < 31; passed += 5) {
      await world.pass(5000)
      expect([27, 25]).toContain(await first.member.heartbeat())
      await second.beat()
      await member.confirm()
    }
    expect(await first.member.heartbeat()).toBe(25)
    for (let round = 0; round < 3; round++) {
      await second.beat()
      await member.confirm()
    }
    expect([...second.owned, ...member.owned].sort()).toEqual(everything)
  })

  it('quirk 53: DescribeGroups knows no group of the consumer protocol, quirk 54: ConsumerGroupDescribe none of the classic one', async () => {
    const world = await GroupWorld.start()
    await classicGroup(world)
    expect(await describeConsumers(world)).toMatchObject({ errorCode: 69 })
    await new ConsumerMember(world, 'm1').join()
    const describe = async (version: number): Promise<object> => (await world.client().call(describeGroupsApi, version, { groups: ['g'] })).groups[0]!
    expect(await describe(6)).toMatchObject({ errorCode: 69, groupState: 'Dead', members: [] })
    expect(await describe(5)).toMatchObject({ errorCode: 0, groupState: 'Dead', members: [] })
  })

  it('S16: a cooperative member that is out and joins with what it had, is told that it is out, so that it does not commit that in the epoch of a new member', async () => {
    const world = await GroupWorld.start()
    const [first, second] = await classicGroup(world)
    const member = new ConsumerMember(world, 'm1')
    await member.join()
    await first.member.leave()
    for (let round = 0; round < 3; round++) {
      await second.beat()
      await member.confirm()
    }
    expect(first.owned.length).toBeGreaterThan(0)
    expect((await first.joinOnce()).errorCode).toBe(25)
    expect(await first.member.commit(1)).toBe(25)
    first.member.id = ''
    first.owned = []
    expect(await first.join()).toBe(0)
  })

  it('S17: what a member was still to give up stays its own when the group is downgraded and upgraded again', async () => {
    const world = await GroupWorld.start()
    const [first] = await classicGroup(world)
    const member = new ConsumerMember(world, 'm1')
    await member.join()
    await first.joinOnce()
    expect(world.machine().consumers.groups.get('g')!.members.get(first.member.id)!.current).toMatchObject({ state: 'unrevoked' })
    await member.leave()
    expect(typeOf(world)).toBe('classic')
    const next = new ConsumerMember(world, 'm2')
    expect((await next.join()).errorCode).toBe(0)
    expect(typeOf(world)).toBe('consumer')
    expect(next.owned).toEqual([])
  })

  it('everything is in the records: another coordinator knows the same members, targets and epochs', async () => {
    const world = await GroupWorld.start()
    const [first] = await classicGroup(world)
    const members = [new ConsumerMember(world, 'm1'), new ConsumerMember(world, 'm2', ['orders', 'letters'], 'i2')]
    for (const each of members) await each.join()
    await first.beat()
    const before = await describeConsumers(world)
    await world.reload()
    expect(await describeConsumers(world)).toEqual(before)
    expect((await members[0]!.confirm()).errorCode).toBe(0)
    expect(await first.beat()).toBe(0)
  })
})
