import { decodeProducerSnapshot, encodeProducerSnapshot } from '../../kernel/log/producer-snapshot.ts'
import { ProducerState, type ProducerEntry } from '../../kernel/log/producer-state.ts'
import { isControl, lastOffsetOf, producerIdOf } from '../../kernel/record/batch-header.ts'
import { placedSnapshot, snapshotInPlace } from './core/placed-snapshot.ts'
import { type SegmentIndexes } from './core/segment-indexes.ts'
import { parseSegmentFileName, segmentFileName } from './core/segment-name.ts'
import { readWhole } from './io/index-file.ts'
import { type Segment } from './io/segment.ts'
import { type LogState } from './log-state.ts'

/** Writes what is known of the producers below `offset`. It reaches the disk later; a restart without it reads batches instead. */
export function writeProducerSnapshot(log: LogState, offset: number, durable = false): void {
  writeSnapshot(log, log.producers, offset, durable)
}

/** The same of a state that is not, or not yet, the log's. */
export function writeSnapshot(log: LogState, producers: ProducerState, offset: number, durable = false): void {
  const file = log.world.files.open(snapshotPath(log, offset), 'ensure')
  try {
    const bytes = placedSnapshot(encodeProducerSnapshot(producers.entries()), log.id, offset)
    file.write([bytes], 0)
    if (file.size() > bytes.length) file.truncate(bytes.length)
    if (durable) file.syncNow()
  } finally {
    file.close()
  }
}

/** A restart reads the batches behind the newest snapshot: it is not worth one until there are so many of them. */
const replayedBytesMax = 16 * 1024 * 1024

/** Writes a snapshot between those of the rolls, in place of the last such one, so that a restart has little to read. */
export function checkpointProducers(log: LogState): void {
  const { active } = log
  if (active.sizeBytes - log.snapshotPosition < replayedBytesMax) return
  writeProducerSnapshot(log, log.end)
  if (log.snapshotOffset > active.baseOffset) log.world.files.remove(snapshotPath(log, log.snapshotOffset))
  log.snapshotOffset = log.end
  log.snapshotPosition = active.sizeBytes
}

/** A log that was cut has no use for them; the caller syncs the directory, for what comes in the place of the records must not meet them again. */
export function removeSnapshotsAbove(log: LogState, offset: number): void {
  for (const covered of snapshotOffsets(log)) if (covered > offset) log.world.files.remove(snapshotPath(log, covered))
  if (log.snapshotOffset > offset) log.snapshotOffset = -1
  log.snapshotPosition = 0
}

export function snapshotPath(log: LogState, offset: number): string {
  return `${log.directory}/${segmentFileName(offset, '.snapshot')}`
}

/** Offsets of the snapshots that there are, ascending. */
export function snapshotOffsets(log: LogState): number[] {
  const offsets: number[] = []
  for (const name of log.world.files.list(log.directory)) {
    const parsed = parseSegmentFileName(name)
    if (parsed?.suffix === '.snapshot' && parsed.stage === undefined) offsets.push(parsed.offset)
  }
  return offsets
}

/** A segment that is not open yet, and what is known of its batches. */
interface PartlyKnown {
  readonly segment: Segment
  readonly indexes: SegmentIndexes
}

/**
 * Makes the producers' state that of the records below `offset`: from the newest snapshot that is whole, and the headers of the batches
 * behind it. Snapshots of offsets above, and those that are not whole, are removed. `begun` is the segment that holds `offset` where that
 * is not open yet.
 */
export function recoverProducers(log: LogState, offset: number, begun?: PartlyKnown): void {
  for (const covered of snapshotOffsets(log)) {
    if (covered > offset || readSnapshot(log, covered) === undefined) log.world.files.remove(snapshotPath(log, covered))
  }
  loadProducers(log, log.producers, offset, begun)
}

/**
 * What lies below `offset`, where a segment begins, is about to be deleted: sees to it that the producers' state up to there is on the disk, so
 * that a restart which reads the rest does not take their old batches for new ones.
 */
export function keepProducersBelow(log: LogState, offset: number): void {
  const { files } = log.world
  const path = snapshotPath(log, offset)
  if (readSnapshot(log, offset) === undefined) {
    const producers = new ProducerState(log.id, log.world.clock.wallMs())
    loadProducers(log, producers, offset)
    writeSnapshot(log, producers, offset)
  }
  const file = files.open(path, 'update')
  try {
    file.syncNow()
  } finally {
    file.close()
  }
  files.syncDirectory(log.directory)
}

/** Whether a snapshot has the producers of what lies below `offset`, and perhaps of more. */
export function producersKeptFrom(log: LogState, offset: number): boolean {
  return snapshotOffsets(log).some(covered => covered >= offset && readSnapshot(log, covered) !== undefined)
}

function readSnapshot(log: LogState, offset: number): ProducerEntry[] | undefined {
  const bytes = readWhole(log.world.files, snapshotPath(log, offset))
  return bytes === undefined || !snapshotInPlace(bytes, log.id, offset) ? undefined : decodeProducerSnapshot(bytes)
}

/** Makes `producers` what the records below `offset` say, by the snapshots and the segments that there are; nothing is changed. */
export function loadProducers(log: LogState, producers: ProducerState, offset: number, begun?: PartlyKnown): void {
  producers.clear()
  let from = -1
  for (const covered of snapshotOffsets(log).reverse()) {
    const entries = covered > offset ? undefined : readSnapshot(log, covered)
    if (entries === undefined) continue
    producers.restore(entries)
    from = covered
    break
  }
  for (const segment of log.segments) {
    if (segment.baseOffset >= offset) return
    const end = segment === begun?.segment ? offset : segment.endOffset
    if (end > from && segment.sizeBytes > 0) replay(log, segment, segment === begun?.segment ? begun.indexes : undefined, producers, from, offset)
  }
}

/** Takes the batches of a segment from `from` on and below `to` into the producers' state. */
function replay(log: LogState, segment: Segment, known: SegmentIndexes | undefined, producers: ProducerState, from: number, to: number): void {
  const position = known === undefined ? segment.positionBelow(from) : knownPosition(segment, known, from)
  segment.withFile(file => {
    const scan = segment.scan(file, position)
    while (scan.next() && lastOffsetOf(scan.bytes, scan.at) < to) {
      if (lastOffsetOf(scan.bytes, scan.at) < from || producerIdOf(scan.bytes, scan.at) < 0) continue
      if (isControl(scan.bytes, scan.at) && !scan.load()) return
      producers.apply(scan.bytes, scan.at)
    }
    // What is not known of the producers would let what they sent before be taken for new.
    if (scan.problem !== undefined) throw log.corrupt(from, segment.path('.log'), `at byte ${scan.position}: ${scan.problem}`)
  })
}

function knownPosition(segment: Segment, { offsets }: SegmentIndexes, from: number): number {
  const entry = offsets.floor(from)
  return entry >= 0 && segment.holdsEntry(offsets.positionAt(entry), offsets.offsetAt(entry)) ? offsets.positionAt(entry) : 0
}
