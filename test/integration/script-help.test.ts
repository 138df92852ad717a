import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { root } from '../meta/source-tree.ts'
import { ensureBuilt } from './built.ts'

beforeAll(ensureBuilt, 120_000)

const isScript = (path: string): boolean => /process\.argv|scriptOptionsOrExit\(/.test(readFileSync(join(root, path), 'utf8'))
/** Parts of the others, and one that npm runs with a word for what it is to do. */
const leftOut = ['scripts/script-options.ts', 'scripts/worker-pool.ts', 'scripts/night.ts']
const own = readdirSync(join(root, 'scripts')).map((name) => `scripts/${name}`).filter((path) => !leftOut.includes(path) && isScript(path))
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> }
const ofNpm = Object.values(scripts).filter((command) => command.startsWith('tsx ') || command.startsWith('node scripts/')).map((command) => command.replace(/^(tsx|node) /, '').split(' '))
const commands = [...new Map([...own.map((path) => [path]), ...ofNpm].map((words) => [words.join(' '), words])).values()]

describe('a script that is asked for --help', () => {
  it('is one of many', () => {
    expect(own.length).toBeGreaterThan(12)
    expect(ofNpm.length).toBeGreaterThan(12)
  })

  it.each(commands.map((words) => [words.join(' '), words] as const))('%s says how it is used, and does nothing', (_name, words) => {
    const runner = words.some((word) => word.endsWith('.mjs')) ? [] : [join(root, 'node_modules/tsx/dist/cli.mjs')]
    const { status, stdout, stderr } = spawnSync(process.execPath, [...runner, ...words, '--help'], { cwd: root, encoding: 'utf8' })
    expect([status, stdout, stderr]).toEqual([0, expect.stringMatching(/^usage: /i), ''])
  })
})
