import { type CompactionNeed, segmentGroups } from '../../kernel/log/compaction-policy.ts'
import { offsetMapBytes } from '../../kernel/log/offset-map.ts'
import { batchHeaderBytes } from '../../kernel/record/batch-header.ts'
import { codecNamed } from '../../kernel/record/compression-codec.ts'
import { sumHeader } from './core/batch-sums.ts'
import { CleanedSegment } from './io/cleaned-segment.ts'
import { type Segment } from './io/segment.ts'
import { type LogState } from './log-state.ts'
import { type RoundFacts, type RoundFigures, type RoundWork } from './round-work.ts'
import { SegmentSource, type SourceChunk } from './segment-source.ts'
import { swapSegments } from './segment-swap.ts'

export interface CleaningOptions {
  /** `log.cleaner.dedupe.buffer.size` */
  readonly mapBytesMax: number
  /** `log.cleaner.io.buffer.load.factor` */
  readonly loadFactor: number
  /** Begins what is done to records, in slices or in a thread. */
  readonly work: (facts: RoundFacts) => RoundWork
  /** Waits until the budget allows more, after so many bytes; gives others their turn. Rejects with CleaningEnded when the cleaner stops. */
  readonly pause: (bytes: number) => Promise<void>
}

/** What one round has done. */
export interface CleaningReport {
  readonly bytesRead: number
  readonly bytesWritten: number
  readonly recordsRead: number
  readonly recordsKept: number
  /** How full the map got, 0 to 1. */
  readonly mapUtilization: number
}

/** The round came to nothing because its log was closed, cut, or lost segments meanwhile, or the cleaner stops. Not a failure. */
export class CleaningEnded extends Error {
  override readonly name = 'CleaningEnded'
}

/** One round of compaction over one log: the keys of the dirty part, then group after group of segments written anew and swapped in. */
export class LogCleaning {
  private readonly log: LogState
  private readonly need: CompactionNeed
  private readonly options: CleaningOptions
  private readonly truncations: number
  private readonly work: RoundWork
  private memory: Uint8Array[] = []
  private bytesRead = 0
  private bytesWritten = 0

  constructor(log: LogState, need: CompactionNeed, options: CleaningOptions) {
    this.log = log
    this.need = need
    this.options = options
    this.truncations = log.truncations
    this.work = options.work(this.facts())
  }

  /** Rejects with CleaningEnded, or what reading and writing failed with: what was swapped in until then stays, and the next round begins where this one did. */
  async run(): Promise<CleaningReport> {
    try {
      this.memory = this.memoryToRead()
      return await this.round()
    } finally {
      this.work.end()
    }
  }

  private memoryToRead(): Uint8Array[] {
    const { log, work } = this
    const largest = log.segments.slice(0, -1).reduce((most, segment) => Math.max(most, segment.sizeBytes), batchHeaderBytes)
    // One is read into while the other is looked at.
    return Array.from({ length: work.readsAhead ? 2 : 1 }, () => work.memory(Math.min(largest, work.chunkBytes)))
  }

  private facts(): RoundFacts {
    const { log, need, options: { loadFactor, mapBytesMax } } = this
    const { deleteRetentionMs, compressionType, compressionLevel } = log.settings
    return {
      begin: need.firstDirty, mapBytes: offsetMapBytes(need.end - need.firstDirty, loadFactor, mapBytesMax), loadFactor, secret: log.world.random.bytes(16),
      nowMs: log.world.clock.wallMs(), deleteRetentionMs, lastOffsets: log.producers.lastOffsets(),
      rewrite: { codec: compressionType === 'producer' ? undefined : codecNamed(compressionType), level: compressionLevel },
    }
  }

  private async round(): Promise<CleaningReport> {
    const { log, need, work } = this
    await this.index()
    const { endOffset } = await work.figures()
    const closed = log.segments.filter(segment => !segment.isActive && segment.endOffset <= Math.max(need.end, need.firstDirty))
    for (const group of segmentGroups(closed, endOffset, log.settings.segmentBytes)) await this.clean(group)
    const figures = await work.figures()
    this.check()
    this.tell(figures)
    log.cleanedTo = Math.max(log.cleanedTo, endOffset)
    log.nextHorizonMs = figures.nextHorizonMs
    const { recordsRead, recordsKept, mapUtilization } = figures
    return { bytesRead: this.bytesRead, bytesWritten: this.bytesWritten, recordsRead, recordsKept, mapUtilization }
  }

  private tell({ unreadable }: RoundFigures): void {
    const { id: { topic, partition }, world } = this.log
    if (unreadable > 0) world.logger.warn('compaction left batches as they are whose records cannot be read', { topic, partition, batches: unreadable })
  }

  /** Puts the keys of the dirty part into the table, as far as it has room. */
  private async index(): Promise<void> {
    const { log, need, work } = this
    for (const segment of log.segments.filter(each => each.endOffset > need.firstDirty && each.endOffset <= need.end)) {
      if (!await this.each(segment, ({ bytes, end }) => work.index(bytes, end))) return
      work.reached(segment.endOffset)
    }
  }

  /** Gives each chunk of a segment to `act`, until that says false. The next one is read meanwhile, where the work is not done on this thread. */
  private async each(segment: Segment, act: (chunk: SourceChunk) => Promise<boolean>): Promise<boolean> {
    const source = new SegmentSource(this.log, segment, this.memory, bytes => this.work.memory(bytes))
    let coming = this.next(source)
    try {
      for (let chunk = await coming; chunk !== undefined; chunk = await coming) {
        if (this.work.readsAhead) {
          coming = this.next(source)
          coming.catch(() => undefined)
        }
        if (!await act(chunk)) return false
        if (!this.work.readsAhead) coming = this.next(source)
        else await this.options.pause(chunk.end)
      }
      return true
    } finally {
      // What is read is written to memory that others use then.
      await coming.catch(() => undefined)
    }
  }

  /** Writes a group of segments anew, and puts what is left in their place. */
  private async clean(group: readonly Segment[]): Promise<void> {
    const { log } = this
    const first = group[0]!
    const last = group.at(-1)!
    this.check(...group)
    const cleaned = log.guard(() => new CleanedSegment(log.world, {
      directory: log.directory, baseOffset: first.baseOffset, endOffset: last.endOffset, intervalBytes: log.settings.indexIntervalBytes, sumHeader: sumHeader(log.world.identity.clusterId, log.id, first.baseOffset),
    }))
    try {
      let changed = group.length > 1
      for (const segment of group) changed = await this.copy(segment, segment === last, cleaned) || changed
      if (!changed) return log.guard(() => cleaned.discard())
      await cleaned.finish()
      this.check(...group)
      swapSegments(log, group, cleaned)
    } catch (error) {
      const told = log.home.fault(error)
      if (log.failure === undefined) log.guard(() => cleaned.discard())
      throw told
    }
  }

  /** Gives whether anything is not as it was. */
  private async copy(segment: Segment, isLast: boolean, cleaned: CleanedSegment): Promise<boolean> {
    let changed = false
    await this.each(segment, async ({ bytes, end, position }) => {
      const left = await this.work.compact(bytes, end, isLast && position + end === segment.sizeBytes)
      changed ||= left.changed
      for (const batch of left.batches) cleaned.append(batch)
      const before = cleaned.sizeBytes
      cleaned.write()
      this.bytesWritten += cleaned.sizeBytes - before
      if (cleaned.isDue) await cleaned.sync()
      return true
    })
    return changed
  }

  private async next(source: SegmentSource): Promise<SourceChunk | undefined> {
    this.check()
    const chunk = await source.next()
    this.bytesRead += chunk?.end ?? 0
    return chunk
  }

  /** Whether all is still as it was when the round began, but for what it has swapped itself. */
  private check(...segments: readonly Segment[]): void {
    const { log } = this
    if (log.failure !== undefined || log.truncations !== this.truncations || !log.settings.compact) throw new CleaningEnded('the log was closed, cut, or is compacted no longer')
    if (segments.some(segment => segment.released)) throw new CleaningEnded('a segment was deleted')
  }
}
