import { decodeProducerSnapshot, encodeProducerSnapshot } from '../../kernel/log/producer-snapshot.ts'
import { ProducerState, type ProducerEntry } from '../../kernel/log/producer-state.ts'
import { isControl, lastOffsetOf, producerIdOf } from '../../kernel/record/batch-header.ts'
import { parseSegmentFileName, segmentFileName } from './core/segment-name.ts'
import { BatchScan } from './io/batch-scan.ts'
import { readWhole } from './io/index-file.ts'
import { type LogState } from './log-state.ts'

/** Writes what is known of the producers below `offset`. It reaches the disk later; a restart without it reads batches instead. */
export function writeProducerSnapshot(log: LogState, offset: number, durable = false): void {
  writeSnapshot(log, log.producers, offset, durable)
}

function writeSnapshot(log: LogState, producers: ProducerState, offset: number, durable = false): void {
  const file = log.world.files.open(snapshotPath(log, offset), 'ensure')
  try {
    const bytes = encodeProducerSnapshot(producers.entries())
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
  for (const covered of snapshotOffsets(log)) {
    if (covered > offset || readSnapshot(log, covered) === undefined) log.world.files.remove(snapshotPath(log, covered))
  }
  loadProducers(log, log.producers, offset)
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

function readSnapshot(log: LogState, offset: number): ProducerEntry[] | undefined {
  const bytes = readWhole(log.world.files, snapshotPath(log, offset))
  return bytes === undefined ? undefined : decodeProducerSnapshot(bytes)
}

function loadProducers(log: LogState, producers: ProducerState, offset: number): void {
  producers.clear()
  let from = -1
  for (const covered of snapshotOffsets(log).reverse()) {
    const entries = covered > offset ? undefined : readSnapshot(log, covered)
    if (entries === undefined) continue
    producers.restore(entries)
    from = covered
    break
  }
  replayProducers(log, producers, from, offset)
}

/** Takes the batches from `from` on and below `to` into the producers' state. */
function replayProducers(log: LogState, producers: ProducerState, from: number, to: number): void {
  for (const segment of log.segments) {
    if (segment.endOffset <= from || segment.sizeBytes === 0) continue
    if (segment.baseOffset >= to) return
    const start = from <= segment.baseOffset ? 0 : segment.find(from).position
    segment.withFile(file => {
      const scan = new BatchScan(file, start, segment.sizeBytes)
      while (scan.next() && lastOffsetOf(scan.bytes, scan.at) < to) {
        if (producerIdOf(scan.bytes, scan.at) < 0) continue
        if (isControl(scan.bytes, scan.at) && !scan.load()) return
        producers.apply(scan.bytes, scan.at)
      }
    })
  }
}
