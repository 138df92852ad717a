import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { root } from '../meta/source-tree.ts'
import { ensureBuilt } from './built.ts'
import { startBroker } from './broker-process.ts'
import { cli } from './cli-run.ts'

/** A package that a third party wrote, in the words of docs/plugins/writing-a-plugin.md and nothing else. */
const acmeTelemetry = `
import { definePlugin } from 'millrace'
import { Logger, Metrics, LogSink } from 'millrace/kernel'
import { z } from 'zod'

class AcmeLogger {
  constructor(sink, tag) { this.sink = sink; this.tag = tag }
  debug() {}
  info(message) { this.sink.write(this.tag + ' info ' + message + '\\n') }
  warn(message) { this.sink.write(this.tag + ' warn ' + message + '\\n') }
  error(message) { this.sink.write(this.tag + ' error ' + message + '\\n') }
  child() { return this }
}
export const plugin = definePlugin({
  name: 'acme-telemetry', contract: 1, summary: 'Logs as ACME likes them.',
  provides: [Logger, Metrics], requires: [LogSink],
  config: z.object({ tag: z.string().describe('What each line begins with.') }),
  register({ provide }, config) {
    provide([Logger], [LogSink], (sink) => new AcmeLogger(sink, config.tag))
    const none = { add() {}, observe() {} }
    provide([Metrics], [], () => ({ counter: () => none, histogram: () => none, forget() {}, gauge() {}, counted() {} }))
  },
})
`

const acmeAudit = `
import { definePlugin } from 'millrace'
import { LogStore, Logger } from 'millrace/kernel'
import { z } from 'zod'

export const plugin = definePlugin({
  name: 'acme-audit', contract: 1, summary: 'Says which logs are made.',
  decorates: [{ port: LogStore, order: 1 }], requires: [Logger], config: z.object({}),
  register({ decorate }) {
    decorate(LogStore, [Logger], (inner, logger) => new Proxy(inner, {
      get(target, name) {
        if (name === 'create') return (id, settings) => { logger.info('audit: ' + id.topic + '-' + id.partition); return target.create(id, settings) }
        const value = target[name]
        return typeof value === 'function' ? value.bind(target) : value
      },
    }))
  },
})
`

/** A log store in the words of the same page: it declares nothing of an identity, and keeps none. */
const acmeStore = `
import { definePlugin } from 'millrace'
import { plugin as inner } from 'millrace/plugins/storage-memory'

export const plugin = definePlugin({ ...inner, name: 'acme-store', summary: 'Logs in ACME.', capabilities: { durable: true, compaction: true } })
`

let folder = ''

function writePackage(name: string, source: string): string {
  const at = join(folder, 'packages', name)
  mkdirSync(at, { recursive: true })
  // As docs/plugins/writing-a-plugin.md shows it.
  const manifest = /^```json\n([\s\S]*?)^```$/m.exec(readFileSync(join(root, 'docs/plugins/writing-a-plugin.md'), 'utf8'))![1]!
  writeFileSync(join(at, 'package.json'), JSON.stringify({ ...JSON.parse(manifest) as object, name }))
  writeFileSync(join(at, 'index.js'), source)
  return at
}

beforeAll(() => {
  ensureBuilt()
  folder = mkdtempSync(join(tmpdir(), 'millrace-third-party-'))
  const packages = [writePackage('acme-telemetry', acmeTelemetry), writePackage('acme-audit', acmeAudit)]
  mkdirSync(join(folder, 'app'))
  writeFileSync(join(folder, 'app/package.json'), '{"name":"app","private":true}')
  // --install-links packs and copies the packages as a registry would; the checkout itself and zod are linked.
  execFileSync('npm', ['install', '--offline', '--no-audit', '--no-fund', '--ignore-scripts', '--install-links', '--legacy-peer-deps', ...packages], { cwd: join(folder, 'app'), stdio: 'pipe' })
  execFileSync('ln', ['-s', root, join(folder, 'app/node_modules/millrace')])
  execFileSync('ln', ['-s', join(root, 'node_modules/zod'), join(folder, 'app/node_modules/zod')])
}, 60_000)

afterAll(() => { rmSync(folder, { recursive: true, force: true }) })

const config = (text: string): string => {
  const path = join(folder, 'app', 'millrace.config.yaml')
  writeFileSync(path, text)
  return path
}

describe('packages of third parties', () => {
  it.each(['memory', 'single-node'])('one named in the configuration replaces a plugin of ours in the preset %s, and another decorates a port', async (preset) => {
    config(`preset: ${preset}\ndata: ${join(folder, 'data')}\n` + 'plugins:\n  - use: acme-telemetry\n    instead: observability\n  - acme-audit\nsettings:\n  acme-telemetry:\n    tag: ACME\n')
    const broker = await startBroker([], { cwd: join(folder, 'app') })
    try {
      execFileSync(process.execPath, [join(root, 'dist/cli/main.js'), 'topic', 'create', 'orders', '--partitions', '2', '--bootstrap', broker.bootstrap])
    } finally {
      expect(await broker.end('SIGTERM')).toBe(0)
    }
    expect(broker.log()).toMatch(/^ACME info audit: orders-0$/m)
    expect(broker.log()).toMatch(/^ACME info audit: orders-1$/m)
    expect(broker.log()).not.toMatch(/"level":/)
    expect(broker.log()).toMatch(/^ACME info the broker has stopped in order$/m)
  })

  it.each(['storage-memory', './acme-store.mjs'])('%s in place of storage-local starts again after SIGTERM and after kill -9, is of the same cluster, and has its topics', async (store) => {
    writeFileSync(join(folder, 'app', 'acme-store.mjs'), acmeStore)
    const data = join(folder, `data-of-${store.replace(/\W/g, '')}`)
    config(`data: ${data}\nbroker:\n  durability: os\nplugins:\n  - use: ${store}\n    instead: storage-local\n`)
    const run = async (bootstrap: string, ...args: readonly string[]) => {
      const { code, stdout, stderr } = await cli([...args, '--bootstrap', bootstrap, '-o', 'json'])
      expect(code, stderr).toBe(0)
      return JSON.parse(stdout) as { readonly clusterId: string, readonly topics: number }
    }
    const clusters = new Set<string>()
    for (const [life, signal] of (['SIGTERM', 'SIGKILL', 'SIGTERM', 'SIGKILL'] as const).entries()) {
      const broker = await startBroker([], { cwd: join(folder, 'app') })
      try {
        if (life === 0) await run(broker.bootstrap, 'topic', 'create', 'orders', '--partitions', '2')
        clusters.add((await run(broker.bootstrap, 'cluster', 'status')).clusterId)
        await run(broker.bootstrap, 'topic', 'describe', 'orders')
        const sent = await cli(['produce', 'orders', '--bootstrap', broker.bootstrap], { input: 'a record\n' })
        expect(sent.code, sent.stderr).toBe(0)
      } finally {
        await broker.end(signal)
      }
    }
    expect(clusters.size).toBe(1)
    expect(existsSync(join(data, 'meta.properties'))).toBe(false)
  }, 120_000)

  it('one that lacks a method of its port is refused by its own name', async () => {
    writeFileSync(join(folder, 'app', 'old-telemetry.mjs'), acmeTelemetry.replace(', counted() {}', ''))
    config('plugins:\n  - use: ./old-telemetry.mjs\n    instead: observability\nsettings:\n  acme-telemetry:\n    tag: ACME\n')
    await expect(startBroker(['--data', join(folder, 'unused')], { cwd: join(folder, 'app') }))
      .rejects.toThrow(/MR_HOST_PLUGIN_INVALID.*plugin acme-telemetry is not usable: what it gives as Metrics lacks the method counted of that port/)
  })

  it('a package that is not installed is refused with its name', async () => {
    config('plugins: [acme-nowhere]\npreset: memory\n')
    await expect(startBroker([], { cwd: join(folder, 'app') })).rejects.toThrow(/MR_HOST_PLUGIN_NOT_FOUND.*acme-nowhere/)
  })

  it('one that is only linked and does not find millrace is refused with what to do instead', async () => {
    symlinkSync(writePackage('acme-linked', acmeAudit), join(folder, 'app/node_modules/acme-linked'))
    config('plugins: [acme-linked]\npreset: memory\n')
    await expect(startBroker([], { cwd: join(folder, 'app') })).rejects.toThrow(/MR_HOST_PLUGIN_NOT_FOUND.*acme-linked: it cannot be loaded: Cannot find package 'millrace'.*npm install --install-links PATH/)
  })

  it('a setting of theirs that is missing is refused with plugin and key', async () => {
    config('preset: memory\nplugins:\n  - use: acme-telemetry\n    instead: observability\n')
    await expect(startBroker([], { cwd: join(folder, 'app') })).rejects.toThrow(/MR_HOST_SETTING.*acme-telemetry.*tag/)
  })

  it('replacing what the preset does not have is refused with a suggestion', async () => {
    config('preset: memory\nplugins:\n  - use: acme-telemetry\n    instead: observabilty\n')
    await expect(startBroker([], { cwd: join(folder, 'app') })).rejects.toThrow(/MR_HOST_PLUGIN_NOT_FOUND.*observabilty.*did you mean observability/)
  })
})
