import { describe, expect, it, vi } from 'vitest'
import { GroupOffsets } from '../../../../src/plugins/coordinator-group/core/group-offsets.ts'
import { walkFrom, walkOn, type WalkPlace } from '../../../../src/plugins/coordinator-group/core/offset-walk.ts'
import { BareMachine, beatCommand } from './bare-machine.ts'
import { consumerRules, FakeTopics } from './fake-topics.ts'

const formerId = 'AAAAAAAAAAAAAAAAAAAABQ'

type Offsets = readonly { readonly topic: string, readonly partition: number, readonly topicId?: string }[]

function commitAlone(bare: BareMachine, groupId: string, offsets: Offsets): void {
  bare.ask({
    type: 'commit', groupId, generation: -1, memberId: '', instanceId: null, retentionMs: -1, knowsEpochs: true,
    offsets: offsets.map((each) => ({ topicId: formerId, offset: 1, leaderEpoch: -1, metadata: '', ...each })),
  })
}

const partitionsOf = (topic: string, count: number): Offsets => Array.from({ length: count }, (_, partition) => ({ topic, partition }))

/** Thousands of offsets, each in another shape. */
const shapes: readonly [string, (bare: BareMachine) => void][] = [
  ['one topic of one group', (bare) => { commitAlone(bare, 'g', partitionsOf('gone', 12_000)) }],
  ['many topics of one group', (bare) => { commitAlone(bare, 'g', Array.from({ length: 4000 }, (_, index) => partitionsOf(`gone${index}`, 3)).flat()) }],
  ['many groups', (bare) => { for (let index = 0; index < 12_000; index++) commitAlone(bare, `g${index}`, partitionsOf('gone', 1)) }],
  ['some groups of some topics', (bare) => { for (let index = 0; index < 12; index++) commitAlone(bare, `g${index}`, Array.from({ length: 10 }, (_, of) => partitionsOf(`gone${of}`, 100)).flat()) }],
]

interface Turn {
  readonly records: number
  readonly looked: number
}

/** Acts on what is due, again and again, until nothing is for an hour. Others have a turn between any two: never are two due at one moment. */
function walk(bare: BareMachine, between: () => void = () => undefined): Turn[] {
  const turns: Turn[] = []
  const looks = vi.spyOn(bare.machine.offsets, 'get')
  while (bare.machine.nextDeadlineMs < bare.nowMs + 3_600_000) {
    bare.nowMs = bare.machine.nextDeadlineMs
    looks.mockClear()
    turns.push({ records: bare.settleOnce(), looked: looks.mock.calls.length })
    expect(bare.machine.nextDeadlineMs).toBeGreaterThan(bare.nowMs)
    between()
  }
  looks.mockRestore()
  return turns
}

const deleteTopics = (bare: BareMachine, topics: Iterable<string>): readonly unknown[] => bare.ask({ type: 'topicsDeleted', topics: new Set(topics) })

const allGone = ['gone', ...Array.from({ length: 4000 }, (_, index) => `gone${index}`)]

describe('the offsets of topics that are deleted', () => {
  it.each(shapes)('of %s go in turns of a thousand at most, and those of other topics stay', (_shape, fill) => {
    const bare = new BareMachine({ retentionCheckIntervalMs: 1e12 })
    commitAlone(bare, 'first', [{ topic: 'kept', partition: 0 }])
    fill(bare)
    commitAlone(bare, 'g', [{ topic: 'kept', partition: 1 }])
    const before = bare.machine.offsets.count
    expect(deleteTopics(bare, allGone)).toEqual([{ begun: true }])
    expect(before - bare.machine.offsets.count).toBeLessThanOrEqual(1000)
    const turns = walk(bare)
    expect(turns.length).toBeGreaterThan(10)
    for (const { records, looked } of turns) expect(Math.max(records, looked)).toBeLessThanOrEqual(1000)
    expect(bare.machine.offsets.count).toBe(2)
    expect(bare.machine.nextDeadlineMs).toBeGreaterThan(bare.nowMs + 1e9)
  })

  it('that go while others do go behind them, and what is committed meanwhile for topics of the same names stays', () => {
    const topics = new FakeTopics()
    const bare = new BareMachine({ retentionCheckIntervalMs: 1e12 }, topics)
    commitAlone(bare, 'a', partitionsOf('gone', 5000))
    commitAlone(bare, 'b', [...partitionsOf('gone', 2), ...partitionsOf('later', 3000)])
    deleteTopics(bare, ['gone'])
    deleteTopics(bare, ['later'])
    topics.set('gone', 3)
    const topicId = topics.byName('gone')!.id
    commitAlone(bare, 'b', [{ topic: 'gone', partition: 1, topicId }])
    commitAlone(bare, 'c', [{ topic: 'gone', partition: 0, topicId }])
    walk(bare)
    expect([...bare.machine.offsets.all()].map(([groupId, topic, partition]) => `${groupId} ${topic} ${partition}`)).toEqual(['b gone 1', 'c gone 0'])
  })
})

describe('offsets whose time is over', () => {
  it.each(shapes)('of %s go in turns of a thousand at most, and their groups with them', (_shape, fill) => {
    const bare = new BareMachine({ retentionCheckIntervalMs: 10_000_000, offsetsRetentionMs: 5_000_000 })
    fill(bare)
    bare.nowMs = 9_000_000
    commitAlone(bare, 'young', partitionsOf('gone', 3))
    const turns = walk(bare)
    expect(turns.length).toBeGreaterThan(10)
    // And as many groups, each of which is over with its last offset.
    for (const { records, looked } of turns) expect(Math.max(records / 2, looked)).toBeLessThanOrEqual(1000)
    expect([...bare.machine.groups.keys()]).toEqual(['young'])
    expect(bare.machine.offsets.count).toBe(3)
  })

  it('are looked for in turns of five thousand at most where most are young', () => {
    const bare = new BareMachine({ retentionCheckIntervalMs: 10_000_000, offsetsRetentionMs: 15_000_000 })
    commitAlone(bare, 'g', partitionsOf('gone', 30_000))
    bare.nowMs = 9_000_000
    const turns = walk(bare).filter(({ looked }) => looked > 0)
    expect(turns.length).toBeGreaterThanOrEqual(6)
    for (const { looked } of turns) expect(looked).toBeLessThanOrEqual(5000)
    expect(bare.machine.offsets.count).toBe(30_000)
  })

  it('take their group with them only where nothing came to it between two turns', () => {
    for (const hasMore of [false, true]) {
      const bare = new BareMachine({ retentionCheckIntervalMs: 10_000_000, offsetsRetentionMs: 5_000_000 })
      commitAlone(bare, 'g', partitionsOf('gone', 3000))
      bare.nowMs = 9_000_000
      let isFirst = true
      walk(bare, () => {
        if (isFirst && hasMore) commitAlone(bare, 'g', [{ topic: 'other', partition: 0 }])
        isFirst = false
      })
      expect([bare.machine.groups.has('g'), bare.machine.offsets.count]).toEqual([hasMore, hasMore ? 1 : 0])
    }
  })

  it('of a group with members of the consumer protocol go in turns too, but for those of topics that it reads', () => {
    const bare = new BareMachine({ retentionCheckIntervalMs: 10_000_000, offsetsRetentionMs: 5_000_000, consumer: { ...consumerRules, sessionTimeoutMs: 1e9 } })
    commitAlone(bare, 'g', [...partitionsOf('orders', 3), ...partitionsOf('gone', 3000)])
    bare.ask(beatCommand('m1', { topics: ['orders'] }))
    bare.nowMs = 9_000_000
    const turns = walk(bare)
    for (const { records } of turns) expect(records).toBeLessThanOrEqual(1000)
    expect(bare.machine.offsets.count).toBe(3)
  })
})

describe('a walk', () => {
  it('comes to its end also where looking at a group takes more steps than a turn has', () => {
    const offsets = new GroupOffsets()
    for (let partition = 0; partition < 1000; partition++) offsets.set('g', 't', partition, { offset: 1, leaderEpoch: -1, metadata: '', committedAtMs: 0, expiresAtMs: -1, topicId: formerId })
    let turns = 0
    let over = 0
    for (let place: WalkPlace | undefined = walkFrom(['g', 'gone', 'g']); place !== undefined; turns++) {
      expect(turns).toBeLessThan(40)
      place = walkOn(place, offsets, (groupId) => groupId === 'gone' ? undefined : { steps: 1e6, topics: () => offsets.topicsOf(groupId), isOver: () => {
          over++
          return false
        }, end: () => [] }).place
    }
    expect(over).toBe(2000)
  })
})
