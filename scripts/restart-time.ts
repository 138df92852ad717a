/**
 * How long a broker takes to start on 1 GiB of log after kill -9, beside the time of reading the part of it that has to be checked:
 *
 *   npx tsx scripts/restart-time.ts [--mebibytes 1024] [--rounds 3]
 *
 * The unclean tail is what lies above the recovery point at the kill, from the last index entry below it: nothing else of a log is read. It
 * is measured for a log with durability fsync, whose recovery point follows, and for one whose 1 GiB is a single active segment with
 * durability os, of which nothing counts as synced. Each with the files in the page cache, as a process leaves them that is killed, and, where
 * dd can drop them from it, without, as after a power cut. A start on an empty
 * directory is measured too, since loading the program and making the first files is no part of recovery: that is what a start on the log takes
 * longer than it. The broker syncs what it keeps; of the copies that are measured all is synced before.
 */
import { spawnSync } from 'node:child_process'
import { closeSync, cpSync, fsyncSync, mkdtempSync, openSync, readFileSync, readSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '../src/client/index.ts'
import { NodeFileSystem } from '../src/platform/node-file-system.ts'
import { ensureBuilt } from '../test/integration/built.ts'
import { startBroker } from '../test/integration/broker-process.ts'
import { scriptOptionsOrExit } from './script-options.ts'

const usage = `Usage: npx tsx scripts/restart-time.ts [OPTIONS]

How long a broker takes to start on a log after kill -9, beside a read of the part of it that has to be checked.

  --mebibytes N   the size of the log (default: 1024)
  --rounds N      starts that are measured of each (default: 3)`
const { numbers: { mebibytes, rounds } } = scriptOptionsOrExit(usage, { numbers: { mebibytes: 1024, rounds: 3 } })
const mebibyte = 1024 * 1024
const args = (directory: string): string[] => ['--data', directory, '--http', 'off', '--no-warm-up']

const scenarios: readonly { readonly name: string, readonly configs: Readonly<Record<string, string>> }[] = [
  { name: 'durability fsync, segments of 128 MiB', configs: { 'segment.bytes': String(128 * mebibyte), 'durability': 'fsync' } },
  { name: 'durability fsync, one segment', configs: { 'segment.bytes': String(2 ** 31 - 1), 'durability': 'fsync' } },
  { name: 'durability os, one segment, none of it synced', configs: { 'segment.bytes': String(2 ** 31 - 1), 'durability': 'os' } },
]

async function fill(directory: string, configs: Readonly<Record<string, string>>): Promise<void> {
  const broker = await startBroker(args(directory))
  const client = createClient({ bootstrap: broker.bootstrap })
  await client.admin().createTopics([{ name: 'big', partitions: 1, configs }])
  const producer = client.producer({ lingerMs: 5, batchBytesMax: 512 * 1024 })
  const value = new Uint8Array(1024).fill(120)
  for (let sent = 0; sent < mebibytes; sent += 8) {
    await producer.sendMany(Array.from({ length: 8 * 1000 }, () => ({ topic: 'big', value })))
  }
  await broker.end('SIGKILL')
  await client.close().catch(() => undefined)
}

interface Range {
  readonly path: string
  readonly from: number
}

/** Whole segments above the recovery point, and the one that holds it from the last index entry below. */
function uncleanTail(directory: string): { readonly ranges: readonly Range[], readonly bytes: number } {
  const point = Number(/^big 0 (\d+)$/m.exec(readFileSync(join(directory, 'recovery-point-offset-checkpoint'), 'utf8'))?.[1] ?? 0)
  const logs = readdirSync(join(directory, 'big-0')).filter((name) => name.endsWith('.log')).sort()
  const first = Math.max(0, logs.findLastIndex((name) => Number(name.slice(0, 20)) <= point))
  const ranges = logs.slice(first).map((name, index) => ({ path: join(directory, 'big-0', name), from: index === 0 ? entryBelow(join(directory, 'big-0', name), point) : 0 }))
  return { ranges, bytes: ranges.reduce((sum, { path, from }) => sum + statSync(path).size - from, 0) }
}

function entryBelow(path: string, point: number): number {
  const base = Number(/(\d{20})\.log$/.exec(path)![1])
  let position = 0
  const index = readdirSync(join(path, '..')).includes(`${String(base).padStart(20, '0')}.index`) ? readFileSync(path.replace(/log$/, 'index')) : Buffer.alloc(0)
  for (let at = 0; at + 8 <= index.length && base + index.readInt32BE(at) < point; at += 8) position = index.readInt32BE(at + 4)
  return position
}

function readMs(ranges: readonly Range[]): number {
  const buffer = new Uint8Array(mebibyte)
  const startedMs = performance.now()
  for (const { path, from } of ranges) {
    const descriptor = openSync(path, 'r')
    for (let at = from; ;) {
      const read = readSync(descriptor, buffer, 0, buffer.length, at)
      if (read === 0) break
      at += read
    }
    closeSync(descriptor)
  }
  return performance.now() - startedMs
}

/** The copy is what a process that was killed left, as far as the broker can tell: the file that says so names the copy. */
function likeKilled(copy: string): void {
  const path = join(copy, '.millrace-cache-life')
  const life = new NodeFileSystem().cacheLife(path)
  if (life !== undefined) writeFileSync(path, readFileSync(path, 'utf8').replace(/^cache\.life=.*$/m, `cache.life=${life}`))
}

/** Everything of the log is on the disk; where `cold`, nothing of it is in the page cache. False where that cannot be had. */
function prepare(directory: string, cold: boolean): boolean {
  for (const name of readdirSync(join(directory, 'big-0'))) {
    const path = join(directory, 'big-0', name)
    const descriptor = openSync(path, 'r+')
    fsyncSync(descriptor)
    closeSync(descriptor)
    if (cold && spawnSync('dd', [`if=${path}`, 'iflag=nocache', 'count=0'], { stdio: 'ignore' }).status !== 0) return false
  }
  return true
}

interface Started {
  /** The whole start as a shell sees it. */
  readonly allMs: number
  /** How much of it the data directory and its logs took, as the broker's own line tells. */
  readonly logsMs: number
}

async function startMs(directory: string): Promise<Started> {
  const startedMs = performance.now()
  const broker = await startBroker(args(directory))
  const allMs = performance.now() - startedMs
  await broker.end('SIGTERM')
  const line = broker.log().split('\n').find((each) => each.includes('"msg":"logs are loaded"'))
  if (line === undefined) throw new Error(`the broker did not say how long its logs took:\n${broker.log()}`)
  const logsMs = (JSON.parse(line) as { readonly ms: number }).ms
  return { allMs, logsMs }
}

async function inCopy<T>(directory: string, run: (copy: string) => Promise<T>): Promise<T> {
  const copy = mkdtempSync(join(tmpdir(), 'millrace-restart-'))
  try {
    cpSync(directory, copy, { recursive: true })
    return await run(copy)
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

const median = (numbers: readonly number[]): number => [...numbers].sort((left, right) => left - right)[Math.floor(numbers.length / 2)]!

interface Row {
  readonly readMs: number
  readonly restart: Started
  readonly empty: Started
}

/** The same files are read and recovered, one right after the other: disks and neighbours change by the second. */
async function measure(directory: string, cold: boolean): Promise<Row | undefined> {
  const row = await inCopy(directory, async (copy) => {
    const { ranges } = uncleanTail(copy)
    if (!prepare(copy, cold)) return undefined
    if (!cold) readMs(ranges)
    if (!cold) likeKilled(copy)
    const plainMs = readMs(ranges)
    prepare(copy, cold)
    return { readMs: plainMs, restart: await startMs(copy) }
  })
  if (row === undefined) return undefined
  const empty = mkdtempSync(join(tmpdir(), 'millrace-restart-'))
  try {
    return { ...row, empty: await startMs(empty) }
  } finally {
    rmSync(empty, { recursive: true, force: true })
  }
}

function say(rows: readonly Row[], what: string): void {
  const of = (value: (row: Row) => number): string => median(rows.map(value)).toFixed(1)
  const recovery = ({ restart, empty }: Row): number => restart.logsMs - empty.logsMs
  const more = ({ restart, empty }: Row): number => restart.allMs - empty.allMs
  console.log(`  ${what}  plain read ${of(row => row.readMs)} ms; recovery ${of(recovery)} ms, ${of(row => recovery(row) / row.readMs)}x; `
    + `start ${of(row => row.restart.allMs)} ms, ${of(more)} ms more than on an empty directory, ${of(row => more(row) / row.readMs)}x`)
}

ensureBuilt()
for (const { name, configs } of scenarios) {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-restart-'))
  try {
    await fill(directory, configs)
    console.log(`\n${name}: ${mebibytes} MiB, unclean tail ${(uncleanTail(directory).bytes / mebibyte).toFixed(1)} MiB; medians of ${rounds} rounds`)
    for (const cold of [false, true]) {
      const rows = []
      for (let round = 0; round < rounds; round += 1) {
        const row = await measure(directory, cold)
        if (row !== undefined) rows.push(row)
      }
      if (rows.length > 0) say(rows, cold ? 'from the disk      ' : 'from the page cache')
    }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
