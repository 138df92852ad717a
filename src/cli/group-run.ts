import type { Admin, Client, ConsumerRecord, GroupConsumer, GroupOptions } from '../client/index.ts'
import { type From } from './from-option.ts'
import { onInterrupt } from './interrupt.ts'
import { UsageError } from './output.ts'
import { type OutputWriter } from './output-writer.ts'
import { Progress } from './progress.ts'
import { type RecordPrinter } from './record-printer.ts'

export interface GroupRunOptions {
  readonly topic: string
  readonly groupId: string
  readonly groupProtocol: GroupOptions['groupProtocol']
  /** Where to begin with partitions of which the group has committed nothing. */
  readonly from: From
  readonly max: number
  readonly follow: boolean
}

const recordsAtOnce = 500
/** Of 200 ms. */
const emptyPollsMax = 25

/** Prints as a member of a group: what is printed is committed, on the way and at a clean end; nothing else is. */
export class GroupRun {
  readonly #options: GroupRunOptions
  readonly #consumer: GroupConsumer
  readonly #writer: OutputWriter
  readonly #printer: RecordPrinter
  readonly #abort = new AbortController()
  #printed = 0
  #emptyPolls = 0

  constructor(client: Client, writer: OutputWriter, printer: RecordPrinter, options: GroupRunOptions, nowMs: number) {
    const { groupId, groupProtocol, from } = options
    this.#options = options
    this.#writer = writer
    this.#printer = printer
    this.#consumer = client.consumer({
      groupId, offsetReset: resetOf(from, nowMs), onOffsetOutOfRange: 'earliest', ...groupProtocol === undefined ? {} : { groupProtocol },
    })
  }

  async toTheEnd(admin: Admin, partitions: readonly number[]): Promise<void> {
    const { topic, max, follow } = this.#options
    const ends = follow ? undefined : new Map((await admin.listOffsets(partitions.map((partition) => ({ topic, partition, at: 'end' as const })))).map(({ partition, offset }) => [partition, offset]))
    const interrupt = onInterrupt(() => { this.#abort.abort() })
    const progress = process.stdout.isTTY ? undefined : new Progress(`consume ${topic}`, { total: max === Infinity ? 0 : max })
    let isClean = false
    try {
      this.#consumer.subscribe([topic])
      while (!this.#abort.signal.aborted && this.#printed < max && !(ends !== undefined && await this.#isAt(ends))) {
        await this.#print(await this.#poll(follow ? Infinity : 200))
        progress?.at(this.#printed, `${this.#printed.toLocaleString('en')} records`)
      }
      isClean = true
    } finally {
      progress?.clear()
      await this.#consumer.close({ commit: isClean })
      interrupt.end()
    }
  }

  /** Nothing where it was interrupted while it waited. */
  async #poll(timeoutMs: number): Promise<ConsumerRecord[]> {
    try {
      return await this.#consumer.poll({ maxRecords: Math.min(recordsAtOnce, this.#options.max - this.#printed), timeoutMs, signal: this.#abort.signal })
    } catch (error) {
      if (this.#abort.signal.aborted) return []
      throw error
    }
  }

  async #print(records: readonly ConsumerRecord[]): Promise<void> {
    for (const record of records) this.#printer.print(record)
    this.#printed += records.length
    await this.#writer.flush()
  }

  /** Whether what is this member's was read, up to where it ended at the start. One that has nothing waits a while: others may be about to give it something. */
  async #isAt(ends: ReadonlyMap<number, number>): Promise<boolean> {
    if (this.#consumer.groupMembership().phase !== 'stable') return false
    const assigned = this.#consumer.assignment()
    this.#emptyPolls = assigned.length === 0 ? this.#emptyPolls + 1 : 0
    if (assigned.length === 0) return this.#emptyPolls >= emptyPollsMax
    for (const each of assigned) if (await this.#consumer.position(each, { signal: this.#abort.signal }) < (ends.get(each.partition) ?? 0)) return false
    return true
  }
}

function resetOf(from: From, nowMs: number): NonNullable<GroupOptions['offsetReset']> {
  if (typeof from === 'number') throw new UsageError(`--from ${from}: a group goes on where it has committed; set that with millrace group reset-offsets --to-offset`)
  if (typeof from === 'object') return { durationMs: Math.max(0, nowMs - from.timestamp) }
  return from === 'beginning' ? 'earliest' : 'latest'
}
