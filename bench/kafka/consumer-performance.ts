import { parseArgs } from 'node:util'
import { fileURLToPath } from 'node:url'

import { kafkaClassPath } from '../../test/compat/peers.ts'
import { runProgram } from '../../test/compat/process.ts'
import { makeRate, type Rate } from './rate.ts'

export interface ConsumerPerformanceLoad {
  readonly bootstrap: string
  readonly topic: string
  readonly messages: number
}

/** Kafka 4.4's own consumer benchmark. It joins a group, so the broker must offer groups; joining is not counted. */
export async function consumerPerformance (load: ConsumerPerformanceLoad): Promise<Rate> {
  const { stdout } = await runProgram('java', ['-Xmx512m', '-cp', kafkaClassPath()!,
    'org.apache.kafka.tools.ConsumerPerformance', '--bootstrap-server', load.bootstrap, '--topic', load.topic,
    '--num-records', String(load.messages), '--timeout', '30000', '--hide-header', '--reporting-interval', '1000000',
  ], { timeoutMs: 300_000 })
  // start, end, MB, MB/s, records, records/s, rebalance ms, fetch ms, fetch MB/s, fetch records/s
  const fields = stdout.toString().trim().split('\n').at(-1)!.split(',').map(text => text.trim())
  const [records, fetchMs] = [Number(fields[4]), Number(fields[7])]
  if (!(records >= load.messages)) throw new Error(`ConsumerPerformance read ${fields[4]} of ${load.messages}:\n${stdout.toString()}`)
  return makeRate(records, fetchMs / 1000)
}

/** `npx tsx bench/kafka/consumer-performance.ts [--bootstrap …] [--topic T] [--messages N]` */
async function main (): Promise<void> {
  const { values } = parseArgs({
    options: {
      bootstrap: { type: 'string', default: '127.0.0.1:9092' }, topic: { type: 'string', default: 'bench' },
      messages: { type: 'string', default: '1000000' },
    },
  })
  console.log(JSON.stringify(await consumerPerformance({
    bootstrap: values.bootstrap, topic: values.topic, messages: Number(values.messages),
  })))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main()
