import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Broker } from '../../src/broker/index.ts'
import { createTestBroker } from '../../src/harness/index.ts'
import { LogCompaction } from '../../src/kernel/index.ts'
import { ensureBuilt } from './built.ts'
import { cli as run, jsonLines, jsonOf, type CliResult } from './cli-run.ts'
import { type CompactedTopic, compactedTopic, smallSegments } from './compacted-topic.ts'

let broker: Broker
let topic: CompactedTopic
const data = mkdtempSync(join(tmpdir(), 'millrace-compacted-'))
const cli = (...args: readonly string[]): Promise<CliResult> => run(args, { bootstrap: broker.bootstrap })

beforeAll(async () => {
  ensureBuilt()
  broker = await createTestBroker({ preset: 'single-node', data, broker: { 'log.cleaner.enable': 'false' } })
  topic = await compactedTopic(broker, 'state')
}, 120_000)
afterAll(async () => {
  await broker.stop()
  rmSync(data, { recursive: true, force: true })
})

describe('of a compacted topic', () => {
  it('topic describe shows how dirty each partition is, up to where it is clean, and when it was compacted', async () => {
    const { code, stdout } = await cli('topic', 'describe', 'state')
    expect([code, stdout.includes('millrace.compaction.state'), stdout.includes('not compacted')]).toEqual([0, false, false])
    expect(stdout).toMatch(/^partition +broker +dirty +dirty size +clean up to +last compacted\n +0 +1 +\d+% +\S+ \S+ +\d+ +\d{4}-\d\d-\d\dT\S+Z$/m)
    const { partitions } = jsonOf(await cli('topic', 'describe', 'state', '-o', 'json')) as { partitions: { compaction: { cleanedTo: number, lastRoundMs: number }[] }[] }
    expect(partitions[0]!.compaction).toEqual([{ broker: 1, cleanedTo: expect.any(Number), dirtyBytes: expect.any(Number), dirtyRatio: expect.any(Number), lastRoundMs: expect.any(Number), failure: null }])
    const [{ cleanedTo, lastRoundMs }] = partitions[0]!.compaction as [{ cleanedTo: number, lastRoundMs: number }]
    expect(cleanedTo).toBeGreaterThan(600)
    expect(cleanedTo).toBeLessThanOrEqual(topic.end)
    expect(Math.abs(Date.now() - lastRoundMs)).toBeLessThan(3_600_000)
  })

  it('topic describe of one that is not compacted shows nothing of it', async () => {
    await cli('topic', 'create', 'plain')
    expect((await cli('topic', 'describe', 'plain')).stdout).not.toContain('clean up to')
    expect(jsonOf(await cli('topic', 'describe', 'plain', '-o', 'json'))).toMatchObject({ partitions: [{ compaction: [] }] })
  })

  it('consume prints what is left and ends, also from an offset inside a gap', async () => {
    const consumed = async (...args: string[]) => (jsonLines(await cli('consume', 'state', '-o', 'json', ...args)) as { offset: number }[]).map(({ offset }) => offset)
    const offsets = topic.kept.map(({ offset }) => offset)
    expect(await consumed()).toEqual(offsets)
    const inside = topic.gap.first + 1
    expect(await consumed('--partition', '0', '--from', String(inside))).toEqual(offsets.filter((offset) => offset >= inside))
  })

  it('topic describe says why a round failed and when the next is tried', async () => {
    await cli('topic', 'create', 'broken', ...Object.entries(smallSegments).flatMap(([key, value]) => ['--config', `${key}=${value}`]))
    await run(['produce', 'broken', '--key-separator', ':'], { bootstrap: broker.bootstrap, input: `a:${'1'.repeat(1500)}\n` })
    for (const value of ['2', '3']) await run(['produce', 'broken', '--key-separator', ':'], { bootstrap: broker.bootstrap, input: `a:${value.repeat(1500)}\n` })
    const path = join(data, 'broken-0', '00000000000000000000.log')
    const bytes = readFileSync(path)
    bytes[bytes.length - 10]! ^= 1
    writeFileSync(path, bytes)
    expect(await broker.port(LogCompaction).compact()).toMatchObject({ logsFailed: 1 })
    const { stdout } = await cli('topic', 'describe', 'broken')
    expect(stdout).toMatch(/^ +0 +1 +100% +\S+ \S+ +0 +-$/m)
    expect(stdout).toMatch(/^not compacted: partition 0 on broker 1, tried again at \d{4}-\d\d-\d\dT\S+Z: .*00000000000000000000\.log/m)
    expect(stdout).not.toContain('millrace.compaction.state')
    expect(jsonOf(await cli('topic', 'describe', 'broken', '-o', 'json'))).toMatchObject({
      partitions: [{ compaction: [{ cleanedTo: 0, dirtyRatio: 1, lastRoundMs: null, failure: { reason: expect.stringContaining('00000000000000000000.log'), nextTryMs: expect.any(Number) } }] }],
    })
  })

  it('log inspect finds nothing wrong with its files, whatever gaps they have', async () => {
    const folder = join(data, 'state-0')
    const { code, stdout, stderr } = await cli('log', 'inspect', folder)
    expect([code, stderr, /WRONG|wrong|differ|damaged|missing/.test(stdout)]).toEqual([0, '', false])
    const [first] = readdirSync(folder).filter((name) => name.endsWith('.log')).sort()
    const batches = jsonLines(await cli('log', 'inspect', join(folder, first!), '-o', 'json')) as { baseOffset: number, lastOffset: number }[]
    expect(batches.some(({ baseOffset }, index) => index > 0 && baseOffset > batches[index - 1]!.lastOffset + 1)).toBe(true)
    const sums = jsonLines(await cli('log', 'inspect', join(folder, first!.replace('.log', '.sum')), '-o', 'json'))
    expect(sums[0]).toMatchObject({ kind: 'segment', isUnsound: false, problems: [] })
  })
})
