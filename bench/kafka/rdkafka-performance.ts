import { parseArgs } from 'node:util'
import { fileURLToPath } from 'node:url'

import { peerFile } from '../../test/compat/peers.ts'
import { runProgram } from '../../test/compat/process.ts'
import { makeRate, type Rate } from './rate.ts'

export interface RdkafkaLoad {
  readonly bootstrap: string
  readonly topic: string
  readonly messages: number
  /** Size of each value; ignored by a consumer. */
  readonly bytes?: number
  readonly acks?: 'all' | 1
  readonly idempotent?: boolean
  /** Further settings of librdkafka. */
  readonly settings?: Readonly<Record<string, string | number>>
}

export function rdkafkaPerformanceAvailable (): boolean {
  return peerFile('librdkafka', 'rdkafka_performance') !== undefined
}

async function rdkafkaPerformance (load: RdkafkaLoad, args: readonly string[], result: RegExp): Promise<Rate> {
  const settings = { 'broker.address.family': 'v4', log_level: 3, ...load.settings }
  const { stdout, stderr } = await runProgram(peerFile('librdkafka', 'rdkafka_performance')!, [
    ...args, '-b', load.bootstrap, '-t', load.topic, '-p', '0', '-c', String(load.messages), '-i', '1000000',
    ...Object.entries(settings).flatMap(([name, value]) => ['-X', `${name}=${value}`]),
  ], { timeoutMs: 300_000 })
  const found = result.exec(`${stdout.toString()}\n${stderr}`)
  if (!found) throw new Error(`rdkafka_performance printed no result:\n${stdout.toString()}\n${stderr}`)
  const [done, failed, ms] = [found.groups!.done, found.groups!.failed ?? '0', found.groups!.ms].map(Number)
  if (done! < load.messages || failed! > 0) throw new Error(`rdkafka_performance: ${done} of ${load.messages} done, ${failed} failed`)
  return makeRate(done!, ms! / 1000)
}

/** librdkafka's own producer benchmark, partition 0, batches of up to 1 MB with 5 ms of linger. */
export function rdkafkaProduce (load: RdkafkaLoad): Promise<Rate> {
  const settings = {
    'linger.ms': 5, 'batch.size': 1_000_000, 'queue.buffering.max.messages': 1_000_000,
    'enable.idempotence': load.idempotent ? 'true' : 'false', ...load.settings,
  }
  return rdkafkaPerformance({ ...load, settings },
    ['-P', '-s', String(load.bytes ?? 100), '-a', load.acks === 1 ? '1' : '-1'],
    /(?<done>\d+) delivered \(offset \S+, (?<failed>\d+) failed\) in (?<ms>\d+)ms/)
}

/** librdkafka's own consumer benchmark, partition 0 from the beginning, in batches of 1000. */
export function rdkafkaConsume (load: RdkafkaLoad): Promise<Rate> {
  return rdkafkaPerformance({ ...load, settings: { 'fetch.wait.max.ms': 100, ...load.settings } },
    ['-C', '-o', 'beginning', '-B', '1000'], /(?<done>\d+) messages \(\d+ bytes\) consumed in (?<ms>\d+)ms/)
}

/** `npx tsx bench/kafka/rdkafka-performance.ts produce|consume --topic T [--bootstrap …] [--messages N] [--bytes N] …` */
async function main (): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      bootstrap: { type: 'string', default: '127.0.0.1:9092' }, topic: { type: 'string', default: 'bench' },
      messages: { type: 'string', default: '1000000' }, bytes: { type: 'string', default: '100' },
      acks: { type: 'string', default: 'all' }, idempotent: { type: 'boolean', default: false },
    },
  })
  const load = {
    bootstrap: values.bootstrap, topic: values.topic, messages: Number(values.messages), bytes: Number(values.bytes),
    acks: values.acks === '1' ? 1 : 'all', idempotent: values.idempotent,
  } as const
  console.log(JSON.stringify(await (positionals[0] === 'consume' ? rdkafkaConsume(load) : rdkafkaProduce(load))))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main()
