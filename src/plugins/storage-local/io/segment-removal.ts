import { type FileSystem } from '../../../kernel/ports/file-system.ts'
import { segmentSuffixes } from '../core/segment-name.ts'
import { type Segment } from './segment.ts'

/**
 * Takes the files of a segment out of sight by renaming them to `.deleted`, where the next start would remove them. The `.log` goes first:
 * files without it are of no use, and removed at a start too. Gives the new paths.
 */
export function hideSegment(files: FileSystem, segment: Segment): string[] {
  const hidden: string[] = []
  for (const suffix of segmentSuffixes) {
    const path = segment.path(suffix)
    if (files.stat(path) === undefined) continue
    files.rename(path, `${path}.deleted`)
    hidden.push(`${path}.deleted`)
  }
  segment.release()
  return hidden
}
