import { Prng } from '../../base/prng.ts'
import { type TopicSettings } from '../../kernel/model/topic-settings.ts'
import { type PartitionLog } from '../../kernel/ports/partition-log.ts'
import { check, checkEqual } from './kit.ts'
import {
  append, makeBatch, newLog, readBytes, readRecords, recordsOf, reopened, type FoundRecord, type LogStoreCapabilities, type LogStoreSubject,
} from './log-store-subject.ts'

interface ModelBatch {
  readonly base: number
  readonly last: number
  readonly epoch: number
  readonly records: readonly FoundRecord[]
}

/** The contract of a log, the slow way: a list of batches, and answers by looking through all of them. */
class ModelLog {
  batches: ModelBatch[] = []
  start = 0
  end = 0
  watermark = 0

  truncateTo(offset: number): void {
    if (offset >= this.end) return
    this.batches = this.batches.filter(batch => batch.last < offset)
    this.start = Math.min(this.start, offset)
    this.end = Math.max(this.start, this.batches.length === 0 ? 0 : this.batches.at(-1)!.last + 1)
    this.watermark = Math.min(this.watermark, this.end)
  }

  records(endOffset = this.end): FoundRecord[] {
    return this.batches.flatMap(batch => batch.records).filter(record => record.offset >= this.start && record.offset < endOffset)
  }

  read(offset: number, endOffset: number, maxBytes: number, sizeOf: (batch: ModelBatch) => number): ModelBatch[] {
    const found: ModelBatch[] = []
    let bytes = 0
    for (const batch of this.batches) {
      if (offset >= endOffset || batch.last < offset || batch.base >= endOffset) continue
      bytes += sizeOf(batch)
      if (bytes > maxBytes && found.length > 0) break
      found.push(batch)
    }
    return found
  }
}

/**
 * Random operations on a log and on the model, compared after each. A durable store is restarted and killed now and then. The failure
 * names the seed: the same seed repeats it.
 */
export async function randomOperations(subject: LogStoreSubject, capabilities: LogStoreCapabilities, seed: number): Promise<void> {
  const random = new Prng(seed)
  const changed: Partial<TopicSettings> = {
    segmentBytes: random.pick([200, 1000, 20_000]),
    indexIntervalBytes: random.pick([1, 200, 4096]),
    retentionMs: -1,
    retentionBytes: random.pick([-1, 3000]),
    durability: random.pick(['fsync', 'os'] as const),
  }
  const log = newLog(subject, changed)
  const run = new RandomRun(subject, log, changed, random, seed)
  for (let step = 0; step < 60; step++) await run.step(capabilities.durable)
  subject.store.remove(log.id.topicId, log.id.partition)
}

class RandomRun {
  private readonly subject: LogStoreSubject
  private readonly changed: Partial<TopicSettings>
  private readonly random: Prng
  private readonly seed: number
  private readonly model = new ModelLog()
  private readonly sizes = new Map<number, number>()
  private readonly sequences = new Map<number, number>()
  private log: PartitionLog
  private epoch = 0
  private steps: string[] = []

  constructor(subject: LogStoreSubject, log: PartitionLog, changed: Partial<TopicSettings>, random: Prng, seed: number) {
    this.subject = subject
    this.log = log
    this.changed = changed
    this.random = random
    this.seed = seed
  }

  async step(durable: boolean): Promise<void> {
    const { random, model } = this
    const draw = random.below(100)
    if (draw < 50) this.append()
    else if (draw < 55) {
      this.epoch += random.between(1, 2)
      this.steps.push(`epoch ${this.epoch}`)
    } else if (draw < 63) this.apply('raise', random.between(0, model.end), offset => {
      this.log.raiseHighWatermark(offset)
      model.watermark = Math.max(model.watermark, offset)
    })
    else if (draw < 69) this.apply('truncate', random.between(Math.max(0, model.end - 20), model.end), offset => {
      this.log.truncateTo(offset)
      model.truncateTo(offset)
      this.sequences.clear()
    })
    else if (draw < 75) this.apply('delete', random.between(0, model.watermark), offset => {
      this.log.deleteTo(offset)
      model.start = Math.max(model.start, offset)
    })
    else if (draw < 80) this.sweep()
    else if (draw < 84 && durable) await this.reopen(random.chance(0.5) ? 'restart' : 'kill')
    else await this.compareRead()
    await this.compare()
  }

  private append(): void {
    const { random, model, log } = this
    const count = random.between(1, 6)
    const records = Array.from({ length: count }, (_, index) => ({
      timestamp: random.chance(0.3) ? random.below(10_000) : model.end * 10 + index, value: 'v'.repeat(random.below(60)),
    }))
    const producerId = random.between(-1, 2)
    const sequence = this.sequences.get(producerId) ?? 0
    // After a truncation or a restart a fresh epoch of the producer begins with sequence 0 whatever came before.
    const fields = producerId < 0 ? {} : { producerId, producerEpoch: this.producerEpoch(producerId), baseSequence: sequence }
    const batch = makeBatch(records, fields)
    const outcome = append(log, batch, this.epoch)
    this.steps.push(`append ${count} at ${outcome.baseOffset}`)
    checkEqual([outcome.baseOffset, outcome.duplicate], [model.end, false], this.claim('outcome of an append'))
    if (producerId >= 0) {
      this.sequences.set(producerId, sequence + count)
      const again = append(log, makeBatch(records, fields), this.epoch)
      checkEqual([again.baseOffset, again.duplicate], [model.end, true], this.claim('outcome of the same append again'))
    }
    const base = model.end
    model.batches.push({
      base, last: base + count - 1, epoch: this.epoch,
      records: records.map((record, index) => ({ ...record, offset: base + index, leaderEpoch: this.epoch })),
    })
    model.end = base + count
    this.sizes.set(base, batch.length)
  }

  private producerEpoch(producerId: number): number {
    const epochKey = -10 - producerId
    if (!this.sequences.has(producerId)) {
      this.nextProducerEpoch++
      this.sequences.set(producerId, 0)
      this.sequences.set(epochKey, this.nextProducerEpoch)
    }
    return this.sequences.get(epochKey)!
  }

  private nextProducerEpoch = 0

  private apply(name: string, offset: number, run: (offset: number) => void): void {
    this.steps.push(`${name} ${offset}`)
    run(offset)
  }

  /** Which segments there are is the store's affair: only what must not go is checked. */
  private sweep(): void {
    this.subject.store.sweep()
    this.steps.push(`sweep to ${this.log.startOffset}`)
    check(this.log.startOffset >= this.model.start && this.log.startOffset <= Math.max(this.model.start, this.model.watermark),
      this.claim(`a sweep moves the start from ${this.model.start} to ${this.log.startOffset}, watermark ${this.model.watermark}`))
    this.model.start = this.log.startOffset
  }

  private async reopen(end: 'restart' | 'kill'): Promise<void> {
    this.steps.push(end)
    await this.subject[end]!()
    this.log = reopened(this.subject, this.log, this.changed)
    if (end === 'kill') {
      check(this.log.highWatermark <= this.model.watermark, this.claim('the watermark after a kill is a lower bound'))
      this.model.watermark = Math.max(this.model.start, this.log.highWatermark)
      this.log.raiseHighWatermark(this.model.watermark)
    }
  }

  private async compareRead(): Promise<void> {
    const { random, model } = this
    const offset = random.between(model.start, model.end)
    const endOffset = random.between(offset, model.end)
    const maxBytes = random.below(1500)
    const bytes = await readBytes(this.subject, this.log, { offset, endOffset, maxBytes })
    const expected = model.read(offset, endOffset, maxBytes, batch => this.sizes.get(batch.base)!)
    const found = [...new Set(recordsOf(bytes).map(record => model.batches.find(batch => record.offset <= batch.last)!.base))]
    check(found.length > 0 === expected.length > 0, this.claim(`a read at ${offset}, below ${endOffset} gives ${found.length} batches, not ${expected.length}`))
    checkEqual(found, expected.slice(0, found.length).map(batch => batch.base), this.claim(`batches of a read at ${offset}`))
  }

  private async compare(): Promise<void> {
    const { log, model, random } = this
    checkEqual([log.startOffset, log.endOffset, log.highWatermark], [model.start, model.end, model.watermark], this.claim('start, end, watermark'))
    check(log.flushedOffset <= log.endOffset, this.claim('flushed is at most the end'))
    const records = model.records()
    if (random.chance(0.2)) checkEqual(await readRecords(this.subject, log), records, this.claim('all records'))
    const endOffset = random.between(model.start, model.end)
    const timestamp = random.below(10_000)
    checkEqual(log.locate(timestamp, endOffset), hit(model.records(endOffset).find(record => record.timestamp >= timestamp)),
      this.claim(`time ${timestamp} below ${endOffset}`))
    checkEqual(log.locate('max', endOffset), hit(newest(model.records(endOffset))), this.claim(`newest below ${endOffset}`))
  }

  private claim(what: string): string {
    return `seed ${this.seed}: ${what}, after ${this.steps.slice(-12).join(', ')}`
  }
}

function newest(records: readonly FoundRecord[]): FoundRecord | undefined {
  let best: FoundRecord | undefined
  for (const record of records) if (record.timestamp > (best?.timestamp ?? -1)) best = record
  return best
}

function hit(record: FoundRecord | undefined): { offset: number, timestamp: number, leaderEpoch: number } | undefined {
  return record === undefined ? undefined : { offset: record.offset, timestamp: record.timestamp, leaderEpoch: record.leaderEpoch }
}
