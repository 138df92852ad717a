import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { versionRanges } from '../../../../src/plugins/coordinator-group/core/version-ranges.ts'
import { handlerMakers } from '../../../../src/plugins/coordinator-group/make-handlers.ts'
import { apiName, apiVersionsApi, wireApi } from '../../../../src/wire/index.ts'
import { type Api, type RequestDraftOf } from '../../../../src/wire/schema/message.ts'
import { GroupWorld } from './group-world.ts'
import { groupSamples } from './group-samples.ts'

const page = new URL('../../../../docs/protocol.md', import.meta.url)
const tableOf = /(<!-- group table: [^\n]*-->\n)[^]*?(<!-- end of group table -->)/

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- any API
type AnyApi = Api<any, any>

describe('served versions of groups', () => {
  it('the table, the handlers and ApiVersions agree', async () => {
    const world = await GroupWorld.start()
    const { apiKeys } = await world.client().call(apiVersionsApi, 0, {})
    const keys = new Set(versionRanges.map(({ key }) => key))
    expect(apiKeys.filter(({ apiKey }) => keys.has(apiKey)).map(({ apiKey, minVersion, maxVersion }) => ({ key: apiKey, min: minVersion, max: maxVersion }))).toEqual(versionRanges)
    expect(handlerMakers).toHaveLength(versionRanges.length)
  })

  it('docs/protocol.md lists the same table', () => {
    const rows = versionRanges.map(({ key, min, max }) => `| ${key} | ${apiName(key)} | ${min === max ? min : `${min} to ${max}`} |`)
    const table = ['| key | API | versions |', '|---|---|---|', ...rows].join('\n')
    const read = readFileSync(page, 'utf8')
    expect(tableOf.test(read), 'the page has a place for the table').toBe(true)
    const expected = read.replace(tableOf, (_all, head: string, end: string) => `${head}\n${table}\n\n${end}`)
    if (process.env['UPDATE_DOCS'] === '1') writeFileSync(page, expected)
    expect(readFileSync(page, 'utf8'), 'run with UPDATE_DOCS=1').toBe(expected)
  })

  it('quirk 7: no lower bound is above the one that old clients rely on', () => {
    const floor = new Map([[8, 2], [9, 1], [11, 1], [12, 0], [13, 0], [14, 0], [16, 1]])
    for (const { key, min } of versionRanges) expect(min, apiName(key)).toBeLessThanOrEqual(floor.get(key) ?? 0)
  })

  it('quirk 55: the feature group.version is at 1, so that clients use the consumer protocol; versions before 4 name no feature that may be at 0', async () => {
    const world = await GroupWorld.start()
    const software = { clientSoftwareName: 'test', clientSoftwareVersion: '1' }
    const finalized = { finalizedFeaturesEpoch: 0, finalizedFeatures: [{ name: 'group.version', minVersionLevel: 1, maxVersionLevel: 1 }] }
    expect(await world.client().call(apiVersionsApi, 4, software)).toMatchObject({ supportedFeatures: [{ name: 'group.version', minVersion: 0, maxVersion: 1 }], ...finalized })
    expect(await world.client().call(apiVersionsApi, 3, software)).toMatchObject({ supportedFeatures: [], ...finalized })
  })

  it.each(versionRanges)('API $key, $min to $max: every version is answered, in that version\'s form, with one result for each thing asked for (quirk 54)', async ({ key, min, max }) => {
    const world = await GroupWorld.start()
    const api = wireApi(key) as AnyApi
    for (let version = min; version <= max; version++) {
      const [request, results] = groupSamples.get(key)!(version)
      const answer = await world.client().call(api, version, request as RequestDraftOf<AnyApi>) as Record<string, unknown>
      expect(answer['throttleTimeMs'] ?? 0).toBe(0)
      const lists = Object.values(answer).filter((value) => Array.isArray(value)) as unknown[][]
      expect(Math.max(0, ...lists.map((list) => list.length)), `v${version}`).toBe(results)
    }
    expect(world.broker.logger.atLeast('warn')).toEqual([])
  })
})
