import { decodeProducerSnapshot, encodeProducerSnapshot } from '../../kernel/log/producer-snapshot.ts'
import { isControl, lastOffsetOf, producerIdOf } from '../../kernel/record/batch-header.ts'
import { parseSegmentFileName, segmentFileName } from './core/segment-name.ts'
import { BatchScan } from './io/batch-scan.ts'
import { readWhole } from './io/index-file.ts'
import { type LogState } from './log-state.ts'

/** Writes what is known of the producers below `offset`. It reaches the disk later; a restart without it reads batches instead. */
export function writeProducerSnapshot(log: LogState, offset: number, durable = false): void {
  const file = log.world.files.open(snapshotPath(log, offset), 'ensure')
  try {
    const bytes = encodeProducerSnapshot(log.producers.entries())
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

/**
 * Makes the producers' state that of the records below `offset`: from the newest snapshot that is whole, and the headers of the batches
 * behind it. Snapshots of offsets above, and those that are not whole, are removed.
 */
export function recoverProducers(log: LogState, offset: number): void {
  let from = -1
  for (const covered of snapshotOffsets(log).reverse()) {
    const bytes = covered > offset ? undefined : readWhole(log.world.files, snapshotPath(log, covered))
    const entries = bytes === undefined ? undefined : decodeProducerSnapshot(bytes)
    if (entries === undefined) {
      log.world.files.remove(snapshotPath(log, covered))
      continue
    }
    log.producers.restore(entries)
    from = covered
    break
  }
  if (from < 0) log.producers.clear()
  replayProducers(log, from, offset)
}

/** Takes the batches from `from` on and below `to` into the producers' state. */
function replayProducers(log: LogState, from: number, to: number): void {
  for (const segment of log.segments) {
    if (segment.endOffset <= from || segment.sizeBytes === 0) continue
    if (segment.baseOffset >= to) return
    const start = from <= segment.baseOffset ? 0 : segment.find(from).position
    segment.withFile(file => {
      const scan = new BatchScan(file, start, segment.sizeBytes)
      while (scan.next() && lastOffsetOf(scan.bytes, scan.at) < to) {
        if (producerIdOf(scan.bytes, scan.at) < 0) continue
        if (isControl(scan.bytes, scan.at) && !scan.load()) return
        log.producers.apply(scan.bytes, scan.at)
      }
    })
  }
}
