import { describe, expect, it } from 'vitest'
import { ManualTimers } from '../../../../src/testkit/index.ts'
import { TopicPatterns } from '../../../../src/plugins/coordinator-group/io/topic-patterns.ts'
import { ConsumerMember, describeConsumers } from './consumer-member.ts'
import { GroupWorld } from './group-world.ts'

describe('members of the consumer protocol that mean no good', () => {
  it('a thousand that join with one id are one member', async () => {
    const world = await GroupWorld.start()
    for (let count = 0; count < 1000; count++) expect((await new ConsumerMember(world, 'same').join()).errorCode).toBe(0)
    expect((await describeConsumers(world)).members).toHaveLength(1)
  })

  it('a thousand that join with one instance id are one member, and the others are told that it has not left', async () => {
    const world = await GroupWorld.start()
    await new ConsumerMember(world, 'm', ['orders'], 'i').join()
    for (let count = 0; count < 1000; count++) expect((await new ConsumerMember(world, `m${count}`, ['orders'], 'i').join()).errorCode).toBe(111)
    expect((await describeConsumers(world)).members).toHaveLength(1)
  })

  it.each<[string, object, number, RegExp]>([
    ['no name of the group', { groupId: '' }, 42, /no name/],
    ['an empty instance id', { instanceId: '' }, 42, /not empty/],
    ['an empty rack', { rackId: '' }, 42, /not empty/],
    ['an epoch that cannot be', { memberEpoch: -3 }, 42, /epoch -3/],
    ['a static leave without an instance', { memberEpoch: -2 }, 42, /instance id/],
    ['no rebalance timeout', { rebalanceTimeoutMs: -1 }, 42, /rebalance timeout/],
    ['a rebalance timeout below nothing', { rebalanceTimeoutMs: -0x8000_0000 }, 42, /rebalance timeout/],
    ['no word of what it owns', { topicPartitions: null }, 42, /owns no partitions/],
    ['partitions that it owns already', { topicPartitions: [{ topicId: 'AAAAAAAAAAAAAAAAAAAABQ', partitions: [1] }] }, 42, /owns no partitions/],
    ['no word of what it reads', { subscribedTopicNames: null }, 42, /what it reads/],
    ['an id of a thousand characters', { memberId: 'x'.repeat(1000) }, 42, /250 characters/],
    ['ten thousand topics and one', { subscribedTopicNames: Array.from({ length: 10_001 }, (_, index) => `t${index}`) }, 42, /10000 are allowed/],
    ['a topic of a thousand characters', { subscribedTopicNames: ['x'.repeat(1000)] }, 42, /249 characters/],
    ['an assignor of a thousand characters', { serverAssignor: 'x'.repeat(1000) }, 112, /uniform, range/],
  ])('%s: a clear error, and nothing is kept', async (_what, more, code, message) => {
    const world = await GroupWorld.start()
    const answer = await new ConsumerMember(world, 'm1').join(more)
    expect(answer.errorCode).toBe(code)
    expect(answer.errorMessage).toMatch(message)
    expect(world.machine().consumers.groups.size).toBe(0)
    expect(world.broker.logger.atLeast('warn')).toEqual([])
  })

  it('the longest rebalance timeout there is counts as a day', async () => {
    const world = await GroupWorld.start()
    await new ConsumerMember(world, 'm1').join({ rebalanceTimeoutMs: 0x7fff_ffff })
    expect(world.machine().consumers.groups.get('g')!.members.get('m1')!.about.rebalanceTimeoutMs).toBe(86_400_000)
  })

  it('one that claims partitions that nobody has is none the richer for it', async () => {
    const world = await GroupWorld.start()
    const member = new ConsumerMember(world, 'm1')
    await member.join()
    await member.beat({ topicPartitions: [{ topicId: 'AAAAAAAAAAAAAAAAAAAABQ', partitions: Array.from({ length: 10_000 }, (_, index) => index - 5000) }] })
    expect(member.owned).toEqual(['orders-0', 'orders-1', 'orders-2'])
  })

  it('patterns that would keep other engines busy for years are looked up in pieces, each of them short', () => {
    const timers = new ManualTimers()
    const patterns = new TopicPatterns(timers)
    let turns = 0
    timers.soon = (callback) => {
      turns++
      callback()
    }
    for (const pattern of ['(a*)*b', '(a|a)*b', '(a|b|ab)*c', '(.*){100}x', '([a-z]+)+[0-9]']) {
      expect(patterns.fault(pattern)).toBeUndefined()
      turns = 0
      let topics: readonly string[] | undefined
      patterns.find(pattern, Array.from({ length: 500 }, () => 'a'.repeat(249)), (found) => { topics = found })
      expect(topics).toEqual([])
      expect(turns).toBeGreaterThan(2)
    }
  })
})
