import { Option, type Command } from 'commander'
import type { Admin, Assignment, Consumer, TopicDescription, TopicPartition } from '../../client/index.ts'
import { MillraceError } from '../../kernel/errors/index.ts'
import type { DamagedOffsets } from '../damage-report.ts'
import { parseFrom, type From } from '../from-option.ts'
import { onInterrupt } from '../interrupt.ts'
import { addNetworkOptions, withClient, type NetworkFlags } from '../network-options.ts'
import { wholeNumber } from '../option-values.ts'
import { UsageError } from '../output.ts'
import { OutputWriter } from '../output-writer.ts'
import { Progress } from '../progress.ts'
import { RecordPrinter } from '../record-printer.ts'

interface ConsumeFlags extends NetworkFlags {
  readonly from?: string
  readonly partition?: number
  readonly max?: number
  readonly follow?: boolean
  readonly keySeparator?: string
  readonly printKey?: boolean
  readonly group?: string
  readonly groupProtocol?: 'classic' | 'consumer'
}

const recordsAtOnce = 5_000
/** After so many polls in a row without a record it is asked whether what is next is damaged: two seconds. */
const emptyPollsMax = 10

export function consumeCommand(program: Command): void {
  addNetworkOptions(program.command('consume').summary('print records').argument('<topic>')
    .description('Prints the records of a topic, up to what was there when it began; with --follow it goes on with what comes.'), 'text prints values, json one object a line with bytes as base64')
    .option('--from <place>', 'beginning, end, an offset, or @TIME: @2026-03-01T08:00Z, @1772352000000, @-15m (default: beginning; with --follow: end)')
    .option('--partition <n>', 'this partition alone (default: all)', wholeNumber('--partition'))
    .option('--max <n>', 'stop after so many records', wholeNumber('--max', 1))
    .option('-f, --follow', 'wait for more at the end')
    .option('--print-key', 'the key before each value, and a tab between them')
    .option('--key-separator <text>', 'the key before each value, and this between them')
    .option('--group <name>', 'as a member of this group: go on where it has committed (--from is for partitions where it has not; default: beginning), share partitions with its other members, commit what is printed')
    .addOption(new Option('--group-protocol <protocol>', 'classic, or consumer: the broker shares partitions out (default: classic)').choices(['classic', 'consumer']))
    .addHelpText('after', `
Records of one partition come in order; partitions come as they are read.

Examples
  millrace consume orders --max 10
  millrace consume orders --follow --key-separator ' => '
  millrace consume orders --from @-1h -o json | jq -r '.value | @base64d'
  millrace consume orders --partition 0 --from 4200 --max 1
  millrace consume orders --group billing --follow`)
    .action(async (topic: string, flags: ConsumeFlags) => { await consume(topic, flags) })
}

async function consume(topic: string, flags: ConsumeFlags): Promise<void> {
  if (flags.group !== undefined) return consumeInGroup(topic, flags.group, flags)
  const from = parseFrom(flags.from ?? (flags.follow === true ? 'end' : 'beginning'), Date.now())
  await withClient(flags, async (client, admin) => {
    const { existingTopic } = await import('../topic-report.ts')
    const described = await existingTopic(admin, topic)
    const partitions = partitionsOf(described, flags, from)
    const ranges = await rangesOf(admin, topic, partitions)
    if (typeof from === 'number') refuseOutside(topic, from, ranges)
    // Records that retention takes away meanwhile are no reason to stop.
    const run = new ConsumeRun(client.consumer({ onOffsetOutOfRange: 'earliest' }), topic, ranges, from, flags, async () => {
      const { damageOf } = await import('../damage-report.ts')
      return damageOf(admin, [described])
    })
    await run.toTheEnd()
  })
}

async function consumeInGroup(topic: string, groupId: string, flags: ConsumeFlags): Promise<void> {
  if (flags.partition !== undefined) throw new UsageError('--partition and --group: the group says who reads which partition; leave one of them out')
  const nowMs = Date.now()
  const from = parseFrom(flags.from ?? 'beginning', nowMs)
  await withClient(flags, async (client, admin) => {
    const { existingTopic } = await import('../topic-report.ts')
    const { GroupRun } = await import('../group-run.ts')
    const { partitions } = await existingTopic(admin, topic)
    const writer = new OutputWriter()
    const options = { topic, groupId, groupProtocol: flags.groupProtocol, from, max: flags.max ?? Infinity, follow: flags.follow === true }
    await new GroupRun(client, writer, printerFor(writer, flags), options, nowMs).toTheEnd(admin, partitions.map((each) => each.partition))
  })
}

function printerFor(writer: OutputWriter, { keySeparator, printKey, output }: ConsumeFlags): RecordPrinter {
  const separator = keySeparator ?? (printKey === true ? '\t' : undefined)
  return new RecordPrinter(writer, { output, ...separator === undefined ? {} : { keySeparator: separator } })
}

function partitionsOf(topic: TopicDescription, { partition }: ConsumeFlags, from: From): number[] {
  const { length } = topic.partitions
  if (partition !== undefined && partition >= length) throw new MillraceError('MR_CLIENT_PARTITION_UNKNOWN', { topic: topic.name, partition, count: length })
  if (typeof from === 'number' && partition === undefined && length > 1) {
    throw new UsageError(`--from ${from}: offsets count within a partition, and ${topic.name} has ${length}; name one with --partition`)
  }
  return partition === undefined ? topic.partitions.map((each) => each.partition) : [partition]
}

interface Range {
  readonly partition: number
  readonly start: number
  readonly end: number
}

/** What there is to read now: where the end is, is fixed before the first record is fetched. */
async function rangesOf(admin: Admin, topic: string, partitions: readonly number[]): Promise<Range[]> {
  const [starts, ends] = await Promise.all((['beginning', 'end'] as const).map((at) => admin.listOffsets(partitions.map((partition) => ({ topic, partition, at })))))
  return partitions.map((partition, index) => ({ partition, start: starts![index]!.offset, end: ends![index]!.offset }))
}

function refuseOutside(topic: string, offset: number, ranges: readonly Range[]): void {
  for (const { partition, start, end } of ranges) {
    if (offset < start || offset > end) throw new MillraceError('MR_LOG_OFFSET_OUT_OF_RANGE', { topic, partition, offset, start, end })
  }
}

interface Place extends TopicPartition {
  readonly offset: number
}

class ConsumeRun {
  readonly #consumer: Consumer
  readonly #topic: string
  readonly #flags: ConsumeFlags
  readonly #assignments: readonly Assignment[]
  readonly #writer = new OutputWriter()
  readonly #printer: RecordPrinter
  readonly #abort = new AbortController()
  /** By partition, where to stop. */
  readonly #ends: ReadonlyMap<number, number>
  readonly #damaged: () => Promise<readonly DamagedOffsets[]>
  #printed = 0
  #emptyPolls = 0

  constructor(consumer: Consumer, topic: string, ranges: readonly Range[], from: From, flags: ConsumeFlags, damaged: () => Promise<readonly DamagedOffsets[]>) {
    this.#damaged = damaged
    this.#consumer = consumer
    this.#topic = topic
    this.#flags = flags
    const isFollowing = flags.follow === true
    this.#ends = new Map(ranges.map(({ partition, end }) => [partition, isFollowing ? Infinity : end]))
    this.#assignments = ranges.filter(({ start, end }) => isFollowing || end > start)
      .map(({ partition, end }) => ({ topic, partition, offset: from === 'end' ? end : from }))
    this.#printer = printerFor(this.#writer, flags)
  }

  async toTheEnd(): Promise<void> {
    const interrupt = onInterrupt(() => { this.#abort.abort() })
    // On a terminal the records themselves are the progress.
    const progress = process.stdout.isTTY ? undefined : new Progress(`consume ${this.#topic}`, { total: this.#flags.max ?? 0 })
    try {
      this.#consumer.assign(this.#assignments)
      while (!this.#abort.signal.aborted && await this.#hasMore()) {
        await this.#printSome()
        progress?.at(this.#printed, `${this.#printed.toLocaleString('en')} records  ${Math.round(this.#printed / progress.elapsedMs * 1000).toLocaleString('en')}/s`)
      }
    } catch (error) {
      // An interrupt while waiting.
      if (!this.#abort.signal.aborted) throw error
    } finally {
      progress?.clear()
      await this.#writer.flush()
      interrupt.end()
    }
  }

  async #printSome(): Promise<void> {
    const left = (this.#flags.max ?? Infinity) - this.#printed
    const records = await this.#consumer.poll({
      maxRecords: Math.min(left, recordsAtOnce), signal: this.#abort.signal,
      // Positions may reach the end without a record: behind the last one there can be control records.
      timeoutMs: this.#flags.follow === true ? Infinity : 200,
    })
    this.#emptyPolls = records.length === 0 ? this.#emptyPolls + 1 : 0
    for (const record of records) {
      if (record.offset >= this.#ends.get(record.partition)!) continue
      this.#printer.print(record)
      this.#printed += 1
    }
    await this.#writer.flush()
  }

  /** Partitions that were read to their end are let go, so that the others come alone. */
  async #hasMore(): Promise<boolean> {
    if (this.#printed >= (this.#flags.max ?? Infinity)) return false
    if (this.#flags.follow === true) return true
    const before = this.#consumer.assignment()
    const left: Place[] = []
    for (const each of before) {
      const offset = await this.#consumer.position(each, { signal: this.#abort.signal })
      if (offset < this.#ends.get(each.partition)!) left.push({ ...each, offset })
    }
    if (left.length < before.length) this.#consumer.assign(left)
    if (this.#emptyPolls >= emptyPollsMax) await this.#endAtDamage(left)
    return left.length > 0
  }

  /** Where all that is left begins with damaged records it would be asked for again and again: ends with what to do. */
  async #endAtDamage(left: readonly Place[]): Promise<void> {
    this.#emptyPolls = 0
    if (left.length === 0) return
    const damaged = await this.#damaged()
    const met = left.flatMap(({ partition, offset }) => damaged.find((each) => each.partition === partition && each.first <= offset && offset <= each.last) ?? [])
    if (met.length < left.length) return
    const { topic, partition, broker, first, last } = met[0]!
    const places = met.map((each) => `${each.first} to ${each.last} of ${each.topic}-${each.partition}`).join(', ')
    throw new MillraceError('MR_LOG_ROTTEN', { topic, partition, first, last, next: last + 1 }, undefined,
      `offsets ${places} are damaged on the disk of broker ${broker} and not served; go on behind them with --partition ${partition} --from ${last + 1}; docs/damage.md says how to restore them, or give them up`)
  }
}
