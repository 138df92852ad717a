import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countOf, nothingAssigned, without, type Assigned } from '../../../../../src/plugins/coordinator-group/core/consumer/assigned.ts'
import { assignRange } from '../../../../../src/plugins/coordinator-group/core/consumer/range-assignor.ts'
import { assignUniform, type Assignor, type AssignorMember } from '../../../../../src/plugins/coordinator-group/core/consumer/uniform-assignor.ts'

const topicIds = ['A', 'B', 'C', 'D']
const topicsOf = fc.array(fc.nat({ max: 12 }), { minLength: 1, maxLength: 4 }).map((counts) => new Map(counts.map((count, index) => [topicIds[index]!, count])))

interface Case {
  readonly partitions: ReadonlyMap<string, number>
  readonly members: readonly AssignorMember[]
}

const cases = (alike: boolean): fc.Arbitrary<Case> => fc.record({
  partitions: topicsOf,
  subscriptions: fc.array(fc.subarray(topicIds), { minLength: 1, maxLength: 9 }),
}).map(({ partitions, subscriptions }) => ({
  partitions,
  members: subscriptions.map((subscription, index): AssignorMember => ({
    memberId: `m${index}`, instanceId: index % 3 === 0 ? `i${index}` : null, last: nothingAssigned,
    topicIds: (alike ? [...partitions.keys()] : subscription).filter((topicId) => partitions.has(topicId)),
  })),
}))

/** The members with what they were given as their last target, some of them gone, others come. */
const afterwards = (members: readonly AssignorMember[], targets: ReadonlyMap<string, Assigned>, gone: number, come: number): AssignorMember[] => [
  ...members.slice(gone).map((member) => ({ ...member, last: targets.get(member.memberId)! })),
  ...Array.from({ length: come }, (_, index): AssignorMember => ({ memberId: `n${index}`, instanceId: null, topicIds: members[0]!.topicIds, last: nothingAssigned })),
]

function expectWhole({ partitions, members }: Case, targets: ReadonlyMap<string, Assigned>): void {
  const given = new Map<string, string>()
  expect([...targets.keys()].sort()).toEqual(members.map(({ memberId }) => memberId).sort())
  for (const { memberId, topicIds: read } of members) {
    for (const [topicId, list] of targets.get(memberId)!) {
      expect(read).toContain(topicId)
      for (const partition of list) {
        expect(given.has(`${topicId}-${partition}`), 'given once').toBe(false)
        given.set(`${topicId}-${partition}`, memberId)
      }
    }
  }
  const read = new Set(members.flatMap((member) => member.topicIds))
  expect(given.size).toBe([...partitions].filter(([topicId]) => read.has(topicId)).reduce((sum, [, count]) => sum + count, 0))
}

/** For members that read different topics: what each had, the rest one by one to who has the least, then one by one from who has the most. Of equals the first. */
function assignPlainly(members: readonly AssignorMember[], partitions: ReadonlyMap<string, number>): Map<string, Assigned> {
  const held = members.map(() => new Map<string, number[]>())
  const load = (index: number): number => countOf(held[index]!)
  const put = (index: number, topicId: string, list: readonly number[]): void => { if (list.length > 0) held[index]!.set(topicId, [...list].sort((left, right) => left - right)); else held[index]!.delete(topicId) }
  const listOf = (index: number, topicId: string): readonly number[] => held[index]!.get(topicId) ?? []
  const readers = new Map<string, number[]>()
  members.forEach(({ topicIds: read }, index) => { for (const topicId of read) readers.set(topicId, [...readers.get(topicId) ?? [], index]) })
  const isTaken = (topicId: string, partition: number): boolean => members.some((_member, index) => listOf(index, topicId).includes(partition))
  members.forEach(({ last, topicIds: read }, index) => {
    for (const topicId of read) put(index, topicId, (last.get(topicId) ?? []).filter((partition) => partition < partitions.get(topicId)! && !isTaken(topicId, partition)))
  })
  const first = (of: readonly number[], isBetter: (left: number, right: number) => boolean): number => of.reduce((best, index) => isBetter(load(index), load(best)) ? index : best)
  for (const [topicId, of] of [...readers].sort(([, left], [, right]) => left.length - right.length)) {
    for (let partition = 0; partition < partitions.get(topicId)!; partition++) {
      if (isTaken(topicId, partition)) continue
      const to = first(of, (left, right) => left < right)
      put(to, topicId, [...listOf(to, topicId), partition])
    }
  }
  for (let moved = true; moved;) {
    moved = false
    for (const [topicId, of] of readers) {
      for (;;) {
        const to = first(of, (left, right) => left < right)
        const givers = of.filter((index) => listOf(index, topicId).length > 0 && load(index) > load(to) + 1)
        if (givers.length === 0) break
        const from = first(givers, (left, right) => left > right)
        const list = listOf(from, topicId)
        put(from, topicId, list.slice(0, -1))
        put(to, topicId, [...listOf(to, topicId), list.at(-1)!])
        moved = true
      }
    }
  }
  return new Map(members.map(({ memberId }, index) => [memberId, held[index]!]))
}

const loads = (targets: ReadonlyMap<string, Assigned>): number[] => Array.from(targets.values(), countOf)

describe.each<[string, Assignor]>([['uniform', assignUniform], ['range', assignRange]])('%s', (_name, assignor) => {
  it.each([[true], [false]])('gives each partition that is read to one member that reads it; subscriptions alike: %s', (alike) => {
    fc.assert(fc.property(cases(alike), fc.nat(3), fc.nat(3), (each, gone, come) => {
      const targets = assignor(each.members, each.partitions)
      expectWhole(each, targets)
      const members = afterwards(each.members, targets, gone, come)
      expectWhole({ ...each, members }, assignor(members, each.partitions))
    }), { seed: 848 })
  })

  it('changes nothing where nothing has changed', () => {
    fc.assert(fc.property(cases(false), ({ partitions, members }) => {
      const targets = assignor(members, partitions)
      expect(assignor(afterwards(members, targets, 0, 0), partitions)).toEqual(targets)
    }), { seed: 848 })
  })

  it('has something for groups without members, members without topics and topics without partitions', () => {
    expect(assignor([], new Map())).toEqual(new Map())
    expect(assignor([{ memberId: 'm', instanceId: null, topicIds: [], last: nothingAssigned }], new Map())).toEqual(new Map([['m', nothingAssigned]]))
    expect(assignor([{ memberId: 'm', instanceId: null, topicIds: ['A'], last: nothingAssigned }], new Map([['A', 0]]))).toEqual(new Map([['m', nothingAssigned]]))
  })
})

describe('uniform', () => {
  it('gives nobody more than one partition more than another where all read the same', () => {
    fc.assert(fc.property(cases(true), fc.nat(3), fc.nat(3), ({ partitions, members }, gone, come) => {
      const targets = assignUniform(members, partitions)
      const next = assignUniform(afterwards(members, targets, gone, come), partitions)
      for (const all of [loads(targets), loads(next)]) expect(Math.max(0, ...all) - Math.min(...all, Infinity)).toBeLessThanOrEqual(1)
    }), { seed: 848 })
  })

  it('takes nothing from who stays but what the balance asks for, where all read the same', () => {
    fc.assert(fc.property(cases(true), fc.nat(3), fc.nat(3), ({ partitions, members }, gone, come) => {
      const targets = assignUniform(members, partitions)
      const after = afterwards(members, targets, gone, come)
      const next = assignUniform(after, partitions)
      for (const { memberId, last } of after) {
        const lost = countOf(without(last, next.get(memberId)!))
        if (lost > 0) expect(lost).toBe(countOf(last) - countOf(next.get(memberId)!))
      }
    }), { seed: 848 })
  })

  it('leaves no step that would make it more even where members read different topics', () => {
    fc.assert(fc.property(cases(false), ({ partitions, members }) => {
      const targets = assignUniform(members, partitions)
      for (const from of members) {
        for (const to of members) {
          const movable = [...targets.get(from.memberId)!.keys()].some((topicId) => to.topicIds.includes(topicId))
          if (movable) expect(countOf(targets.get(from.memberId)!) - countOf(targets.get(to.memberId)!)).toBeLessThanOrEqual(1)
        }
      }
    }), { seed: 848 })
  })

  it('comes to what looking at every reader for every partition would, where members read different topics', () => {
    fc.assert(fc.property(cases(false), fc.nat(3), fc.nat(3), ({ partitions, members }, gone, come) => {
      for (const each of [members, afterwards(members, assignUniform(members, partitions), gone, come)]) {
        if (each.every(({ topicIds: read }) => read.join() === each[0]!.topicIds.join())) continue
        expect(assignUniform(each, partitions)).toEqual(assignPlainly(each, partitions))
      }
    }), { seed: 848 })
  })

  it('spreads a thousand members over ten thousand partitions, with subscriptions alike or not, in a bounded number of steps', () => {
    const partitions = new Map(Array.from({ length: 100 }, (_, index) => [`t${index}`, 100]))
    for (const alike of [true, false]) {
      const members = Array.from({ length: 1000 }, (_, index): AssignorMember => ({
        memberId: `m${index}`, instanceId: null, last: nothingAssigned, topicIds: alike ? [...partitions.keys()] : [...partitions.keys()].filter((_id, topic) => (topic + index) % 10 < 5),
      }))
      const all = loads(assignUniform(members, partitions))
      expect(Math.max(...all) - Math.min(...all)).toBeLessThanOrEqual(alike ? 0 : 2)
    }
  })
})

describe('range', () => {
  it('gives members that read the same topics with as many partitions the same numbers in all of them', () => {
    fc.assert(fc.property(fc.nat({ max: 20 }), fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 4 }), (count, size, topics) => {
      const read = topicIds.slice(0, topics)
      const members = Array.from({ length: size }, (_, index): AssignorMember => ({ memberId: `m${index}`, instanceId: null, topicIds: read, last: nothingAssigned }))
      for (const target of assignRange(members, new Map(read.map((topicId) => [topicId, count]))).values()) {
        expect(new Set(Array.from(target.values(), (list) => list.join())).size).toBeLessThanOrEqual(1)
        for (const list of target.values()) expect(list.at(-1)! - list[0]! + 1).toBe(list.length)
      }
    }), { seed: 848 })
  })

  it('keeps static members in their places when dynamic ones come and go', () => {
    const member = (memberId: string, instanceId: string | null): AssignorMember => ({ memberId, instanceId, topicIds: ['A'], last: nothingAssigned })
    const of = (...members: AssignorMember[]): unknown => assignRange(members, new Map([['A', 4]]))
    expect(of(member('z', 'i1'), member('y', 'i2'), member('a', null))).toEqual(new Map([['z', new Map([['A', [0, 1]]])], ['y', new Map([['A', [2]]])], ['a', new Map([['A', [3]]])]]))
    expect(of(member('b', null), member('q', 'i2'), member('p', 'i1'))).toEqual(new Map([['b', new Map([['A', [3]]])], ['q', new Map([['A', [2]]])], ['p', new Map([['A', [0, 1]]])]]))
  })
})
