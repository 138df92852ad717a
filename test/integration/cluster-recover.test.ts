import { cpSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startBroker, type BrokerProcess } from './broker-process.ts'
import { cli, jsonOf, oneLine } from './cli-run.ts'

const base = mkdtempSync(join(tmpdir(), 'millrace-recover-'))
const template = join(base, 'template')
let copies = 0

/** The data of a broker that was killed: `orders` with a setting of its own and records, then `late`, the last that its metadata says, with one. */
beforeAll(async () => {
  const broker = await startBroker(['--data', template])
  const run = (args: readonly string[], input = '') => cli(args, { bootstrap: broker.bootstrap, input })
  expect((await run(['topic', 'create', 'orders', '--partitions', '2', '--config', 'retention.ms=7777777'])).code).toBe(0)
  expect((await run(['produce', 'orders', '--partition', '1'], 'one\ntwo\n')).code).toBe(0)
  expect((await run(['topic', 'create', 'late', '--partitions', '3'])).code).toBe(0)
  expect((await run(['produce', 'late', '--partition', '2'], 'three\n')).code).toBe(0)
  await broker.end('SIGKILL')
}, 120_000)
afterAll(() => { rmSync(base, { recursive: true }) })

function copy(): { readonly data: string, readonly log: string } {
  const data = join(base, `data-${++copies}`)
  cpSync(template, data, { recursive: true })
  return { data, log: join(data, '__millrace_metadata', 'log') }
}

const walOf = (log: string): string => join(log, readdirSync(log).find((name) => name.endsWith('.log'))!)

async function refusal(data: string): Promise<string> {
  return startBroker(['--data', data]).then(async (broker) => { await broker.end('SIGKILL'); return 'it started' }, (error: Error) => error.message)
}

/** All records, and the setting of `orders`, from a broker on the data; it goes on as any. */
async function served(data: string): Promise<{ readonly records: readonly string[], readonly retention: unknown, readonly broker: BrokerProcess }> {
  const broker = await startBroker(['--data', data])
  const run = (args: readonly string[], input = '') => cli(args, { bootstrap: broker.bootstrap, input })
  const read = async (topic: string, count: number): Promise<string[]> => (await run(['consume', topic, '--from', 'beginning', '--max', String(count)])).stdout.trim().split('\n')
  const records = [...await read('orders', 2), ...await read('late', 1)]
  const described = jsonOf(await run(['topic', 'describe', 'orders', '-o', 'json'])) as { readonly configs: readonly { readonly name: string, readonly value: unknown }[] }
  expect((await run(['produce', 'orders', '--partition', '1'], 'more\n')).code).toBe(0)
  expect((await run(['topic', 'create', 'afterwards', '--partitions', '1'])).code).toBe(0)
  return { records, retention: described.configs.find(({ name }) => name === 'retention.ms')?.value, broker }
}

const recover = (data: string, ...more: readonly string[]) => cli(['cluster', 'recover', '--data', data, ...more])

describe('millrace cluster recover', () => {
  it('brings everything back where LevelDB does not open for want of a file that says little', async () => {
    for (const damage of ['CURRENT', 'MANIFEST'] as const) {
      const { data, log } = copy()
      const file = readdirSync(log).find((name) => name.startsWith(damage))!
      if (damage === 'CURRENT') writeFileSync(join(log, file), 'MANIFEST-000099\n')
      else truncateSync(join(log, file), 0)
      expect(await refusal(data), damage).toMatch(/MR_CLUSTER_METADATA_UNREADABLE: .*millrace cluster recover/)
      const result = await recover(data, '--yes', '-o', 'json')
      expect(jsonOf(result), result.stderr).toMatchObject({ isWhole: true, lostCommands: 0, assumed: [], done: true, topics: [{ name: 'late', from: 'metadata' }, { name: 'orders', from: 'metadata' }] })
      const { records, retention, broker } = await served(data)
      expect([records, retention]).toEqual([['one', 'two', 'three'], '7777777'])
      expect(await broker.end('SIGTERM')).toBe(0)
    }
  })

  it('serves the records of a topic whose creation was lost without a trace, says so first, and starts again as any broker', async () => {
    const { data, log } = copy()
    const wal = walOf(log)
    truncateSync(wal, readFileSync(wal).indexOf('late') - 40)
    expect(await refusal(data)).toMatch(/MR_CLUSTER_METADATA_CORRUPT: .* were acknowledged, and it ends at .*millrace cluster recover/)
    const looked = await recover(data, '--dry-run')
    expect(looked.code).toBe(0)
    expect(looked.stdout).toMatch(/commands? after that (is|are) lost[^]*late +3 +directories +settings lost: it keeps everything[^]*orders +2 +metadata[^]*nothing was changed/)
    expect(looked.stderr).toContain('a topic that was deleted after the last command')
    const unasked = await recover(data, '-o', 'json')
    expect([unasked.code, oneLine(unasked)]).toEqual([2, expect.stringContaining('MR_CLI_CONFIRM_NEEDED')])
    expect((await recover(data, '--yes')).stdout).toContain('the old metadata is in')
    const { records, retention, broker } = await served(data)
    expect([records, retention]).toEqual([['one', 'two', 'three'], '7777777'])
    await broker.end('SIGKILL')
    const again = await startBroker(['--data', data])
    expect((await cli(['topic', 'list', '-o', 'json'], { bootstrap: again.bootstrap })).stdout).toContain('afterwards')
    expect(await again.end('SIGTERM')).toBe(0)
    expect(readFileSync(join(data, '__millrace_metadata.before-recovery.1', 'witness.dat')).length).toBe(16384)
  })

  it('and start are refused with a data directory left out, until its id is given up in the configuration', async () => {
    const [first, second] = [join(base, 'first'), join(base, 'second')]
    const broker = await startBroker(['--data', `${first},${second}`])
    expect((await cli(['topic', 'create', 'wide', '--partitions', '4'], { bootstrap: broker.bootstrap })).code).toBe(0)
    expect(await broker.end('SIGTERM')).toBe(0)
    const id = /^directory\.id=(.+)$/m.exec(readFileSync(join(second, 'meta.properties'), 'utf8'))![1]!
    renameSync(second, `${second}.away`)
    for (const data of [first, `${first},${second}`]) expect(await refusal(data)).toMatch(new RegExp(`MR_LOG_DIRECTORY_MISSING: .*${id}, last at ${second}.*lostDirectories: \\[${id}\\]`))
    expect(oneLine(await recover(first, '--dry-run'))).toMatch(new RegExp(`MR_LOG_DIRECTORY_MISSING: .*${id}`))
    renameSync(`${second}.away`, second)
    const whole = await startBroker(['--data', first, '--data', second])
    expect(await whole.end('SIGTERM')).toBe(0)
    const config = join(base, 'given-up.json')
    writeFileSync(config, JSON.stringify({ settings: { 'storage-local': { lostDirectories: [id] } } }))
    expect((await recover(first, '--config', config, '--dry-run')).stdout).toContain('no directory for partition')
    const without = await startBroker(['--config', config, '--data', first])
    expect(without.log()).toContain('was given up')
    expect(await without.end('SIGTERM')).toBe(0)
    const again = await startBroker(['--data', first])
    expect(await again.end('SIGTERM')).toBe(0)
  })

  it('is refused while the broker runs, and without data', async () => {
    const { data } = copy()
    const broker = await startBroker(['--data', data])
    expect(oneLine(await recover(data, '--yes', '-o', 'json'))).toContain('MR_LOG_DIRECTORY_LOCKED')
    await broker.end('SIGTERM')
    expect(oneLine(await recover(join(base, 'nowhere'), '--yes', '-o', 'json'))).toContain('MR_CLUSTER_RECOVERY_REFUSED')
  })
})
