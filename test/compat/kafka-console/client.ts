import { type CompatClient, codecs, type ConsumeRun, type ProduceRun } from '../client.ts'
import { kafkaClassPath } from '../peers.ts'
import { briefJvmOptions, outputOf, runProgram } from '../process.ts'
import { decodeContent, encodeContent, type ReceivedRecord } from '../record-stream.ts'

function tool (name: string): string[] {
  return [...briefJvmOptions, '-cp', kafkaClassPath()!, `org.apache.kafka.tools.${name}`]
}

async function produce ({ bootstrap, topic, codec, dataset }: ProduceRun): Promise<void> {
  const lines = dataset.contents.map(decodeContent).map(({ key, value, headers }) => {
    const pairs = headers.map(([name, header]) => `${name}:${Buffer.from(header!).toString()}`)
    return `${pairs.join(',')}\t${Buffer.from(key!).toString()}\t${Buffer.from(value!).toString()}\n`
  })
  await runProgram('java', [...tool('ConsoleProducer'), '--bootstrap-server', bootstrap, '--topic', topic,
    '--compression-codec', codec, '--reader-property', 'parse.key=true', '--reader-property', 'parse.headers=true'],
  { input: Buffer.from(lines.join('')) })
}

const printed = ['partition', 'offset', 'headers', 'key', 'value']
  .flatMap(part => ['--formatter-property', `print.${part}=true`])

/** `Partition:0 Offset:12 header:text,… key value`, with tabs between. */
function parse (output: Buffer): ReceivedRecord[] {
  return output.toString().split('\n').filter(line => line !== '').map(line => {
    const [partition, offset, headers, key, value] = line.split('\t') as [string, string, string, string, string]
    const bytes = (text: string): Buffer | null => text === 'null' ? null : Buffer.from(text)
    const content = encodeContent({
      key: bytes(key),
      value: bytes(value),
      headers: headers === 'NO_HEADERS' ? [] : headers.split(',').map(pair => {
        const colon = pair.indexOf(':')
        return [pair.slice(0, colon), bytes(pair.slice(colon + 1))]
      }),
    })
    return { partition: Number(partition.split(':')[1]), offset: Number(offset.split(':')[1]), content }
  })
}

async function consume ({ bootstrap, topic, counts }: ConsumeRun): Promise<ReceivedRecord[]> {
  const { stdout } = await runProgram('java', [...tool('consumer.ConsoleConsumer'), '--bootstrap-server', bootstrap,
    '--topic', topic, '--partition', '0', '--offset', 'earliest', '--max-messages', String(counts[0]),
    '--timeout-ms', '60000', ...printed])
  return parse(stdout)
}

/** Kafka 4.4's console producer and, for one partition, console consumer. */
export const kafkaConsole: CompatClient = {
  name: 'kafka-console',
  missing: () => kafkaClassPath() ? undefined : "Kafka's jars could not be had",
  version: async () => /\d+\.\d+\.\d+/.exec(await outputOf('java', [...tool('ConsoleProducer'), '--version']))?.[0] ?? '?',
  codecs,
  writes: 'text',
  produce,
  reads: ['text', 'tagged', 'counted'],
  readsOnePartition: true,
  consume,
}
