import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { metricNamesInSource } from './metric-names.ts'
import { root } from './source-tree.ts'

it('docs/metrics.md has a row for each name of a metric in the source; test/integration/metrics-doc.test.ts compares it with what a broker serves', () => {
  const page = readFileSync(join(root, 'docs/metrics.md'), 'utf8')
  const names = [...metricNamesInSource()]
  expect(names.length).toBeGreaterThan(50)
  expect(names.filter((name) => !page.includes(`\n| \`${name}\` | `))).toEqual([])
})
