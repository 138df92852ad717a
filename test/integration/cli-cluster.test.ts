import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startBroker, type BrokerProcess } from './broker-process.ts'
import { ensureBuilt } from './built.ts'
import { cli as run, jsonOf, type CliResult } from './cli-run.ts'

const folder = mkdtempSync(join(tmpdir(), 'millrace-cluster-'))
const [one, two] = [join(folder, 'one'), join(folder, 'two')]
let broker: BrokerProcess

beforeAll(async () => {
  ensureBuilt()
  broker = await startBroker(['--data', one, '--data', two])
  await cli('topic', 'create', 'load', '--partitions', '4')
  for (const partition of ['0', '1', '2', '3']) await run(['produce', 'load', '--partition', partition], { bootstrap: broker.bootstrap, input: 'a\nb\n' })
}, 120_000)
afterAll(async () => {
  await broker.end('SIGTERM')
  rmSync(folder, { recursive: true, force: true })
})

const cli = (...args: readonly string[]): Promise<CliResult> => run(args, { bootstrap: broker.bootstrap })

interface Directory { path: string, partitions: number | null, usedBytes: number | null, freeBytes: number | null, totalBytes: number | null, problem: string | null }
const directoriesOf = (result: CliResult): Directory[] => (jsonOf(result) as { brokers: { directories: Directory[] }[] }).brokers[0]!.directories

describe('cluster brokers', () => {
  it('tells what each broker leads and holds, where, and what its disks have', async () => {
    const result = await cli('cluster', 'brokers', '-o', 'json')
    expect(result.code).toBe(0)
    const [host, port] = [broker.bootstrap.slice(0, broker.bootstrap.lastIndexOf(':')), Number(broker.bootstrap.slice(broker.bootstrap.lastIndexOf(':') + 1))]
    expect(jsonOf(result)).toMatchObject({ brokers: [{ nodeId: 1, host, port, rack: null, isController: true, isFenced: false, leaders: 4, replicas: 4 }] })
    const directories = directoriesOf(result)
    expect(directories.map(({ path, problem }) => [path, problem])).toEqual([[one, null], [two, null]])
    expect(directories.reduce((sum, { partitions }) => sum + partitions!, 0)).toBe(4)
    const described = jsonOf(await cli('topic', 'describe', 'load', '-o', 'json')) as { sizeBytes: number }
    expect(described.sizeBytes).toBeGreaterThan(0)
    expect(directories.reduce((sum, { usedBytes }) => sum + usedBytes!, 0)).toBe(described.sizeBytes)
    for (const { freeBytes, totalBytes } of directories) expect(totalBytes! >= freeBytes! && freeBytes! > 0).toBe(true)
    const { stdout, code } = await cli('cluster', 'brokers')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^broker +address +rack +leads +replicas +directory +logs +used +free$/m)
    expect(stdout).toMatch(new RegExp(`^ +1 +${broker.bootstrap} +- +4 +4 +${one} +\\d +\\d+ B +[\\d.]+ \\wiB +controller$`, 'm'))
    expect(stdout).toMatch(new RegExp(`^ +${two} +\\d +\\d+ B +[\\d.]+ \\wiB$`, 'm'))
  })

  it('names a directory that is out of service, and ends with 1', async () => {
    // What is made there next fails, and that takes the directory out of service.
    renameSync(two, `${two}-away`)
    writeFileSync(two, 'no directory')
    await cli('topic', 'create', 'more', '--partitions', '4')
    const result = await cli('cluster', 'brokers')
    expect(result.code).toBe(1)
    expect(result.stdout).toMatch(new RegExp(`^ +${two} +- +- +- +out of service$`, 'm'))
    expect(result.stderr).toBe(`warning: broker 1, ${two}: it is out of service; the log and /healthz of the broker say why\n`)
    expect(directoriesOf(await cli('cluster', 'brokers', '-o', 'json'))[1]).toMatchObject({ path: two, partitions: null, usedBytes: null, freeBytes: null, totalBytes: null, problem: expect.any(String) })
  }, 60_000)
})
