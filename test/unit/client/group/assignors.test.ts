import { describe, expect, it } from 'vitest'
import { Prng } from '../../../../src/base/prng.ts'
import { type Assignor, type GroupAssignment, type GroupMember } from '../../../../src/client/group/core/assignor.ts'
import { rangeAssignor } from '../../../../src/client/group/core/range-assignor.ts'
import { roundRobinAssignor } from '../../../../src/client/group/core/round-robin-assignor.ts'
import { cooperativeStickyAssignor, stickyAssignor } from '../../../../src/client/group/core/sticky-assignor.ts'
import { keyOf, type TopicPartition } from '../../../../src/client/group/core/topic-partitions.ts'
import { seedsOf } from '../../../integration/seeds.ts'

const member = (memberId: string, topics: readonly string[], rest: Partial<GroupMember> = {}): GroupMember =>
  ({ memberId, instanceId: null, topics, owned: [], generation: -1, rack: null, ...rest })
const shown = (assignment: GroupAssignment): Record<string, string> =>
  Object.fromEntries([...assignment].map(([id, partitions]) => [id, partitions.map(({ topic, partition }) => `${topic}${partition}`).join(' ')]))
const all = (topic: string, count: number): TopicPartition[] => Array.from({ length: count }, (_, partition) => ({ topic, partition }))

/** Topics, members with any subscriptions, and what they say they have: true or not. */
function anyGroup(prng: Prng): { members: GroupMember[], counts: Map<string, number> } {
  const topics = Array.from({ length: prng.between(1, 4) }, (_, index) => `t${index}-`)
  const counts = new Map(topics.filter(() => prng.chance(0.9)).map(topic => [topic, prng.between(1, 12)]))
  const uniform = prng.chance(0.5)
  const members = Array.from({ length: prng.between(1, 6) }, (_, index) => member(`m${index}`, uniform ? topics : topics.filter(() => prng.chance(0.6)), {
    instanceId: prng.chance(0.3) ? `i${9 - index}` : null, generation: prng.between(1, 2),
    owned: [...counts].flatMap(([topic, count]) => all(topic, count)).filter(() => prng.chance(0.3)),
  }))
  return { members, counts }
}

const assignors: readonly Assignor[] = [rangeAssignor, roundRobinAssignor, stickyAssignor, cooperativeStickyAssignor]

describe('range', () => {
  it('cuts each topic into pieces in a row, the first ones longer', () => {
    expect(shown(rangeAssignor.assign([member('a', ['x', 'y']), member('b', ['x', 'y'])], new Map([['x', 3], ['y', 3]])))).toEqual({ a: 'x0 x1 y0 y1', b: 'x2 y2' })
  })
  it('puts static members first, by their instance ids', () => {
    expect(shown(rangeAssignor.assign([member('a', ['x']), member('z', ['x'], { instanceId: 'one' })], new Map([['x', 3]])))).toEqual({ z: 'x0 x1', a: 'x2' })
  })
})

describe('roundrobin', () => {
  it('deals partitions in turn, past who does not want the topic', () => {
    expect(shown(roundRobinAssignor.assign([member('a', ['x', 'y']), member('b', ['y']), member('c', ['x', 'y'])], new Map([['x', 2], ['y', 3]])))).toEqual({ a: 'x0 y0', b: 'y1', c: 'x1 y2' })
  })
})

describe('sticky', () => {
  it('moves no more than makes it even', () => {
    const owned = all('x', 6)
    const { a, b } = shown(stickyAssignor.assign([member('a', ['x'], { owned, generation: 3 }), member('b', ['x'])], new Map([['x', 6]])))
    expect([a!.split(' ').length, b!.split(' ').length]).toEqual([3, 3])
    expect(shown(stickyAssignor.assign([member('a', ['x'], { owned: owned.slice(0, 3), generation: 3 }), member('b', ['x'], { owned: owned.slice(3), generation: 3 })], new Map([['x', 6]]))))
      .toEqual({ a: 'x0 x1 x2', b: 'x3 x4 x5' })
  })
  it('believes who names the newer generation', () => {
    const [x0] = all('x', 1)
    expect(shown(stickyAssignor.assign([member('a', ['x'], { owned: [x0!], generation: 2 }), member('b', ['x'], { owned: [x0!], generation: 3 })], new Map([['x', 1]])))).toEqual({ a: '', b: 'x0' })
  })
  it('keeps what a member had in user data that says the same again', () => {
    const own = { owned: [...all('x', 2), ...all('grüße', 1)], generation: 7 }
    const read = stickyAssignor.ownedFrom!(stickyAssignor.userData(own)!)!
    expect(read.generation).toBe(7)
    expect(read.owned.map(keyOf).sort()).toEqual(own.owned.map(keyOf).sort())
    expect(stickyAssignor.ownedFrom!(new Uint8Array([0, 0, 0, 9]))).toBeUndefined()
  })
  it('writes user data in the format of Java\'s StickyAssignor', () => {
    expect([...stickyAssignor.userData({ owned: all('ab', 2), generation: 5 })!]).toEqual([0, 0, 0, 1, 0, 2, 97, 98, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 5])
  })
})

describe('cooperative-sticky', () => {
  it('gives to nobody what goes from one to another', () => {
    const owned = all('x', 4)
    const assignment = cooperativeStickyAssignor.assign([member('a', ['x'], { owned, generation: 3 }), member('b', ['x'])], new Map([['x', 4]]))
    expect([assignment.get('a')!.length, assignment.get('b')!.length]).toEqual([2, 0])
  })
})

describe.each(assignors.map(assignor => [assignor.name, assignor] as const))('%s', (_name, assignor) => {
  it.each(seedsOf(Array.from({ length: 300 }, (_, seed) => seed)))('gives each partition to one member that wants it, and the same whatever the order of the members, seed %i', (seed) => {
    const prng = new Prng(seed)
    const { members, counts } = anyGroup(prng)
    const assignment = assignor.assign(members, counts)
    expect([...assignment.keys()].sort()).toEqual(members.map(({ memberId }) => memberId).sort())
    const given = [...assignment].flatMap(([memberId, partitions]) => partitions.map(each => ({ memberId, each })))
    expect(new Set(given.map(({ each }) => keyOf(each))).size).toBe(given.length)
    for (const { memberId, each } of given) expect(members.find(({ memberId: id }) => id === memberId)!.topics).toContain(each.topic)
    const wanted = [...counts].filter(([topic]) => members.some(({ topics }) => topics.includes(topic))).flatMap(([topic, count]) => all(topic, count))
    if (!assignor.isCooperative) expect(given.length).toBe(wanted.length)
    expect(shown(assignor.assign([...members].reverse(), counts))).toEqual(shown(assignment))
  })
})

it.each(seedsOf(Array.from({ length: 300 }, (_, seed) => seed)))('sticky leaves no member two behind another that has something for it, seed %i', (seed) => {
  const { members, counts } = anyGroup(new Prng(seed))
  const assignment = stickyAssignor.assign(members, counts)
  for (const [holder, partitions] of assignment) {
    for (const { topic } of partitions) {
      for (const { memberId, topics } of members) {
        if (memberId !== holder && topics.includes(topic)) expect(partitions.length - assignment.get(memberId)!.length, `${holder} and ${memberId}`).toBeLessThan(2)
      }
    }
  }
})

it.each(seedsOf(Array.from({ length: 200 }, (_, seed) => seed)))('with cooperative-sticky a group comes to rest with all partitions given, nobody ever having what another has, seed %i', (seed) => {
  const prng = new Prng(seed)
  const { members: anyMembers, counts } = anyGroup(prng)
  // What members have they had from one assignment.
  const taken = new Set<string>()
  let members = anyMembers.map(each => ({ ...each, generation: 1, owned: each.owned.filter(owned => each.topics.includes(owned.topic) && !taken.has(keyOf(owned)) && taken.add(keyOf(owned))) }))
  for (let generation = 2; ; generation++) {
    expect(generation).toBeLessThan(5)
    const assignment = cooperativeStickyAssignor.assign(members, counts)
    const owners = new Map(members.flatMap(({ memberId, owned }) => owned.map(each => [keyOf(each), memberId] as const)))
    for (const [memberId, partitions] of assignment) for (const each of partitions) expect(owners.get(keyOf(each)) ?? memberId).toBe(memberId)
    const isAtRest = members.every(({ memberId, owned }) => owned.every(each => assignment.get(memberId)!.some(given => keyOf(given) === keyOf(each))))
    members = members.map(each => ({ ...each, generation, owned: assignment.get(each.memberId)! }))
    if (isAtRest) break
  }
  const wanted = [...counts].filter(([topic]) => members.some(({ topics }) => topics.includes(topic))).reduce((sum, [, count]) => sum + count, 0)
  expect(members.reduce((sum, { owned }) => sum + owned.length, 0)).toBe(wanted)
})
