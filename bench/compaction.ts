/**
 * What compaction costs, and what it costs others:
 *
 *   npx tsx bench/compaction.ts [--rounds 3] [--only throughput,waits,offsets] [--mib 256] [--commits 1000]
 *
 * `throughput`: a log of --mib MiB with twice as many records as keys is compacted, beside `cp` of the same segments, which takes turns with it, and a `cp` whose copies are synced, as what compaction writes is;
 * and how much CPU of that the event loop has, and would have without a thread.
 * `waits`: what producers wait for, 1,000 requests a second of one record each, on time whatever came before, beside a table that is compacted again and again, and beside one that is not; in turn.
 * `offsets`: `__consumer_offsets` of 10,000 groups with --commits commits each, written as the coordinator writes them, before and after it was compacted: bytes on the disk, and how long a
 * start takes to load it. The broker's parts are those of `npm run build`. Figures are medians, ± half of the distance between the smallest and the largest; ratios are of the same round.
 */
import { scriptOptionsOrExit } from '../scripts/script-options.ts'
import { installNativeCrc32c } from '../src/platform/codecs/native-crc32c.ts'
import { temporaryDir } from '../test/compat/peers.ts'
import { CleanedBroker, type Durability, type Waits } from './compaction/beside-producers.ts'
import { offsetsTopic } from './compaction/offsets-topic.ts'
import { type Load, throughput, type Throughput } from './compaction/throughput.ts'

const parts = ['throughput', 'waits', 'offsets']
const usage = `Usage: npx tsx bench/compaction.ts [OPTIONS]

What compaction costs, and what it costs others. It wants dist/ (npm run build).

  --only NAME[,NAME…]   ${parts.join(', ')} (default: all)
  --rounds N            measured rounds (default: 3)
  --mib N               MiB of the log of throughput (default: 256)
  --commits N           commits of each group of offsets (default: 1000)`
const { numbers: { rounds, mib, commits: commitsEach }, texts: { only } } = scriptOptionsOrExit(usage, {
  numbers: { rounds: 3, mib: 256, commits: 1000 }, positive: ['rounds', 'mib', 'commits'], texts: { only: parts.join(',') }, lists: { only: parts },
})
const bytes = mib * 2 ** 20
const has = (part: string): boolean => only!.split(',').includes(part)

const median = (numbers: readonly number[]): number => [...numbers].sort((a, b) => a - b)[numbers.length >> 1] ?? NaN
const spread = (numbers: readonly number[]): string => `±${((Math.max(...numbers) - Math.min(...numbers)) / 2 / median(numbers) * 100).toFixed(0)} %`
const range = (ratios: readonly number[]): string => `**${median(ratios).toFixed(2)}x** (${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)})`

const loads: readonly Load[] = [
  { name: 'records of 100 B', valueBytes: 100, codec: 0, bytes },
  { name: 'records of 1 KiB', valueBytes: 1024, codec: 0, bytes },
  { name: 'records of 1 KiB, lz4', valueBytes: 1024, codec: 3, bytes },
]

async function throughputs (): Promise<void> {
  const samples = new Map<Load, (Throughput & { readonly slicesMs: number })[]>(loads.map(load => [load, []]))
  for (let round = 0; round <= rounds; round++) {
    for (const load of loads) {
      const directory = temporaryDir('compaction')
      const sample = await throughput(directory, load, round % 2 === 0)
      const { loopMs } = await throughput(directory, load, true, false)
      console.error(`${round === 0 ? 'warm-up' : `round ${round}`}: ${load.name}: compacted in ${sample.compactMs.toFixed(0)} ms, cp ${sample.copyMs.toFixed(0)} ms, with a sync ${sample.syncedCopyMs.toFixed(0)} ms`)
      if (round > 0) samples.get(load)!.push({ ...sample, slicesMs: loopMs })
    }
  }
  console.log('| compacted | MB/s of what was there | kept | cp, MB/s | ratio | cp and sync, MB/s | ratio | CPU | of the event loop | all of it in slices there |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|')
  for (const [load, all] of samples) {
    const rates = (ms: (sample: Throughput) => number): number[] => all.map(sample => sample.bytes / 1000 / ms(sample))
    const cell = (numbers: readonly number[]): string => `${median(numbers).toFixed(0)} ${spread(numbers)}`
    console.log(`| ${load.name} | ${cell(rates(({ compactMs }) => compactMs))} | ${(all[0]!.keptBytes / all[0]!.bytes * 100).toFixed(0)} % | ${cell(rates(({ copyMs }) => copyMs))} | ${range(all.map(({ copyMs, compactMs }) => copyMs / compactMs))} | ` +
      `${cell(rates(({ syncedCopyMs }) => syncedCopyMs))} | ${range(all.map(({ syncedCopyMs, compactMs }) => syncedCopyMs / compactMs))} | ${[all.map(({ cpuMs, bytes: log }) => cpuMs * 1e6 / log), all.map(({ loopMs, bytes: log }) => loopMs * 1e6 / log), all.map(({ slicesMs, bytes: log }) => slicesMs * 1e6 / log)].map(each => `${median(each).toFixed(2)} ms/MB`).join(' | ')} |`)
  }
}

async function waits (): Promise<void> {
  const broker = await CleanedBroker.start({ bytes: bytes / 2, valueBytes: 100, rate: 1000, seconds: 5, settings: [] })
  const samples: { durability: Durability, quiet: Waits, cleaning: Waits }[] = []
  try {
    for (let round = 0; round <= rounds; round++) {
      for (const durability of ['os', 'fsync'] as const) {
        const quietFirst = round % 2 === 0
        const first = await broker.measure(durability, !quietFirst)
        const second = await broker.measure(durability, quietFirst)
        const [quiet, cleaning] = quietFirst ? [first, second] : [second, first]
        console.error(`${round === 0 ? 'warm-up' : `round ${round}`}: ${durability}: p99 ${quiet.p99Us.toFixed(0)} µs, while compacting ${cleaning.p99Us.toFixed(0)} µs (${(cleaning.cleanedPerSecond / 1e6).toFixed(0)} MB/s)`)
        if (round > 0) samples.push({ durability, quiet, cleaning })
      }
    }
  } finally {
    await broker.stop()
  }
  console.log('\n| 1,000 a second | p50, µs | p99, µs | p50 while compacting | p99 while compacting | ratio of p99 | compacted meanwhile, read and written |\n|---|---:|---:|---:|---:|---:|---:|')
  for (const durability of ['os', 'fsync'] as const) {
    const all = samples.filter(sample => sample.durability === durability)
    const cell = (numbers: readonly number[]): string => `${median(numbers).toFixed(0)} ${spread(numbers)}`
    const lost = all.some(({ quiet, cleaning }) => !quiet.sustained || !cleaning.sustained) ? ', not sustained' : ''
    console.log(`| ${durability}${lost} | ${cell(all.map(({ quiet }) => quiet.p50Us))} | ${cell(all.map(({ quiet }) => quiet.p99Us))} | ${cell(all.map(({ cleaning }) => cleaning.p50Us))} | ${cell(all.map(({ cleaning }) => cleaning.p99Us))} | ` +
      `${range(all.map(({ quiet, cleaning }) => cleaning.p99Us / quiet.p99Us))} | ${median(all.map(({ cleaning }) => cleaning.cleanedPerSecond / 1e6)).toFixed(0)} MB/s |`)
  }
}

async function offsets (): Promise<void> {
  const { groups, commits, before, after, compactedMs } = await offsetsTopic({ groups: 10_000, commits: commitsEach, say: text => { console.error(text) } })
  console.log(`\n| ${groups.toLocaleString('en')} groups, ${commits.toLocaleString('en')} commits each | on the disk | loaded after a start in | CPU |\n|---|---:|---:|---:|`)
  for (const [name, { diskBytes, loadMs, loadCpuMs }] of [['as written', before], ['compacted', after]] as const) console.log(`| ${name} | ${(diskBytes / 1e6).toFixed(1)} MB | ${(loadMs / 1000).toFixed(1)} s | ${(loadCpuMs / 1000).toFixed(1)} s |`)
  console.log(`\nCompacted ${(compactedMs / 1000).toFixed(0)} s after the start.`)
}

installNativeCrc32c()
if (has('throughput')) await throughputs()
if (has('waits')) await waits()
if (has('offsets')) await offsets()
