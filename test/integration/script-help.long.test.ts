import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { root } from '../meta/source-tree.ts'
import { ensureBuilt } from './built.ts'

beforeAll(ensureBuilt, 120_000)

const isScript = (path: string): boolean => /process\.argv|scriptOptionsOrExit\(/.test(readFileSync(join(root, path), 'utf8'))
/** Parts of the others, and one that npm runs with a word for what it is to do. */
const leftOut = ['scripts/script-options.ts', 'scripts/worker-pool.ts', 'scripts/night.ts']
const own = readdirSync(join(root, 'scripts')).map((name) => `scripts/${name}`).filter((path) => !leftOut.includes(path) && isScript(path))
const benches = readdirSync(join(root, 'bench')).filter((name) => name.endsWith('.ts')).map((name) => `bench/${name}`)
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> }
const ofNpm = Object.values(scripts).filter((command) => command.startsWith('tsx ') || command.startsWith('node scripts/')).map((command) => command.replace(/^(tsx|node) /, '').split(' '))
const commands = [...new Map([...[...own, ...benches].map((path) => [path]), ...ofNpm].map((words) => [words.join(' '), words.filter((word) => word !== '--force')])).values()]
/** It hands on to vitest what it does not know itself. */
const handsOn = 'scripts/test-nodes.mjs'

/** In this process's Node, with one process less than `tsx` itself takes. */
function run(words: readonly string[], ...more: readonly string[]): Promise<{ readonly status: unknown, readonly stdout: string, readonly stderr: string }> {
  const [tsconfig, rest] = words[0] === '--tsconfig' ? [words[1], words.slice(2)] : [undefined, words]
  const env = tsconfig === undefined ? process.env : { ...process.env, TSX_TSCONFIG_PATH: join(root, tsconfig) }
  return new Promise((resolve) => {
    execFile(process.execPath, ['--import', 'tsx', ...rest, ...more], { cwd: root, env }, (error, stdout, stderr) => { resolve({ status: error?.code ?? 0, stdout, stderr }) })
  })
}

it('scripts are many', () => {
  expect(own.length).toBeGreaterThan(12)
  expect(benches.length).toBeGreaterThan(10)
  expect(ofNpm.length).toBeGreaterThan(12)
})

it.each(commands.map((words) => [words.join(' '), words] as const))('%s says how it is used where it is asked for --help, and refuses an option that it does not know with a sentence and 2', async (name, words) => {
  const [help, unknown] = await Promise.all([run(words, '--help'), name === handsOn ? undefined : run(words, '--nonsense')])
  expect(help).toEqual({ status: 0, stdout: expect.stringMatching(/^usage: /i) as string, stderr: '' })
  if (unknown !== undefined) expect(unknown).toEqual({ status: 2, stdout: '', stderr: expect.stringMatching(/^error: Unknown option '--nonsense'\n\nusage: /i) as string })
})

it('npm run fuzz refuses a target and a place in the corpus that are not there, with a sentence and 2', async () => {
  const [target, replay] = await Promise.all([run(['scripts/fuzz.ts'], '--target', 'nonsense'), run(['scripts/fuzz.ts'], '--replay', 'missing-file')])
  expect(target).toEqual({ status: 2, stdout: '', stderr: expect.stringMatching(/^error: --target nonsense: it takes one of all, codecs, .*\n\nUsage: /) as string })
  expect(replay).toEqual({ status: 2, stdout: '', stderr: expect.stringMatching(/^error: --replay missing-file: it takes the file of a corpus and a line of it, .*\n\nUsage: /) as string })
})
