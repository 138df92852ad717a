import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type BrokerOptions } from '../../../src/broker/index.ts'
import { describeTopic, warningsBefore } from '../../../src/cli/topic-report.ts'
import { createClient } from '../../../src/client/index.ts'
import { createTestBroker } from '../../../src/harness/index.ts'
import { storageMemory } from '../../../src/plugins/storage-memory/plugin.ts'

const directory = mkdtempSync(join(tmpdir(), 'millrace-undurable-'))
afterAll(() => { rmSync(directory, { recursive: true, force: true }) })

/** What the command warns of when it describes a topic of these settings: the same as when it was only asked to check that it can be created. */
async function warnedOver(options: BrokerOptions, configs: Readonly<Record<string, string>>): Promise<readonly string[]> {
  await using broker = await createTestBroker(options)
  await using client = createClient({ bootstrap: broker.bootstrap })
  const admin = client.admin()
  const before = await warningsBefore(admin, configs)
  await admin.createTopics([{ name: 'warned', configs }])
  const { warnings } = await describeTopic(admin, 'warned')
  expect(before).toEqual(warnings)
  return warnings
}

/** Creates a topic that asks for durability, and gives what is said of its settings, and of the broker's, that speaks of no effect. */
async function saidOver(options: BrokerOptions): Promise<Record<string, string>> {
  await using broker = await createTestBroker(options)
  await using client = createClient({ bootstrap: broker.bootstrap })
  const admin = client.admin()
  await admin.createTopics([{ name: 'kept', configs: { 'durability': 'fsync', 'flush.messages': '1' } }])
  const described = await admin.describeConfigs([{ type: 'topic', name: 'kept' }, { type: 'broker', name: '1' }], { includeDocumentation: true })
  const names = ['durability', 'flush.messages', 'log.flush.interval.messages']
  return Object.fromEntries(described.flatMap(({ type, entries }) => entries.filter(({ name }) => names.includes(name))
    .flatMap(({ name, documentation }) => {
      const reason = / No effect here: (.*)$/.exec(documentation!)?.[1]
      return reason === undefined ? [] : [[`${type} ${name}`, reason]]
    })))
}

const everywhere = (reason: string) => ({
  'topic durability': reason, 'topic flush.messages': reason, 'broker durability': reason, 'broker log.flush.interval.messages': reason,
})

describe('DescribeConfigs says of settings that promise durability', () => {
  it('that they have no effect over a store in memory', async () => {
    expect(await saidOver({})).toEqual(everywhere('storage-memory keeps nothing that survives a power cut.'))
  })

  it('that they have none over a store of somebody else\'s that does not declare that it is durable', async () => {
    const use = { ...storageMemory, name: 'acme-store', capabilities: { compaction: false } }
    expect(await saidOver({ plugins: [{ use, instead: 'storage-memory' }] })).toEqual(everywhere('acme-store keeps nothing that survives a power cut.'))
  })

  it('nothing of the kind over a store on disk', async () => {
    expect(await saidOver({ preset: 'single-node', data: directory })).toEqual({})
  })
})

describe('the command warns, before a topic is created and after', () => {
  const reason = 'has no effect here: storage-memory keeps nothing that survives a power cut'

  it('of what a store in memory cannot keep', async () => {
    expect(await warnedOver({}, { durability: 'fsync', 'retention.ms': '5' })).toEqual([`durability=fsync ${reason}`])
    expect(await warnedOver({}, { durability: 'os' })).toEqual([])
  })

  it('of nothing over a store on disk that keeps it, and of what has no effect anywhere', async () => {
    const local = { preset: 'single-node', data: join(directory, 'warned') } as const
    expect(await warnedOver(local, { 'durability': 'fsync', 'flush.messages': '1', 'flush.ms': '5' })).toEqual([expect.stringMatching(/^flush\.ms has no effect here/)])
  })
})
