import { describe, expect, it } from 'vitest'
import { root } from '../meta/source-tree.ts'
import { callSites } from './io/call-sites.ts'
import { Life } from './io/life.ts'
import { SiteTracer } from './io/site-tracer.ts'
import { readTable } from './io/table.ts'

const sites = callSites(root)
const { rows, unreached, words } = readTable(root)

describe('docs/io-failures.md', () => {
  it('has every call of a file system and of a key-value store that is in the source, and no other', () => {
    const listed = new Set([...rows.map(row => row.site), ...unreached.keys()])
    expect(sites.filter(({ name }) => !listed.has(name)).map(({ name }) => name), 'calls without a row: say in docs/io-failures.md what happens when they fail').toEqual([])
    const there = new Set(sites.map(({ name }) => name))
    expect([...listed].filter(name => !there.has(name)), 'rows of calls that are no more').toEqual([])
  })

  it('uses no word for an outcome that it does not explain', () => {
    const used = new Set(rows.flatMap(row => row.outcomes.map(({ outcome }) => outcome.split(':')[0]!)))
    expect([...used].filter(word => !words.has(word))).toEqual([])
  })

  it('says why a call is not reached, of few but those of commands that run without a broker', () => {
    expect([...unreached].filter(([, reason]) => reason.length < 10)).toEqual([])
    const ofBroker = [...unreached].filter(([, reason]) => !reason.startsWith('no broker: '))
    expect(ofBroker.length).toBeLessThan(sites.length / 10)
  })
})

describe('a life without a fault', () => {
  it('reaches each call in the situation of its row, makes no call that is not known, and loses nothing', async () => {
    const tracer = new SiteTracer(sites)
    const life = await (await Life.make(tracer)).live()
    expect([...tracer.unknown]).toEqual([])
    expect(life.violations).toEqual([])
    const missed = rows.filter(({ site, phase, after }) => after === undefined && !life.reached.get(phase)!.has(site) && !site.endsWith('RedoLog.sync syncNow'))
    expect(missed.map(({ site, phase }) => `${site}, ${phase}`)).toEqual([])
    expect([...unreached.keys()].filter(site => [...life.reached.values()].some(reached => reached.has(site))), 'reached all the same').toEqual([])
  })
})
