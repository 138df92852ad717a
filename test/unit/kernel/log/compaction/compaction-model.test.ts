import { describe, expect, it } from 'vitest'
import { Prng } from '../../../../../src/base/prng.ts'
import { BatchCompactor, compactInline, indexBatch, isIndexed, recordsOfBatch } from '../../../../../src/kernel/log/compaction-round.ts'
import { compactionNeed, segmentGroups } from '../../../../../src/kernel/log/compaction-policy.ts'
import { OffsetMap, offsetMapEntryBytes } from '../../../../../src/kernel/log/offset-map.ts'
import { BatchBuilder } from '../../../../../src/kernel/record/batch-builder.ts'
import { BatchReader } from '../../../../../src/kernel/record/batch-reader.ts'
import { type CompressionCodec } from '../../../../../src/kernel/record/compression-codec.ts'
import { RecordBatch } from '../../../../../src/kernel/record/record-batch.ts'
import { NodeCompression } from '../../../../../src/platform/codecs/node-compression.ts'
import { topicSettings } from '../../../../../src/testkit/topic-settings.ts'
import { naiveCompaction, type NaiveBatch } from './naive-compaction.ts'

/** `COMPACTION_SEEDS=2000` runs all of them; `SEED` one. */
const seeds = process.env['SEED'] === undefined ? Array.from({ length: Number(process.env['COMPACTION_SEEDS'] ?? 60) }, (_, index) => index + 1) : [Number(process.env['SEED'])]
const compression = new NodeCompression()
const builder = new BatchBuilder(compression)
const encode = (text: string | null): Uint8Array | null => text === null ? null : new TextEncoder().encode(text)
const decode = (bytes: Uint8Array | null): string | null => bytes === null ? null : new TextDecoder().decode(bytes)

interface Segment {
  readonly baseOffset: number
  readonly endOffset: number
  readonly batches: readonly Uint8Array[]
}

/** A log in segments, appended to and compacted by chance, and its naive twin. */
class Twin {
  readonly prng: Prng
  segments: Segment[] = []
  naive: NaiveBatch[] = []
  cleanedTo = 0
  end = 0
  nowMs = 1_000_000
  nextHorizonMs = Infinity
  private readonly keys: number
  private readonly topicCodec: CompressionCodec | undefined
  private readonly lastOffsets = new Map<number, number>()
  private readonly sequences = new Map<number, number>()

  constructor(seed: number) {
    this.prng = new Prng(seed)
    this.keys = this.prng.between(1, 40)
    this.topicCodec = this.prng.below(4) === 0 ? this.prng.below(2) as CompressionCodec : undefined
  }

  append(): void {
    const { prng } = this
    const batches: Uint8Array[] = []
    const baseOffset = this.end
    for (let count = prng.between(1, 6); count > 0; count--) batches.push(this.appendBatch())
    this.segments.push({ baseOffset, endOffset: this.end, batches })
  }

  private appendBatch(): Uint8Array {
    const { prng } = this
    const [baseOffset, count] = [this.end, prng.between(1, 8)]
    const producerId = prng.below(3) === 0 ? prng.below(4) : -1
    const baseSequence = producerId < 0 ? -1 : this.sequences.get(producerId) ?? 0
    const appendTime = prng.below(6) === 0
    builder.reset()
    const records = Array.from({ length: count }, (_, index) => {
      const timestamp = this.nowMs - prng.below(100)
      const key = prng.below(50) === 0 ? null : `key ${prng.below(this.keys)}`
      const value = prng.below(4) === 0 ? null : `value ${prng.below(1e6)}`
      builder.append(timestamp, encode(key), encode(value), prng.below(5) === 0 ? [{ key: 'header', value: encode('x') }] : [])
      return { offset: baseOffset + index, timestamp: appendTime ? this.nowMs : timestamp, key, value }
    })
    const codec = (prng.below(3) === 0 ? 1 : 0) as CompressionCodec
    const bytes = builder.finish({ baseOffset, codec, producerId, producerEpoch: producerId < 0 ? -1 : 3, baseSequence, leaderEpoch: 7, ...(appendTime ? { logAppendTime: this.nowMs } : {}) })
    this.end += count
    const lastOffset = this.end - 1
    if (producerId >= 0) {
      this.sequences.set(producerId, baseSequence + count)
      this.lastOffsets.set(producerId, lastOffset)
    }
    this.naive.push({ baseOffset, lastOffset, producerId, baseSequence, records, horizonMs: undefined })
    return bytes
  }

  /** One round over closed segments, with a map that may be too small. */
  compact(): void {
    const { prng, nowMs } = this
    const keysMax = prng.below(2) === 0 ? 1000 : prng.between(1, 6)
    const deleteRetentionMs = prng.between(0, 300)
    const closed = this.segments.slice(0, prng.between(0, this.segments.length))
    const bound = closed.at(-1)?.endOffset ?? 0
    const compactable = closed.map(segment => ({ ...segment, sizeBytes: segment.batches.reduce((sum, batch) => sum + batch.length, 0), firstTimestamp: 1, largestTimestamp: () => 1 }))
    const need = compactionNeed(compactable, { cleanedTo: this.cleanedTo, bound, nextHorizonMs: this.nextHorizonMs, nowMs }, topicSettings({ minCleanableDirtyRatio: 0 }))
    const map = new OffsetMap({ bytes: (keysMax + 1) * offsetMapEntryBytes, loadFactor: 1, secret: new Uint8Array(16).fill(prng.below(256)), begin: need.firstDirty })
    const reader = new BatchReader(compression)
    for (const batch of closed.flatMap(({ batches }) => batches)) {
      const records = isIndexed(batch, 0, need.firstDirty) ? recordsOfBatch(batch, 0, compression) : undefined
      if (new RecordBatch(batch).lastOffset >= need.firstDirty && !indexBatch(map, batch, 0, records, reader, need.firstDirty)) break
    }
    const groups = segmentGroups(compactable, map.endOffset, prng.between(1, 3000))
    const keepers = new Set(groups.map(group => group.at(-1)!.endOffset - 1))
    const compactor = new BatchCompactor({ map, nowMs, deleteRetentionMs, lastOffsets: this.lastOffsets }, { codec: this.topicCodec, level: undefined })
    const cleaned = groups.map((group): Segment => ({
      baseOffset: group[0]!.baseOffset, endOffset: group.at(-1)!.endOffset,
      batches: group.flatMap(({ batches }) => batches).flatMap(batch => compactInline(compactor, batch, 0, keepers.has(new RecordBatch(batch).lastOffset), compression) ?? []),
    }))
    this.segments.splice(0, groups.reduce((sum, group) => sum + group.length, 0), ...cleaned)
    const naive = naiveCompaction(this.naive, { firstDirty: need.firstDirty, bound, keysMax, nowMs, deleteRetentionMs, lastOffsets: this.lastOffsets, placeKeepers: () => keepers })
    expect(map.endOffset).toBe(naive.cleanedTo)
    this.naive = naive.batches
    this.cleanedTo = map.endOffset
    this.nextHorizonMs = compactor.sieve.nextHorizonMs
  }

  /** As a reader finds it, with all that must never change. */
  served(): NaiveBatch[] {
    const reader = new BatchReader(compression)
    return this.segments.flatMap(({ batches }) => batches.map((bytes): NaiveBatch => {
      const batch = new RecordBatch(bytes)
      expect(batch.isWhole && batch.sizeBytes === bytes.length && batch.crcValid()).toBe(true)
      expect(batch.leaderEpoch).toBe(7)
      reader.open(bytes)
      const records = []
      while (reader.next()) records.push({ offset: reader.offset, timestamp: reader.timestamp, key: decode(reader.key()), value: decode(reader.value()) })
      if (records.length > 0) expect(batch.maxTimestamp).toBe(Math.max(...records.map(({ timestamp }) => timestamp)))
      const { baseOffset, lastOffset, producerId, baseSequence, deleteHorizonMs: horizonMs } = batch
      return { baseOffset, lastOffset, producerId, baseSequence, records, horizonMs }
    }))
  }
}

describe('compaction', () => {
  it(`leaves what a naive one leaves, ${seeds.length} seeds (COMPACTION_SEEDS=2000 for all)`, () => {
    let [rounds, emptied, stamped] = [0, 0, 0]
    for (const seed of seeds) {
      const twin = new Twin(seed)
      for (let step = 0; step < 30; step++) {
        if (twin.prng.below(3) > 0) twin.append()
        else {
          twin.compact()
          rounds++
          expect(twin.served(), `seed ${seed}, step ${step}`).toEqual(twin.naive)
        }
        twin.nowMs += twin.prng.below(200)
      }
      emptied += twin.naive.filter(({ records }) => records.length === 0).length
      stamped += twin.naive.filter(({ horizonMs }) => horizonMs !== undefined).length
    }
    expect(rounds).toBeGreaterThan(seeds.length)
    if (seeds.length > 50) expect(Math.min(emptied, stamped)).toBeGreaterThan(10)
  })

  it('keeps the last record of each key, whatever the map holds: rounds with a map for one key come to the same', () => {
    for (const seed of seeds.slice(0, 20)) {
      const twin = new Twin(seed)
      for (let segment = 0; segment < 10; segment++) twin.append()
      const last = new Map<string, string | null>()
      for (const { key, value } of twin.naive.flatMap(({ records }) => records)) if (key !== null) last.set(key, value)
      for (let round = 0; round < 60; round++) twin.compact()
      const found = new Map<string, string | null>()
      for (const { key, value } of twin.served().flatMap(({ records }) => records)) if (key !== null) found.set(key, value)
      const living = (map: ReadonlyMap<string, string | null>): unknown => [...map].filter(([, value]) => value !== null).sort()
      expect(living(found), `seed ${seed}`).toEqual(living(last))
    }
  })
})
