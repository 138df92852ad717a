/**
 * How long a broker takes to start on 1 GiB of log after kill -9, beside the time of reading the part of it that has to be checked:
 *
 *   npx tsx scripts/restart-time.ts [--mebibytes 1024] [--rounds 3]
 *
 * The tail is what lies above the recovery point at the kill; the log below is not read. Start on an empty directory is measured too, since
 * loading the program is no part of recovery. Everything is in the page cache, for the broker and for the plain read alike.
 */
import { closeSync, mkdtempSync, openSync, readFileSync, readSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createClient } from '../src/client/index.ts'
import { ensureBuilt } from '../test/integration/built.ts'
import { startBroker } from '../test/integration/broker-process.ts'

const { values } = parseArgs({ options: { mebibytes: { type: 'string', default: '1024' }, rounds: { type: 'string', default: '3' } } })
const mebibytes = Number(values.mebibytes)
const args = (directory: string): string[] => ['--data', directory, '--http', 'off', '--no-warm-up']

async function fill(directory: string): Promise<void> {
  const broker = await startBroker(args(directory))
  const client = createClient({ bootstrap: broker.bootstrap })
  await client.admin().createTopics([{ name: 'big', partitions: 1, configs: { 'segment.bytes': String(128 * 1024 * 1024) } }])
  const producer = client.producer({ lingerMs: 5, batchBytesMax: 512 * 1024 })
  const value = new Uint8Array(1024).fill(120)
  for (let sent = 0; sent < mebibytes; sent += 8) {
    await producer.sendMany(Array.from({ length: 8 * 1000 }, () => ({ topic: 'big', value })))
  }
  await broker.end('SIGKILL')
  await client.close().catch(() => undefined)
}

/** Bytes above the recovery point: whole segments above it, and all of the segment that holds it. */
function uncleanTail(directory: string): { files: string[], bytes: number } {
  const point = Number(/^big 0 (\d+)$/m.exec(readFileSync(join(directory, 'recovery-point-offset-checkpoint'), 'utf8'))?.[1] ?? 0)
  const logs = readdirSync(join(directory, 'big-0')).filter((name) => name.endsWith('.log')).sort()
  const first = Math.max(0, logs.findLastIndex((name) => Number(name.slice(0, 20)) <= point))
  const files = logs.slice(first).map((name) => join(directory, 'big-0', name))
  return { files, bytes: files.reduce((sum, file) => sum + statSync(file).size, 0) }
}

function readMs(files: readonly string[]): number {
  const buffer = new Uint8Array(1 << 20)
  const startedMs = performance.now()
  for (const file of files) {
    const descriptor = openSync(file, 'r')
    for (let at = 0; ;) {
      const read = readSync(descriptor, buffer, 0, buffer.length, at)
      if (read === 0) break
      at += read
    }
    closeSync(descriptor)
  }
  return performance.now() - startedMs
}

/** The whole start as a shell sees it, and how much of it the logs took, as the broker's own line tells. */
async function startMs(directory: string): Promise<{ readonly allMs: number, readonly logsMs: number }> {
  const startedMs = performance.now()
  const broker = await startBroker(args(directory))
  const allMs = performance.now() - startedMs
  const logsMs = Number(/"ms":(\d+),"msg":"logs are loaded"/.exec(broker.log())?.[1])
  await broker.end('SIGTERM')
  return { allMs, logsMs }
}

const median = (numbers: readonly number[]): number => [...numbers].sort((left, right) => left - right)[Math.floor(numbers.length / 2)]!

ensureBuilt()
const rows: { emptyMs: number, restartMs: number, logsMs: number, readMs: number, tailBytes: number }[] = []
for (let round = 0; round < Number(values.rounds); round += 1) {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-restart-'))
  const empty = mkdtempSync(join(tmpdir(), 'millrace-restart-'))
  try {
    await fill(directory)
    const tail = uncleanTail(directory)
    readMs(tail.files)
    const plainMs = readMs(tail.files)
    const { allMs, logsMs } = await startMs(directory)
    rows.push({ readMs: plainMs, tailBytes: tail.bytes, restartMs: allMs, logsMs, emptyMs: (await startMs(empty)).allMs })
  } finally {
    rmSync(directory, { recursive: true, force: true })
    rmSync(empty, { recursive: true, force: true })
  }
}
const of = (what: 'emptyMs' | 'restartMs' | 'logsMs' | 'readMs' | 'tailBytes'): number => median(rows.map((row) => row[what]))
console.log(`log ${mebibytes} MiB, unclean tail ${Math.round(of('tailBytes') / 1048576)} MiB, medians of ${rows.length} rounds`)
console.log(`start on an empty directory              ${of('emptyMs').toFixed(0)} ms`)
console.log(`restart after kill -9                    ${of('restartMs').toFixed(0)} ms`)
console.log(`of which the logs, checked and recovered ${of('logsMs').toFixed(0)} ms`)
console.log(`plain read of the unclean tail           ${of('readMs').toFixed(0)} ms`)
console.log(`recovery : read                          ${(of('logsMs') / of('readMs')).toFixed(2)}`)
