import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type ProtocolHandler } from '../../../../src/kernel/ports/protocol-handler.ts'
import { versionRanges } from '../../../../src/plugins/protocol-kafka/core/version-ranges.ts'
import { apiName, apiVersionsApi, heartbeatApi, metadataApi } from '../../../../src/wire/index.ts'
import { samples } from './fixture/sample-requests.ts'
import { TestBroker } from './fixture/test-broker.ts'

const page = new URL('../../../../docs/protocol.md', import.meta.url)
const tableOf = /(<!-- served table: [^\n]*-->\n)[^]*?(<!-- end of served table -->)/

async function advertised(broker: TestBroker): Promise<{ apiKey: number, minVersion: number, maxVersion: number }[]> {
  const { apiKeys } = await broker.connect().call(apiVersionsApi, 0, {})
  return apiKeys.map(({ apiKey, minVersion, maxVersion }) => ({ apiKey, minVersion, maxVersion }))
}

describe('served versions', () => {
  it('the table, the handlers and ApiVersions agree', async () => {
    const expected = versionRanges.map(({ key, min, max, advertisedMin = min }) => ({ apiKey: key, minVersion: advertisedMin, maxVersion: max }))
    expect(await advertised(await TestBroker.start())).toEqual(expected)
  })

  it('docs/protocol.md lists the same table', () => {
    const rows = versionRanges.map(({ key, min, max, advertisedMin = min }) =>
      `| ${key} | ${apiName(key)} | ${min === max ? min : `${min} to ${max}`} | ${advertisedMin === min ? '' : `advertised from ${advertisedMin}: older librdkafka compresses nothing otherwise (quirk 8)`} |`)
    const table = ['| key | API | versions | |', '|---|---|---|---|', ...rows].join('\n')
    const text = readFileSync(page, 'utf8')
    expect(tableOf.test(text), 'the page has a place for the table').toBe(true)
    const expected = text.replace(tableOf, (_all, head: string, end: string) => `${head}\n${table}\n\n${end}`)
    if (process.env['UPDATE_DOCS'] === '1') writeFileSync(page, expected)
    expect(readFileSync(page, 'utf8'), 'run with UPDATE_DOCS=1').toBe(expected)
  })

  it('quirk 8: Produce is advertised from version 0 on, and versions 0 to 2 are refused', async () => {
    const broker = await TestBroker.start()
    expect((await advertised(broker)).find(({ apiKey }) => apiKey === 0)).toEqual({ apiKey: 0, minVersion: 0, maxVersion: 11 })
    const client = broker.connect()
    client.socket.give(new Uint8Array([0, 0, 0, 10, 0, 0, 0, 2, 0, 0, 0, 1, 0xff, 0xff]))
    expect(client.socket.destroyed).toBe(true)
    expect(broker.logger.lines.at(-1)!.message).toContain('version 2 of Produce is not served')
  })

  it('quirk 7: no lower bound is above the one that old clients rely on', () => {
    const floor = new Map([[0, 3], [1, 4], [2, 1], [3, 1], [10, 0], [18, 0], [22, 0], [23, 2]])
    for (const { key, min } of versionRanges) expect(min, apiName(key)).toBeLessThanOrEqual(floor.get(key) ?? 2)
  })

  it('quirk 10: a version that some clients take for the mark of a release is advertised only with those of all releases before it', () => {
    const max = new Map(versionRanges.map((range) => [range.key, range.max]))
    // Fetch 17, ListOffsets 10 and Produce 13 stand for Kafka 3.9, 4.0 and 4.1.
    const marks = [[1, 17], [2, 10], [0, 13]].map(([key, version]) => max.get(key!)! >= version!)
    expect(marks).toEqual([...marks].sort((a, b) => Number(b) - Number(a)))
    // And what those releases had before is there: nothing that a client then sends is missing.
    const before = [[0, 11], [1, 16], [2, 9], [3, 12], [10, 4], [18, 4], [19, 7], [20, 6], [22, 5], [23, 4], [32, 4], [60, 1]]
    for (const [key, version] of before) expect(max.get(key!), apiName(key!)).toBeGreaterThanOrEqual(version!)
  })

  it('quirk 57: telemetry is not advertised, so that no client asks for it', () => {
    expect(versionRanges.some(({ key }) => key === 71 || key === 72)).toBe(false)
  })

  it('quirk 16: topic ids are not advertised without a Metadata that gives and takes them', () => {
    const max = new Map(versionRanges.map((range) => [range.key, range.max]))
    if (max.get(0)! >= 13 || max.get(1)! >= 13) expect(max.get(3)!).toBeGreaterThanOrEqual(12)
  })

  for (const { api, request } of samples) {
    const range = versionRanges.find(({ key }) => key === api.key)!
    it(`${api.name} ${range.min} to ${range.max}: every version is answered, in that version's form, with one result for each thing asked for (quirk 54)`, async () => {
      const broker = await TestBroker.start()
      broker.cluster.topic('sample')
      const topic = { name: 'sample', id: broker.cluster.topics.get('sample')!.id }
      for (let version = range.min; version <= range.max; version++) {
        const asked = request(version, topic)
        const answer = await broker.connect().call(api, version, asked as Record<string, unknown>) as Record<string, readonly object[]>
        expect(countOf(answer), `v${version}`).toBe(countOf(asked as Record<string, readonly object[]>))
      }
      expect(broker.logger.atLeast('warn')).toEqual([])
    })
  }

  it('quirk 12: nobody is throttled, so no answer of any API and version says to wait', async () => {
    const broker = await TestBroker.start()
    broker.cluster.topic('sample')
    const topic = { name: 'sample', id: broker.cluster.topics.get('sample')!.id }
    let told = 0
    for (const { api, request } of samples) {
      const { min, max } = versionRanges.find(({ key }) => key === api.key)!
      for (let version = min; version <= max; version++) {
        const answer = await broker.connect().call(api, version, request(version, topic) as Record<string, unknown>) as { throttleTimeMs?: number }
        if (answer.throttleTimeMs !== undefined) told++
        expect(answer.throttleTimeMs ?? 0, `${api.name} v${version}`).toBe(0)
      }
    }
    expect(told).toBeGreaterThan(50)
  })

  it('every API of the table has a sample here', () => {
    expect(samples.map(({ api }) => api.key)).toEqual(versionRanges.map(({ key }) => key))
  })

  it('a handler of another plugin is served and advertised in its own versions', async () => {
    const handler: ProtocolHandler = {
      apiKey: heartbeatApi.key, minVersion: 1, maxVersion: 3,
      handle: (_request, exchange) => { exchange.reply({ errorCode: 25 }) },
      failure: (_request, errorCode) => ({ errorCode }),
    }
    const broker = await TestBroker.start({ handlers: [handler] })
    expect((await advertised(broker)).find(({ apiKey }) => apiKey === heartbeatApi.key)).toEqual({ apiKey: 12, minVersion: 1, maxVersion: 3 })
    expect(await broker.connect().call(heartbeatApi, 2, { groupId: 'g', generationId: 1, memberId: 'm' })).toMatchObject({ errorCode: 25 })
  })

  it('two handlers for one API, or one for what can not be read, are refused before anything starts', () => {
    const handler = (apiKey: number, maxVersion = 0): ProtocolHandler => ({ apiKey, minVersion: 0, maxVersion, handle: () => undefined, failure: () => undefined })
    expect(() => new TestBroker({ handlers: [handler(metadataApi.key)] })).toThrow('two plugins serve it')
    expect(() => new TestBroker({ handlers: [handler(4)] })).toThrow('its messages are not known')
    expect(() => new TestBroker({ handlers: [handler(heartbeatApi.key, 9)] })).toThrow('versions 0 to 9 are served, and 0 to 4 can be read')
  })
})

/** Things asked for, or answered: the longest list at the top of a message. */
function countOf(message: Record<string, readonly object[]>): number {
  const lists = Object.entries(message).filter(([name, value]) => Array.isArray(value) && !['apiKeys', 'brokers', 'nodeEndpoints', 'forgottenTopicsData'].includes(name))
  return Math.max(0, ...lists.map(([, list]) => list.length))
}
