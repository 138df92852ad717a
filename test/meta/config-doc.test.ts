import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { configDoc } from '../../scripts/generate-config-doc.ts'
import { root } from './source-tree.ts'

it('docs/config.md is what scripts/generate-config-doc.ts makes of the tables', () => {
  expect(readFileSync(join(root, 'docs/config.md'), 'utf8')).toBe(configDoc())
})
