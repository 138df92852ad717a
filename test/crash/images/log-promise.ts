import { type Uuid } from '../../../src/kernel/model/ids.ts'

export interface AppendedBatch {
  /** As it was appended, with its offset and epoch. */
  readonly bytes: Uint8Array
  readonly endOffset: number
}

/** A batch of an idempotent producer. */
export interface ProducedBatch {
  readonly producerId: number
  /** As the producer sends it. */
  readonly bytes: Uint8Array
  readonly baseOffset: number
  readonly endOffset: number
}

/** What is promised of one log. Never changed once it is seen: `change` of the ledger makes the next one. */
export interface LogPromise {
  readonly topic: string
  readonly topicId: Uuid
  readonly partition: number
  /** `making`: it may be there. `going`: it may be gone. */
  readonly state: 'making' | 'there' | 'going' | 'gone'
  /** Where it is going: removed, or kept apart with all that was flushed. */
  readonly keptAside: boolean
  /** Nothing below is missing, from the start on. */
  readonly flushed: number
  /** Nothing below is there: deleted, durably. */
  readonly start: number
  /** Nothing at or above was ever asked to be deleted from the beginning. */
  readonly startAtMost: number
  /** The log does not end above, until an append: truncated, durably. */
  readonly endAtMost: number
  /**
   * `no`: every record that was flushed is there. `keeps the last`: of each key the last record that was flushed. `was cut`: what was overtaken by records that are cut away
   * again may be gone.
   */
  readonly compaction: 'no' | 'keeps the last' | 'was cut'
  /** All batches that were ever at their offset: a truncation makes room for others. */
  readonly appended: ReadonlyMap<number, readonly AppendedBatch[]>
  /** The last batch of each producer that is below `flushed`. */
  readonly produced: ReadonlyMap<number, ProducedBatch>
  /** Of these, those that are appended and not flushed. */
  readonly pending: readonly ProducedBatch[]
}

/** What is promised of all logs of a store. */
export interface StorePromises {
  readonly logs: readonly LogPromise[]
}

/** Whether anything was answered to somebody between the two. */
export function promisesMore(before: StorePromises, { logs }: StorePromises): boolean {
  const were = new Map(before.logs.map(log => [log.topicId, log]))
  return logs.some(log => {
    const was = were.get(log.topicId)
    if (was === undefined || was === log) return false
    return log.flushed > was.flushed || log.start > was.start || log.startAtMost < was.startAtMost || log.endAtMost < was.endAtMost || (log.state !== was.state && (log.state === 'there' || log.state === 'gone'))
  })
}

/** Keeps account of what is promised while a protocol is played. */
export class Ledger {
  private readonly logs = new Map<string, LogPromise>()
  private noted: StorePromises | undefined

  /** The same object until something changes. */
  get promises(): StorePromises {
    return this.noted ??= { logs: [...this.logs.values()] }
  }

  of(topicId: Uuid, partition: number): LogPromise {
    return this.logs.get(keyOf(topicId, partition))!
  }

  begin(topic: string, topicId: Uuid, partition: number): void {
    this.put({
      topic, topicId, partition, state: 'making', keptAside: false, flushed: 0, start: 0, startAtMost: 0, endAtMost: Infinity, compaction: 'no', appended: new Map(), produced: new Map(), pending: [],
    })
  }

  change(topicId: Uuid, partition: number, changed: Partial<LogPromise>): void {
    this.put({ ...this.of(topicId, partition), ...changed })
  }

  /** Everything below is on the disk. */
  flushed(topicId: Uuid, partition: number, offset: number): void {
    const { pending, produced } = this.of(topicId, partition)
    const now = new Map(produced)
    for (const batch of pending) if (batch.endOffset <= offset) now.set(batch.producerId, batch)
    this.change(topicId, partition, { flushed: offset, produced: now, pending: pending.filter(batch => batch.endOffset > offset) })
  }

  appended(topicId: Uuid, partition: number, baseOffset: number, batch: AppendedBatch, produced?: ProducedBatch): void {
    const { appended, pending } = this.of(topicId, partition)
    this.change(topicId, partition, {
      appended: new Map(appended).set(baseOffset, [...appended.get(baseOffset) ?? [], batch]), endAtMost: Infinity,
      ...(produced === undefined ? {} : { pending: [...pending, produced] }),
    })
  }

  /** An append was refused: others take its place. What of it was written may be there after a crash. */
  refused(topicId: Uuid, partition: number, produced: ProducedBatch | undefined): void {
    this.change(topicId, partition, { pending: this.of(topicId, partition).pending.filter(batch => batch !== produced) })
  }

  /** Another process has found the log with this end. */
  foundUpTo(topicId: Uuid, partition: number, endOffset: number): void {
    const { topic, state, flushed, pending } = this.of(topicId, partition)
    if (state === 'gone' || endOffset < flushed) throw new Error(`${topic}-${partition}: a start between finds it with the end ${endOffset}, and it was ${state === 'gone' ? 'removed' : `flushed up to ${flushed}`}`)
    this.change(topicId, partition, { pending: pending.filter(batch => batch.endOffset <= endOffset) })
  }

  /** From the call on, nothing at or above is promised. */
  truncating(topicId: Uuid, partition: number, offset: number): void {
    const { flushed, produced, pending, start, compaction } = this.of(topicId, partition)
    // Below its start it begins anew, and knows nothing of what it had.
    const below = ({ endOffset }: ProducedBatch): boolean => endOffset <= offset && offset >= start
    this.change(topicId, partition, {
      flushed: Math.min(flushed, offset), start: Math.min(start, offset), compaction: compaction === 'no' ? 'no' : 'was cut',
      produced: new Map([...produced].filter(([, batch]) => below(batch))), pending: pending.filter(below),
    })
  }

  private put(log: LogPromise): void {
    this.logs.set(keyOf(log.topicId, log.partition), log)
    this.noted = undefined
  }
}

const keyOf = (topicId: Uuid, partition: number): string => `${topicId}-${partition}`
