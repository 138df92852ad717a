import { describe, expect, it } from 'vitest'
import { Prng } from '../../../../src/base/prng.ts'
import { ConsumerGroup, newMember, type MemberAbout } from '../../../../src/plugins/coordinator-group/core/consumer/consumer-group.ts'
import { seedOf } from '../../../integration/seeds.ts'
import { BareMachine, beatCommand } from './bare-machine.ts'
import { ConsumerMember } from './consumer-member.ts'
import { FakeTopics } from './fake-topics.ts'
import { GroupWorld } from './group-world.ts'

const seed = seedOf(1)

/** Topics that count how often they are looked up. */
class CountedTopics extends FakeTopics {
  lookups = 0

  override byName(name: string): ReturnType<FakeTopics['byName']> {
    this.lookups++
    return super.byName(name)
  }

  during(work: () => void): number {
    const before = this.lookups
    work()
    return this.lookups - before
  }
}

/** Names that nobody else has, and one of a topic that is there. */
const namesOf = (member: number): string[] => [...Array.from({ length: 1000 }, (_, index) => `m${member}-${String(index).padStart(4, '0')}`), 'orders']

describe('members with many topics', () => {
  it('a member that joins, changes what it reads, or leaves costs its own names, whoever else is there', () => {
    const topics = new CountedTopics()
    topics.set('orders', 100)
    const bare = new BareMachine({}, topics)
    const ask = (member: number, names: readonly string[] | null, epoch: number): number => topics.during(() => {
      expect(bare.ask(beatCommand(`m${member}`, { topics: names, epoch, owned: epoch > 0 ? null : new Map() }))).toMatchObject([{ response: { errorCode: 0 } }])
    })
    for (let member = 0; member < 60; member++) expect(ask(member, namesOf(member), 0)).toBeLessThanOrEqual(1000 + 4 * 60)
    expect(ask(60, ['orders'], 0)).toBeLessThanOrEqual(4 * 61)
    const { epoch } = bare.machine.consumers.groups.get('g')!.members.get('m60')!.current
    expect(ask(60, ['letters', 'orders'], epoch)).toBeLessThanOrEqual(4 * 61)
    expect(ask(60, null, epoch + 1)).toBe(0)
    expect(ask(0, null, -1)).toBeLessThanOrEqual(4 * 61)
  })

  it(`what is read of what there is follows members, patterns and topics (seed ${seed})`, () => {
    const random = new Prng(seed)
    const topics = new FakeTopics()
    const pool = Array.from({ length: 8 }, (_, index) => `t${index}`)
    const some = (): string[] => pool.filter(() => random.below(2) === 0)
    const about = (memberId: string): MemberAbout => ({
      memberId, instanceId: null, rackId: null, clientId: '', clientHost: '', topics: some(), pattern: random.pick([null, 'p', 'q']), serverAssignor: null, rebalanceTimeoutMs: 1, classic: null,
    })
    let group = new ConsumerGroup('g')
    for (let step = 0; step < 500; step++) {
      // Copies that come to nothing leave their mark on what is shared.
      const dropped = group.copy()
      dropped.put(newMember(about('m1')))
      dropped.subscriptions(topics)
      if (random.below(2) === 0) group = group.copy()
      const memberId = random.pick(['m1', 'm2', 'm3'])
      switch (random.below(5)) {
        case 0: group.remove(memberId); break
        case 1: group.patterns.set(random.pick(['p', 'q']), { topics: some(), version: 0, atMs: 0 }); break
        case 2: topics.set(random.pick(pool), 1); break
        case 3: topics.delete(random.pick(pool)); break
        default: group.put(newMember(about(memberId)))
      }
      const subscriptions = group.subscriptions(topics)
      const isThere = (name: string): boolean => topics.byName(name) !== undefined
      expect([...subscriptions.present].sort(), `step ${step}`).toEqual([...group.subscribed].filter(isThere).sort())
      for (const member of group.members.values()) expect([...subscriptions.presentOf(member.about.memberId)].sort()).toEqual([...new Set(group.topicsOf(member.about))].filter(isThere).sort())
    }
  })

  it('names of more bytes than can be written are refused with the remedy, and what is allowed is written', async () => {
    const world = await GroupWorld.start()
    const names = (count: number, length: number): string[] => Array.from({ length: count }, (_, index) => String(index).padStart(length, 'x'))
    for (const [count, length] of [[9999, 249], [2115, 248]] as const) {
      const answer = await new ConsumerMember(world, 'm1', names(count, length)).join()
      expect(answer).toMatchObject({ errorCode: 42, errorMessage: `the names of the subscription have ${count * length} bytes, and 524288 are allowed: use a pattern` })
    }
    expect((await new ConsumerMember(world, 'm2', names(2115, 248).slice(1)).join()).errorCode).toBe(0)
    expect((await new ConsumerMember(world, 'm3', names(9999, 52)).join()).errorCode).toBe(0)
  })
})
