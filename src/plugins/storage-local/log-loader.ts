import { isMillraceError } from '../../kernel/errors/index.ts'
import { type EpochEntry } from '../../kernel/log/epoch-history.ts'
import { sumHeader } from './core/batch-sums.ts'
import { planDirectory } from './core/directory-plan.ts'
import { parseSegmentFileName, segmentFileName } from './core/segment-name.ts'
import { endSwaps, finishSwaps } from './io/finish-swaps.ts'
import { isSealed, resumeBelow, type LoadedIndexes } from './io/index-file.ts'
import { remakeSides } from './io/remake-sides.ts'
import { rewriteBatches } from './io/rewrite-batches.ts'
import { type Segment } from './io/segment.ts'
import { setAsideFile } from './io/set-aside.ts'
import { syncPath } from './io/sync-path.ts'
import { recoverEpochs } from './epoch-recovery.ts'
import { sideSuffixes } from './log-finish.ts'
import { type KnownOfLog } from './log-known.ts'
import { LogRecovery, discardSegment, durableTo, epochsFiledTo } from './log-recovery.ts'
import { checkBegin, checkOrphans, checkThere } from './log-presence.ts'
import { type LogState } from './log-state.ts'
import { endOf, type RedoPlan } from './core/redo-history.ts'
import { type RedoEntry } from './core/redo-group.ts'
import { putBatches } from './redo-recovery.ts'
import { keepProducersBelow, producersKeptFrom, recoverProducers, snapshotOffsets, snapshotPath, writeProducerSnapshot } from './producer-recovery.ts'

export interface LoadReport {
  /** Bytes that were read and checked. */
  readonly scannedBytes: number
  /** Bytes behind the last whole batch that were cut, with the segments behind them. */
  readonly cutBytes: number
  /** Bytes of batches that the redo log had and that were written to the segments again. */
  readonly redoneBytes: number
  /** The redo log says that it was removed, and now it is. */
  readonly isGone?: true
}

export const nothingLoaded: LoadReport = { scannedBytes: 0, cutBytes: 0, redoneBytes: 0 }

/**
 * Brings a log into service from what is in its directory. After a clean stop nothing but the end of the last segment is looked at. Else
 * what the redo log has is put back, all batches from the recovery point on are checked (from the last index entry below it, or its segment's first byte), indexes made
 * anew from there, and what follows the last sound batch is cut or set aside: see `LogRecovery`. All that is kept is on the disk when this
 * returns. A log of which something is missing or damaged that was on the disk ends this with MR_LOG_CORRUPT, all bytes as they are.
 */
export function loadLog(log: LogState, known: KnownOfLog): LoadReport {
  const loader = new LogLoader(log, known)
  try {
    return loader.load()
  } catch (error) {
    for (const segment of log.segments) segment.release()
    throw error
  }
}

class LogLoader {
  private readonly log: LogState
  private readonly known: KnownOfLog
  private scannedBytes = 0
  private cutBytes = 0
  private redoneBytes = 0
  /** The index files of the active segment are as they should be. */
  private indexesFiled = true
  /** They were so before this start, and the stop was clean. */
  private indexesAsLeft = false
  /** As the file has them. */
  private filedEpochs: readonly EpochEntry[] = []
  /** The scan takes the batches that it checks into the producers' state. */
  private replaysProducers = false
  /** The first segment begins above the log start, as a power cut may leave it. */
  private beginsBehind = false
  /** Where in the first segment that was checked the check began. */
  private checkedFrom = 0

  constructor(log: LogState, known: KnownOfLog) {
    this.log = log
    this.known = known
  }

  load(): LoadReport {
    const { log, known } = this
    this.beginsBehind = checkBegin(log, known)
    if (known.redo !== undefined) this.redo(known.redo)
    this.findSegments()
    checkThere(log, known)
    this.dropBelowStart()
    if (log.segments.length > 0) {
      if (known.clean) this.openLast()
      else this.recover(known.cache === 'intact')
    }
    log.start = Math.max(known.startOffset, log.segments[0]?.baseOffset ?? 0)
    if (log.segments.length === 0 || log.active.endOffset < log.start) this.startAnew()
    log.end = Math.max(log.start, log.active.endOffset)
    log.flushed = log.synced = log.end
    if (this.indexesFiled) log.active.indexedTo = log.end
    log.watermark = Math.min(Math.max(known.highWatermark, log.start), log.end)
    if (known.highWatermark > log.end) log.missingTo = known.highWatermark
    log.takeCleaned(known)
    log.sizeBytes = log.segments.reduce((sum, segment) => sum + segment.sizeBytes, 0)
    this.fitEpochs()
    if (!this.replaysProducers) recoverProducers(log, log.end)
    if (!known.clean) this.keep()
    this.tidySnapshots()
    if (this.indexesAsLeft && snapshotOffsets(log).includes(log.end)) log.markFinished()
    return { scannedBytes: this.scannedBytes, cutBytes: this.cutBytes, redoneBytes: this.redoneBytes }
  }

  /** Puts back what the redo log has. What is no file cannot take it: the redo log keeps it then. */
  private redo({ batches, below }: RedoPlan): void {
    const { log } = this
    const kept = below.filter(batch => this.isWantedBelow(batch))
    const all = [...kept, ...batches]
    for (const { segmentBase } of all) {
      const path = `${log.directory}/${segmentFileName(segmentBase, '.log')}`
      const kind = log.world.files.stat(path)?.kind ?? 'file'
      if (kind !== 'file') throw log.corrupt(segmentBase, path, 'it is no file')
    }
    putBatches(log.world.files, log.directory, all)
    for (const { bytes } of all) this.redoneBytes += bytes.length
  }

  /**
   * Of a segment that was deleted nothing is put back: before it went, a snapshot of its producers was on the disk. Without one it has not been
   * deleted yet, and a batch of it that a producer sends again must be known.
   */
  private isWantedBelow(batch: RedoEntry): boolean {
    const { log } = this
    return log.world.files.stat(`${log.directory}/${segmentFileName(batch.segmentBase, '.log')}`) !== undefined || !producersKeptFrom(log, endOf(batch))
  }

  /** Finishes or undoes what was under way, in the order of `swapSegments`, and lists the segments with their sizes. */
  private findSegments(): void {
    const { log } = this
    const { files, logger } = log.world
    const names = this.namesOfFiles()
    const remade = finishSwaps(log.world, {
      directory: log.directory, recoveryPoint: this.known.recoveryPoint, sumHeaderOf: baseOffset => sumHeader(log.world.identity.clusterId, log.id, baseOffset),
    })
    const plan = planDirectory(names.some(name => name.endsWith('.swap')) ? this.namesOfFiles() : names)
    for (const name of plan.foreign) logger.warn('a file that is not of this log is left alone', { path: `${log.directory}/${name}` })
    for (const name of plan.setAside) logger.warn('bytes that were set aside are still here', { path: `${log.directory}/${name}` })
    checkOrphans(log, this.known, plan)
    // Until the files beside a compacted segment are there anew its `.swap` files say that they are not.
    for (const name of plan.remove) if (!isSwapOf(remade, name)) files.remove(`${log.directory}/${name}`)
    log.segments = plan.segments.map((baseOffset, index) => {
      const segment = log.segmentOfBytes(baseOffset, {
        sizeBytes: files.stat(`${log.directory}/${segmentFileName(baseOffset, '.log')}`)!.bytes,
        endOffset: plan.segments[index + 1] ?? baseOffset,
      })
      segment.markSynced()
      segment.sidesSynced = true
      return segment
    })
    if (this.beginsBehind) log.segments.unshift(this.emptyBegin())
    this.dropEmpty()
    for (const segment of log.segments.slice(0, -1)) {
      if (!remade.includes(segment.baseOffset)) continue
      remakeSides(segment, segment.endOffset)
      for (const suffix of sideSuffixes) syncPath(log.world.files, segment.path(suffix))
    }
    endSwaps(files, log.directory, remade)
  }

  /** What is behind the hole was no more on the disk than what was in it: the recovery sets it aside. */
  private emptyBegin(): Segment {
    const { log, known } = this
    const segment = log.createSegment(known.startOffset)
    segment.endOffset = log.segments[0]!.baseOffset
    segment.markSynced()
    log.world.files.syncDirectory(log.directory)
    return segment
  }

  /**
   * An empty segment between others, with nothing beside it, is what a roll left that failed: it says nothing of where the one before it ends. The first
   * is where the log begins, whatever a power cut has left of it.
   */
  private dropEmpty(): void {
    const { log } = this
    const bytesOf = (path: string): number => log.world.files.stat(path)?.bytes ?? 0
    const empty = log.segments.slice(1, -1).filter(segment => segment.sizeBytes === 0 && sideSuffixes.every(suffix => bytesOf(segment.path(suffix)) === 0))
    if (empty.length === 0) return
    log.segments = log.segments.filter(segment => !empty.includes(segment))
    log.segments.forEach((segment, index) => { segment.endOffset = log.segments[index + 1]?.baseOffset ?? segment.baseOffset })
    for (const segment of empty) discardSegment(log, segment)
  }

  /**
   * What has the name of a file and is none would fail whatever is done with it: it gets another name. A segment cannot be made anew, so
   * that one stays for somebody to look at.
   */
  private namesOfFiles(): string[] {
    const { files, logger } = this.log.world
    const { directory } = this.log
    return files.list(directory).flatMap(name => {
      const parsed = parseSegmentFileName(name)
      if (parsed === undefined && name !== this.log.epochFile.name) return [name]
      if (files.stat(`${directory}/${name}`)?.kind === 'file') return [name]
      if (parsed?.suffix === '.log') throw this.log.corrupt(parsed.offset, `${directory}/${name}`, 'it is no file')
      const movedTo = setAsideFile(files, directory, name)
      logger.error('what should be a file is none: it was set aside, and the file is made anew', { path: `${directory}/${name}`, movedTo, remedy: 'look what it is, then remove it' })
      return []
    })
  }

  /** The log start was durable before these were deleted, or were about to be: some of them may be gone, and none is wanted. */
  private dropBelowStart(): void {
    const { log, known } = this
    const below = log.segments.filter((_, index) => (log.segments[index + 1]?.baseOffset ?? Infinity) <= known.startOffset).length
    if (below === 0) return
    keepProducersBelow(log, log.segments[below]!.baseOffset)
    for (const segment of log.segments.splice(0, below)) discardSegment(log, segment)
  }

  /** Index of the segment that holds the recovery point; of the one that ends there, if what was written beside it when it was closed is not there. */
  private firstToCheck(): number {
    const { segments } = this.log
    const point = this.known.recoveryPoint ?? 0
    let first = 0
    for (const [index, segment] of segments.entries()) if (segment.sizeBytes > 0 && segment.baseOffset <= point) first = index
    const before = segments[first - 1]
    if (before === undefined || segments[first]!.baseOffset !== point) return first
    if (!isSealed(this.log.world.files, before)) return first - 1
    // A process that died may have written it and not synced it. What is there after a power cut is on the disk.
    if (this.known.cache !== 'fresh') for (const suffix of sideSuffixes) syncPath(this.log.world.files, before.path(suffix))
    return first
  }

  /** What a truncation to the same end leaves: see `EpochHistory.fit`. The scan has seen no batch of a log of which nothing is left. */
  private fitEpochs(): void {
    const { epochs, start, end } = this.log
    epochs.fit(start, end)
    if (start < end || epochs.lastEpoch >= 0) return
    for (const { epoch, startOffset } of this.filedEpochs) epochs.append(epoch, startOffset)
    epochs.fit(start, end)
  }

  /** After a clean stop: the end of the log is the end of the last segment's last batch. */
  private openLast(): void {
    const { log } = this
    this.filedEpochs = recoverEpochs(log, Infinity)
    const last = log.active
    const loaded = last.loadIndexes()
    if (loaded.rebuilt !== undefined) {
      log.world.logger.warn('an index was made anew from its segment', { segment: last.path('.log'), reason: loaded.rebuilt })
    }
    const shorter = last.sums.endProblem(last.sizeBytes, undefined)
    if (shorter !== undefined) throw log.corrupt(loaded.endOffset, last.path('.log'), `${shorter}, though the last stop was clean`)
    last.endOffset = this.endOf(last, loaded)
    last.open(loaded.indexes, loaded.rebuilt === undefined, loaded.sure)
    last.trustFrom(last.sizeBytes, last.endOffset)
    last.resumeSums()
    this.indexesAsLeft = loaded.rebuilt === undefined
    this.indexesFiled = loaded.rebuilt === undefined || (loaded.problem === undefined && this.fileSides(last))
    last.markSynced()
    this.checkEnd(last.endOffset)
  }

  /**
   * The recovery point must not come down for an index that is lost: the last segment of a log that was cut within what was compacted has gaps, which are torn writes above it. Gives
   * whether there was room.
   */
  private fileSides(last: Segment): boolean {
    try {
      last.writeSides()
      for (const suffix of sideSuffixes) syncPath(this.log.world.files, last.path(suffix))
    } catch (error) {
      if (!isMillraceError(error, 'MR_FILE_NO_SPACE')) throw error
      return false
    }
    return true
  }

  /** Where what is damaged at the end of the last segment hides the end of the log, its checksums say it; if they are what was written. */
  private endOf(last: Segment, { endOffset, problem, indexes }: LoadedIndexes): number {
    if (problem === undefined) return endOffset
    const seal = last.sums.soundSeal()
    if (seal?.sizeBytes !== last.sizeBytes) throw this.log.corrupt(endOffset, last.path('.log'), `${problem}, though the last stop was clean`)
    // What is appended now must be found without a step through what is damaged.
    indexes.bytesSinceEntry = Infinity
    last.isObscure = true
    return seal.endOffset
  }

  private recover(believes: boolean, isSecond = false): void {
    const { log, known } = this
    const first = this.firstToCheck()
    const begin = log.segments[first]!
    const resume = begin.withFile(file => resumeBelow(log.world.files, begin.indexed(file), known.recoveryPoint ?? 0))
    const from = resume?.offset ?? begin.baseOffset
    this.checkedFrom = resume?.position ?? 0
    this.filedEpochs = recoverEpochs(log, from, epochsFiledTo(known))
    // A snapshot of behind there, if it turns out to be below the end, leaves fewer batches to replay.
    this.replaysProducers = !snapshotOffsets(log).some(covered => covered > from)
    if (this.replaysProducers) recoverProducers(log, from, resume === undefined ? undefined : { segment: begin, indexes: resume.indexes })
    const recovery = new LogRecovery(log, known, { replaysProducers: this.replaysProducers, believes, looksTwice: !isSecond })
    try {
      const end = recovery.run(first, resume)
      if (end === undefined) this.recover(false, !believes)
      else this.checkEnd(end)
    } finally {
      this.scannedBytes += recovery.scannedBytes
      this.cutBytes += recovery.cutBytes
    }
  }

  /** Of what is below the start nothing is missed: it was deleted. A power cut may have brought it back, and what was above it may be gone all the same. */
  private checkEnd(end: number): void {
    const { log, known } = this
    const synced = durableTo(known)
    if (Math.max(end, known.startOffset) >= synced) return
    throw log.corrupt(end, log.active.path('.log'), `the log ends there, and was synced up to ${synced}`)
  }

  /** Nothing of the log is left at or above its start: it goes on there. */
  private startAnew(): void {
    const { log } = this
    this.indexesAsLeft = false
    for (const segment of log.segments.splice(0)) discardSegment(log, segment)
    log.segments = [log.createSegment(log.start)]
    // What is acknowledged in it relies on its name.
    log.world.files.syncDirectory(log.directory)
    log.active.markSynced()
  }

  /**
   * A sync of the process before may have failed: then the next one says nothing of what that one was to write. Without a recovery point all of
   * the log was checked: of that only the last segment, since what is closed is synced at once and may be any amount.
   */
  private rewrite(segment: Segment): void {
    const { log, known, checkedFrom } = this
    this.checkedFrom = 0
    if (known.cache !== 'doubtful') return
    if (known.recoveryPoint === undefined && segment !== log.active) return
    const position = this.tolerateFullDisk(segment, () => rewriteBatches(segment.handle.opened, checkedFrom, segment.sizeBytes))
    if (position !== undefined) throw log.corrupt(segment.baseOffset, segment.path('.log'), `at byte ${position}: what was a batch a moment ago reads as none`)
  }

  /** One that copies what is written over has no room for it: that is no reason not to serve what is there. */
  private tolerateFullDisk(segment: Segment, run: () => number | undefined): number | undefined {
    try {
      return run()
    } catch (error) {
      if (!isMillraceError(error, 'MR_FILE_NO_SPACE')) throw error
      this.log.world.logger.warn('the end of a log was not written once more: the disk is full. If a sync failed before the last stop, a power cut may take it', { segment: segment.path('.log') })
      return undefined
    }
  }

  /** Snapshots that no start would ever use: those that are not of a segment's beginning, nor of the last stop. */
  private tidySnapshots(): void {
    const { log } = this
    const bases = new Set(log.segments.map(segment => segment.baseOffset))
    const offsets = snapshotOffsets(log)
    for (const offset of offsets) {
      const ofStop = offset === offsets.at(-1) && offset > log.active.baseOffset
      if (!bases.has(offset) && !ofStop) log.world.files.remove(snapshotPath(log, offset))
    }
  }

  /** Everything that was kept goes to the disk, with the index files of what was scanned. */
  private keep(): void {
    const { log } = this
    for (const [index, segment] of log.segments.entries()) {
      if (segment.sidesSynced) continue
      this.rewrite(segment)
      segment.handle.opened.syncNow()
      if (segment === log.active) segment.writeSides()
      else segment.close(log.segments[index + 1]!.baseOffset)
      for (const suffix of sideSuffixes) syncPath(log.world.files, segment.path(suffix))
      segment.markSynced()
      segment.sidesSynced = segment !== log.active
    }
    writeProducerSnapshot(log, log.end, true)
    log.world.files.syncDirectory(log.directory)
    log.writeEpochs()
  }
}

function isSwapOf(bases: readonly number[], name: string): boolean {
  const parsed = parseSegmentFileName(name)
  return parsed?.stage === '.swap' && bases.includes(parsed.offset)
}
