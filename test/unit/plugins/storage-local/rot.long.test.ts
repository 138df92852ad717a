import { describe, expect, it } from 'vitest'
import { addReports, rotCases, rotRun } from '../../../rot/rot-run.ts'

describe('damage to files between two processes', () => {
  it('lets no wrong byte be served, hides nothing, and takes away no more than what it hit: 60 cases', async () => {
    const report = await rotRun(4711, 60)
    expect(report.violations).toEqual([])
    expect(report.cases).toBe(60)
    // Some of each, or the cases would prove nothing.
    expect(report.ends.intact).toBeGreaterThan(10)
    expect(report.ends.fenced).toBeGreaterThan(10)
  })

  it('is the same in parts as in one run: 40 cases', async () => {
    const cases = { seed: 4712, cases: 40 }
    const parts = addReports(await rotCases({ ...cases, from: 0, to: 23 }), await rotCases({ ...cases, from: 23, to: 40 }))
    expect(parts).toEqual(await rotRun(4712, 40))
    expect(parts.cases).toBe(40)
  })
})
