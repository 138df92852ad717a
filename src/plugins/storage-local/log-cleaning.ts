import { type CompactionNeed, segmentGroups } from '../../kernel/log/compaction-policy.ts'
import { offsetMapBytes } from '../../kernel/log/offset-map.ts'
import { codecNamed } from '../../kernel/record/compression-codec.ts'
import { sumHeader } from './core/batch-sums.ts'
import { discardCleaned, type CleanedFacts } from './io/cleaned-segment.ts'
import { type Segment } from './io/segment.ts'
import { type LogState } from './log-state.ts'
import { type RoundFacts, type RoundFigures, type RoundWork } from './round-work.ts'
import { Suspicion } from './segment-aside.ts'
import { SegmentInLog } from './segment-in-log.ts'
import { SegmentSource } from './segment-source.ts'
import { swapSegments } from './segment-swap.ts'
import { ThreadEnded } from './work-aside.ts'

/** Read at a time of what a thread has found wrong. */
const judgedBytes = 262_144

export interface CleaningOptions {
  /** `log.cleaner.dedupe.buffer.size` */
  readonly mapBytesMax: number
  /** `log.cleaner.io.buffer.load.factor` */
  readonly loadFactor: number
  /** Begins what is done to records, in slices or in a thread. */
  readonly work: (facts: RoundFacts, pause: (bytes: number) => Promise<void>) => RoundWork
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
  /** What has to be there for what is done now. */
  private busy: readonly Segment[] = []

  constructor(log: LogState, need: CompactionNeed, options: CleaningOptions) {
    this.log = log
    this.need = need
    this.options = options
    this.truncations = log.truncations
    this.work = options.work(this.facts(), bytes => this.pause(bytes))
  }

  /** Rejects with CleaningEnded, or what reading and writing failed with: what was swapped in until then stays, and the next round begins where this one did. */
  async run(): Promise<CleaningReport> {
    try {
      return await this.round()
    } finally {
      this.work.end()
    }
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
    const { bytesRead, bytesWritten, recordsRead, recordsKept, mapUtilization } = figures
    return { bytesRead, bytesWritten, recordsRead, recordsKept, mapUtilization }
  }

  private async pause(bytes: number): Promise<void> {
    this.check()
    await this.options.pause(bytes)
    this.check()
  }

  private tell({ unreadable }: RoundFigures): void {
    const { id: { topic, partition }, world } = this.log
    if (unreadable > 0) world.logger.warn('compaction left batches as they are whose records cannot be read', { topic, partition, batches: unreadable })
  }

  /** Puts the keys of the dirty part into the table, as far as it has room. */
  private async index(): Promise<void> {
    const { log, need, work } = this
    for (const segment of log.segments.filter(each => each.endOffset > need.firstDirty && each.endOffset <= need.end)) {
      if (!await this.with([segment], () => work.index(segment))) return
    }
  }

  /** Writes a group of segments anew, and puts what is left in their place. */
  private async clean(group: readonly Segment[]): Promise<void> {
    const { log, work } = this
    const first = group[0]!
    const facts = {
      directory: log.directory, baseOffset: first.baseOffset, endOffset: group.at(-1)!.endOffset, intervalBytes: log.settings.indexIntervalBytes,
      sumHeader: sumHeader(log.world.identity.clusterId, log.id, first.baseOffset),
    }
    try {
      const sizeBytes = await this.with(group, () => work.clean(group, facts))
      if (sizeBytes === undefined) return
      swapSegments(log, group, { ...facts, sizeBytes })
    } catch (error) {
      const told = log.home.fault(error)
      if (log.failure === undefined) await this.discard(facts)
      throw told
    }
    await this.swapped()
  }

  /** The last names of a swap reach the disk. What is in memory goes by them: where they do not the directory goes out of service. */
  private async swapped(): Promise<void> {
    const { log, work } = this
    try {
      await work.swapped(log.directory)
    } catch (error) {
      if (log.failure !== undefined) return
      // Its thread is no more.
      if (error instanceof ThreadEnded) log.wholly(() => log.world.files.syncDirectory(log.directory))
      throw error instanceof ThreadEnded ? error : log.home.fail(error)
    }
  }

  private async discard(facts: CleanedFacts): Promise<void> {
    const { log, work } = this
    try {
      await work.discard(facts)
    } catch (error) {
      if (!(error instanceof ThreadEnded)) throw log.home.fault(error)
      log.guard(() => discardCleaned(log.world.files, facts))
    }
  }

  /** What is done with segments that have to be there until it is over. */
  private async with<T>(segments: readonly Segment[], act: () => Promise<T>): Promise<T> {
    this.busy = segments
    try {
      this.check()
      const result = await act()
      this.check()
      return result
    } catch (error) {
      // What a file says that is gone, or was cut, is no failure.
      this.check()
      if (error instanceof Suspicion) await this.judge(segments.find(({ baseOffset }) => baseOffset === error.baseOffset)!, error)
      throw error
    } finally {
      this.busy = []
    }
  }

  /** What a thread has found wrong is read here, where damage is told and known. */
  private async judge(segment: Segment, { position, reason }: Suspicion): Promise<never> {
    const { log } = this
    const { isKept } = segment.sums
    if (!log.suspects(segment, position)) throw log.damaged(segment, position, reason)
    const source = new SegmentSource(new SegmentInLog(log, segment), new Uint8Array(Math.min(judgedBytes, segment.sizeBytes)))
    for (let chunk = await source.next(); chunk !== undefined; chunk = await source.next()) await this.pause(chunk.end)
    this.check()
    segment.prove(0, segment.sizeBytes)
    // Else it was its checksums that were wrong, and that has been said.
    if (segment.sums.isKept === isKept) log.cleared({ segment, position, reason })
    throw new CleaningEnded('a segment was read wrong, and right when it was read once more')
  }

  /** Whether all is still as it was when the round began, but for what it has swapped itself. */
  private check(): void {
    const { log } = this
    if (log.failure !== undefined || log.truncations !== this.truncations || !log.settings.compact) throw new CleaningEnded('the log was closed, cut, or is compacted no longer')
    if (this.busy.some(segment => segment.released)) throw new CleaningEnded('a segment was deleted')
  }
}
