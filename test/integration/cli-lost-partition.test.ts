import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startBroker, type BrokerProcess } from './broker-process.ts'
import { ensureBuilt, mainJs } from './built.ts'
import { cli as run, jsonOf, type CliResult } from './cli-run.ts'

let broker: BrokerProcess
const data = mkdtempSync(join(tmpdir(), 'millrace-lost-'))
beforeAll(async () => {
  ensureBuilt()
  broker = await startBroker(['--data', data])
  await cli('topic', 'create', 'load', '--partitions', '3')
  for (const partition of ['0', '2']) await run(['produce', 'load', '--partition', partition], { bootstrap: broker.bootstrap, input: 'a\nb\n' })
  await broker.end('SIGTERM')
  rmSync(join(data, 'load-2'), { recursive: true })
  broker = await startBroker(['--data', data])
}, 120_000)
afterAll(async () => {
  await broker.end('SIGTERM')
  rmSync(data, { recursive: true, force: true })
})

const cli = (...args: readonly string[]): Promise<CliResult> => run(args, { bootstrap: broker.bootstrap })

describe('where the log of one partition is lost', () => {
  it('cluster status names it and ends with 1', async () => {
    const { code, stdout, stderr } = await cli('cluster', 'status')
    expect(code).toBe(1)
    expect(stdout).toContain('not all well')
    expect(stderr).toContain('load-2 is not served: its replicas on broker 1 are offline')
    expect(jsonOf(await cli('cluster', 'status', '-o', 'json'))).toMatchObject({ leaderless: 1, underReplicated: 1, notServed: [{ topic: 'load', partition: 2 }] })
  })

  it('topic describe shows the others at once, a note for it, and ends with 1', async () => {
    const { code, stdout } = await cli('topic', 'describe', 'load')
    expect(code).toBe(1)
    expect(stdout).toMatch(/^ +0 +1 +\d+ +1 +1 +0 +2 +2 /m)
    expect(stdout).toMatch(/^ +2 +none +\d+ +1 +none +- +- +- +-$/m)
    expect(stdout).toContain('not served: partition 2: its replicas on broker 1 are offline')
  })

  it('consume says why it waits', async () => {
    const child = spawn(process.execPath, [mainJs, 'consume', 'load', '--partition', '2', '--bootstrap', broker.bootstrap], { stdio: ['ignore', 'ignore', 'pipe'] })
    const ended = new Promise((resolve) => { child.once('exit', resolve) })
    let said = ''
    for await (const text of child.stderr.setEncoding('utf8') as AsyncIterable<string>) {
      said += text
      if (said.includes('\n')) break
    }
    child.kill('SIGKILL')
    await ended
    expect(said).toMatch(/^warning: load-2 has no leader and cannot be used; .*offline: 1;.*; trying again$/m)
  })
})
