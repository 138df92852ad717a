import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { lintConfigFile } from '../../../src/broker/config-lint.ts'
import * as kernel from '../../../src/kernel/index.ts'
import { NodeFileSystem } from '../../../src/platform/node-file-system.ts'

let folder = ''
beforeAll(() => { folder = mkdtempSync(join(tmpdir(), 'millrace-lint-')) })
afterAll(() => { rmSync(folder, { recursive: true, force: true }) })

async function lint(text: string) {
  writeFileSync(join(folder, 'millrace.config.yaml'), text)
  const { faults, warnings } = await lintConfigFile(new NodeFileSystem(), 'millrace.config.yaml', folder, { http: 'off', logLevel: 'info' })
  return { faults: faults.map(({ key, error }) => [key, error.code, error.message]), warnings }
}

describe('the check of a configuration file', () => {
  it('names every mistake of options, broker settings, plugins and their settings, with its key, and each warning once', async () => {
    const { faults, warnings } = await lint(`
preset: memory
lisen: here
nodeId: many
plugins: [./none.mjs, no-such-package]
without: [observabilty]
settings:
  observability: { loglevel: info, logLevel: chatty }
  admin-http: { num.partitions: 3 }
  no-such-package: { a: 1 }
broker: { num.partition: 3, num.io.threads: 9, log.segment.bytes: small, retention.ms: 5, queued.max.request.bytes: 1000 }
`)
    expect(faults).toEqual([
      ['lisen', 'MR_CONFIG_UNKNOWN', 'unknown setting lisen; did you mean listen?'],
      ['nodeId', 'MR_CONFIG_INVALID', 'invalid value "many" for nodeId: it must be a whole number from 0 to 2147483647'],
      ['broker.num.partition', 'MR_CONFIG_UNKNOWN', 'unknown setting num.partition; did you mean num.partitions?'],
      ['broker.log.segment.bytes', 'MR_CONFIG_INVALID', expect.stringMatching(/^invalid value small for log\.segment\.bytes: it must be a whole number/)],
      ['broker.retention.ms', 'MR_CONFIG_UNKNOWN', 'unknown setting retention.ms; it is a setting of topics, their default is log.retention.ms'],
      ['broker.queued.max.request.bytes', 'MR_CONFIG_INVALID', expect.stringContaining('it is below socket.request.max.bytes')],
      ['without.0', 'MR_HOST_PLUGIN_NOT_FOUND', 'plugin observabilty: the preset does not have it; did you mean observability?'],
      ['plugins.1', 'MR_HOST_PLUGIN_NOT_FOUND', `plugin no-such-package: no package of that name is installed in ${folder}; install it, or correct its name in the configuration`],
      ['plugins.0', 'MR_HOST_PLUGIN_NOT_FOUND', `plugin ./none.mjs: there is no file ${folder}/none.mjs; correct its path in the configuration`],
      ['settings.observability.logLevel', 'MR_HOST_SETTING', 'plugin observability, setting logLevel: it must be debug, info, warn, error, silent'],
      ['settings.observability.loglevel', 'MR_HOST_SETTING', 'plugin observability, setting loglevel: unknown; did you mean logLevel?'],
      ['settings.admin-http.num.partitions', 'MR_HOST_SETTING', 'plugin admin-http, setting num.partitions: unknown; it is a setting of the broker: put it under `broker:`'],
    ])
    expect(warnings).toEqual([expect.stringMatching(/^num\.io\.threads has no effect here/)])
  })

  it('names settings of a plugin that nobody has beside a wrong name among those to be left out', async () => {
    const { faults } = await lint('preset: memory\nwithout: [retentoin]\nsettings:\n  nobody: { a: 1 }\n')
    expect(faults.map(([key, code]) => [key, code])).toEqual([['without.0', 'MR_HOST_PLUGIN_NOT_FOUND'], ['settings.nobody', 'MR_HOST_PLUGIN_NOT_FOUND']])
  })

  it('refuses a listener that is mapped to encryption, whatever its name', async () => {
    const { faults } = await lint('preset: memory\nbroker: { listeners: "EXT://127.0.0.1:0", listener.security.protocol.map: "EXT:SASL_SSL" }\n')
    expect(faults).toEqual([['broker.listener.security.protocol.map', 'MR_CONFIG_UNSUPPORTED', expect.stringContaining('there is no SASL_SSL yet, every listener is PLAINTEXT; map EXT to PLAINTEXT')]])
  })

  it('finds what plugins refuse when they are made, beside what is wrong with options', async () => {
    const { faults } = await lint('preset: memory\nnodeid: 3\nbroker: { listeners: "PLAINTEXT//x" }\n')
    expect(faults.map(([key, code]) => [key, code])).toEqual([['nodeid', 'MR_CONFIG_UNKNOWN'], ['broker.listeners', 'MR_CONFIG_INVALID']])
  })

  it('makes the objects of plugins and starts none, and writes nothing of what they log', async () => {
    // Its tokens have to be those of the broker.
    Object.assign(globalThis, { forPlugins: { ...kernel, z } })
    writeFileSync(join(folder, 'talks.mjs'), `
const { definePlugin, Clock, Lifecycle, Logger, z } = globalThis.forPlugins
export const plugin = definePlugin({
  name: 'talks', contract: 1, summary: 'Says what becomes of it.', decorates: [{ port: Clock, order: 1 }], contributes: [Lifecycle], requires: [Logger], config: z.object({}),
  register({ decorate, provide }) {
    globalThis.talked = ['registered']
    decorate(Clock, [], (inner) => { globalThis.talked.push('decorates'); return inner })
    provide([Lifecycle], [Logger], (logger) => {
      globalThis.talked.push('made')
      logger.error('nobody is to read this')
      return { start: async () => { globalThis.talked.push('started') }, stop: async () => {} }
    })
  },
})
`)
    const written = vi.spyOn(process.stderr, 'write').mockImplementation(() => true)
    try {
      expect(await lint('preset: memory\nplugins: [./talks.mjs]\n')).toEqual({ faults: [], warnings: [] })
      expect((globalThis as { talked?: string[] }).talked).toEqual(['registered', 'decorates', 'made'])
      expect(written.mock.calls).toEqual([])
    } finally {
      written.mockRestore()
    }
  })

  it('resolves plugins from the folder of the file, wherever it is started', async () => {
    mkdirSync(join(folder, 'conf'), { recursive: true })
    writeFileSync(join(folder, 'conf/none.mjs'), 'export const other = 1\n')
    writeFileSync(join(folder, 'conf/c.yaml'), 'preset: memory\nplugins: [./none.mjs]\n')
    const { faults } = await lintConfigFile(new NodeFileSystem(), 'conf/c.yaml', folder, {})
    expect(faults.map(({ error }) => error.message)).toEqual(['plugin ./none.mjs is not usable: the module has no export `plugin` made by definePlugin'])
  })

  it('refuses settings of a plugin that is no part of the composition', async () => {
    const { faults } = await lint('preset: memory\nsettings: { storage-local: {}, storage-memroy: {} }\n')
    expect(faults.map(([key, , message]) => [key, message])).toEqual([
      ['settings.storage-local', expect.stringMatching(/^plugin storage-local: it has settings, and is not part of the composition/)],
      ['settings.storage-memroy', expect.stringMatching(/; did you mean storage-memory\?$/)],
    ])
  })

  it('takes a consequence of a mistake for none of its own', async () => {
    const { faults } = await lint('preset: memory\nlisten: 0.0.0.0:0\nadvertise: host:1\ninsecure: "yes"\n')
    expect(faults.map(([key]) => key)).toEqual(['insecure'])
  })

  it('says of a folder that it is none of a file', async () => {
    const { faults } = await lintConfigFile(new NodeFileSystem(), folder, folder, {})
    expect(faults[0]!.error.message).toBe(`configuration ${folder}: it is a directory; name the file in it`)
  })

  it('finds nothing where nothing is wrong, and says of a file that cannot be read why', async () => {
    expect(await lint('preset: memory\n')).toEqual({ faults: [], warnings: [] })
  })

  it('warns of copies that a single broker can never have', async () => {
    expect(await lint('broker: { default.replication.factor: 3, min.insync.replicas: 2 }\n')).toEqual({ faults: [], warnings: [
      expect.stringMatching(/^default\.replication\.factor=3 needs as many brokers, .*set it to 1$/), expect.stringMatching(/^min\.insync\.replicas=2 can never be met, .*set it to 1$/),
    ] })
    expect(await lint('broker: { default.replication.factor: 1, min.insync.replicas: 1 }\n')).toEqual({ faults: [], warnings: [] })
    expect((await lint('a: [')).faults).toEqual([[null, 'MR_CONFIG_FILE', expect.stringContaining('millrace.config.yaml: it cannot be read: ')]])
    expect((await lint('just a text')).faults).toEqual([[null, 'MR_CONFIG_INVALID', expect.stringContaining('it must be an object of options')]])
  })
})
