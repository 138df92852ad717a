import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { root } from '../meta/source-tree.ts'
import { ensureBuilt, mainJs } from './built.ts'
import { cli, jsonOf, oneLine } from './cli-run.ts'

let folder = ''
beforeAll(() => {
  ensureBuilt()
  folder = mkdtempSync(join(tmpdir(), 'millrace-cli-'))
}, 120_000)
afterAll(() => { rmSync(folder, { recursive: true, force: true }) })

/** Nobody listens there. */
async function closedPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => { server.close(resolve) })
  return port
}

describe('wrong use is one line and exit code 2', () => {
  const cases: readonly (readonly [string, readonly string[], RegExp])[] = [
    ['a mistyped command', ['topc'], /MR_CLI_USAGE: unknown command 'topc' \(Did you mean topic\?\); `millrace --help` lists those there are$/],
    ['a command that is like none', ['frobnicate'], /MR_CLI_USAGE: unknown command 'frobnicate'; `millrace --help` lists those there are$/],
    ['a mistyped verb', ['topic', 'lst'], /MR_CLI_USAGE: unknown command 'lst' \(Did you mean list\?\); `millrace topic --help` lists those there are$/],
    ['a mistyped option', ['consume', 't', '--folow'], /MR_CLI_USAGE: unknown option '--folow' \(Did you mean --follow\?\); `millrace consume --help` shows what it takes$/],
    ['a missing argument', ['produce'], /MR_CLI_USAGE: missing required argument 'topic'; `millrace produce --help` shows what it takes$/],
    ['a wrong choice', ['produce', 't', '--acks', '2'], /MR_CLI_USAGE: .*Allowed choices are 0, 1, all; `millrace produce --help` shows what it takes$/],
    ['an argument too many', ['topic', 'list', 'orders'], /MR_CLI_USAGE: too many arguments for 'list'\. Expected 0 arguments but got 1; `millrace topic list --help` shows what it takes$/],
    ['a file that is not there', ['start', '--config', '/none.yaml'], /MR_CONFIG_FILE: configuration \/none\.yaml: there is no such file; correct its path$/],
    ['a number that is none', ['consume', 't', '--max', 'many'], /MR_CLI_USAGE: --max many: it takes a whole number/],
    ['a place that is none', ['consume', 't', '--from', 'yesterday'], /MR_CLI_USAGE: --from yesterday: it takes beginning, end/],
    ['a pair that is none', ['topic', 'create', 't', '--config', 'retention.ms'], /MR_CLI_USAGE: --config retention\.ms: write it as key=value/],
    ['an address that is none', ['topic', 'list', '--bootstrap', 'here'], /MR_CLI_USAGE: --bootstrap: "here" is not host:port; did you mean here:9092\?/],
    ['a command of later releases', ['tier', 'status'], /MR_CLI_NOT_AVAILABLE: millrace tier: this release does not have tiered storage yet/],
    ['another one', ['bench', 'produce', '--topic', 'x'], /MR_CLI_NOT_AVAILABLE: millrace bench/],
  ]
  it.each(cases)('%s', async (_what, args, message) => {
    const result = await cli(args, { bootstrap: '127.0.0.1:1' })
    expect([result.code, oneLine(result)]).toEqual([2, expect.stringMatching(message)])
  })

  it('client properties with a typo, with path and line', async () => {
    const path = join(folder, 'client.properties')
    writeFileSync(path, '# mine\nsecurity.protocl=SSL\n')
    const result = await cli(['topic', 'list', '--command-config', path])
    expect([result.code, oneLine(result)]).toEqual([2, `error MR_CONFIG_FILE: configuration ${path}: line 2: unknown client property security.protocl; did you mean security.protocol?`])
  })
})

describe('an address where no broker answers', () => {
  it('is named, with a remedy, well within a minute', async () => {
    const bootstrap = `127.0.0.1:${await closedPort()}`
    const commands = [['topic', 'list'], ['produce', 't'], ['consume', 't'], ['cluster', 'status']]
    for (const result of await Promise.all(commands.map((args) => cli(args, { bootstrap, input: 'x\n' })))) {
      expect([result.code, oneLine(result)]).toEqual([1, `error MR_CLIENT_NO_BROKERS: none of ${bootstrap} can be reached: nobody listens there; start a broker with \`millrace start\`, or name another with --bootstrap HOST:PORT`])
    }
  })

  it('that speaks another protocol is said to', async () => {
    const server = createServer((socket) => { socket.on('error', () => undefined).end('HTTP/1.1 400 Bad Request\r\n\r\n') })
    await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
    const result = await cli(['topic', 'list', '--bootstrap', `127.0.0.1:${(server.address() as AddressInfo).port}`])
    server.close()
    expect([result.code, oneLine(result)]).toEqual([1, expect.stringMatching(/does not speak the Kafka protocol; is it a port for TLS .* or HTTP\?/)])
  })
})

describe('config', () => {
  it('print shows every setting with value and source, and as JSON what each means', async () => {
    writeFileSync(join(folder, 'millrace.config.yaml'), 'preset: memory\nbroker:\n  num.partitions: 8\n')
    const args = ['config', 'print', '--set', 'log.retention.ms=5000']
    const text = (await cli(args, { cwd: folder })).stdout
    expect(text).toMatch(/^configuration file: .*millrace\.config\.yaml\n/)
    expect(text).toMatch(/^num\.partitions +8 +file$/m)
    expect(text).toMatch(/^log\.retention\.ms +5000 +command line$/m)
    const json = jsonOf(await cli([...args, '-o', 'json'], { cwd: folder })) as { broker: { name: string, doc: string }[], plugins: { doc: string }[] }
    expect(json.broker).toContainEqual(expect.objectContaining({ name: 'num.partitions', value: '8', source: 'file', effect: 'works', type: 'int' }))
    expect(json.broker.length).toBeGreaterThan(100)
    const page = readFileSync(join(root, 'docs/config.md'), 'utf8').split('\n## Brokers\n')[1]!.split('\n## Plugins\n')[0]!
    const listed = [...page.matchAll(/^\| `([^`]+)`/gm)].map((found) => found[1]!)
    expect(json.broker.map((each) => each.name)).toEqual(listed.sort())
    expect(Number(/^(\d+) settings/m.exec(page)?.[1])).toBe(json.broker.length)
    const all = /^broker setting .*\n([^]*?)\n\nplugin and setting /m.exec((await cli([...args, '--all'], { cwd: folder })).stdout)![1]!
    expect(all.split('\n')).toHaveLength(json.broker.length)
    expect([...json.broker, ...json.plugins].filter((each) => each.doc.length < 10)).toEqual([])
  })

  it('print begins with the preset and the plugins: what each does, where it comes from, what it replaces, and what is left out', async () => {
    const at = join(folder, 'composed')
    mkdirSync(at)
    const head = `import { z } from '${import.meta.resolve('zod')}'\n`
    const plugin = "export const plugin = { name: 'my-http', contract: 1, summary: 'My own pages.', config: z.object({ color: z.string().default('red').describe('Of the pages.') }), register() {} }\n"
    writeFileSync(join(at, 'my.mjs'), head + plugin)
    writeFileSync(join(at, 'millrace.config.yaml'), 'plugins: [{ use: ./my.mjs, instead: admin-http }]\nwithout: [retention]\nsettings:\n  my-http: { color: blue }\n')
    const text = (await cli(['config', 'print', '--preset', 'memory', '--log-level', 'error'], { cwd: at })).stdout
    expect(text).toMatch(/^configuration file: .*\npreset: memory \(command line\)\n\nplugin +source +what it does\nplatform +default +This machine/)
    expect(text).toMatch(/^storage-memory +preset +Keeps partition logs in memory.*$/m)
    expect(text).toMatch(/^my-http \(\.\/my\.mjs\) +file +My own pages\. In place of admin-http\.$/m)
    expect(text).toMatch(/^retention +file +Left out\.$/m)
    expect(text).toMatch(/^ {2}color +"blue" +file +Of the pages\.$/m)
    expect(text).toMatch(/^ {2}logLevel +"error" +command line /m)
    const { composition, plugins } = jsonOf(await cli(['config', 'print', '-o', 'json'], { cwd: at })) as { composition: { plugins: object[] }, plugins: object[] }
    expect(composition).toMatchObject({ preset: { name: 'single-node', source: 'default' }, without: [{ name: 'retention', source: 'file' }] })
    expect(composition.plugins).toContainEqual({ name: 'my-http', summary: 'My own pages.', source: 'file', use: './my.mjs', instead: 'admin-http' })
    expect(plugins).toContainEqual({ plugin: 'my-http', key: 'color', doc: 'Of the pages.', value: 'blue', source: 'file' })
    writeFileSync(join(at, 'my.mjs'), "export const plugin = { name: 'my-http', contract: 1, summary: 'My own pages.', register() {} }\n")
    const unusable = await cli(['config', 'print'], { cwd: at })
    expect([unusable.code, oneLine(unusable)]).toEqual([expect.any(Number), 'error MR_HOST_PLUGIN_INVALID: plugin my-http is not usable: it needs a zod object as `config`, which is z.object({}) where it has no settings'])
  })

  it('lint of a good file says so; of a bad one names what is wrong', async () => {
    const good = join(folder, 'good.config.json')
    writeFileSync(good, '{"preset":"memory"}')
    expect(await cli(['config', 'lint', good])).toMatchObject({ code: 0, stdout: expect.stringMatching(/good\.config\.json: ok, \d+ plugins\n$/), stderr: '' })
    const bad: readonly (readonly [string, RegExp])[] = [
      ['{"lisen":"127.0.0.1:0"}', /unknown setting lisen; did you mean listen\?/],
      ['{"preset":"memory","broker":{"num.partition":3}}', /unknown setting num\.partition; did you mean num\.partitions\?/],
      ['{"preset":"memory","broker":{"num.partitions":"three"}}', /MR_CONFIG_INVALID: .*bad\.config\.json: invalid value three for num\.partitions/],
      ['{"preset":"memory","settings":{"observability":{"loglevel":"info"}}}', /MR_HOST_SETTING: .*: plugin observability, setting loglevel: unknown; did you mean logLevel\?/],
      ['{', /MR_CONFIG_FILE: configuration .*bad\.config\.json: it cannot be read: /],
    ]
    for (const [text, message] of bad) {
      const path = join(folder, 'bad.config.json')
      writeFileSync(path, text)
      const result = await cli(['config', 'lint', path])
      expect([text, result.code, oneLine(result)]).toEqual([text, 2, expect.stringMatching(message)])
    }
  })

  it('a file that says nothing that can be used is refused as such: names of JavaScript, circles, and what never comes', async () => {
    const bad: readonly (readonly [string, string, RegExp])[] = [
      ['json', '{"toString":1}', /MR_CONFIG_UNKNOWN: .*odd\.config\.json: unknown setting toString/],
      ['json', '{"broker":{"toString":1}}', /unknown setting toString/],
      ['json', '{"broker":{"constructor":1}}', /unknown setting constructor/],
      ['yaml', 'broker: &x {y: *x}\n', /MR_CONFIG_\w+: .*broker/],
      ['mjs', 'export default { nodeId: 5n }\n', /invalid value 5n for nodeId/],
    ]
    for (const [ending, text, message] of bad) {
      const path = join(folder, `odd.config.${ending}`)
      writeFileSync(path, text)
      const result = await cli(['config', 'lint', path])
      expect([text, result.code, oneLine(result)]).toEqual([text, 2, expect.stringMatching(message)])
    }
    const path = join(folder, 'never.config.mjs')
    writeFileSync(path, 'await new Promise(() => {})\nexport default {}\n')
    const never = await cli(['config', 'lint', path])
    expect([never.code, oneLine(never)]).toEqual([1, expect.stringMatching(/^error MR_CLI_UNEXPECTED: the command waits for something that can not happen any more/)])
  })

  it('output that cannot be written, and input that is a directory, are errors', () => {
    if (!existsSync('/dev/full')) return
    const shell = (command: string) => spawnSync('bash', ['-c', command], { encoding: 'utf8' })
    const full = shell(`'${process.execPath}' '${mainJs}' config print --all > /dev/full`)
    expect([full.status, full.stderr]).toEqual([1, expect.stringMatching(/^error MR_FILE_FAILED: write standard output: .*ENOSPC.*\n$/)])
    const input = shell(`'${process.execPath}' '${mainJs}' produce t --bootstrap 127.0.0.1:1 < /tmp`)
    expect([input.status, input.stderr]).toEqual([1, 'error MR_FILE_FAILED: read standard input: it is a directory\n'])
  })

  it('a file that imports millrace where it is not installed says so, and what needs no import', async () => {
    for (const ending of ['mjs', 'ts']) {
      const path = join(folder, `lonely.config.${ending}`)
      writeFileSync(path, "import { defineConfig } from 'millrace'\nexport default defineConfig({ preset: 'memory' })\n")
      const result = await cli(['config', 'lint', path])
      expect([ending, result.code, oneLine(result)]).toEqual([ending, 2, expect.stringMatching(/MR_CONFIG_FILE: .*lonely\.config\.\w+: it cannot be read: .*; install millrace in the folder of the file or in one above it, or use .*\.json or \.yaml$/)])
    }
  })

  it('lint without a name checks the one of the folder, and says where there is none', async () => {
    const here = join(folder, 'here')
    mkdirSync(here)
    const none = await cli(['config', 'lint'], { cwd: here })
    expect([none.code, oneLine(none)]).toEqual([2, expect.stringMatching(/^error MR_CLI_USAGE: there is no millrace\.config\.ts, .* in this folder; name a file$/)])
    writeFileSync(join(here, 'millrace.config.yaml'), 'preset: memory\n')
    expect(await cli(['config', 'lint'], { cwd: here })).toMatchObject({ code: 0, stdout: expect.stringContaining('millrace.config.yaml: ok') })
  })

  it('lint names all that is wrong, a line each or in one object, and each warning once', async () => {
    const path = join(folder, 'wrong.config.yaml')
    writeFileSync(path, 'preset: memory\nlisen: 127.0.0.1:0\nsettings:\n  observability: { num.partitions: 3 }\nbroker:\n  num.io.threads: 9\n')
    const text = await cli(['config', 'lint', path])
    expect([text.code, text.stdout, text.stderr.trimEnd().split('\n')]).toEqual([2, '', [
      `error MR_CONFIG_UNKNOWN: ${path}: unknown setting lisen; did you mean listen?`,
      `error MR_HOST_SETTING: ${path}: plugin observability, setting num.partitions: unknown; it is a setting of the broker: put it under \`broker:\``,
      `warning: ${path}: num.io.threads has no effect here: the data path runs on one event loop, without pools of threads`,
    ]])
    const json = await cli(['config', 'lint', path, '-o', 'json'])
    expect([json.code, json.stderr, jsonOf(json)]).toEqual([2, '', {
      config: path, ok: false, warnings: [expect.stringContaining('num.io.threads has no effect here')],
      errors: [
        { file: path, key: 'lisen', code: 'MR_CONFIG_UNKNOWN', message: 'unknown setting lisen; did you mean listen?', suggestion: 'did you mean listen?' },
        { file: path, key: 'settings.observability.num.partitions', code: 'MR_HOST_SETTING', message: expect.any(String), suggestion: 'it is a setting of the broker: put it under `broker:`' },
      ],
    }])
  })
})
