import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, mkdirSync, writeFileSync } from 'node:fs'
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
