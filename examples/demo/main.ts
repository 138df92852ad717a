/**
 * `npm run demo -- --help`: streams real flights through a broker, reads them back, and proves that nothing was lost, doubled, altered
 * or put out of order.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createBroker } from 'millrace'
import { createAdmin, createProducer } from 'millrace/client'
import { demoOptions, usage } from './demo-options.ts'
import { expectedSums } from './expected.ts'
import { countFlights } from './flights.ts'
import { ProgressLine } from './progress-line.ts'
import { readFlights, type Read } from './read-flights.ts'
import { reportAsJson, reportAsText, type DemoResult } from './report.ts'
import { sendFlights, timeSingleRecords } from './send-flights.ts'
import { verify } from './verify.ts'

const topic = 'flights'
const partitions = 12
const readers = 3

async function run(bootstrap: string, records: number): Promise<DemoResult> {
  const admin = createAdmin({ bootstrap })
  // Flights carry the times of 2001: the default retention of a week would drop them at once.
  await admin.createTopics([{ name: topic, partitions, configs: { 'retention.ms': '-1' } }, { name: 'probe', partitions: 1 }])
  await admin.close()

  // A process of its own reads the file a second time and says what has to come out.
  const expecting = expectedSums(records)
  const producer = createProducer({ bootstrap, clientId: 'demo-producer', compression: 'lz4' })
  try {
    const alone = await timeSingleRecords(producer, 'probe', 1_000, 2)
    let readCount = 0
    const line = new ProgressLine('stream', records)
    const show = (sent: number): void => { line.at(readCount, `read of ${sent.toLocaleString('en')} sent`) }
    const following = readFlights({ bootstrap, topic, partitions, readers, count: records, onProgress: (read) => { readCount = read } })
    const [sent, followed] = await Promise.all([sendFlights(producer, topic, records, show), following])
    line.end(readCount, `read of ${sent.count.toLocaleString('en')} sent`)
    const replayed = await replay(bootstrap, records)
    const expected = await expecting
    return {
      records, partitions, sent, alone, followed, replayed,
      checks: [...verify(expected, followed.sums), { ...verify(expected, replayed.sums).at(-1)!, claim: 'reading everything again gave the same' }],
    }
  } finally {
    await producer.close({ timeoutMs: 0 })
  }
}

async function replay(bootstrap: string, records: number): Promise<Read> {
  const line = new ProgressLine('replay', records)
  const read = await readFlights({ bootstrap, topic, partitions, readers, count: records, onProgress: (count) => { line.at(count, 'read') } })
  line.end(read.count, 'read')
  return read
}

/** Help that was asked for ends with 0, wrong use with 2, and neither starts a broker. */
function optionsOrExit(args: readonly string[], inFile: number): { records: number, json: boolean } {
  const options = demoOptions(args, inFile)
  if (typeof options !== 'string') return options
  if (options === 'help') console.log(usage(inFile))
  else console.error(`error: ${options}\n\n${usage(inFile)}`)
  process.exit(options === 'help' ? 0 : 2)
}

const inFile = await countFlights()
const { records, json } = optionsOrExit(process.argv.slice(2), inFile)

const data = mkdtempSync(join(tmpdir(), 'millrace-demo-'))
const removeData = (): void => { rmSync(data, { recursive: true, force: true }) }
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    removeData()
    process.exit(130)
  })
}
const broker = await createBroker({ data, listen: '127.0.0.1:0', logLevel: 'error' })
try {
  await broker.start()
  const result = await run(broker.bootstrap, records)
  if (json) reportAsJson(result)
  else reportAsText(result)
  if (result.checks.some((check) => !check.holds)) process.exitCode = 1
} finally {
  await broker.stop()
  removeData()
}
