import Table from 'cli-table3'
import pc from 'picocolors'
import { type Latencies } from './latencies.ts'
import { type Read } from './read-flights.ts'
import { type Sent } from './send-flights.ts'
import { type Check } from './verify.ts'

export interface DemoResult {
  readonly records: number
  readonly partitions: number
  readonly sent: Sent
  /** Single records at 1,000 a second. */
  readonly alone: Latencies
  /** Read while they were sent. */
  readonly followed: Read
  /** Read again from the beginning. */
  readonly replayed: Read
  readonly checks: readonly Check[]
}

const whole = (value: number): string => Math.round(value).toLocaleString('en')
const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`
const latency = (ms: number): string => `${ms.toFixed(ms < 10 ? 2 : 0)} ms`
const perSecond = (count: number, ms: number): string => `${whole(count / ms * 1_000)}/s`

export function reportAsText(result: DemoResult): void {
  const { sent, alone, followed, replayed, checks } = result
  const table = new Table({
    head: ['', 'records', 'time', 'rate', 'ack p50', 'ack p99'].map((each) => pc.bold(each)),
    chars: { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' },
    style: { head: [], border: [] }, colAligns: ['left', 'right', 'right', 'right', 'right', 'right'],
  })
  table.push(
    ['sent at full speed, acks=all, synced', whole(sent.count), seconds(sent.elapsedMs), perSecond(sent.count, sent.elapsedMs), latency(sent.ack.quantile(0.5)), latency(sent.ack.quantile(0.99))],
    [`read meanwhile by ${followed.shares.length} consumers`, whole(followed.count), seconds(followed.elapsedMs), perSecond(followed.count, followed.elapsedMs), '', ''],
    [`read again by ${replayed.shares.length} consumers`, whole(replayed.count), seconds(replayed.elapsedMs), perSecond(replayed.count, replayed.elapsedMs), '', ''],
    ['single records, acks=all, synced', '2,000', '2.0 s', '1,000/s', latency(alone.quantile(0.5)), latency(alone.quantile(0.99))],
  )
  console.log(`\n${table.toString()}`)
  console.log(pc.dim(`${(sent.valueBytes / 1_048_576).toFixed(0)} MiB of JSON in ${result.partitions} partitions; broker, producer and consumers in one process, over TCP\n`))
  followed.shares.forEach((share, index) => {
    console.log(pc.dim(`consumer ${index + 1}: partitions ${share.partitions.join(', ')}: ${whole(share.records)} flights from ${share.airports} airports`))
  })
  console.log('')
  for (const { claim, holds, detail } of checks) console.log(`${holds ? pc.green('✓') : pc.red('✗')} ${claim}${holds ? '' : pc.red(`: ${detail}`)}`)
}

export function reportAsJson({ records, partitions, sent, alone, followed, replayed, checks }: DemoResult): void {
  const read = (each: Read) => ({ records: each.count, elapsedMs: Math.round(each.elapsedMs), shares: each.shares })
  const ack = (each: Latencies) => ({ p50Ms: each.quantile(0.5), p99Ms: each.quantile(0.99) })
  console.log(JSON.stringify({
    records, partitions, sent: { records: sent.count, elapsedMs: Math.round(sent.elapsedMs), valueBytes: sent.valueBytes, ack: ack(sent.ack) },
    followed: read(followed), replayed: read(replayed), singleRecords: { perSecond: 1_000, ack: ack(alone) },
    checks: checks.map(({ claim, holds }) => ({ claim, holds })),
  }))
}
