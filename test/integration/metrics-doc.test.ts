import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestBroker } from '../../src/harness/index.ts'
import { createClient } from '../../src/index.ts'
import { metricNamesInSource } from '../meta/metric-names.ts'
import { root } from '../meta/source-tree.ts'

interface Metric {
  readonly type: string
  readonly labels: readonly string[]
}

const page = readFileSync(join(root, 'docs/metrics.md'), 'utf8')
const rows = [...page.matchAll(/^\| `\w+` \|.*\|$/gm)].map(([row]) => {
  const [name, type, unit, labels, meaning, alert] = row.slice(1, -1).split('|').map((cell) => cell.trim())
  return [name!.slice(1, -1), { type: type!, unit: unit!, labels: [...labels!.matchAll(/`(\w+)`/g)].map(([, label]) => label!), meaning: meaning!, alert }] as const
})
const documented = new Map<string, Metric>(rows)

/** The families of a text of Prometheus, with the labels of their samples; undefined where a family has none. */
function familiesOf(text: string): Map<string, { readonly type: string, readonly labels: readonly string[] | undefined }> {
  const families = new Map<string, { readonly type: string, readonly labels: readonly string[] | undefined }>()
  for (const part of text.split(/^# HELP /m).slice(1)) {
    const [, name, type] = /^# TYPE (\w+) (\w+)$/m.exec(part)!
    const sample = part.split('\n').find((line) => line !== '' && !line.startsWith('#') && line.startsWith(name!) && !part.startsWith(line))
    const labels = sample === undefined ? undefined : [...(/\{(.*)\}/.exec(sample)?.[1] ?? '').matchAll(/(\w+)="/g)].map(([, label]) => label!).filter((label) => label !== 'le')
    families.set(name!, { type: type!, labels })
  }
  return families
}

const named = metricNamesInSource()

let served = new Map<string, { readonly type: string, readonly labels: readonly string[] | undefined }>()
let directory = ''

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'millrace-metrics-'))
  await using broker = await createTestBroker({ preset: 'single-node', data: join(directory, 'data'), http: '127.0.0.1:0' })
  await using client = createClient({ bootstrap: `127.0.0.1:${broker.kafka!.port}` })
  await client.admin().createTopics([{ name: 'orders', partitions: 2 }])
  await client.producer().send({ topic: 'orders', partition: 0, value: 'one' })
  await using consumer = client.consumer()
  consumer.assign([{ topic: 'orders', partition: 0, offset: 'beginning' }])
  expect(await consumer.poll({ timeoutMs: 10_000 })).toHaveLength(1)
  // Some error that a client is told.
  await expect(client.admin().createTopics([{ name: 'orders', partitions: 2 }])).rejects.toThrow()
  served = familiesOf(await (await fetch(`http://127.0.0.1:${broker.http!.port}/metrics`)).text())
}, 60_000)
afterAll(() => { rmSync(directory, { recursive: true, force: true }) })

describe('docs/metrics.md', () => {
  it('has a row for each metric that a broker serves, or has in its source, and for no other', () => {
    expect(served.size).toBeGreaterThan(70)
    expect(named.size).toBeGreaterThan(50)
    expect(rows.length).toBe(documented.size)
    expect(rows.filter(([, { unit, meaning, alert }]) => unit === '' || meaning.length < 5 || alert === undefined).map(([name]) => name)).toEqual([])
    expect([...documented.keys()].sort()).toEqual([...new Set([...served.keys(), ...named])].sort())
  })

  it('says the type of each that is served, and the labels of each that has a sample', () => {
    expect([...served.keys()].filter((name) => documented.get(name)?.type !== served.get(name)!.type)).toEqual([])
    const sampled = [...served].flatMap(([name, { labels }]) => labels === undefined ? [] : [[name, [...labels].sort()]] as const)
    expect(sampled.length).toBeGreaterThan(60)
    expect(sampled).toEqual(sampled.map(([name]) => [name, [...documented.get(name)?.labels ?? []].sort()]))
  })

  it('names no setting of a plugin that is not there, and is linked from the README and from docs/architecture.md', () => {
    const settings = readFileSync(join(root, 'docs/config.md'), 'utf8')
    const wanted = [...page.matchAll(/`([a-z]+(?:[A-Z][a-z]+)+)`/g)].map(([, name]) => name!)
    expect(wanted.length).toBeGreaterThan(5)
    expect(wanted.filter((name) => !settings.includes(`| \`${name}\` |`) && !/^(Empty|Preparing|Completing)/.test(name))).toEqual([])
    for (const path of ['README.md', 'docs/architecture.md']) expect(readFileSync(join(root, path), 'utf8')).toContain('metrics.md')
  })
})
