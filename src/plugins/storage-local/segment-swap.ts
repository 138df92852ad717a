import { besideCleaned, cleanedPath, type CleanedFacts } from './io/cleaned-segment.ts'
import { type Segment } from './io/segment.ts'
import { segmentSuffixes } from './core/segment-name.ts'
import { type LogState } from './log-state.ts'

/**
 * Puts a compacted segment in the place of a run of closed ones that lie next to each other, wholly below the recovery point. A power cut may leave the names on either side of
 * a sync or neither, even of one rename, but for the target of a rename, which is the old file or the new one:
 *
 *   all of it is on the disk, the `.log` as `.cleaned`, what is beside it as `.swap`    a start removes both: the `.sum.swap` does not fit the `.log` that is there
 *   the recovery point is on the disk                     below it a start expects gaps, and puts nothing of the redo log back
 *   `.log.cleaned` takes the name of the first old one; synced    the `.swap` files say that there is more to do, the `.sum.swap` to which `.log`
 *   the other old segments, and what is beside the first, become `.deleted`; synced
 *   the `.swap` files take their names; synced, by the caller: until it is, a start does this step again
 *
 * So at each moment the old segments are there, or the new one, with a sign beside it that some of those that it replaces may still be there. `finishSwaps` goes by that, once it has proven
 * the new one by its `.sum.swap`. What fails before the new one takes its name changes nothing, and the caller discards what was written; what fails then takes the directory out of service, for what is in memory is no longer what is in the files.
 * The old files are freed after `file.delete.delay.ms`, the first one's `.log` when nobody has it open; a read that is under way finds its segment released,
 * and begins anew.
 */
export function swapSegments(log: LogState, replaced: readonly Segment[], cleaned: CleanedFacts & { readonly sizeBytes: number }): void {
  const first = replaced[0]!
  const endOffset = replaced.at(-1)!.endOffset
  const index = log.segments.indexOf(first)
  log.guard(() => {
    const { files } = log.world
    if (log.pointWritten < endOffset) log.home.writeCheckpoint('recovery points')
    const hidden = log.wholly(() => {
      files.rename(cleanedPath(cleaned, '.log'), first.path('.log'))
      files.syncDirectory(log.directory)
      const paths = replaced.flatMap(segment => hide(log, segment, segment === first))
      files.syncDirectory(log.directory)
      for (const suffix of besideCleaned) files.rename(cleanedPath(cleaned, suffix, '.swap'), first.path(suffix))
      return paths
    })
    const opened = log.segmentOfBytes(first.baseOffset, { sizeBytes: cleaned.sizeBytes, endOffset })
    opened.markSynced()
    opened.sidesSynced = true
    opened.endSure = true
    // Every byte of it was written by this process.
    opened.trustFrom(0, first.baseOffset)
    log.segments.splice(index, replaced.length, opened)
    log.sizeBytes += cleaned.sizeBytes - replaced.reduce((sum, segment) => sum + segment.sizeBytes, 0)
    free(log, hidden)
  })
}

/** Takes the files of a segment out of sight; of the first one what is beside it, for its name is the new one's. Producers at its beginning are those at the beginning of the new one. */
function hide(log: LogState, segment: Segment, isFirst: boolean): string[] {
  const { files, indexCache, integrity } = log.world
  const hidden: string[] = []
  for (const suffix of segmentSuffixes) {
    const path = segment.path(suffix)
    if ((isFirst && (suffix === '.snapshot' || suffix === '.log')) || files.stat(path) === undefined) continue
    files.rename(path, `${path}.deleted`)
    hidden.push(`${path}.deleted`)
  }
  segment.release()
  indexCache.delete(segment)
  integrity.forget(segment.path('.log'))
  return hidden
}

function free(log: LogState, paths: readonly string[]): void {
  log.world.removals.remove(paths, log.settings.fileDeleteDelayMs, error => {
    if (error === undefined) log.home.freed()
    else log.home.fault(error)
  })
}
