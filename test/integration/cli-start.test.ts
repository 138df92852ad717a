import { spawn, type ChildProcess } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { root } from '../meta/source-tree.ts'
import { ensureBuilt, mainJs } from './built.ts'
import { startBroker } from './broker-process.ts'
import { cli } from './cli-run.ts'

let folder = ''
beforeAll(() => {
  ensureBuilt()
  folder = mkdtempSync(join(tmpdir(), 'millrace-start-'))
}, 120_000)
afterAll(() => { rmSync(folder, { recursive: true, force: true }) })

const anywhere = ['--listen', '127.0.0.1:0', '--http', 'off'] as const

interface Ended {
  readonly code: number | null
  readonly stdout: string
  /** Lines of standard error that are not the JSON of the log. */
  readonly errors: readonly string[]
}

function ended(child: ChildProcess): Promise<Ended> {
  let stdout = ''
  let stderr = ''
  child.stdout!.setEncoding('utf8').on('data', (text: string) => { stdout += text })
  child.stderr!.setEncoding('utf8').on('data', (text: string) => { stderr += text })
  return new Promise((resolve) => {
    child.once('close', (code) => { resolve({ code, stdout, errors: stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{')) }) })
  })
}

async function failedStart(...args: readonly string[]): Promise<Ended> {
  const { code, stdout, stderr } = await cli(['start', ...args], { cwd: folder })
  return { code, stdout, errors: stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{')) }
}

async function occupiedPort(): Promise<{ server: Server, port: number }> {
  const server = createServer()
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
  return { server, port: (server.address() as AddressInfo).port }
}

describe('start', () => {
  it('says with -o json in one object when clients may connect', async () => {
    const child = spawn(process.execPath, [mainJs, 'start', '--preset', 'memory', '-o', 'json', '--listen', '127.0.0.1:0', '--http', 'off', '--no-warm-up'], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
    const end = ended(child)
    const ready = await new Promise<string>((resolve) => { child.stdout.once('data', (text: string) => { resolve(text) }) })
    expect(JSON.parse(ready)).toEqual({ ready: true, kafka: expect.stringMatching(/^127\.0\.0\.1:\d+$/), http: null, nodeId: 1, readyMs: expect.any(Number) })
    child.kill('SIGTERM')
    expect(await end).toMatchObject({ code: 0, stdout: ready })
  })

  it('refuses one address for both protocols, and a data directory that is a broken link, with what to do', async () => {
    const both = await failedStart('--listen', '127.0.0.1:19099', '--http', '127.0.0.1:19099')
    expect(both).toEqual({ code: 2, stdout: '', errors: [expect.stringMatching(/^error MR_CONFIG_INVALID: .*http: the Kafka protocol listens there already/)] })
    symlinkSync('nowhere', join(folder, 'broken'))
    expect(await failedStart('--data', 'broken', ...anywhere)).toMatchObject({ code: 1, errors: [expect.stringMatching(/broken: it is a link that leads nowhere; correct the link/)] })
  })

  it('prints one line on standard output when clients may connect, and the log as JSON on standard error', async () => {
    const child = spawn(process.execPath, [mainJs, 'start', '--data', join(folder, 'one'), '--listen', '127.0.0.1:0', '--http', '127.0.0.1:0', '--node-id', '5'], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
    const end = ended(child)
    const ready = await new Promise<string>((resolve) => { child.stdout.once('data', (text: string) => { resolve(text) }) })
    const found = /^millrace ready kafka=(127\.0\.0\.1:\d+) http=(127\.0\.0\.1:\d+) node=5 in \d+ ms\n$/.exec(ready)
    expect(found).not.toBeNull()
    expect((await cli(['topic', 'create', 'x'], { bootstrap: found![1]! })).code).toBe(0)
    expect((await fetch(`http://${found![2]!}/readyz`)).status).toBe(200)
    child.kill('SIGTERM')
    expect(await end).toEqual({ code: 0, stdout: ready, errors: ['millrace: SIGTERM, stopping (again to end at once)'] })
  })

  it('runs as `npm start`, with options behind two dashes', async () => {
    const child = spawn('npm', ['start', '--silent', '--', '--data', join(folder, 'npm'), '--listen', '127.0.0.1:0', '--http', 'off'], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    const end = ended(child)
    try {
      const ready = await new Promise<string>((resolve) => { child.stdout.once('data', (text: string) => { resolve(text) }) })
      const found = /^millrace ready kafka=(127\.0\.0\.1:\d+) http=off node=1 in \d+ ms\n$/.exec(ready)
      expect(found, ready).not.toBeNull()
      expect((await cli(['topic', 'create', 'x'], { bootstrap: found![1]! })).code).toBe(0)
    } finally {
      // npm, its shell and the broker: of a signal to npm alone the shell between them may tell the broker nothing.
      process.kill(-child.pid!, 'SIGKILL')
      await end
    }
    expect(existsSync(join(folder, 'npm', 'x-0'))).toBe(true)
  })

  it('keeps data in ./data, and finds it again after SIGTERM', async () => {
    const cwd = join(folder, 'home')
    mkdirSync(cwd)
    const first = await startBroker([], { cwd })
    expect((await cli(['topic', 'create', 'kept', '--partitions', '2'], { bootstrap: first.bootstrap })).code).toBe(0)
    expect((await cli(['produce', 'kept', '--key-separator', ':'], { bootstrap: first.bootstrap, input: 'a:1\nb:2\nc:3\n' })).code).toBe(0)
    expect(await first.end('SIGTERM')).toBe(0)
    expect(existsSync(join(cwd, 'data/kept-0'))).toBe(true)
    const second = await startBroker([], { cwd })
    const { stdout } = await cli(['consume', 'kept', '--print-key'], { bootstrap: second.bootstrap })
    expect(stdout.trimEnd().split('\n').sort()).toEqual(['a\t1', 'b\t2', 'c\t3'])
    expect(await second.end('SIGINT')).toBe(0)
  })

  it('stops within ten seconds while clients are connected and wait', async () => {
    const broker = await startBroker(['--preset', 'memory'])
    await cli(['topic', 'create', 'waited'], { bootstrap: broker.bootstrap })
    const consumer = spawn(process.execPath, [mainJs, 'consume', 'waited', '--follow', '--from', 'beginning', '--bootstrap', broker.bootstrap], { stdio: ['ignore', 'pipe', 'ignore'] })
    await cli(['produce', 'waited'], { bootstrap: broker.bootstrap, input: 'x\n' })
    await new Promise((resolve) => { consumer.stdout.once('data', resolve) })
    const asked = performance.now()
    expect(await broker.end('SIGTERM')).toBe(0)
    expect(performance.now() - asked).toBeLessThan(10_000)
    const end = new Promise((resolve) => { consumer.once('close', resolve) })
    consumer.kill('SIGINT')
    await end
  })

  it('told to stop while it starts, stops and says that it is no failure', async () => {
    const child = spawn(process.execPath, [mainJs, 'start', ...anywhere, '--data', join(folder, 'early')], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
    const end = ended(child)
    // The first line of the log comes before the broker is ready.
    child.stderr.once('data', () => { child.kill('SIGTERM') })
    expect(await end).toMatchObject({ code: 0, errors: [expect.stringContaining('SIGTERM')] })
  })
})

describe('a start that cannot be is one line, and nothing on standard output', () => {
  it('port in use', async () => {
    const { server, port } = await occupiedPort()
    const kafka = await failedStart('--listen', `127.0.0.1:${port}`, '--http', 'off', '--data', join(folder, 'port'))
    const http = await failedStart('--listen', '127.0.0.1:0', '--http', `127.0.0.1:${port}`, '--data', join(folder, 'port'))
    server.close()
    const line = `error MR_NET_ADDRESS_IN_USE: 127.0.0.1:${port} is in use by another process; stop it or choose another port`
    expect([kafka, http]).toEqual([{ code: 1, stdout: '', errors: [line] }, { code: 1, stdout: '', errors: [line] }])
  })

  it('data directory in use by another broker, which goes on', async () => {
    const data = join(folder, 'shared')
    const broker = await startBroker(['--data', data])
    const second = await failedStart(...anywhere, '--data', data)
    expect(second).toEqual({ code: 1, stdout: '', errors: [expect.stringMatching(/^error MR_LOG_DIRECTORY_LOCKED: .*shared.* is in use by another broker process/)] })
    expect((await cli(['topic', 'create', 'x'], { bootstrap: broker.bootstrap })).code).toBe(0)
    expect(await broker.end('SIGTERM')).toBe(0)
  })

  it('a directory that cannot be made, and a file in its place', async () => {
    writeFileSync(join(folder, 'a-file'), 'x')
    expect(await failedStart(...anywhere, '--data', join(folder, 'a-file'))).toEqual({ code: 1, stdout: '', errors: [expect.stringMatching(/^error MR_\w+: .*a-file/)] })
    expect(await failedStart(...anywhere, '--data', join(folder, 'a-file/inside'))).toEqual({ code: 1, stdout: '', errors: [expect.stringMatching(/^error MR_\w+: .*a-file\/inside/)] })
  })

  it.skipIf(process.platform !== 'linux')('a read-only directory', async () => {
    const data = join(folder, 'read-only')
    mkdirSync(data)
    chmodSync(data, 0o555)
    chmodSync(folder, 0o755)
    // Root may write anywhere, so it is somebody else.
    const uid = process.getuid!() === 0 ? 65_534 : process.getuid!()
    const child = spawn(process.execPath, [mainJs, 'start', ...anywhere, '--data', data], { cwd: '/', stdio: ['ignore', 'pipe', 'pipe'], uid })
    expect(await ended(child)).toEqual({ code: 1, stdout: '', errors: [expect.stringMatching(/^error MR_FILE_DENIED: .*read-only.*permission denied or read-only/)] })
  })

  it('a node id that the directory does not have', async () => {
    const data = join(folder, 'node')
    const broker = await startBroker(['--data', data, '--node-id', '1'])
    await broker.end('SIGTERM')
    expect(await failedStart(...anywhere, '--data', data, '--node-id', '2')).toEqual({ code: 1, stdout: '', errors: [expect.stringMatching(/^error MR_CLUSTER_NODE_MISMATCH: .*written by node 1, not by node 2/)] })
  })

  const wrong: readonly (readonly [string, readonly string[], RegExp])[] = [
    ['a mistyped setting', ['--set', 'num.partition=3'], /MR_CONFIG_UNKNOWN: .*did you mean num\.partitions\?/],
    ['a setting that is no number', ['--set', 'num.partitions=many'], /MR_CONFIG_INVALID: .*num\.partitions/],
    ['an address that is none', ['--listen', '127.0.0.1'], /MR_CLI_USAGE: --listen 127\.0\.0\.1: write it as HOST:PORT/],
    ['a configuration that is not there', ['--config', 'none.yaml'], /MR_CONFIG_FILE: .*none\.yaml: there is no such file/],
    ['a preset that is none', ['--preset', 'cluster'], /MR_CLI_USAGE: --preset cluster: there are single-node and memory/],
    ['several brokers', ['--voters', '1@a:1,2@b:1'], /MR_CLI_USAGE: --voters: clusters of several brokers are not available yet/],
    ['the whole network without authentication', ['--listen', '0.0.0.0:0'], /MR_NET_INSECURE: listening on 0\.0\.0\.0/],
    ['HTTP for the whole network', ['--listen', '127.0.0.1:0', '--http', '0.0.0.0:0'], /MR_NET_INSECURE: listening on 0\.0\.0\.0/],
  ]
  it.each(wrong)('%s (exit code 2)', async (what, args, message) => {
    expect(await failedStart('--data', join(folder, 'wrong', what.replaceAll(' ', '-')), ...args)).toEqual({ code: 2, stdout: '', errors: [expect.stringMatching(message)] })
  })

  it('a configuration with a typo, named with its file', async () => {
    const path = join(folder, 'typo.config.yaml')
    writeFileSync(path, 'datta: elsewhere\n')
    expect(await failedStart('--config', path)).toEqual({ code: 2, stdout: '', errors: [`error MR_CONFIG_UNKNOWN: ${path}: unknown setting datta; did you mean data?`] })
  })
})

it('config lint leaves nothing behind', async () => {
  const cwd = join(folder, 'lint')
  mkdirSync(cwd)
  writeFileSync(join(cwd, 'millrace.config.json'), '{}')
  expect((await cli(['config', 'lint', 'millrace.config.json'], { cwd })).code).toBe(0)
  expect(readdirSync(cwd)).toEqual(['millrace.config.json'])
})

it('log inspect reads what a broker wrote', async () => {
  const data = join(folder, 'inspected')
  const broker = await startBroker(['--data', data])
  await cli(['topic', 'create', 't'], { bootstrap: broker.bootstrap })
  await cli(['produce', 't', '--key-separator', ':'], { bootstrap: broker.bootstrap, input: 'a:1\nb:2\n' })
  await broker.end('SIGTERM')
  const { code, stdout } = await cli(['log', 'inspect', join(data, 't-0'), '--records'])
  expect([code, stdout]).toEqual([0, expect.stringMatching(/0 – 1 .* 2 records .*crc ok\n.*"a" → "1"\n.*"b" → "2"\n/)])
})

it('a file in the place of the data directory is refused for what it is', async () => {
  writeFileSync(join(folder, 'a-file'), '')
  const { code, errors } = await failedStart('--data', 'a-file', ...anywhere)
  expect([code, errors]).toEqual([1, ['error MR_FILE_FAILED: make directory a-file: a file is in its place; name another data directory']])
})

it('a port without TLS is named as what it may be to who asks it for TLS', async () => {
  const broker = await startBroker(['--preset', 'memory'])
  const properties = join(folder, 'tls.properties')
  writeFileSync(properties, 'security.protocol=SSL\n')
  const { code, stderr } = await cli(['topic', 'list', '--command-config', properties], { bootstrap: broker.bootstrap })
  await broker.end('SIGTERM')
  expect([code, stderr]).toEqual([1, expect.stringMatching(/does that port speak TLS\? security\.protocol in --command-config says so\n$/)])
})
