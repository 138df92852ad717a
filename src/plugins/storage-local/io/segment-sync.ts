import { type FileSystem } from '../../../kernel/ports/file-system.ts'
import { segmentFileName } from '../core/segment-name.ts'
import { type Segment } from './segment.ts'

/**
 * Makes what is written of a segment durable, its name included, off the event loop. `done` is called later; without an error
 * `syncedBytes` has moved to what the segment had when this was called.
 */
export function syncSegment(files: FileSystem, segment: Segment, done: (error: unknown) => void): void {
  const { sizeBytes, endOffset } = segment
  const truncations = segment.truncations
  const file = segment.handle.use()
  file.sync(error => {
    segment.handle.done()
    if (error !== undefined || segment.released) return done(error)
    try {
      if (!segment.nameSynced) files.syncDirectory(segment.directory)
    } catch (failure) {
      return done(failure)
    }
    segment.nameSynced = true
    // A truncation meanwhile has synced what it left; what came behind it is not covered by this sync.
    if (segment.truncations === truncations && segment.syncedBytes < sizeBytes) {
      segment.syncedBytes = sizeBytes
      segment.syncedOffset = endOffset
    }
    done(undefined)
  })
}

/**
 * Makes the index files and checksums of a closed segment and the producer snapshot at its end durable, one after the other, and their names. Until then the recovery
 * point stays below its end, so that a crash has them made anew.
 */
export function syncSides(files: FileSystem, segment: Segment, endOffset: number, done: (error: unknown) => void): void {
  const { truncations } = segment
  const paths = [segment.path('.index'), segment.path('.timeindex'), segment.path('.sum'), `${segment.directory}/${segmentFileName(endOffset, '.snapshot')}`]
  const next = (): void => {
    // Not after the segment was deleted: its files are gone, or have other names. One that was cut meanwhile, and may be closed again, has other bytes in them.
    if (segment.released || segment.truncations !== truncations) return done(undefined)
    const path = paths.shift()
    try {
      if (path === undefined) {
        files.syncDirectory(segment.directory)
        segment.sidesSynced = true
        return done(undefined)
      }
      // A snapshot that could not be written has nothing to sync.
      if (files.stat(path) === undefined) return next()
      const file = files.open(path, 'update')
      file.sync(error => {
        file.close()
        if (error !== undefined) return done(error)
        next()
      })
    } catch (error) {
      done(error)
    }
  }
  try {
    if (!segment.released) segment.writeSides()
  } catch (error) {
    return done(error)
  }
  next()
}
