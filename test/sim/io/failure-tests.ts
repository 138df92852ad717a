import { describe, expect, it } from 'vitest'
import { root } from '../../meta/source-tree.ts'
import { callSites } from './call-sites.ts'
import { observe, Undisturbed } from './outcome.ts'
import { SiteTracer } from './site-tracer.ts'
import { readTable, type Row } from './table.ts'

/** With `IO_FAILURES=all` each outcome of each row; else of each second sync that it fails once, and of each twelfth other row that it fails for ever. */
const all = process.env['IO_FAILURES'] === 'all'

function outcomesOf(row: Row, index: number): Row['outcomes'] {
  if (all) return row.outcomes
  if (/ (sync|syncNow|syncDirectory)( \d)?$/.test(row.site)) return index % 2 === 0 ? row.outcomes.slice(0, 1) : []
  return index % 12 === 0 ? row.outcomes.slice(1, 2) : []
}

/** Every `of`-th row of docs/io-failures.md, from the one with number `part` on: each failure in a life of its own. */
export function failureTests(part: number, of: number): void {
  const sites = new Map(callSites(root).map(site => [site.name, site]))
  const tracer = new SiteTracer([...sites.values()])
  const undisturbed = new Undisturbed(tracer)
  const rows = readTable(root).rows.map((row, index) => ({ row, outcomes: outcomesOf(row, index) })).filter(({ outcomes }) => outcomes.length > 0).filter((_, index) => index % of === part)

  describe.each(rows.map(each => [`${each.row.site}, ${each.row.phase}`, each] as const))('%s', (_name, { row, outcomes }) => {
    it.each(outcomes.map(each => [each.error, each.times === 1 ? 'once' : 'for ever', each.outcome, each] as const))('%s %s: %s', async (_error, _times, outcome, { error, times }) => {
      const { after } = row
      const observed = await observe(tracer, undisturbed, {
        site: sites.get(row.site)!, phase: row.phase, error, times,
        after: after === undefined ? undefined : { site: sites.get(after.site)!, error: after.error },
      })
      expect(observed.violations).toEqual([])
      expect(observed.outcome).toBe(outcome)
    })
  })
}
