import { SegmentIndexes } from '../core/segment-indexes.ts'
import { BatchScan } from './batch-scan.ts'
import { type Segment } from './segment.ts'

/** Makes the indexes and checksums of a closed segment anew, behind which the next one begins at `nextBase`, if all of its batches are sound. */
export function remakeSides(segment: Segment, nextBase: number): void {
  const indexes = SegmentIndexes.empty(segment.baseOffset)
  segment.sums.reset(true)
  const isSound = segment.withFile(file => {
    const scan = new BatchScan(file, 0, segment.sizeBytes)
    while (scan.next()) {
      if (!scan.crcValid()) return false
      segment.sums.append(scan.bytes, scan.at, scan.position)
      indexes.count(scan.bytes, scan.at, scan.sizeBytes, scan.position, segment.intervalBytes)
    }
    return scan.problem === undefined
  })
  if (isSound) segment.takeMade(indexes, nextBase)
  else segment.sums.giveUp('a batch of the segment is damaged')
}
