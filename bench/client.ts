/**
 * What a record costs in the client: records a second, and CPU of the client alone. Keys, Kafka's partitioner, idempotence and one promise a message; reading with
 * checksums checked. Against a broker that keeps nothing, in this process and behind TCP in another, or any broker.
 *
 * Run: npx tsx bench/client.ts [--seconds 3] [--rounds 3] [--only produce|consume] [--bootstrap HOST:PORT --topic T]
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { refuseUse, scriptOptionsOrExit } from '../scripts/script-options.ts'
import { createClient, type ClientOptions, type Consumer, type Producer } from '../src/client/index.ts'
import { NullBroker } from './client/null-broker.ts'

const usage = `Usage: npx tsx bench/client.ts [OPTIONS]

What a record costs in the client: records a second, and CPU of the client alone.

  --only NAME             produce or consume (default: both)
  --ways NAME[,NAME…]     process, tcp (default: both)
  --values NAME[,NAME…]   bytes, text (default: both)
  --sizes N[,N…]          bytes of a value (default: 100,1024)
  --seconds S             seconds of a round (default: 3)
  --rounds N              measured rounds (default: 3)
  --window N              messages given to send before their promises are awaited together (default: 2000)
  --linger MS             lingerMs of the producer (default: 5)
  --batch N               batchBytesMax of the producer (default: 262144)
  --bootstrap HOST:PORT   a broker that runs, rather than one that keeps nothing
  --topic NAME            its topic (default: bench)
  --partitions N          partitions of the topic (default: 8)`
const { numbers: { seconds, rounds, partitions, linger, batch, window }, texts } = scriptOptionsOrExit(usage, {
  numbers: { seconds: 3, rounds: 3, partitions: 8, linger: 5, batch: 262_144, window: 2000 }, fractions: ['seconds', 'linger'], positive: ['seconds', 'rounds', 'partitions', 'batch', 'window'],
  texts: { only: '', bootstrap: '', topic: 'bench', ways: 'process,tcp', values: 'bytes,text', sizes: '100,1024' },
  choices: { only: ['produce', 'consume'] }, lists: { ways: ['process', 'tcp'], values: ['bytes', 'text'] },
})
const args = texts as Readonly<Record<'only' | 'bootstrap' | 'topic' | 'ways' | 'values' | 'sizes', string>>
if (!/^\d{1,9}(,\d{1,9})*$/.test(args.sizes)) refuseUse(usage, `--sizes ${args.sizes}: it takes whole numbers with commas between them`)

interface Rate { readonly perSecond: number, readonly cpuNs: number }

async function produce(producer: Producer, valueBytes: number, kind: string): Promise<Rate> {
  const value = kind === 'text' ? 'v'.repeat(valueBytes) : new Uint8Array(valueBytes).fill(118)
  const keys = Array.from({ length: 10_000 }, (_, index) => kind === 'text' ? `key-${index}` : new TextEncoder().encode(`key-${index}`))
  const { topic } = args
  return await timed(async untilMs => {
    let count = 0
    let before: Promise<unknown> = Promise.resolve()
    const sent = new Array<Promise<unknown>>(window)
    while (performance.now() < untilMs) {
      for (let index = 0; index < window; index++) sent[index] = producer.send({ topic, key: keys[index]!, value })
      count += window
      // Two windows are under way, so that the sender never waits for the network alone.
      const all = Promise.all(sent)
      await before
      before = all
    }
    await before
    return count
  })
}

async function consume(consumer: Consumer, views: boolean): Promise<Rate> {
  consumer.assign(Array.from({ length: partitions }, (_, partition) => ({ topic: args.topic, partition })))
  let sum = 0
  const rate = await timed(async untilMs => {
    let count = 0
    while (performance.now() < untilMs) {
      const records = await consumer.poll({ maxRecords: 2000 })
      if (views) for (const record of records) sum += record.value!.length + record.key!.length
      else for (const record of records) sum += record.valueLength + record.keyLength
      count += records.length
    }
    return count
  })
  if (sum === 0) throw new Error('nothing was read')
  return rate
}

async function timed(work: (untilMs: number) => Promise<number>): Promise<Rate> {
  const cpu = process.cpuUsage()
  const startMs = performance.now()
  const count = await work(startMs + seconds * 1000)
  const tookMs = performance.now() - startMs
  const { user, system } = process.cpuUsage(cpu)
  return { perSecond: count / tookMs * 1000, cpuNs: (user + system) * 1000 / count }
}

function report(name: string, rates: readonly Rate[]): void {
  const sorted = [...rates].sort((a, b) => a.perSecond - b.perSecond)
  const { perSecond } = sorted[sorted.length >> 1]!
  // Other work on the machine only ever adds to it.
  const cpuNs = Math.min(...rates.map(rate => rate.cpuNs))
  console.log(`${name.padEnd(44)} ${(perSecond / 1e6).toFixed(2).padStart(6)} M/s  ${cpuNs.toFixed(0).padStart(5)} ns of CPU a record`)
}

async function measure(name: string, options: ClientOptions, valueBytes: number): Promise<void> {
  if (args.only !== 'consume') {
    for (const kind of args.values.split(',')) {
      const client = createClient(options)
      const producer = client.producer({ lingerMs: linger, batchBytesMax: batch })
      const rates: Rate[] = []
      await produce(producer, valueBytes, kind)
      for (let round = 0; round < rounds; round++) rates.push(await produce(producer, valueBytes, kind))
      report(`produce ${valueBytes} B ${kind} ${name}`, rates)
      await client.close()
    }
  }
  if (args.only === 'produce') return
  for (const views of [false, true]) {
    const client = createClient(options)
    const consumer = client.consumer()
    const rates: Rate[] = []
    await consume(consumer, views)
    for (let round = 0; round < rounds; round++) rates.push(await consume(consumer, views))
    report(`consume ${valueBytes} B ${views ? 'looking at key and value' : 'counting bytes'} ${name}`, rates)
    await client.close()
  }
}

for (const valueBytes of args.sizes.split(',').map(Number)) {
  if (args.bootstrap !== '') {
    await measure(args.bootstrap, { bootstrap: args.bootstrap }, valueBytes)
    continue
  }
  if (args.ways.includes('process')) {
    const dispatcher = new NullBroker({ partitions, valueBytes, batchBytes: 65_536, host: '127.0.0.1', port: 1 })
    await measure('in process', { inProcess: { dispatcher } }, valueBytes)
  }
  if (args.ways.includes('tcp')) {
    const program = fileURLToPath(new URL('client/null-broker-process.ts', import.meta.url))
    const peer = spawn(process.execPath, ['--import', 'tsx', program, String(partitions), String(valueBytes), '65536'], { stdio: ['pipe', 'pipe', 'inherit'] })
    const [line] = await once(peer.stdout, 'data') as [Buffer]
    await measure('TCP', { bootstrap: `127.0.0.1:${Number(line.toString())}` }, valueBytes)
    peer.stdin.end()
  }
}
