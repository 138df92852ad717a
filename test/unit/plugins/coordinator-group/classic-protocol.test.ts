import { describe, expect, it } from 'vitest'
import { joinGroupApi } from '../../../../src/wire/messages/11-join-group.ts'
import { leaveGroupApi } from '../../../../src/wire/index.ts'
import { decodeSubscription } from '../../../../src/wire/consumer-protocol.ts'
import { turn } from '../protocol-kafka/fixture/test-broker.ts'
import { GroupWorld, text } from './group-world.ts'

describe('joining', () => {
  it('quirk 44: from v4 on a member without an id is given one with MEMBER_ID_REQUIRED, and is in when it comes back with it', async () => {
    const world = await GroupWorld.start()
    const member = world.member()
    const first = await member.joinOnce()
    expect(first).toMatchObject({ errorCode: 79, generationId: -1, members: [] })
    expect(first.memberId).toMatch(/^test-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/)
    const joining = member.joinOnce()
    await world.pass(1)
    expect(await joining).toMatchObject({ errorCode: 0, generationId: 1, memberId: first.memberId, leader: first.memberId, protocolName: 'range', protocolType: 'consumer' })
  })

  it('quirk 44: before v4 a member is in at once, and in v0 its rebalance timeout is its session timeout', async () => {
    const world = await GroupWorld.start()
    const member = world.member({ version: 0, sessionTimeoutMs: 7000 })
    const joining = member.joinOnce()
    await world.pass(1)
    expect(await joining).toMatchObject({ errorCode: 0, generationId: 1 })
    expect([...world.machine().groups.get('g')!.members.values()][0]!.rebalanceTimeoutMs).toBe(7000)
  })

  it.each([[5999, 26], [6000, 79], [1_800_000, 79], [1_800_001, 26]])('quirk 44: a session timeout of %d ms is answered with code %d', async (sessionTimeoutMs, code) => {
    const world = await GroupWorld.start()
    expect((await world.member({ sessionTimeoutMs }).joinOnce()).errorCode).toBe(code)
  })

  it('an id that nobody has, one that was not used within its session, and a group without a name are refused', async () => {
    const world = await GroupWorld.start()
    const member = world.member()
    member.id = 'somebody'
    expect((await member.joinOnce()).errorCode).toBe(25)
    member.id = ''
    await member.joinOnce()
    await world.pass(10_001)
    expect(world.machine().groups.size).toBe(0)
    expect((await member.joinOnce()).errorCode).toBe(25)
    expect((await world.member({ groupId: '' }).joinOnce()).errorCode).toBe(24)
  })

  it('quirk 45: only the leader is told of the members, with what each said of the chosen protocol, byte for byte', async () => {
    const world = await GroupWorld.start({ 'group.initial.rebalance.delay.ms': '3000' })
    const [first, second] = [world.member({ protocols: ['range', 'sticky'] }), world.member({ protocols: ['sticky'] })]
    const joins = [first.join(), second.join()]
    await world.pass(9000)
    const [leader, follower] = await Promise.all(joins)
    expect(leader).toMatchObject({ leader: first.id, protocolName: 'sticky' })
    expect(leader!.members.map(({ memberId }) => memberId)).toEqual([first.id, second.id])
    expect(leader!.members.map(({ metadata }) => text(decodeSubscription(metadata).userData!))).toEqual(['sticky of somebody', 'sticky of somebody'])
    expect(follower).toMatchObject({ leader: first.id, generationId: 1, members: [] })
  })

  it('quirk 45: the protocol with the most votes is chosen, of those that all support', async () => {
    const world = await GroupWorld.start()
    const members = [['a', 'b', 'c'], ['b', 'a'], ['c', 'b', 'a'], ['b', 'a']].map((protocols) => world.member({ protocols }))
    expect((await world.gather(...members)).map(({ protocolName }) => protocolName)).toEqual(['b', 'b', 'b', 'b'])
  })

  it('quirk 45: another type of protocol, and protocols that the others do not have, are INCONSISTENT_GROUP_PROTOCOL', async () => {
    const world = await GroupWorld.start()
    const none = world.member({ protocols: [] })
    expect((await none.joinOnce()).errorCode).toBe(23)
    expect((await world.member({ protocolType: '' }).joinOnce()).errorCode).toBe(23)
    await world.stable(world.member())
    expect((await world.member({ protocolType: 'connect' }).joinOnce()).errorCode).toBe(23)
    expect((await world.member({ protocols: ['RoundRobinAssigner'] }).joinOnce()).errorCode).toBe(23)
  })

  it('quirk 45: a protocol name is null from v7 on where there is none, and empty before', async () => {
    const world = await GroupWorld.start()
    expect((await world.member({ version: 7 }).joinOnce()).protocolName).toBeNull()
    expect((await world.member({ version: 6 }).joinOnce()).protocolName).toBe('')
  })

  it('quirk 48: the first rebalance of an empty group waits for more members, again while they come, and not longer than they allow', async () => {
    const world = await GroupWorld.start({ 'group.initial.rebalance.delay.ms': '3000' })
    const first = world.member({ version: 3, rebalanceTimeoutMs: 7000 })
    let told = 0
    const joins = [first.joinOnce().then(() => { told++ })]
    for (const ms of [2000, 2000, 2000]) {
      await world.pass(ms)
      joins.push(world.member({ version: 3, rebalanceTimeoutMs: 7000 }).joinOnce().then(() => { told++ }))
    }
    await world.pass(900)
    expect(told).toBe(0)
    await world.pass(200)
    expect(told).toBe(4)
    await Promise.all(joins)
  })

  it('a group is limited to group.max.size members; one that is in may come again', async () => {
    const world = await GroupWorld.start({ 'group.max.size': '2' })
    const members = [world.member(), world.member()]
    await world.stable(...members)
    expect(await world.member().joinOnce()).toMatchObject({ errorCode: 81, memberId: '' })
    expect((await members[1]!.join()).errorCode).toBe(0)
  })

  it('a new member that waits for 5 minutes is taken to have gone; one that was in before may wait as long as it takes', async () => {
    const world = await GroupWorld.start()
    const [member, other] = [world.member({ rebalanceTimeoutMs: 600_000, sessionTimeoutMs: 1_000_000 }), world.member({ rebalanceTimeoutMs: 600_000, sessionTimeoutMs: 1_000_000 })]
    await world.stable(member, other)
    const again = member.joinOnce()
    const late = world.member({ version: 3, rebalanceTimeoutMs: 600_000 })
    const joining = late.joinOnce()
    await world.pass(300_001)
    expect((await joining).errorCode).toBe(25)
    await other.joinOnce()
    expect(await again).toMatchObject({ errorCode: 0, generationId: 2 })
  })
})

describe('rebalancing', () => {
  it('a follower that joins again with nothing new is told of its generation, a leader begins another one', async () => {
    const world = await GroupWorld.start()
    const [leader, follower] = [world.member(), world.member()]
    await world.stable(leader, follower)
    expect(await follower.join()).toMatchObject({ errorCode: 0, generationId: 1, leader: leader.id, members: [] })
    const again = leader.join()
    await turn()
    expect(await follower.heartbeat()).toBe(27)
    await follower.join()
    expect(await again).toMatchObject({ generationId: 2 })
  })

  it('another subscription of a follower begins another generation', async () => {
    const world = await GroupWorld.start()
    const [leader, follower] = [world.member(), world.member()]
    await world.stable(leader, follower)
    follower.options = { ...follower.options, topics: ['letters'] }
    const again = follower.join()
    await turn()
    const answer = await leader.join()
    expect((await again).generationId).toBe(2)
    expect(decodeSubscription(answer.members[1]!.metadata).topics).toEqual(['letters'])
  })

  it('who does not join again within the rebalance timeout is out, and another leads where it was the leader', async () => {
    const world = await GroupWorld.start()
    const [leader, follower] = [world.member({ rebalanceTimeoutMs: 5000, sessionTimeoutMs: 60_000 }), world.member({ rebalanceTimeoutMs: 5000, sessionTimeoutMs: 60_000 })]
    await world.stable(leader, follower)
    follower.options = { ...follower.options, topics: [] }
    const again = follower.join()
    await world.pass(5001)
    expect(await again).toMatchObject({ errorCode: 0, generationId: 2, leader: follower.id })
    expect(await leader.heartbeat()).toBe(25)
  })

  it('quirk 47: a heartbeat is REBALANCE_IN_PROGRESS while members join, and fine while they wait for the leader and after it', async () => {
    const world = await GroupWorld.start()
    const [leader, follower] = [world.member(), world.member()]
    await world.stable(leader, follower)
    expect(await follower.heartbeat()).toBe(0)
    const again = leader.join()
    await turn()
    expect(await follower.heartbeat()).toBe(27)
    await Promise.all([again, follower.join()])
    expect(await follower.heartbeat()).toBe(0)
    expect(world.machine().groups.get('g')!.state).toBe('CompletingRebalance')
  })

  it('quirk 47: another generation is 22, a member that is not known 25, an instance of another member 82', async () => {
    const world = await GroupWorld.start()
    const member = world.member({ instanceId: 'i' })
    await world.stable(member)
    for (const generationId of [0, 2]) expect(await member.heartbeat({ generationId })).toBe(22)
    expect(await member.heartbeat({ memberId: 'x', groupInstanceId: null })).toBe(25)
    expect(await member.heartbeat({ memberId: 'x' })).toBe(82)
    expect(await member.heartbeat({ groupInstanceId: 'other' })).toBe(25)
    expect(await member.heartbeat({ groupId: 'nobody' })).toBe(25)
    expect(await member.heartbeat({ groupId: '' })).toBe(24)
    member.generation = 9
    expect((await member.sync()).errorCode).toBe(22)
  })

  it('quirk 46: SyncGroup gives each what the leader has for it, byte for byte, and no bytes to who is given nothing; it waits for the leader', async () => {
    const world = await GroupWorld.start()
    const members = [world.member(), world.member(), world.member()]
    await world.gather(...members)
    let waits = true
    const second = members[1]!.sync().then((answer) => { waits = false; return answer })
    await world.pass(1000)
    expect(waits).toBe(true)
    const first = await members[0]!.sync([members[0]!, members[1]!])
    expect(text(first.assignment)).toBe(`all for ${members[0]!.id}`)
    expect(text((await second).assignment)).toBe(`all for ${members[1]!.id}`)
    expect(await members[2]!.sync()).toMatchObject({ errorCode: 0, assignment: new Uint8Array(0), protocolName: 'range', protocolType: 'consumer' })
  })

  it('SyncGroup v5 checks the protocol, and is refused while members join', async () => {
    const world = await GroupWorld.start()
    const [member, other] = [world.member(), world.member()]
    await world.stable(member, other)
    expect((await member.sync([], { protocolType: 'connect' })).errorCode).toBe(23)
    expect((await member.sync([], { protocolName: 'sticky' })).errorCode).toBe(23)
    for (const unsaid of [{ protocolName: null }, { protocolType: null }, { groupId: '', protocolType: null }]) expect((await member.sync([], unsaid)).errorCode).toBe(23)
    expect((await member.sync([], { protocolName: 'range' })).errorCode).toBe(0)
    void member.join()
    await turn()
    expect((await other.sync()).errorCode).toBe(27)
  })

  it('a member that comes while the leader assigns makes the others join again', async () => {
    const world = await GroupWorld.start()
    const [leader, follower] = [world.member(), world.member()]
    await world.gather(leader, follower)
    const waiting = follower.sync()
    const late = world.member({ version: 3 })
    const joining = late.joinOnce()
    await turn()
    expect((await waiting).errorCode).toBe(27)
    expect((await leader.sync([leader])).errorCode).toBe(27)
    await Promise.all([leader.join(), follower.join()])
    expect(await joining).toMatchObject({ errorCode: 0, generationId: 2 })
  })

  it('a leader that never assigns, and who never asks, are out after the rebalance timeout', async () => {
    const world = await GroupWorld.start()
    const [leader, follower] = [world.member({ rebalanceTimeoutMs: 8000, sessionTimeoutMs: 60_000 }), world.member({ rebalanceTimeoutMs: 8000, sessionTimeoutMs: 60_000 })]
    await world.gather(leader, follower)
    const waiting = follower.sync()
    await world.pass(8001)
    expect((await waiting).errorCode).toBe(27)
    expect(await leader.heartbeat()).toBe(25)
    expect(await follower.join()).toMatchObject({ errorCode: 0, generationId: 2, leader: follower.id })
  })

  it('who is not heard from within its session is out, and a heartbeat or a commit keeps it in', async () => {
    const world = await GroupWorld.start()
    const [first, second] = [world.member(), world.member()]
    await world.stable(first, second)
    await world.pass(6000)
    expect(await first.heartbeat()).toBe(0)
    expect(await second.commit(1)).toBe(0)
    await world.pass(6000)
    expect(await first.heartbeat()).toBe(0)
    await world.pass(4001)
    expect(await first.heartbeat()).toBe(27)
    expect(await second.heartbeat()).toBe(25)
  })

  it('after the broker has stood still nobody is out for not being heard meanwhile', async () => {
    const world = await GroupWorld.start()
    const member = world.member()
    await world.stable(member)
    await world.pass(2500)
    world.broker.timers.clock.advance(60_000)
    await world.pass(1)
    expect(await member.heartbeat()).toBe(0)
    await world.pass(9000)
    expect(await member.heartbeat()).toBe(0)
    await world.pass(10_001)
    expect(await member.heartbeat()).toBe(25)
  })

  it('a member that leaves makes the others join again at once; the last one leaves an empty group, whose generation goes on', async () => {
    const world = await GroupWorld.start()
    const [first, second] = [world.member(), world.member()]
    await world.stable(first, second)
    expect(await first.leave()).toBe(0)
    expect(await first.leave()).toBe(25)
    expect(await second.heartbeat()).toBe(27)
    expect(await second.join()).toMatchObject({ errorCode: 0, generationId: 2, leader: second.id })
    expect(await second.leave()).toBe(0)
    expect(world.machine().groups.get('g')).toMatchObject({ state: 'Empty', generation: 3, protocolType: 'consumer', leader: null })
    const next = world.member()
    await world.stable(next)
    expect(next.generation).toBe(4)
  })

  it('LeaveGroup before v3 tells of its one member in the code of the answer; an id that was given and not used may leave', async () => {
    const world = await GroupWorld.start()
    const member = world.member()
    await member.joinOnce()
    expect(await member.client.call(leaveGroupApi, 2, { groupId: 'g', memberId: member.id })).toMatchObject({ errorCode: 0, members: [] })
    expect(await member.client.call(leaveGroupApi, 2, { groupId: 'g', memberId: member.id })).toMatchObject({ errorCode: 25 })
    expect(world.machine().groups.size).toBe(0)
  })

  it('a stop of the broker tells members that wait for others to look for their coordinator', async () => {
    const world = await GroupWorld.start()
    const [leader, follower] = [world.member(), world.member()]
    await world.gather(leader, follower)
    const waiting = follower.sync()
    const joining = world.member({ groupId: 'h', version: 3 }).joinOnce()
    await turn()
    const stopping = world.broker.server.stop()
    expect((await waiting).errorCode).toBe(16)
    expect((await joining).errorCode).toBe(16)
    await stopping
  })
})

describe('static members', () => {
  it('quirk 49: an instance that comes back without its id gets a new one and its assignment, without a rebalance; its former self is fenced', async () => {
    const world = await GroupWorld.start()
    const [first, second] = [world.member({ instanceId: 'one' }), world.member({ instanceId: 'two' })]
    await world.stable(first, second)
    const again = world.member({ instanceId: 'two', sessionTimeoutMs: 12_000 })
    expect(await again.join()).toMatchObject({ errorCode: 0, generationId: 1, leader: first.id, skipAssignment: false, members: [] })
    expect(again.id).not.toBe(second.id)
    expect(again.id).toMatch(/^two-/)
    expect(await first.heartbeat()).toBe(0)
    expect(await second.heartbeat()).toBe(82)
    expect((await second.sync()).errorCode).toBe(82)
    expect(await second.commit(1)).toBe(82)
    expect((await again.sync()).errorCode).toBe(0)
    expect(again.assignment).toBe(`all for ${second.id}`)
    expect(world.machine().groups.get('g')!.members.get(again.id)).toMatchObject({ sessionTimeoutMs: 12_000, clientId: 'test' })
  })

  it('quirk 49: the leader that comes back is told by v9 to assign nothing, and by earlier versions that another leads', async () => {
    const world = await GroupWorld.start()
    const [first, second] = [world.member({ instanceId: 'one' }), world.member({ instanceId: 'two' })]
    await world.stable(first, second)
    const again = world.member({ instanceId: 'one' })
    const answer = await again.join()
    expect(answer).toMatchObject({ generationId: 1, leader: again.id, skipAssignment: true })
    expect(answer.members.map(({ groupInstanceId }) => groupInstanceId)).toEqual(['one', 'two'])
    const older = world.member({ instanceId: 'one', version: 8 })
    expect(await older.join()).toMatchObject({ generationId: 1, leader: again.id, members: [], skipAssignment: false })
    expect(older.isLeader).toBe(false)
  })

  it('quirk 49: a new instance, one with another choice of protocol, and one that comes while the leader assigns begin a rebalance', async () => {
    const world = await GroupWorld.start()
    const first = world.member({ instanceId: 'one', protocols: ['range', 'sticky'] })
    await world.stable(first)
    const other = world.member({ instanceId: 'one', protocols: ['sticky', 'range'] })
    const joining = other.join()
    await world.pass(1)
    expect(await joining).toMatchObject({ errorCode: 0, generationId: 2, protocolName: 'sticky' })
    const third = world.member({ instanceId: 'one', protocols: ['sticky'] })
    expect(await third.join()).toMatchObject({ errorCode: 0, generationId: 3 })
    expect((await other.sync([other])).errorCode).toBe(82)
  })

  it('quirk 49: who waits under the former id is told that it is fenced', async () => {
    const world = await GroupWorld.start()
    const [first, second] = [world.member({ instanceId: 'one' }), world.member()]
    await world.stable(first, second)
    const waiting = first.join()
    await turn()
    const again = world.member({ instanceId: 'one' })
    const joining = again.join()
    await turn()
    expect(await waiting).toMatchObject({ errorCode: 82, memberId: first.id })
    await second.join()
    expect((await joining).errorCode).toBe(0)
  })

  it('a static member may be away for its session, and is not left out of a rebalance meanwhile', async () => {
    const world = await GroupWorld.start()
    const [first, away] = [world.member({ rebalanceTimeoutMs: 4000 }), world.member({ instanceId: 'away', rebalanceTimeoutMs: 4000, sessionTimeoutMs: 20_000 })]
    await world.stable(first, away)
    const again = first.join()
    await world.pass(4001)
    const answer = await again
    expect(answer).toMatchObject({ errorCode: 0, generationId: 2, leader: first.id })
    expect(answer.members.map(({ memberId }) => memberId)).toEqual([first.id, away.id])
  })

  it('quirk 49: LeaveGroup from v3 on removes by instance id, and tells of each', async () => {
    const world = await GroupWorld.start()
    const [first, second] = [world.member({ instanceId: 'one' }), world.member({ instanceId: 'two' })]
    await world.stable(first, second)
    const { errorCode, members } = await world.client().call(leaveGroupApi, 4, { groupId: 'g', members: [
      { memberId: '', groupInstanceId: 'two' }, { memberId: '', groupInstanceId: 'three' }, { memberId: 'x', groupInstanceId: 'one' }, { memberId: '', groupInstanceId: null },
    ] })
    expect(errorCode).toBe(0)
    expect(members.map((each) => each.errorCode)).toEqual([0, 25, 82, 25])
    expect(await second.heartbeat()).toBe(25)
    expect((await world.client().call(leaveGroupApi, 4, { groupId: 'nobody', members: [{ memberId: 'x', groupInstanceId: null }] })).members[0]!.errorCode).toBe(25)
  })

  it('an id that was given to a dynamic member is none for a static one', async () => {
    const world = await GroupWorld.start()
    const member = world.member()
    await member.joinOnce()
    const answer = await member.client.call(joinGroupApi, 9, { ...member.joinRequest(), groupInstanceId: 'i' })
    expect(answer.errorCode).toBe(25)
  })
})
