import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { root } from '../meta/source-tree.ts'
import { ensureBuilt } from './built.ts'
import { startBroker } from './broker-process.ts'

beforeAll(() => { ensureBuilt() }, 120_000)

const readme = readFileSync(join(root, 'README.md'), 'utf8')
const blocks = (language: string): string[] => [...readme.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map((found) => found[1]!)

interface Step {
  readonly command: string
  readonly output: string
}

function steps(block: string): Step[] {
  return block.split(/^\$ /m).slice(1).map((text) => {
    const end = text.indexOf('\n')
    return { command: text.slice(0, end), output: text.slice(end + 1) }
  })
}

/** What differs from run to run: times, ids, and a port that stands for 9092. */
const alike = (text: string): string => text.replaceAll(/\d+(\.\d+)? m?s\b/g, 'N ms').replaceAll(/\b[\w-]{22}\b/g, 'ID').replaceAll(/127\.0\.0\.1:\d+ */g, '127.0.0.1:PORT ').replaceAll(/address +/g, 'address ')

/** Runs a command as the README's reader would: in this folder, after the alias that comes first. */
function shell(alias: string, command: string, env: Readonly<Record<string, string>>): Promise<string> {
  const child = spawn('bash', ['-c', `shopt -s expand_aliases\n${alias}\n${command}`], { cwd: root, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => { output += text })
  return new Promise((resolve) => { child.once('close', () => { resolve(output) }) })
}

it('the README\'s transcript is what its commands print', async () => {
  const [starting, using] = blocks('console')
  const cwd = mkdtempSync(join(tmpdir(), 'millrace-readme-'))
  const broker = await startBroker([], { cwd })
  try {
    expect(alike(steps(starting!)[0]!.output)).toBe(alike(`millrace ready kafka=${broker.bootstrap} http=${broker.http} node=1 in ${broker.readyMs} ms\n`))
    const [alias, ...commands] = steps(using!)
    expect(alias!.command).toMatch(/^alias millrace=/)
    for (const { command, output } of commands) {
      const printed = await shell(alias!.command, command.replace('127.0.0.1:9080', broker.http), { MILLRACE_BOOTSTRAP: broker.bootstrap })
      expect(`$ ${command}\n${alike(printed).trimEnd()}`).toBe(`$ ${command}\n${alike(output).trimEnd()}`)
    }
  } finally {
    await broker.end('SIGTERM')
    rmSync(cwd, { recursive: true, force: true })
  }
})

it('the README\'s program runs and prints what was sent', async () => {
  const [source] = blocks('js')
  const child = spawn(process.execPath, ['--input-type=module', '-e', source!], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => { output += text })
  const code = await new Promise((resolve) => { child.once('close', resolve) })
  expect([code, output]).toEqual([0, 'alice one\n'])
})
