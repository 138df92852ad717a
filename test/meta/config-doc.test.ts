import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { configDoc } from '../../scripts/generate-config-doc.ts'
import { ownPlugins } from '../../scripts/plugin-settings-doc.ts'
import { root } from './source-tree.ts'

const page = readFileSync(join(root, 'docs/config.md'), 'utf8')
const plugins = await ownPlugins()

it('docs/config.md is what scripts/generate-config-doc.ts makes of the tables and of the plugins\' schemas', async () => {
  expect(page).toBe(await configDoc())
})

describe('the settings of our plugins', () => {
  it('are in docs/config.md, every key of each with what it does', () => {
    const sections = page.slice(page.indexOf('\n## Plugins\n'))
    const missing = plugins.flatMap(({ name, config }) => {
      const section = sections.split(/^### /m).find((each) => each.startsWith(`${name}\n`)) ?? ''
      return [section === '' ? name : '', ...Object.keys(config.shape).filter((key) => !new RegExp(`^\\| \`${key}\` \\|.*\\| [^|]{20,} \\|$`, 'm').test(section)).map((key) => `${name}.${key}`)]
    }).filter((each) => each !== '')
    expect(missing).toEqual([])
  })

  it('are what the README of each links to', () => {
    const names = readdirSync(join(root, 'src/plugins'))
    expect(names.length).toBeGreaterThan(5)
    expect(names.filter((name) => !readFileSync(join(root, 'src/plugins', name, 'README.md'), 'utf8').includes(`](../../../docs/config.md#${name})`))).toEqual([])
  })
})
