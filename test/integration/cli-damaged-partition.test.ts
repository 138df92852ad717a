import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startBroker, type BrokerProcess } from './broker-process.ts'
import { ensureBuilt } from './built.ts'
import { cli as run, jsonOf, type CliResult } from './cli-run.ts'

let broker: BrokerProcess
const data = mkdtempSync(join(tmpdir(), 'millrace-damaged-'))
const cli = (...args: readonly string[]): Promise<CliResult> => run(args, { bootstrap: broker.bootstrap })

/** Partition 0 loses nothing, a batch of partition 1 is damaged, and the log of partition 2 as a whole. */
beforeAll(async () => {
  ensureBuilt()
  broker = await startBroker(['--data', data])
  await cli('topic', 'create', 'load', '--partitions', '3')
  for (const partition of ['0', '1', '2']) for (const line of ['first', 'second']) await run(['produce', 'load', '--partition', partition], { bootstrap: broker.bootstrap, input: `${line}\n` })
  await broker.end('SIGTERM')
  const log = (partition: number): string => join(data, `load-${partition}`, '00000000000000000000.log')
  const bytes = readFileSync(log(1))
  bytes[70]! ^= 1
  writeFileSync(log(1), bytes)
  writeFileSync(log(2), readFileSync(log(2)).subarray(0, 40))
  broker = await startBroker(['--data', data])
}, 120_000)
afterAll(async () => {
  await broker.end('SIGTERM')
  rmSync(data, { recursive: true, force: true })
})

describe('where a batch of one partition is damaged, and the log of another', () => {
  it('nobody is given the batch, what lies behind it is served, and consume ends with the offset to go on with', async () => {
    const stuck = await cli('consume', 'load', '--partition', '1', '--from', 'beginning')
    expect([stuck.code, stuck.stdout]).toEqual([1, ''])
    expect(stuck.stderr).toMatch(/^error MR_LOG_ROTTEN: offsets 0 to 0 of load-1 are damaged on the disk of broker 1 and not served; go on behind them with --partition 1 --from 1; /m)
    expect(await cli('consume', 'load', '--partition', '1', '--from', '1', '--max', '1')).toMatchObject({ code: 0, stdout: expect.stringContaining('second') })
  })

  it('topic describe names the offsets of the one, shows the other as not served, and ends with 1', async () => {
    const { code, stdout } = await cli('topic', 'describe', 'load')
    expect(code).toBe(1)
    expect(stdout).toContain('damaged: load-1: offset 0 is damaged on the disk of broker 1 and not served; its log names the file and what to do')
    expect(stdout).toContain('not served: partition 2: its replicas on broker 1 are offline')
    expect(stdout).not.toContain('millrace.damaged.offsets')
    expect(jsonOf(await cli('topic', 'describe', 'load', '-o', 'json'))).toMatchObject({ partitions: [{ damaged: [] }, { damaged: [{ broker: 1, first: 0, last: 0 }] }, { damaged: [], leader: -1 }] })
  })

  it('cluster status names both and ends with 1', async () => {
    const { code, stdout, stderr } = await cli('cluster', 'status')
    expect([code, stdout]).toEqual([1, expect.stringContaining('not all well: 1 partition not served, 1 partition with replicas that are not in sync, 1 damaged place\n')])
    expect(stderr).toContain('warning: load-1: offset 0 is damaged on the disk of broker 1')
    expect(jsonOf(await cli('cluster', 'status', '-o', 'json'))).toMatchObject({
      leaderless: 1, notServed: [{ topic: 'load', partition: 2 }], damaged: [{ topic: 'load', partition: 1, broker: 1, first: 0, last: 0 }],
    })
  })

  it('the metrics, the health and the log tell topic, partition, file and what to do', async () => {
    const metrics = await (await fetch(`http://${broker.http}/metrics`)).text()
    expect(metrics).toContain('millrace_log_partition_damaged_places{topic="load",partition="1"} 1')
    expect(metrics).toContain('millrace_replica_not_served{topic="load",partition="2"} 1')
    expect(metrics).not.toMatch(/(damaged_places|not_served)\{topic="load",partition="0"/)
    const health = await (await fetch(`http://${broker.http}/healthz`)).json() as { readonly state: string, readonly parts: readonly { readonly detail: string }[] }
    expect(health.state).toBe('degraded')
    const details = health.parts.map(({ detail }) => detail).join('\n')
    expect([details.includes('offset 0 of load-1'), details.includes('the log of load-2 is damaged at offset 0'), details.includes('docs/damage.md')]).toEqual([true, true, true])
    const lines = broker.log().split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as Record<string, unknown>).filter(({ remedy }) => remedy !== undefined)
    expect(lines).toEqual(expect.arrayContaining([
      expect.objectContaining({ topic: 'load', partition: 1, position: 0, first: 0, last: 0, path: join(data, 'load-1', '00000000000000000000.log'), remedy: expect.stringContaining('restore the segment') }),
      expect.objectContaining({ topic: 'load', partition: 2, path: join(data, 'load-2'), remedy: expect.stringContaining('restore the directory') }),
    ]))
    // Once, and not again by whoever asked the store for it.
    expect(['a log is damaged and not served', 'a partition has no log on this broker'].map((each) => broker.log().split(each).length - 1)).toEqual([1, 0])
  })
})
