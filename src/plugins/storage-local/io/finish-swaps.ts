import { lastOffsetOf } from '../../../kernel/record/batch-header.ts'
import { type FileSystem } from '../../../kernel/ports/file-system.ts'
import { type Logger } from '../../../kernel/ports/telemetry.ts'
import { parseSegmentFileName, segmentFileName, type SegmentFileName, type SegmentStage, type SegmentSuffix } from '../core/segment-name.ts'
import { BatchScan } from './batch-scan.ts'
import { offsetProblem } from './index-file.ts'
import { SegmentSums } from './segment-sums.ts'
import { setAsideFile } from './set-aside.ts'

/** What is made anew from the batches, where it is not known which segment it is of. */
const besideLog: readonly SegmentSuffix[] = ['.index', '.timeindex', '.sum']

export interface SwapsWorld {
  readonly files: FileSystem
  readonly logger: Logger
}

/** The log whose directory it is. */
export interface SwapsPlace {
  readonly directory: string
  /** Undefined where the checkpoint is lost. */
  readonly recoveryPoint: number | undefined
  /** What the `.sum` of its segment with this base offset begins with. */
  readonly sumHeaderOf: (baseOffset: number) => Uint8Array
}

/**
 * Brings swaps of segments to their end that a crash cut off: see `swapSegments`. Before an old segment is hidden a `.log.swap` is proven: it ends where its `.sum.swap`, which is of
 * this segment, says; every batch of it is the one that was written; it lies below the recovery point; and its last record is the last of what it is to replace. Until it has
 * taken its name all of these are there, so that one which is not proven is not needed: it goes, or, where it did not come about by a crash, is set aside.
 *
 * While one of the files beside it is still called `.swap`, the same checksums say whether what the segment reaches over may still be there: it goes. The files beside it go too. Gives
 * the base offsets of the segments of which they are to be made anew; then `endSwaps`. Each step is on the disk before the next, so that a crash meanwhile leaves the same to do.
 */
export function finishSwaps(world: SwapsWorld, place: SwapsPlace): readonly number[] {
  const { files } = world
  const { directory } = place
  const found = files.list(directory).flatMap(name => parseSegmentFileName(name) ?? [])
  const bases = [...new Set(found.filter(({ stage, suffix }) => stage === '.swap' && suffix !== '.snapshot').map(({ offset }) => offset))]
  if (bases.length === 0) return []
  const remade = bases.filter(base => new Swap(world, place, found, base).finish())
  for (const base of remade) for (const suffix of besideLog) files.remove(`${directory}/${segmentFileName(base, suffix)}`)
  files.syncDirectory(directory)
  return remade
}

/** The files beside the segments are there, durably: nothing is left to do. */
export function endSwaps(files: FileSystem, directory: string, remade: readonly number[]): void {
  if (remade.length === 0) return
  files.syncDirectory(directory)
  for (const base of remade) for (const suffix of besideLog) files.remove(`${directory}/${segmentFileName(base, suffix)}.swap`)
  files.syncDirectory(directory)
}

/** That of one compacted segment. */
class Swap {
  private readonly world: SwapsWorld
  private readonly place: SwapsPlace
  private readonly found: readonly SegmentFileName[]
  private readonly base: number
  private readonly sums: SegmentSums

  constructor(world: SwapsWorld, place: SwapsPlace, found: readonly SegmentFileName[], base: number) {
    this.world = world
    this.place = place
    this.found = found
    this.base = base
    this.sums = new SegmentSums(world, `${this.path('.sum')}.swap`, place.sumHeaderOf(base), base)
  }

  /** Gives whether the files beside it are to be made anew. */
  finish(): boolean {
    if (!this.has('.log', '.swap')) return this.has('.log') && this.finishNamed()
    const problem = this.problem()
    if (problem !== undefined && (this.has('.log') || !this.replacesNothing())) {
      this.refuse(problem)
      // A power cut may leave both names of a rename.
      return this.has('.sum', '.swap') && this.has('.log') && this.finishNamed()
    }
    this.putInPlace()
    if (problem === undefined) this.removeReplaced()
    return true
  }

  private path(suffix: SegmentSuffix): string { return `${this.place.directory}/${segmentFileName(this.base, suffix)}` }

  private has(suffix: SegmentSuffix, stage?: SegmentStage): boolean {
    return this.found.some(file => file.offset === this.base && file.suffix === suffix && file.stage === stage)
  }

  /** The `.log` is the new one, or, where a power cut has taken both names of it, the first old one still. */
  private finishNamed(): boolean {
    // They are the last to go: without them nothing that was replaced is there.
    if (!this.has('.sum', '.swap')) return endOfSegment(this.world.files, this.path('.log'), this.base) !== undefined
    if ((this.batchesProblem(this.path('.log')) ?? this.rangeProblem(this.path('.log'), (old, end) => old <= end)) !== undefined) return false
    this.removeReplaced()
    return true
  }

  /** Why the `.log.swap` is not what is to replace others. */
  private problem(): string | undefined {
    const { recoveryPoint } = this.place
    const problem = this.batchesProblem(`${this.path('.log')}.swap`)
    if (problem !== undefined) return problem
    const { endOffset } = this.sums.seal!
    if (recoveryPoint === undefined || endOffset > recoveryPoint) return `it ends at ${endOffset}, and the recovery point is ${recoveryPoint ?? 'not known'}`
    return this.rangeProblem(`${this.path('.log')}.swap`, (old, end) => old === end)
  }

  /** Why the file does not reach as far as the segments do that it is in the place of: the last batch of the last of them stays, be it empty. */
  private rangeProblem(path: string, fits: (old: number, end: number) => boolean): string | undefined {
    const { files } = this.world
    const last = this.replaced(this.sums.seal!.endOffset).at(-1)
    const old = last === undefined ? undefined : endOfSegment(files, `${this.place.directory}/${segmentFileName(last, '.log')}`, last)
    const end = endOfSegment(files, path, this.base)
    return old !== undefined && end !== undefined && !fits(old, end) ? `its last record is below ${end}, and the last that it is to replace below ${old}` : undefined
  }

  /** Why the file is not the segment that the checksums are of, to its last byte. */
  private batchesProblem(path: string): string | undefined {
    if (!this.has('.sum', '.swap')) return 'its checksums are missing'
    const seal = this.sums.soundSeal()
    if (seal?.kind !== 'closed') return 'its checksums are not those of a closed segment'
    let batch = 0
    return problemOf(this.world.files, path, this.base, (scan, sizeBytes) => {
      if (sizeBytes !== seal.sizeBytes) return `it has ${sizeBytes} bytes, and had ${seal.sizeBytes}`
      return this.sums.recall(batch++, scan.bytes, scan.at, scan.position) === 'agrees' ? undefined : `the batch at byte ${scan.position} is not what was written`
    })
  }

  /** Base offsets of the segments that one up to `end` is in the place of, its own with them. */
  private replaced(end: number): number[] {
    return this.found.filter(({ offset, suffix, stage }) => stage === undefined && suffix === '.log' && offset >= this.base && offset < end).map(({ offset }) => offset).sort((left, right) => left - right)
  }

  /** It is whole by itself, and no segment would be hidden by it. */
  private replacesNothing(): boolean {
    const end = endOfSegment(this.world.files, `${this.path('.log')}.swap`, this.base)
    return end !== undefined && this.replaced(end).length === 0
  }

  /** What it was to replace is there and serves. Where not even the first of it is, it is left alone. */
  private refuse(reason: string): void {
    const { files, logger } = this.world
    const path = `${this.path('.log')}.swap`
    if (!this.has('.log')) return
    if (!this.has('.sum', '.swap')) {
      logger.info('a compaction was cut off before its swap: the segments that it was to replace serve', { path })
      files.remove(path)
      return
    }
    const movedTo = setAsideFile(files, this.place.directory, `${segmentFileName(this.base, '.log')}.swap`)
    logger.warn('a compacted segment was set aside: it is not proven to hold what the segments do that it was to replace, and these serve', { path, movedTo, reason, remedy: 'remove it when the log is found to be whole' })
  }

  /** The name over the old one: whichever way a crash goes, one of the two is there, and a `.swap` beside it says that there is more to do. */
  private putInPlace(): void {
    const { files } = this.world
    const log = this.path('.log')
    files.open(`${this.path('.index')}.swap`, 'ensure').close()
    // Who made it has synced it; what is about to be without another copy is not taken at its word.
    for (const path of [`${log}.swap`, this.sums.path]) {
      if (files.stat(path) === undefined) continue
      const file = files.open(path, 'update')
      try {
        file.syncNow()
      } finally {
        file.close()
      }
    }
    files.syncDirectory(this.place.directory)
    files.rename(`${log}.swap`, log)
    files.syncDirectory(this.place.directory)
    // Where a power cut has left both names of one file, the rename of one over the other does nothing.
    files.remove(`${log}.swap`)
  }

  private removeReplaced(): void {
    const { files } = this.world
    const { endOffset } = this.sums.seal!
    for (const { offset, suffix, stage } of this.found) {
      if (stage !== undefined || suffix === '.snapshot' || offset <= this.base || offset >= endOffset) continue
      files.remove(`${this.place.directory}/${segmentFileName(offset, suffix)}`)
    }
    files.syncDirectory(this.place.directory)
  }
}

/** What is wrong with a segment of sound batches to its last byte, at least one; `check` is asked of each as well. */
function problemOf(files: FileSystem, path: string, baseOffset: number, check: (scan: BatchScan, sizeBytes: number) => string | undefined): string | undefined {
  if (files.stat(path)?.kind !== 'file') return 'it is no file'
  const file = files.open(path, 'read')
  try {
    const sizeBytes = file.size()
    const scan = new BatchScan(file, 0, sizeBytes)
    let end = baseOffset
    while (scan.next()) {
      const problem = offsetProblem(scan, end, baseOffset) ?? (scan.crcValid() ? undefined : `the CRC of the batch at byte ${scan.position} does not match`) ?? check(scan, sizeBytes)
      if (problem !== undefined) return problem
      end = lastOffsetOf(scan.bytes, scan.at) + 1
    }
    return scan.problem ?? (end === baseOffset ? 'it has no batch' : undefined)
  } finally {
    file.close()
  }
}

/** Behind its last record. Undefined when it is not batches to its last byte, or not there. */
function endOfSegment(files: FileSystem, path: string, baseOffset: number): number | undefined {
  let end = baseOffset
  const problem = problemOf(files, path, baseOffset, scan => {
    end = lastOffsetOf(scan.bytes, scan.at) + 1
    return undefined
  })
  return problem === undefined ? end : undefined
}
