import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { loadPlugins, presets } from '../../src/broker/plugin-catalog.ts'
import { type AnyToken, type Need, tokenName } from '../../src/kernel/plugin/token.ts'
import * as kernel from '../../src/kernel/index.ts'
import { root } from './source-tree.ts'

const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8')
const plugins = [...await loadPlugins({ preset: 'single-node' }, root), ...(await loadPlugins({ preset: 'memory' }, root)).filter(({ use }) => use === 'storage-memory')].map(({ plugin }) => plugin)

/** "beside settings, identity, logs and metrics" */
const leftOut = ['BrokerSettings', 'BrokerIdentity', 'Logger', 'Metrics']
const named = (cell: string): string[] => [...cell.matchAll(/\b[A-Z]\w+/g)].map(([name]) => name).sort()
const nameOf = (need: Need): string => tokenName((typeof need === 'symbol' ? need : 'every' in need ? need.every : need.maybe) as AnyToken)

it.each(plugins.map((plugin) => [plugin.name, plugin] as const))('docs/architecture.md says of %s what it provides and all that it needs', (name, plugin) => {
  const cells = new RegExp(`^\\| \`${name}\`[^|]*\\|([^|]*)\\|([^|]*)\\|$`, 'm').exec(page)
  expect(cells).not.toBeNull()
  const provided = (plugin.provides ?? []).map(tokenName).filter((each) => each in kernel)
  expect(named(cells![1]!)).toEqual(expect.arrayContaining(provided))
  expect(named(cells![2]!)).toEqual((plugin.requires ?? []).map(nameOf).filter((each) => !leftOut.includes(each)).sort())
})

it('docs/architecture.md names the files that may import more than their room, of which layers.json has the list', () => {
  const { files } = JSON.parse(readFileSync(join(root, 'layers.json'), 'utf8')) as { files: Record<string, readonly string[]> }
  const rows = page.split('\n').filter((line) => line.startsWith('| `src/'))
  for (const [file, rooms] of Object.entries(files).filter(([name]) => existsSync(join(root, 'src', name)))) {
    const [room, ...rest] = file.split('/')
    const name = room === 'plugins' ? rest.slice(1).join('/') : rest.join('/')
    const row = rows.find((line) => line.startsWith(`| \`src/${room}${room === 'plugins' ? '/X' : ''}\``))
    expect(row, file).toContain(`\`${name}\``)
    for (const each of rooms) expect(row).toContain(`also ${each}`)
  }
})

it('docs/architecture.md has a row for every plugin of the presets', () => {
  expect(plugins.map(({ name }) => name).sort()).toEqual([...new Set(Object.values(presets).flat())].sort())
})
