import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { type CompatClient, codecs, type ProduceRun } from '../client.ts'
import { kafkaClassPath, temporaryDir } from '../peers.ts'
import { briefJvmOptions, outputOf, runProgram } from '../process.ts'

function tool (name: string): string[] {
  return [...briefJvmOptions, '-cp', kafkaClassPath()!, `org.apache.kafka.tools.${name}`]
}

async function produce ({ bootstrap, topic, codec, dataset }: ProduceRun): Promise<void> {
  const dir = temporaryDir('performance')
  const config = join(dir, 'producer.properties')
  writeFileSync(config, `bootstrap.servers=${bootstrap}\ncompression.type=${codec}\nlinger.ms=5\nacks=all\n`)
  try {
    await runProgram('java', [...tool('ProducerPerformance'), '--topic', topic, '--num-records', String(dataset.contents.length),
      '--payload-monotonic', '--throughput', '-1', '--command-config', config])
  } finally {
    rmSync(dir, { recursive: true })
  }
}

/** Kafka 4.4's load generator: counted numbers as values, idempotent by default. */
export const producerPerformance: CompatClient = {
  name: 'producer-performance',
  missing: () => kafkaClassPath() ? undefined : "Kafka's jars could not be had",
  version: async () => /\d+\.\d+\.\d+/.exec(await outputOf('java', [...tool('ConsoleProducer'), '--version']))?.[0] ?? '?',
  codecs,
  writes: 'counted',
  produce,
  reads: [],
}
