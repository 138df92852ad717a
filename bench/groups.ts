/**
 * What groups cost beside Apache Kafka, in the same minutes:
 *
 *   npx tsx bench/groups.ts [--rounds 3] [--seconds 3] [--only commits|join]
 *
 * Commits a second of one offset each: by our client, one after another and sixteen in flight (each of a group of its own), and by librdkafka, one after another. Then the time from the start of a consumer, alone in a new
 * group, to its first record, by the classic protocol and by that of KIP-848, by our client and by librdkafka. Both brokers have `group.initial.rebalance.delay.ms=0`: Kafka's default lets a first member wait for three
 * seconds. A commit of millrace is on the disk when it is answered, one of Kafka in its page cache. Brokers take turns within each row, another one first each round; a round before the counted ones
 * warms up. Figures are medians, ± half of the distance between the smallest and the largest; a ratio is millrace's figure by Kafka's, the median of those of the rounds.
 */
import { join } from 'node:path'
import { scriptOptionsOrExit } from '../scripts/script-options.ts'
import { createClient } from '../src/client/index.ts'
import { findCoordinatorApi, offsetCommitApi } from '../src/wire/index.ts'
import { Control } from '../test/compat/control.ts'
import { kafkaAvailable, shippedJvmOptions, startKafka } from '../test/compat/kafka-broker.ts'
import { millraceAvailable, startMillrace } from '../test/compat/millrace-broker.ts'
import { peerFile, peersDir } from '../test/compat/peers.ts'
import { runProgram } from '../test/compat/process.ts'
import { compiled } from './kafka/closed-loop.ts'
import { startCpuMeter } from './kafka/cpu.ts'
import { WireChannel } from './kafka/wire-channel.ts'

const usage = `Usage: npx tsx bench/groups.ts [OPTIONS]

What groups cost beside Apache Kafka.

  --rounds N    measured rounds (default: 3)
  --seconds S   seconds that a figure of commits takes (default: 3)
  --only NAME   commits or join (default: both)`
const { numbers: { rounds, seconds }, texts: { only } } = scriptOptionsOrExit(usage, {
  numbers: { rounds: 3, seconds: 3 }, fractions: ['seconds'], positive: ['rounds', 'seconds'], texts: { only: '' }, choices: { only: ['commits', 'join'] },
})
const topic = 'bench'

interface Broker {
  readonly name: 'millrace' | 'Kafka'
  readonly bootstrap: string
  readonly pid: number
  stop (): Promise<void>
}

interface Sample {
  readonly value: number
  /** CPU of the broker for each commit. */
  readonly cpuUs?: number
}

interface Row {
  readonly title: string
  readonly unit: '/s' | 'ms'
  measure (broker: Broker): Promise<Sample>
}

const program = (): string => {
  const dir = join(peersDir(), 'librdkafka')
  return compiled('group-client', [`-I${dir}/include`, `-I${dir}/src`, join(dir, 'librdkafka.so.1'), `-Wl,-rpath,${dir}`])
}

let groups = 0
const newGroup = (): string => `group-${process.pid}-${++groups}`

async function metered (broker: Broker, count: () => Promise<{ count: number, seconds: number }>): Promise<Sample> {
  const used = startCpuMeter(broker.pid)
  const done = await count()
  return { value: done.count / done.seconds, cpuUs: used() / done.count / 1000 }
}

/** Commits for so many groups at once, each waiting for its answer before it commits again. */
async function ourCommits ({ bootstrap }: Broker, inFlight: number): Promise<{ count: number, seconds: number }> {
  const channel = await WireChannel.connect(bootstrap)
  try {
    const ids = Array.from({ length: inFlight }, newGroup)
    for (const key of ids) while ((await channel.call(findCoordinatorApi, 3, { key, keyType: 0 })).errorCode !== 0);
    const commit = async (groupId: string, committedOffset: number): Promise<number> => {
      const { topics } = await channel.call(offsetCommitApi, 8, {
        groupId, generationIdOrMemberEpoch: -1, memberId: '', topics: [{ name: topic, partitions: [{ partitionIndex: 0, committedOffset, committedMetadata: '' }] }],
      })
      return topics[0]!.partitions[0]!.errorCode
    }
    // A coordinator that was just named may not be there yet.
    for (const groupId of ids) while (await commit(groupId, 0) !== 0);
    let count = 0
    const commitUntil = async (groupId: string, untilMs: number): Promise<void> => {
      for (let offset = 1; performance.now() < untilMs; offset++) {
        const errorCode = await commit(groupId, offset)
        if (errorCode !== 0) throw new Error(`a commit was refused with ${errorCode}`)
        count++
      }
    }
    const all = async (ms: number): Promise<number> => {
      const began = performance.now()
      await Promise.all(ids.map(groupId => commitUntil(groupId, began + ms)))
      return performance.now() - began
    }
    await all(1000)
    count = 0
    return { seconds: await all(seconds * 1000) / 1000, count }
  } finally {
    channel.close()
  }
}

async function ourJoin ({ bootstrap }: Broker, groupProtocol: 'classic' | 'consumer'): Promise<number> {
  const began = performance.now()
  const client = createClient({ bootstrap })
  try {
    const consumer = client.consumer({ groupId: newGroup(), groupProtocol, offsetReset: 'earliest' })
    consumer.subscribe([topic])
    while ((await consumer.poll({ timeoutMs: 1000 })).length === 0) if (performance.now() - began > 60_000) throw new Error('no record within 60 s')
    return performance.now() - began
  } finally {
    await client.close()
  }
}

async function theirs (args: readonly string[]): Promise<{ count: number, seconds: number }> {
  return JSON.parse((await runProgram(program(), args)).stdout.toString()) as { count: number, seconds: number }
}

const hasRdkafka = peerFile('librdkafka', 'librdkafka.so.1') !== undefined
const commits: readonly Row[] = [
  { title: 'commits, our client, one after another', unit: '/s', measure: broker => metered(broker, () => ourCommits(broker, 1)) },
  { title: 'commits, our client, 16 in flight', unit: '/s', measure: broker => metered(broker, () => ourCommits(broker, 16)) },
  ...hasRdkafka ? [{ title: 'commits, librdkafka, one after another', unit: '/s', measure: broker => metered(broker, () => theirs(['commits', broker.bootstrap, newGroup(), topic, String(seconds)])) } satisfies Row] : [],
]
const joins: readonly Row[] = (['classic', 'consumer'] as const).flatMap((protocol): Row[] => {
  const title = protocol === 'classic' ? 'classic' : 'KIP-848'
  return [
    { title: `join to first record, ${title}, our client`, unit: 'ms', measure: async broker => ({ value: await ourJoin(broker, protocol) }) },
    ...hasRdkafka ? [{ title: `join to first record, ${title}, librdkafka`, unit: 'ms', measure: async broker => ({ value: (await theirs(['join', broker.bootstrap, newGroup(), topic, `group.protocol=${protocol}`])).seconds * 1000 }) } satisfies Row] : [],
  ]
})
const rows = [...only === 'join' ? [] : commits, ...only === 'commits' ? [] : joins]

async function startBrokers (): Promise<Broker[]> {
  const started: Broker[] = []
  const noDelay = { 'group.initial.rebalance.delay.ms': '0' }
  if (!millraceAvailable()) throw new Error('millrace is not built: npm run build')
  const millrace = await startMillrace({ args: Object.entries(noDelay).flatMap(([key, value]) => ['--set', `${key}=${value}`]) })
  started.push({ name: 'millrace', bootstrap: millrace.bootstrap, pid: millrace.pid, stop: () => millrace.stop() })
  if (kafkaAvailable()) {
    const kafka = await startKafka({ jvmOptions: shippedJvmOptions, properties: noDelay })
    started.push({ name: 'Kafka', bootstrap: kafka.bootstrap, pid: kafka.pid, stop: () => kafka.stop() })
  } else console.error('SKIPPED Kafka: it is not installed')
  if (!hasRdkafka) console.error('SKIPPED librdkafka: it is not installed')
  return started
}

const median = (numbers: readonly number[]): number => [...numbers].sort((a, b) => a - b)[numbers.length >> 1] ?? NaN
const spread = (numbers: readonly number[]): string => `±${((Math.max(...numbers) - Math.min(...numbers)) / 2 / median(numbers) * 100).toFixed(0)} %`
const shown = (value: number): string => value >= 1000 ? value.toLocaleString('en', { maximumFractionDigits: 0 }) : value.toFixed(value < 100 ? 1 : 0)

function cell (row: Row, samples: readonly Sample[]): string {
  const numbers = samples.map(({ value }) => value)
  const cpu = samples[0]?.cpuUs === undefined ? '' : `, ${shown(median(samples.map(({ cpuUs }) => cpuUs!)))} µs CPU`
  return samples.length === 0 ? '–' : `${shown(median(numbers))}${row.unit === '/s' ? '/s' : ' ms'} ${spread(numbers)}${cpu}`
}

const brokers = await startBrokers()
const samples = new Map<string, Sample[]>()
const of = (row: Row, name: string): Sample[] => samples.get(`${row.title} ${name}`) ?? []
try {
  for (const { bootstrap } of brokers) {
    await Control.with(bootstrap, control => control.createTopic(topic, 1))
    const client = createClient({ bootstrap })
    await client.producer().send({ topic, key: 'k', value: 'v' })
    await client.close()
  }
  for (let round = 0; round <= rounds; round++) {
    for (const row of rows) {
      for (let turn = 0; turn < brokers.length; turn++) {
        const broker = brokers[(turn + round) % brokers.length]!
        const sample = await row.measure(broker)
        console.error(`${round === 0 ? 'warm-up' : `round ${round}`}: ${row.title}, ${broker.name}: ${shown(sample.value)} ${row.unit}`)
        if (round > 0) samples.set(`${row.title} ${broker.name}`, [...of(row, broker.name), sample])
      }
    }
  }
} finally {
  for (const broker of brokers) await broker.stop()
}
console.log('| | millrace | Kafka | ratio |\n|---|---:|---:|---:|')
for (const row of rows) {
  const [ours, kafkas] = [of(row, 'millrace'), of(row, 'Kafka')]
  const ratios = kafkas.map(({ value }, index) => ours[index]!.value / value)
  const ratio = ratios.length === 0 ? '–' : `**${median(ratios).toFixed(2)}x** (${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)})`
  console.log(`| ${row.title} | ${cell(row, ours)} | ${cell(row, kafkas)} | ${ratio} |`)
}
