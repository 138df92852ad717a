import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { composeBroker, createBroker, type Composition } from '../../../src/broker/index.ts'
import { describePluginSettings } from '../../../src/kernel/plugin/plugin-settings.ts'
import { storageMemory } from '../../../src/plugins/storage-memory/plugin.ts'

describe('a broker', () => {
  it('that is not started, or was stopped, has no address for clients, and says what to do', async () => {
    const broker = await createBroker({ preset: 'memory' })
    const refused = (why: string) => expect.objectContaining({ code: 'MR_BROKER_NOT_SERVING', message: `this broker has no address for clients: ${why}` })
    expect(() => broker.bootstrap).toThrow(refused('it is not started; await start() first'))
    await broker.start()
    expect(broker.bootstrap).toMatch(/^127\.0\.0\.1:\d+$/)
    await broker.stop()
    expect(() => broker.bootstrap).toThrow(refused('it was stopped, and a broker is started once; make another with createBroker'))
  })

  it('without a listener refers to its dispatcher', async () => {
    const broker = await createBroker({ preset: 'memory', without: ['protocol-kafka', 'admin-http'] })
    await broker.start()
    expect(() => broker.bootstrap).toThrow(/it is composed without a listener of the Kafka protocol/)
    await broker.stop()
  })
})

describe('the memory preset', () => {
  it('names no path where it keeps nothing', async () => {
    const { pluginSettings, warnings } = await composeBroker({ file: { preset: 'memory' } })
    expect([pluginSettings['coordination-single'], warnings]).toEqual([{ path: '(memory)' }, []])
  })

  it('warns who names a directory, that nothing is kept in it', async () => {
    const { warnings } = await composeBroker({ file: { preset: 'memory', data: '/var/lib/millrace' } })
    expect(warnings).toEqual(['log.dirs has no effect here: storage-memory keeps nothing on disk'])
    expect((await composeBroker({ file: { data: '/var/lib/millrace' } })).warnings).toEqual([])
  })

  it('is told apart from a directory that has the metadata alone', async () => {
    const file = { data: '/var/lib/millrace', broker: { durability: 'os' }, plugins: [{ use: storageMemory, instead: 'storage-local' }] }
    const { warnings } = await composeBroker({ file })
    expect(warnings).toEqual(['log.dirs has the metadata alone: storage-memory keeps no records on disk, and after a restart the topics are there, empty'])
    const elsewhere = await composeBroker({ file: { ...file, settings: { 'coordination-single': { path: '/meta' } } } })
    expect(elsewhere.warnings).toEqual(['log.dirs has no effect here: storage-memory keeps nothing on disk'])
  })
})

describe('a store that is not durable', () => {
  const warning = 'durability=fsync has no effect here: storage-memory keeps nothing that survives a power cut'

  it('is told to who asks for fsync, or leaves it at that', async () => {
    expect((await composeBroker({ file: { preset: 'memory', broker: { durability: 'fsync' } } })).warnings).toEqual([warning])
    const replaced = { plugins: [{ use: storageMemory, instead: 'storage-local' }] }
    expect((await composeBroker({ file: replaced })).warnings).toEqual([warning])
    expect((await composeBroker({ file: { ...replaced, broker: { durability: 'os' } } })).warnings).toEqual([])
  })
})

describe('settings of plugins', () => {
  it('are told apart: of the command line, of the file, of the preset or the way of starting, and the plugin\'s own default', async () => {
    const sourcesOf = async (composition: Composition) => {
      const { plugins, pluginSettings, pluginSources } = await composeBroker(composition)
      const described = plugins.flatMap((plugin) => describePluginSettings(plugin, pluginSettings[plugin.name], pluginSources[plugin.name] ?? {}))
      return Object.fromEntries(described.map(({ plugin, key, value, source }) => [`${plugin}.${key}`, [value, source]]))
    }
    const defaults = { http: 'off', logLevel: 'warn' } as const
    expect(await sourcesOf({ file: { preset: 'memory' }, defaults, warmUp: true })).toMatchObject({
      'observability.logLevel': ['warn', 'preset'], 'admin-http.listen': ['off', 'preset'], 'admin-http.insecure': [false, 'default'],
      'protocol-kafka.warmup': [true, 'preset'], 'coordination-single.path': ['(memory)', 'preset'],
    })
    expect(await sourcesOf({ warmUp: false })).toMatchObject({ 'protocol-kafka.warmup': [false, 'command line'], 'coordination-single.path': [undefined, 'default'] })
    const settings = { 'coordination-single': { path: '/meta' } }
    expect(await sourcesOf({ file: { preset: 'memory', settings, logLevel: 'error', http: '127.0.0.1:0' }, commandLine: { logLevel: 'warn', insecure: true }, defaults })).toMatchObject({
      'observability.logLevel': ['warn', 'command line'], 'admin-http.listen': ['127.0.0.1:0', 'file'], 'admin-http.insecure': [true, 'command line'],
      'protocol-kafka.insecure': [true, 'command line'], 'protocol-kafka.warmup': [false, 'default'], 'coordination-single.path': ['/meta', 'file'], 'retention.jitterMs': [30_000, 'default'],
    })
  })
})

describe('of what a broker is composed', () => {
  it('is told with what each plugin does, where it came from and what it replaces, and what was left out by whom', async () => {
    const store = { ...storageMemory, name: 'my-store', summary: 'Mine.' }
    const { composition: { preset, plugins, without } } = await composeBroker({
      file: { preset: 'memory', plugins: [{ use: store, instead: 'storage-memory' }, { ...store, name: 'another' }], without: ['retention'] }, commandLine: { preset: 'single-node', plugins: [{ use: store, instead: 'storage-local' }] },
    })
    expect([preset, without]).toEqual([{ name: 'single-node', source: 'command line' }, [{ name: 'retention', source: 'file' }]])
    expect(plugins.slice(0, 3)).toEqual([
      { name: 'platform', summary: expect.stringMatching(/^This machine/) as string, source: 'default', use: null, instead: null },
      { name: 'my-store', summary: 'Mine.', source: 'command line', use: null, instead: 'storage-local' },
      { name: 'observability', summary: expect.stringMatching(/^Structured logs/) as string, source: 'preset', use: 'observability', instead: null },
    ])
    expect(plugins.filter(({ name }) => name === 'another' || name === 'retention')).toEqual([])
    expect((await composeBroker({})).composition).toMatchObject({ preset: { name: 'single-node', source: 'default' }, without: [] })
  })
})

describe('what the command line says', () => {
  it('counts before what the file says of the same setting, under whichever of its two names', async () => {
    const settings = { 'admin-http': { listen: '127.0.0.1:9555' }, 'observability': { logLevel: 'error' } }
    const { pluginSettings } = await composeBroker({ file: { preset: 'memory', settings }, commandLine: { http: 'off', logLevel: 'debug' } })
    expect(pluginSettings).toMatchObject({ 'admin-http': { listen: 'off' }, 'observability': { logLevel: 'debug' } })
  })
})

describe('HTTP beyond this machine without authentication', () => {
  it('is refused before a data directory is made', async () => {
    const parent = mkdtempSync(join(tmpdir(), 'millrace-insecure-'))
    try {
      const data = join(parent, 'data')
      const composed = await composeBroker({ file: { data, listen: '127.0.0.1:0', http: '0.0.0.0:0' } })
      expect(() => composed.create()).toThrow(expect.objectContaining({ code: 'MR_NET_INSECURE' }))
      expect(readdirSync(parent)).toEqual([])
      expect(() => composed.create()).toThrow(/listening on 0\.0\.0\.0/)
      const allowed = await composeBroker({ file: { data, listen: '127.0.0.1:0', http: '0.0.0.0:0', insecure: true } })
      expect(allowed.create()).toBeDefined()
    } finally {
      rmSync(parent, { recursive: true, force: true })
    }
  })
})

describe('a log store of somebody else\'s', () => {
  const store = (capabilities?: Readonly<Record<string, boolean>>) => ({
    broker: { durability: 'fsync' },
    plugins: [{ use: { ...storageMemory, name: 'acme-store', ...capabilities === undefined ? { capabilities: {} } : { capabilities } }, instead: 'storage-local' }],
  })

  it('is taken at its word: durable where it declares so, and else not', async () => {
    const limits = { durable: 'acme-store keeps nothing that survives a power cut' }
    for (const capabilities of [{ compaction: true }, { durable: false, compaction: true }] satisfies Record<string, boolean>[] as Record<string, boolean>[]) {
      const { settings, warnings } = await composeBroker({ file: store(capabilities) })
      expect(settings.storeLimits).toEqual(limits)
      expect(warnings).toEqual([`durability=fsync has no effect here: ${limits.durable}`])
    }
    const { settings, warnings } = await composeBroker({ file: store({ durable: true, compaction: true }) })
    expect([settings.storeLimits, warnings]).toEqual([{}, []])
  })
})

describe('a broker is started once', () => {
  it('and goes on serving when it is told to a second time', async () => {
    const broker = await createBroker({ preset: 'memory' })
    await broker.start()
    await expect(broker.start()).rejects.toMatchObject({ code: 'MR_BROKER_STARTED' })
    expect(broker.bootstrap).toMatch(/:\d+$/)
    expect(await broker.stop()).toEqual([])
  })

  it('and not at all where it was stopped before', async () => {
    const broker = await createBroker({ preset: 'memory' })
    expect(await broker.stop()).toEqual([])
    await expect(broker.start()).rejects.toMatchObject({ code: 'MR_BROKER_STOPPED' })
  })

  it('and not again after it was stopped', async () => {
    const broker = await createBroker({ preset: 'memory' })
    await broker.start()
    await broker.stop()
    await expect(broker.start()).rejects.toMatchObject({ code: 'MR_BROKER_STARTED' })
  })
})
