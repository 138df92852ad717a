import { segmentGroups, type CompactionNeed } from '../../kernel/log/compaction-policy.ts'
import { BatchCompactor, compactInline, indexBatch, isIndexed, recordsOfBatch } from '../../kernel/log/compaction-round.ts'
import { OffsetMap, offsetMapBytes } from '../../kernel/log/offset-map.ts'
import { type TopicSettings } from '../../kernel/model/topic-settings.ts'
import { type Compression } from '../../kernel/ports/compression.ts'
import { batchBytesOf, lastOffsetOf } from '../../kernel/record/batch-header.ts'
import { BatchReader } from '../../kernel/record/batch-reader.ts'
import { codecNamed } from '../../kernel/record/compression-codec.ts'
import { MemorySegment } from './memory-segment.ts'

export interface RoundOptions {
  readonly secret: Uint8Array
  readonly mapBytesMax: number
  readonly loadFactor: number
  /** Lets others have their turn. */
  readonly pause: () => Promise<void>
}

export interface RoundWorld {
  readonly compression: Compression
  readonly settings: TopicSettings
  readonly nowMs: number
  readonly lastOffsets: ReadonlyMap<number, number>
  /** Puts a new segment in the place of others. False when they are there no longer. */
  readonly replace: (old: readonly MemorySegment[], made: MemorySegment) => boolean
}

export interface RoundReport {
  readonly cleanedTo: number
  readonly nextHorizonMs: number
  readonly bytesRead: number
  readonly bytesWritten: number
}

/** One round over closed segments. Undefined when it came to nothing because they went meanwhile. */
export async function compactSegments(segments: readonly MemorySegment[], need: CompactionNeed, options: RoundOptions, world: RoundWorld): Promise<RoundReport | undefined> {
  const { compression, settings, nowMs, lastOffsets } = world
  const bytes = offsetMapBytes(need.end - need.firstDirty, options.loadFactor, options.mapBytesMax)
  const map = new OffsetMap({ bytes, loadFactor: options.loadFactor, secret: options.secret, begin: need.firstDirty })
  const dirty = segments.filter(segment => segment.endOffset > need.firstDirty && segment.endOffset <= need.end)
  let bytesRead = await index(dirty, map, need.firstDirty, compression, options)
  const compactor = new BatchCompactor(
    { map, nowMs, deleteRetentionMs: settings.deleteRetentionMs, lastOffsets },
    { codec: settings.compressionType === 'producer' ? undefined : codecNamed(settings.compressionType), level: settings.compressionLevel },
  )
  let bytesWritten = 0
  const closed = segments.filter(segment => segment.endOffset <= Math.max(need.end, need.firstDirty))
  for (const group of segmentGroups(closed, map.endOffset, settings.segmentBytes)) {
    const made = new MemorySegment(group[0]!.baseOffset, group[0]!.createdMs, group[0]!.jitterMs)
    const end = group.at(-1)!.endOffset
    for (const slab of group.flatMap(segment => segment.slabs)) {
      for (let at = 0; at < slab.used; at += batchBytesOf(slab.bytes, at)) {
        const left = compactInline(compactor, slab.bytes, at, lastOffsetOf(slab.bytes, at) + 1 === end, compression)
        if (left !== undefined) made.append(left, 0, left.length)
      }
      bytesRead += slab.used
      await options.pause()
    }
    if (!world.replace(group, made)) return undefined
    bytesWritten += made.sizeBytes
  }
  return { cleanedTo: map.endOffset, nextHorizonMs: compactor.sieve.nextHorizonMs, bytesRead, bytesWritten }
}

/** Puts the keys of the dirty part into the map, as far as it has room. Gives the bytes that were looked at. */
async function index(dirty: readonly MemorySegment[], map: OffsetMap, from: number, compression: Compression, { pause }: RoundOptions): Promise<number> {
  const reader = new BatchReader()
  let bytesRead = 0
  for (const slab of dirty.flatMap(segment => segment.slabs)) {
    for (let at = 0; at < slab.used; at += batchBytesOf(slab.bytes, at)) {
      if (lastOffsetOf(slab.bytes, at) < from) continue
      const records = isIndexed(slab.bytes, at, from) ? recordsOfBatch(slab.bytes, at, compression) : undefined
      if (!indexBatch(map, slab.bytes, at, records, reader, from)) return bytesRead
    }
    bytesRead += slab.used
    await pause()
  }
  return bytesRead
}
