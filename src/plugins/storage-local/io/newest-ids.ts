import { uuidFromBytes } from '../../../base/uuid.ts'
import { decodeProducerSnapshot } from '../../../kernel/log/producer-snapshot.ts'
import { type File, type FileSystem } from '../../../kernel/ports/file-system.ts'
import { lastOffsetOf, leaderEpochOf, producerIdOf, readInt32 } from '../../../kernel/record/batch-header.ts'
import { offsetEntryBytes } from '../core/offset-index.ts'
import { groupsIn } from '../core/redo-group.ts'
import { holdsBatch, planKey } from '../core/redo-history.ts'
import { parseSegmentFileName, segmentFileName } from '../core/segment-name.ts'
import { BatchScan } from './batch-scan.ts'
import { readWhole } from './index-file.ts'
import { redoDirectoryName } from './redo-files.ts'

/** The largest leader epoch and the largest producer id that something has seen; -1 for none. */
export interface NewestIds {
  readonly leaderEpoch: number
  readonly producerId: number
}

export const noIds: NewestIds = { leaderEpoch: -1, producerId: -1 }

export const newerOf = (one: NewestIds, other: NewestIds): NewestIds =>
  ({ leaderEpoch: Math.max(one.leaderEpoch, other.leaderEpoch), producerId: Math.max(one.producerId, other.producerId) })

/**
 * What the files of a log know, of a broker that does not run: the newest snapshot of its producers that can be read, which has all that are not expired, and the headers of the batches
 * behind it. What cannot be read is passed over.
 */
export function newestIdsOf(files: FileSystem, directory: string): NewestIds {
  const names = files.list(directory).map(parseSegmentFileName).filter(parsed => parsed !== undefined && parsed.stage === undefined)
  const offsetsOf = (suffix: string): number[] => names.filter(parsed => parsed!.suffix === suffix).map(parsed => parsed!.offset).sort((one, other) => one - other)
  let covered = 0
  let newest = noIds
  for (const offset of offsetsOf('.snapshot').reverse()) {
    const entries = decodeProducerSnapshot(readWhole(files, `${directory}/${segmentFileName(offset, '.snapshot')}`) ?? new Uint8Array(0))
    if (entries === undefined) continue
    covered = offset
    for (const { producerId } of entries) newest = newerOf(newest, { leaderEpoch: -1, producerId })
    break
  }
  const segments = offsetsOf('.log')
  for (const [index, baseOffset] of segments.entries()) {
    if ((segments[index + 1] ?? Infinity) <= covered) continue
    newest = newerOf(newest, idsInSegment(files, directory, baseOffset, covered))
  }
  return newest
}

/** Of the batches behind `offset`, and of some before it. */
function idsInSegment(files: FileSystem, directory: string, baseOffset: number, offset: number): NewestIds {
  const path = `${directory}/${segmentFileName(baseOffset, '.log')}`
  if (files.stat(path)?.kind !== 'file') return noIds
  const file = files.open(path, 'read')
  try {
    const scan = new BatchScan(file, beginOf(files, directory, baseOffset, offset, file), file.size())
    let newest = noIds
    while (scan.next()) newest = newerOf(newest, { leaderEpoch: leaderEpochOf(scan.bytes, scan.at), producerId: producerIdOf(scan.bytes, scan.at) })
    return newest
  } finally {
    file.close()
  }
}

/** The position of the last batch of the offset index that ends at or below `offset`; 0 where the index names none that is there. */
function beginOf(files: FileSystem, directory: string, baseOffset: number, offset: number, file: File): number {
  const index = readWhole(files, `${directory}/${segmentFileName(baseOffset, '.index')}`) ?? new Uint8Array(0)
  for (let at = Math.floor(index.length / offsetEntryBytes) * offsetEntryBytes - offsetEntryBytes; at >= 0; at -= offsetEntryBytes) {
    const lastOffset = baseOffset + readInt32(index, at)
    const position = readInt32(index, at + 4)
    if (lastOffset > offset || position < 0 || position >= file.size()) continue
    const scan = new BatchScan(file, position, file.size())
    if (scan.next() && lastOffsetOf(scan.bytes, scan.at) === lastOffset) return position
  }
  return 0
}

/** What the redo log of a data directory knows, by `planKey`: after a power cut the segments may not have it yet. */
export function newestIdsInRedo(files: FileSystem, dataDirectory: string): ReadonlyMap<string, NewestIds> {
  const path = `${dataDirectory}/${redoDirectoryName}`
  const found = new Map<string, NewestIds>()
  if (files.stat(path)?.kind !== 'directory') return found
  for (const name of files.list(path)) {
    for (const { entries } of groupsIn(readWhole(files, `${path}/${name}`) ?? new Uint8Array(0))) {
      for (const entry of entries) {
        if (entry.kind !== 'batch' || !holdsBatch(entry)) continue
        const key = planKey(uuidFromBytes(entry.topicId), entry.partition)
        found.set(key, newerOf(found.get(key) ?? noIds, { leaderEpoch: leaderEpochOf(entry.bytes, 0), producerId: producerIdOf(entry.bytes, 0) }))
      }
    }
  }
  return found
}
