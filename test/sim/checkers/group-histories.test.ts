import { describe, expect, it } from 'vitest'
import { faultsOf, type GroupEvent } from './group-histories.ts'

type Timeless<E> = E extends unknown ? Omit<E, 'atMs'> : never
type Step = Timeless<GroupEvent> & { readonly atMs?: number }

const start = (member: string): Step => ({ type: 'started', member, sessionMs: 6000, rebalanceMs: 4000, isStaticClassic: false })
const join = (member: string): Step => ({ type: 'said', member, what: 'join', epoch: 0, owned: [], accepted: true })
const beat = (member: string, epoch: number, owned: readonly string[] | null = null, accepted = true): Step => ({ type: 'said', member, what: 'heartbeat', epoch, owned, accepted })
const leave = (member: string): Step => ({ type: 'said', member, what: 'leave', epoch: -1, owned: null, accepted: true })
const told = (member: string, epoch: number, assigned: readonly string[] | null = null, asked = false): Step => ({ type: 'told', member, epoch, assigned, asked })
const commit = (member: string, epoch: number, offset: number, partition = 'p'): Step => ({ type: 'commit', member, epoch, partition, offset, accepted: true })
const at = (atMs: number, step: Step): Step => ({ ...step, atMs })

/** Each step a millisecond after the one before, where it does not say. */
function faults(...steps: Step[]): string[] {
  let atMs = 0
  return faultsOf(steps.map((step) => ({ ...step, atMs: atMs = step.atMs ?? atMs + 1 }) as GroupEvent))
}

/** Two members, of which the first has p and q in epoch 1. */
const begin = [start('a'), join('a'), told('a', 1, ['p', 'q']), start('b'), join('b'), told('b', 2, [])]

describe('histories of groups as they should be', () => {
  it.each<[string, Step[]]>([
    ['a partition that was given up is given on', [...begin, beat('a', 1), told('a', 1, ['q']), beat('a', 1, ['q']), told('a', 2), beat('b', 2), told('b', 2, ['p']), commit('b', 2, 4)]],
    ['a member leaves', [...begin, leave('a'), told('b', 3, ['p', 'q'])]],
    ['a member is silent for a session', [...begin, at(7000, told('b', 3, ['p', 'q']))]],
    ['a member does not give up in time', [...begin, at(1000, beat('a', 1)), told('a', 1, ['q']), at(5100, beat('a', 1)), told('b', 3, ['p', 'q'])]],
    ['a process that ends has nothing', [...begin, { type: 'dropped', member: 'a' }, told('b', 2, ['p', 'q'])]],
    ['a member joins again with nothing', [...begin, join('a'), told('a', 3, []), told('b', 3, ['p', 'q'])]],
    ['a commit is refused', [...begin, leave('a'), { ...commit('a', 1, 5), accepted: false } as Step]],
    ['commits go up, and are told', [...begin, commit('a', 1, 5), commit('a', 1, 5), { type: 'acknowledged', partition: 'p', offset: 5 }, commit('a', 1, 9), { type: 'fetched', partition: 'p', offset: 9 }]],
  ])('%s', (_what, steps) => {
    expect(faults(...steps)).toEqual([])
  })
})

describe('histories of groups that are wrong are found out', () => {
  it.each<[string, Step[]]>([
    ['a partition is given to two', [...begin, told('b', 2, ['p'])]],
    ['a partition is given on while its owner is only asked for it', [...begin, beat('a', 1), told('a', 1, ['q']), told('b', 2, ['p'])]],
    ['a partition is given on though its owner says to have it', [...begin, beat('a', 1), told('a', 1, ['q']), beat('a', 1, ['p', 'q']), told('b', 2, ['p'])]],
    ['a member is out before its session has passed', [...begin, at(5900, told('b', 3, ['p', 'q']))]],
    ['a member that is heard from is out as if it were silent', [...begin, at(5000, beat('a', 1)), told('a', 1), at(7000, told('b', 3, ['p', 'q']))]],
    ['a member has less than its rebalance timeout to give up', [...begin, at(5000, beat('a', 1)), told('a', 1, ['q']), at(8000, told('b', 3, ['p']))]],
    ['a refused heartbeat counts as giving up', [...begin, beat('a', 1, ['q'], false), told('b', 2, ['p'])]],
    ['a member that has left is heard', [...begin, leave('a'), beat('a', 1)]],
    ['a member whose partitions are somebody else\'s is heard', [...begin, at(7000, told('b', 3, ['p', 'q'])), beat('a', 1)]],
    ['an epoch goes back', [...begin, told('b', 1)]],
    ['a partition is told twice', [...begin, leave('a'), told('b', 3, ['p', 'p'])]],
    ['an old epoch commits', [...begin, beat('a', 1), told('a', 2), commit('a', 1, 5)]],
    ['a member commits what is another\'s', [...begin, commit('b', 2, 5)]],
    ['a member that has left commits', [...begin, leave('a'), commit('a', 1, 5)]],
    ['a superseded member commits', [...begin, at(7000, told('b', 3, ['p', 'q'])), commit('a', 1, 5)]],
    ['an offset goes back', [...begin, commit('a', 1, 5), commit('a', 1, 4)]],
    ['an acknowledged commit is lost', [...begin, commit('a', 1, 5), { type: 'acknowledged', partition: 'p', offset: 5 }, { type: 'fetched', partition: 'p', offset: 4 }]],
    ['what was told once is told no more', [...begin, commit('a', 1, 5), { type: 'fetched', partition: 'p', offset: 5 }, { type: 'fetched', partition: 'p', offset: -1 }]],
    ['what nobody has committed is told', [...begin, { type: 'fetched', partition: 'p', offset: 3 }]],
    ['what nobody has committed is acknowledged', [...begin, { type: 'acknowledged', partition: 'p', offset: 3 }]],
  ])('%s', (_what, steps) => {
    expect(faults(...steps)).toHaveLength(1)
  })
})
