import { describe, expect, it } from 'vitest'
import { seedsOf } from '../integration/seeds.ts'
import { runGroup } from './workload/group-protocols.ts'

const seeds = Array.from({ length: 60 }, (_, index) => index + 1)

describe('groups of both protocols in virtual time, while members come and go and the coordinator crashes', () => {
  it.each(seedsOf(seeds))('S16, S17: a partition has one owner, no commit of somebody superseded counts, none that was answered is lost, and in the end everything is read, seed %i', (seed) => {
    expect(runGroup(seed).faults).toEqual([])
  })

  it('have migrated, crashed and committed in these runs', () => {
    const runs = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12].map(runGroup)
    for (const key of ['migrations', 'crashes', 'commits'] as const) expect(runs.reduce((sum, run) => sum + run[key], 0), key).toBeGreaterThan(0)
  })
})
