import { describe, expect, it } from 'vitest'
import { Prng } from '../../../../src/base/prng.ts'
import { type GroupCommand } from '../../../../src/plugins/coordinator-group/core/group-commands.ts'
import { encodeSubscription } from '../../../../src/wire/consumer-protocol.ts'
import { seedOf } from '../../../integration/seeds.ts'
import { BareMachine, beatCommand, joinCommand } from './bare-machine.ts'
import { ConsumerMember, settle } from './consumer-member.ts'
import { consumerRules } from './fake-topics.ts'
import { GroupWorld } from './group-world.ts'

const seed = seedOf(1)
const longest = 0x7fff_ffff
const absurd = [-longest - 1, -2, -1, 0, 1, 1000, 6000, longest]

describe('timeouts of members', () => {
  it.each(['0', '3000'])('a rebalance timeout of 0: the member is told of its generation, and is out at once as it has not asked for its assignment (initial delay of %s ms)', async (delay) => {
    const world = await GroupWorld.start({ 'group.initial.rebalance.delay.ms': delay })
    const hasty = world.member({ version: 3, sessionTimeoutMs: 6000, rebalanceTimeoutMs: 0 })
    const joining = hasty.joinOnce()
    await world.pass(3001)
    expect(await joining).toMatchObject({ errorCode: 0, generationId: 1, leader: hasty.id })
    expect(world.machine().groups.get('g')).toMatchObject({ state: 'Empty', generation: 2 })
    expect((await hasty.sync([hasty])).errorCode).toBe(25)
    const patient = world.member({ version: 3 })
    const another = patient.joinOnce()
    await world.pass(3001)
    expect(await another).toMatchObject({ errorCode: 0, generationId: 3 })
    expect((await patient.sync([patient])).errorCode).toBe(0)
  })

  it('a rebalance timeout of 0 in the consumer protocol: who has to give something up is out at once', async () => {
    const world = await GroupWorld.start()
    const hasty = new ConsumerMember(world, 'm1')
    await hasty.join({ rebalanceTimeoutMs: 0 })
    const other = new ConsumerMember(world, 'm2')
    await other.join()
    await hasty.beat()
    await world.pass(1)
    expect((await hasty.beat()).errorCode).toBe(25)
    await settle(other)
    expect(other.owned).toEqual(['orders-0', 'orders-1', 'orders-2'])
  })

  it(`absurd timeouts never break a group, nor keep it busy at one moment (seed ${seed})`, () => {
    for (let run = 0; run < 40; run++) new Absurd(new Prng(seed * 1000 + run)).live(60)
  })
})

/** Members that say what they like. */
class Absurd {
  private readonly random: Prng
  private readonly bare: BareMachine
  private fresh = 0

  constructor(random: Prng) {
    this.random = random
    this.bare = new BareMachine({
      initialRebalanceDelayMs: random.pick([0, 1, 3000]), groupSizeMax: 5,
      consumer: { ...consumerRules, sessionTimeoutMs: random.pick([0, 10_000]), assignmentIntervalMs: random.pick([0, 1000]) },
    })
    this.bare.topics.set('orders', 3)
  }

  live(steps: number): void {
    const { bare, random } = this
    for (let step = 0; step < steps; step++) {
      bare.ask(this.command())
      bare.settle()
      if (random.below(3) > 0) continue
      bare.nowMs += random.pick([0, 1, 1000, 30_000, longest])
      bare.settle()
    }
  }

  private command(): GroupCommand {
    const { random } = this
    const { machine } = this.bare
    const classic = machine.groups.get('g')
    const consumers = machine.consumers.groups.get('g')
    const memberId = random.pick(['', ...classic?.members.keys() ?? [], ...classic?.pending.keys() ?? [], ...consumers?.members.keys() ?? []])
    const instanceId = (classic?.members.get(memberId)?.instanceId ?? consumers?.members.get(memberId)?.about.instanceId) ?? (memberId === '' ? random.pick([null, 'i1', 'i2']) : null)
    const claim = { groupId: 'g', memberId, instanceId }
    const generation = consumers?.members.get(memberId)?.current.epoch ?? classic?.generation ?? 0
    const fresh = `m${++this.fresh}`
    switch (random.below(8)) {
      case 0: case 1: case 2: return joinCommand(fresh, {
        ...claim, sessionTimeoutMs: random.pick([...absurd, 6000, 6000]), rebalanceTimeoutMs: random.pick(absurd), idFirst: random.below(2) === 0,
        protocols: [{ name: 'range', metadata: encodeSubscription(1, { topics: ['orders'], userData: null }) }],
      })
      case 3: return { type: 'sync', ...claim, generation, protocolType: null, protocol: null, assignments: new Map() }
      case 4: return { type: 'heartbeat', ...claim, generation }
      case 5: return { type: 'leave', groupId: 'g', members: [{ memberId, instanceId, reason: null }] }
      default: return beatCommand(memberId === '' ? fresh : memberId, {
        instanceId, epoch: memberId === '' ? 0 : random.pick([0, generation, generation, -1]), rebalanceTimeoutMs: random.pick(absurd), owned: random.pick([null, new Map()]),
      })
    }
  }
}
