import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { root } from '../meta/source-tree.ts'
import { startBroker } from './broker-process.ts'
import { ensureBuilt, mainJs } from './built.ts'
import { cli } from './cli-run.ts'

let folder = ''

/** The blocks of the page that are whole files: their first line is a comment with the name. */
function writeFilesOf(page: string): string[] {
  const text = readFileSync(join(root, page), 'utf8')
  return [...text.matchAll(/^```(?:js|yaml)\n(?:\/\/|#) ([a-z.-]+\.(?:mjs|yaml))\n([\s\S]*?)^```$/gm)].map(([, name, contents]) => {
    writeFileSync(join(folder, name!), contents!)
    return name!
  })
}

beforeAll(() => {
  ensureBuilt()
  folder = mkdtempSync(join(tmpdir(), 'millrace-docs-'))
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(root, join(folder, 'node_modules/millrace'))
  symlinkSync(join(root, 'node_modules/zod'), join(folder, 'node_modules/zod'))
}, 120_000)
afterAll(() => { rmSync(folder, { recursive: true, force: true }) })

it('the plugins of docs/plugins/writing-a-plugin.md run as they stand there', async () => {
  expect(writeFilesOf('docs/plugins/writing-a-plugin.md')).toEqual(['largest-logs.mjs', 'millrace.config.yaml', 'slow-log.mjs'])
  expect(await cli(['config', 'lint'], { cwd: folder })).toMatchObject({ code: 0, stderr: '' })

  writeFileSync(join(folder, 'both.yaml'), 'preset: memory\nplugins: [./largest-logs.mjs, ./slow-log.mjs]\nsettings: { largest-logs: { count: 1 }, slow-log: { slowMs: 0 } }\n')
  const broker = await startBroker(['--config', 'both.yaml', '--http', '127.0.0.1:0'], { cwd: folder })
  try {
    for (const [topic, value] of [['small', 'x'], ['large', 'x'.repeat(500)]] as const) {
      execFileSync(process.execPath, [mainJs, 'produce', topic, '--bootstrap', broker.bootstrap], { input: `${value}\n`, stdio: 'pipe' })
    }
    expect(await (await fetch(`http://${broker.http}/largest-logs`)).text()).toMatch(/^large-0 \d{3}\n$/)
  } finally {
    expect(await broker.end('SIGTERM')).toBe(0)
  }
  expect(broker.log()).toMatch(/"topic":"large","partition":0,"ms":[\d.e-]+,"msg":"a slow append"/)
})

/** What the compiler says of files in a folder of their own, in a strict project that has millrace installed. */
function compile(name: string, sources: Readonly<Record<string, string>>, options: object = {}): string {
  const project = join(folder, name)
  mkdirSync(project)
  for (const [file, text] of Object.entries(sources)) writeFileSync(join(project, file), text)
  const compilerOptions = { strict: true, module: 'nodenext', target: 'es2023', types: [], skipLibCheck: true, noEmit: true, ...options }
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }')
  const { stdout, error } = spawnSync(process.execPath, [join(root, 'node_modules/typescript-7/bin/tsc'), '-p', project], { encoding: 'utf8' })
  if (error !== undefined) throw error
  expect(readdirSync(project)).toEqual(expect.arrayContaining(Object.keys(sources)))
  return stdout
}

/** A block of the page by the name in its first line. */
function exampleOf(name: string): string {
  const page = readFileSync(join(root, 'docs/plugins/writing-a-plugin.md'), 'utf8')
  return page.split('```js\n').find((block) => block.startsWith(`// ${name}\n`))!.split('\n```')[0]!
}

const largestLogs = exampleOf('largest-logs.mjs')

it('the plugins that docs/plugins/writing-a-plugin.md begins with are strict TypeScript as they stand there', () => {
  expect(compile('strict', {
    'largest-logs.ts': largestLogs,
    'index.ts': exampleOf('acme-storage/index.js'),
    'acme-store.d.ts': `import type { Clock, Lifecycle, LogStore } from 'millrace/kernel'
export interface AcmeStore extends LogStore, Lifecycle {}
export declare class AcmeStore { constructor(config: { readonly url: string }, clock: Clock) }
`,
  })).toBe('')
})

it('the decorator of docs/plugins/writing-a-plugin.md passes the types of the ports, as JavaScript', () => {
  expect(compile('checked', { 'slow-log.mjs': exampleOf('slow-log.mjs') }, { allowJs: true, checkJs: true, noImplicitAny: false })).toBe('')
})

it('what a plugin makes has to be what it provides', () => {
  expect(compile('wrong', { 'largest-logs.ts': largestLogs.replace('\'GET\'', '\'GOT\'') })).toContain('Type \'"GOT"\' is not assignable')
  expect(compile('needs', { 'largest-logs.ts': largestLogs.replace('store.logs()', 'store.all()') })).toContain('Property \'all\' does not exist on type \'LogStore\'')
})
