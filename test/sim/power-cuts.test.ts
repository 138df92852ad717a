import { describe, expect, it } from 'vitest'
import { seedsOf } from '../integration/seeds.ts'
import { runPowerCuts } from './workload/power-cuts.ts'

/** A few of what `npm run sim:power` runs 5,000 of; between them they reach what a power cut can do. */
describe('a machine whose power is cut under load, again and again', () => {
  it.each(seedsOf([3, 5]))('loses and changes nothing that was acknowledged or read, seed %i', { timeout: 120_000 }, async (seed) => {
    const { acknowledged, seen, faults } = await runPowerCuts(seed, 2)
    expect(acknowledged).toBeGreaterThan(50)
    expect(seen).toBeGreaterThan(10)
    expect(faults['crash: write lost'] ?? 0).toBeGreaterThan(0)
  })

  it('does the same again with the same seed, deletions of topics included', { timeout: 120_000 }, async () => {
    const { digest, topicsDeleted } = await runPowerCuts(7, 2)
    expect(topicsDeleted).toBeGreaterThan(0)
    expect((await runPowerCuts(7, 2)).digest).toBe(digest)
  })
})
