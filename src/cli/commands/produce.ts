import { Option, type Command } from 'commander'
import pc from 'picocolors'
import { formatBytes } from '../../base/format-quantity.ts'
import type { Admin, Client, ProducerOptions } from '../../client/index.ts'
import { isMillraceError, MillraceError } from '../../kernel/errors/index.ts'
import { type RecordHeader } from '../../kernel/record/log-record.ts'
import { openInput, type Input } from '../input.ts'
import { LineSender } from '../line-sender.ts'
import { LineSplitter } from '../line-splitter.ts'
import { addNetworkOptions, requestBytesMaxOf, withClient, type NetworkFlags } from '../network-options.ts'
import { collectPairs, wholeNumber, type Pair } from '../option-values.ts'
import { describeError, plural, print, printError, printJson, printWarning, UsageError } from '../output.ts'
import { Progress } from '../progress.ts'
import { shownElapsed } from '../shown.ts'
import { onInterrupt } from '../interrupt.ts'

/** So long an interrupted command waits for what was sent, milliseconds: longer than a slow disk, shorter than the patience of a service manager. */
const stopMsMax = 3_000

interface ProduceFlags extends NetworkFlags {
  readonly file?: string
  readonly keySeparator?: string
  readonly acks: '0' | '1' | 'all'
  readonly partition?: number
  readonly compression: NonNullable<ProducerOptions['compression']>
  readonly header?: readonly Pair[]
  readonly requestBytesMax?: number
  readonly nullValue?: string
}

export function produceCommand(program: Command): void {
  addNetworkOptions(program.command('produce').summary('send lines as records').argument('<topic>')
    .description('Sends each line of standard input, or of a file, as a record. At the end it says how many were acknowledged.'))
    .option('--file <path>', 'read lines from here instead of standard input')
    .option('--key-separator <text>', 'what stands between key and value in each line (default: lines are values without keys)')
    .addOption(new Option('--acks <acks>', 'what counts as acknowledged: all (in-sync replicas, and on disk where durability=fsync), 1 (the leader) or 0 (sent)').choices(['0', '1', 'all']).default('all'))
    .option('--partition <n>', 'the partition for every record (default: by key; without one, all in turn)', wholeNumber('--partition'))
    .addOption(new Option('--compression <codec>', 'of batches').choices(['none', 'gzip', 'snappy', 'lz4', 'zstd']).default('none'))
    .option('--header <key=value>', 'a header for every record; may be repeated', collectPairs('--header'))
    .option('--request-bytes-max <n>', 'the largest request, and so the largest record, in bytes (default: max.request.size of --command-config, else 1048576)', wholeNumber('--request-bytes-max', 1024))
    .option('--null-value <text>', 'a value that is this text is sent as null, which deletes the key in a compacted topic (as null.marker of Kafka\'s console producer)')
    .addHelpText('after', `
Exit code 1 if any record was not acknowledged.

Examples
  printf 'alice:NULL\\n' | millrace produce orders --key-separator : --null-value NULL
  printf 'alice:one\\nbob:two\\n' | millrace produce orders --key-separator :
  millrace produce events --file events.ndjson --compression zstd --header source=import
  tail -F app.log | millrace produce logs`)
    .action(async (topic: string, flags: ProduceFlags) => { await produce(topic, flags) })
}

async function produce(topic: string, flags: ProduceFlags): Promise<void> {
  if (flags.keySeparator === '') throw new UsageError('--key-separator: it is empty')
  const headers = (flags.header ?? []).map(([key, value]): RecordHeader => ({ key, value: Buffer.from(value) }))
  const input = openInput(flags.file)
  await withClient(flags, async (client, admin) => {
    const run = new ProduceRun(client, topic, flags, headers, input)
    await run.toTheEnd()
    await run.nameTopics(admin)
    run.report()
  })
}

class ProduceRun {
  readonly #client: Client
  readonly #topic: string
  readonly #flags: ProduceFlags
  readonly #input: Input
  readonly #sender: LineSender
  readonly #producer: ReturnType<Client['producer']>
  readonly #progress: Progress | undefined
  readonly #startedMs = performance.now()
  #inputError: unknown
  #isInterrupted = false
  #isWhole = false
  #readBytes = 0

  constructor(client: Client, topic: string, flags: ProduceFlags, headers: readonly RecordHeader[], input: Input) {
    this.#client = client
    this.#topic = topic
    this.#flags = flags
    this.#input = input
    const requestBytesMax = flags.requestBytesMax ?? requestBytesMaxOf(flags)
    this.#producer = this.#client.producer({
      acks: flags.acks === 'all' ? 'all' : flags.acks === '1' ? 1 : 0, compression: flags.compression,
      // Somebody who types waits for each line; a pipe gains from fuller batches.
      lingerMs: input.isTerminal ? 0 : 5,
      blockMsMax: 5_000,
      ...requestBytesMax === undefined ? {} : { requestBytesMax },
    })
    this.#sender = new LineSender(this.#producer, {
      topic, source: input.name,
      ...flags.keySeparator === undefined ? {} : { keySeparator: flags.keySeparator },
      ...flags.partition === undefined ? {} : { partition: flags.partition },
      ...flags.nullValue === undefined ? {} : { nullValue: flags.nullValue },
      ...headers.length === 0 ? {} : { headers },
    })
    if (!input.isTerminal) this.#progress = new Progress(`produce ${topic}`, { total: input.sizeBytes })
  }

  async toTheEnd(): Promise<void> {
    const interrupt = onInterrupt(() => {
      this.#isInterrupted = true
      // Behind the ^C that the terminal shows.
      if (process.stderr.isTTY) process.stderr.write('\n')
      this.#input.stream.destroy()
      void this.#producer.close({ timeoutMs: stopMsMax })
    })
    // While nothing is acknowledged nothing is read either, and the bar says so.
    const ticking = setInterval(() => { this.#showProgress() }, 500)
    try {
      await this.#readAll()
    } catch (error) {
      if (!this.#isInterrupted) this.#inputError = error
    }
    await this.#producer.flush()
    clearInterval(ticking)
    interrupt.end()
    // What was acknowledged is told to the sender in the turns that follow.
    await new Promise((resolve) => { setImmediate(resolve) })
    this.#progress?.clear()
  }

  async #readAll(): Promise<void> {
    const sender = this.#sender
    const splitter = new LineSplitter()
    const line = (bytes: Uint8Array): void => { sender.line(bytes) }
    for await (const piece of this.#input.stream as AsyncIterable<Uint8Array>) {
      splitter.push(piece, line)
      this.#readBytes += piece.length
      this.#showProgress()
      if (sender.crowded) await sender.room()
      if (sender.hopeless) return
    }
    splitter.end(line)
    this.#isWhole = true
  }

  /** By what was settled: what was only read may not be sent for long. */
  #showProgress(): void {
    const { lines, underWay } = this.#sender
    this.#progress?.at(lines === 0 ? 0 : this.#readBytes * (lines - underWay) / lines, this.#text())
  }

  #text(): string {
    const seconds = (this.#progress?.elapsedMs ?? 0) / 1000
    const { sent, failed } = this.#sender
    const rate = seconds > 0 ? Math.round(sent / seconds) : 0
    return `${sent.toLocaleString('en')} records  ${rate.toLocaleString('en')}/s${failed > 0 ? `  ${failed.toLocaleString('en')} failed` : ''}`
  }

  /** Where the topic does not exist, the error says which one may have been meant. */
  async nameTopics(admin: Admin): Promise<void> {
    const unknown = this.#sender.failures.get('MR_TOPIC_UNKNOWN')
    if (unknown === undefined) return
    const { existingTopic } = await import('../topic-report.ts')
    await existingTopic(admin, this.#topic).catch((error: unknown) => { unknown.error = error })
  }

  report(): void {
    const { sent, failed, bytes, failures, partitions, lines } = this.#sender
    const elapsedMs = performance.now() - this.#startedMs
    for (const failure of failures.values()) failure.error = withRemedy(failure.error)
    // With acks 0 nobody says what became of them.
    const verb = this.#flags.acks === '0' ? 'sent' : 'acknowledged'
    if (this.#flags.output === 'json') {
      printJson({
        topic: this.#topic, acks: this.#flags.acks, sent, failed, bytes, elapsedMs: Math.round(elapsedMs),
        partitions: Object.fromEntries([...partitions].sort(([a], [b]) => a - b)),
        errors: [...failures.values()].map(({ error, count }) => ({ error: stripped(error), count })),
      })
    } else {
      const counts = failed === 0 ? '' : `, ${pc.red(`${failed.toLocaleString('en')} failed`)}`
      const rate = sent >= 1_000 && elapsedMs > 200 ? pc.dim(`  ${Math.round(sent / elapsedMs * 1000).toLocaleString('en')}/s, ${formatBytes(bytes / elapsedMs * 1000)}/s`) : ''
      print(`${pc.bold(this.#topic)}: ${plural(sent, 'record')} ${verb}${counts} in ${shownElapsed(elapsedMs)}${rate}`)
    }
    // Given up because of the interrupt, and not refused by anybody.
    const left = this.#isInterrupted ? failures.get('MR_CLIENT_CLOSED') : undefined
    if (left !== undefined) printWarning(`stopping: ${plural(left.count, 'record was', 'records were')} not acknowledged; what was sent of them may be stored`)
    for (const { error, count } of [...failures.values()].filter((each) => each !== left)) process.stderr.write(`${describeError(error)}${count > 1 ? ` (${count.toLocaleString('en')} records)` : ''}\n`)
    if (this.#inputError !== undefined) printError(this.#inputError)
    const isCut = !this.#isWhole && this.#inputError === undefined && !this.#input.isTerminal
    if (isCut) process.stderr.write(`${pc.yellow('warning')}: the input was not read to its end, only ${plural(lines, 'line')} of it\n`)
    if (failed > 0 || this.#inputError !== undefined || isCut) process.exitCode = 1
  }
}

const stripped = (error: unknown): string => describeError(error).replaceAll(/\u001b\[\d+m/g, '').replace(/^error /, '')

/** What the client calls by the name of its setting has the name of an option here. */
function withRemedy(error: unknown): unknown {
  if (!isMillraceError(error, 'MR_CLIENT_RECORD_TOO_LARGE')) return error
  const { size, limit, topic } = error.details
  return new MillraceError(error.code, error.details, error,
    `a record of ${size} bytes for ${topic} is over the limit of ${limit}; raise it with --request-bytes-max or max.request.size in --command-config, and max.message.bytes of the topic`)
}
