import { parseArgs } from 'node:util'
import { fileURLToPath } from 'node:url'

import { kafkaClassPath } from '../../test/compat/peers.ts'
import { runProgram } from '../../test/compat/process.ts'
import { makeRate, type Rate } from './rate.ts'

export interface ProducerPerformanceLoad {
  readonly bootstrap: string
  readonly topic: string
  readonly messages: number
  readonly bytes: number
  /** Sent first and not counted, so that the client's compiler is warm. */
  readonly warmupMessages?: number
  /** Producer settings; Kafka's defaults otherwise (idempotent, acks=all, 16 KiB batches, 5 ms of linger). */
  readonly settings?: Readonly<Record<string, string | number>>
}

/** Latency of single records as the client sees them, queueing in the client included. */
export interface ProducerPerformanceResult extends Rate {
  readonly p50Ms: number
  readonly p99Ms: number
}

/** Kafka 4.4's own producer benchmark. Its steady state is what counts. */
export async function producerPerformance (load: ProducerPerformanceLoad): Promise<ProducerPerformanceResult> {
  const warmup = load.warmupMessages ?? 0
  const settings = { 'bootstrap.servers': load.bootstrap, ...load.settings }
  const { stdout } = await runProgram('java', ['-Xmx512m', '-cp', kafkaClassPath()!,
    'org.apache.kafka.tools.ProducerPerformance', '--topic', load.topic, '--num-records', String(load.messages + warmup),
    '--record-size', String(load.bytes), '--throughput', '-1', '--reporting-interval', '1000000',
    ...warmup > 0 ? ['--warmup-records', String(warmup)] : [],
    '--command-property', ...Object.entries(settings).map(([name, value]) => `${name}=${value}`)], { timeoutMs: 300_000 })
  const result = /(\d+)(?: steady state)? records sent, ([\d.]+) records\/sec .* (\d+) ms 50th, .* (\d+) ms 99th,/
  const line = stdout.toString().split('\n').filter(text => result.test(text)).at(-1)
  if (!line) throw new Error(`ProducerPerformance printed no result:\n${stdout.toString()}`)
  const [records, perSecond, p50Ms, p99Ms] = result.exec(line)!.slice(1).map(Number) as [number, number, number, number]
  return { ...makeRate(records, records / perSecond), p50Ms, p99Ms }
}

/** `npx tsx bench/kafka/producer-performance.ts [--bootstrap …] [--topic T] [--messages N] [--bytes N]` */
async function main (): Promise<void> {
  const { values } = parseArgs({
    options: {
      bootstrap: { type: 'string', default: '127.0.0.1:9092' }, topic: { type: 'string', default: 'bench' },
      messages: { type: 'string', default: '1000000' }, bytes: { type: 'string', default: '100' },
      warmup: { type: 'string', default: '0' },
    },
  })
  console.log(JSON.stringify(await producerPerformance({
    bootstrap: values.bootstrap, topic: values.topic, messages: Number(values.messages), bytes: Number(values.bytes),
    warmupMessages: Number(values.warmup),
  })))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main()
