import { describe, expect, it } from 'vitest'
import { Prng } from '../../../../src/base/prng.ts'
import { type Decision, type MachineTime } from '../../../../src/kernel/model/replay-machine.ts'
import { type GroupChange } from '../../../../src/plugins/coordinator-group/core/group-change.ts'
import { type GroupCommand, type GroupReply, type GroupRules } from '../../../../src/plugins/coordinator-group/core/group-commands.ts'
import { GroupMachine } from '../../../../src/plugins/coordinator-group/core/group-machine.ts'
import { encodeSubscription } from '../../../../src/wire/consumer-protocol.ts'
import { seedOf } from '../../../integration/seeds.ts'
import { ConsumerMember, settle } from './consumer-member.ts'
import { consumerRules, FakeTopics } from './fake-topics.ts'
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

/** A machine whose members say what they like. */
class Absurd {
  private readonly random: Prng
  private readonly machine: GroupMachine
  private nowMs = 0
  private asker = 0
  private fresh = 0

  constructor(random: Prng) {
    this.random = random
    const topics = new FakeTopics()
    topics.set('orders', 3)
    const rules: GroupRules = {
      initialRebalanceDelayMs: random.pick([0, 1, 3000]), sessionTimeoutMinMs: -longest - 1, sessionTimeoutMaxMs: longest, groupSizeMax: 5, offsetMetadataBytesMax: 4096,
      offsetsRetentionMs: 1e9, retentionCheckIntervalMs: 1e12, consumer: { ...consumerRules, sessionTimeoutMs: random.pick([0, 10_000]), assignmentIntervalMs: random.pick([0, 1000]) },
    }
    this.machine = new GroupMachine(rules, topics)
    this.carryOut(this.machine.loaded(this.now))
  }

  live(steps: number): void {
    for (let step = 0; step < steps; step++) {
      this.carryOut(this.machine.decide(this.command(), ++this.asker, this.now))
      this.settle()
      if (this.random.below(3) > 0) continue
      this.nowMs += this.random.pick([0, 1, 1000, 30_000, longest])
      this.settle()
    }
  }

  private get now(): MachineTime {
    return { wallMs: this.nowMs, judgedMs: this.nowMs }
  }

  /** Each turn takes somebody out, or ends a phase: there are so many of them at one moment. */
  private settle(): void {
    for (let turns = 0; this.machine.nextDeadlineMs <= this.nowMs; turns++) {
      expect(turns, 'turns at one moment').toBeLessThan(40)
      this.carryOut(this.machine.due(this.now))
    }
  }

  private carryOut({ records, changes }: Decision<GroupChange, GroupReply>): void {
    for (const { key, value } of records) this.machine.replay(key, value)
    for (const change of changes) this.machine.apply(change)
  }

  private command(): GroupCommand {
    const { random } = this
    const classic = this.machine.groups.get('g')
    const consumers = this.machine.consumers.groups.get('g')
    const memberId = random.pick(['', ...classic?.members.keys() ?? [], ...classic?.pending.keys() ?? [], ...consumers?.members.keys() ?? []])
    const instanceId = (classic?.members.get(memberId)?.instanceId ?? consumers?.members.get(memberId)?.about.instanceId) ?? (memberId === '' ? random.pick([null, 'i1', 'i2']) : null)
    const claim = { groupId: 'g', memberId, instanceId }
    const generation = consumers?.members.get(memberId)?.current.epoch ?? classic?.generation ?? 0
    const client = { clientId: 'c', clientHost: '/h' }
    switch (random.below(8)) {
      case 0: case 1: case 2: return {
        type: 'join', ...claim, ...client, sessionTimeoutMs: random.pick([...absurd, 6000, 6000]), rebalanceTimeoutMs: random.pick(absurd), protocolType: 'consumer',
        protocols: [{ name: 'range', metadata: encodeSubscription(1, { topics: ['orders'], userData: null }) }], freshMemberId: `m${++this.fresh}`, idFirst: random.below(2) === 0, maySkip: true, reason: null,
      }
      case 3: return { type: 'sync', ...claim, generation, protocolType: null, protocol: null, assignments: new Map() }
      case 4: return { type: 'heartbeat', ...claim, generation }
      case 5: return { type: 'leave', groupId: 'g', members: [{ memberId, instanceId, reason: null }] }
      default: return {
        type: 'consumerHeartbeat', ...claim, ...client, memberId: memberId === '' ? `m${++this.fresh}` : memberId,
        epoch: memberId === '' ? 0 : random.pick([0, generation, generation, -1]), rackId: null, rebalanceTimeoutMs: random.pick(absurd), topics: ['orders'], pattern: null, serverAssignor: null,
        owned: random.pick([null, new Map()]),
      }
    }
  }
}
