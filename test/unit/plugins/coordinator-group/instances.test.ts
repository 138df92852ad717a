import { describe, expect, it } from 'vitest'
import { Prng } from '../../../../src/base/prng.ts'
import { encodeSubscription } from '../../../../src/wire/consumer-protocol.ts'
import { seedOf } from '../../../integration/seeds.ts'
import { BareMachine, beatCommand, joinCommand } from './bare-machine.ts'
import { ConsumerMember } from './consumer-member.ts'
import { GroupWorld } from './group-world.ts'

const seed = seedOf(1)
const protocols = [{ name: 'range', metadata: encodeSubscription(1, { topics: ['orders'], userData: null }) }]

describe('instance ids of members of the consumer protocol', () => {
  it('a member that joins again as another instance is that one alone: its former instance is free, also after a reload', async () => {
    const world = await GroupWorld.start()
    const member = new ConsumerMember(world, 'm1', ['orders'], 'i1')
    await member.join()
    member.instanceId = 'i2'
    expect((await member.join()).errorCode).toBe(0)
    expect([...world.machine().consumers.groups.get('g')!.staticMembers]).toEqual([['i2', 'm1']])
    await world.reload()
    expect([...world.machine().consumers.groups.get('g')!.staticMembers]).toEqual([['i2', 'm1']])
    expect((await member.leave()).errorCode).toBe(0)
    for (const instanceId of ['i1', 'i2']) expect((await new ConsumerMember(world, `after-${instanceId}`, ['orders'], instanceId).join()).errorCode).toBe(0)
  })

  it(`the instances of a group are those of its members, whatever members say (seed ${seed})`, () => {
    for (let run = 0; run < 25; run++) {
      const random = new Prng(seed * 1000 + run)
      const bare = new BareMachine()
      bare.topics.set('orders', 3)
      for (let step = 0; step < 50; step++) {
        const group = bare.machine.consumers.groups.get('g')
        const memberId = random.pick(['m1', 'm2', 'm3', ...group?.members.keys() ?? [], ...bare.machine.groups.get('g')?.members.keys() ?? []])
        const instanceId = random.pick([null, 'i1', 'i2', 'i3'])
        const epoch = random.pick([0, 0, -1, -2, group?.members.get(memberId)?.current.epoch ?? 0])
        if (random.below(3) > 0) bare.ask(beatCommand(memberId, { instanceId, epoch: epoch === -2 && instanceId === null ? -1 : epoch }))
        else if (random.below(3) > 0) bare.ask(joinCommand(`fresh${step}`, { instanceId, protocols, memberId: random.pick(['', memberId]) }))
        else bare.ask({ type: 'leave', groupId: 'g', members: [{ memberId: random.pick(['', memberId]), instanceId, reason: null }] })
        for (const each of [bare.machine.consumers.groups.get('g'), bare.machine.groups.get('g')]) {
          if (each === undefined) continue
          const named = [...each.members.values()].map((member) => 'about' in member ? member.about : member).filter((about) => about.instanceId !== null)
          expect(new Map(named.map((about) => [about.instanceId, about.memberId])), `run ${run}, step ${step}`).toEqual(each.staticMembers)
          expect(named).toHaveLength(each.staticMembers.size)
        }
        bare.nowMs += random.pick([0, 0, 0, 3000])
        bare.settle()
      }
    }
  })
})
