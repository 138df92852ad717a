import { isMillraceError, MillraceError } from '../../../kernel/errors/index.ts'
import { type TopicSettings } from '../../../kernel/model/topic-settings.ts'
import { type Compression } from '../../../kernel/ports/compression.ts'
import { type BatchCheck, type BatchFindings } from '../../../kernel/record/batch-check.ts'
import { batchHeaderBytes, codecOf } from '../../../kernel/record/batch-header.ts'
import { codecNamed, codecNone, type CompressionCodec, compressInlineBytesMax, decompressesInline } from '../../../kernel/record/compression-codec.ts'
import { batchWithRecords } from '../../../kernel/record/rebuild-batch.ts'

/** A batch that is to be stored in another codec than it came in. Its header has passed the check. */
export interface Recoding {
  readonly topic: string
  readonly settings: TopicSettings
  /** Must not change until the outcome is told. */
  readonly records: Uint8Array
  /** Nobody wants the outcome any more. */
  readonly abandoned: boolean
  readonly nowMs: () => number
  /** The batch in the codec of the topic. */
  recoded(batch: Uint8Array, found: BatchFindings): void
  /** The check refuses it; its fields tell why, during the call. */
  refused(check: BatchCheck): void
  failed(error: unknown): void
}

/**
 * Batches in hand on other threads at once; the others wait, compressed as they came, their bytes counted as those of requests. Each may have the
 * limit of decompressed bytes in memory, and a slow codec keeps a thread for seconds: the others of the pool are left to the syncs of the log.
 */
const underWayMax = 2
const nothing = new Uint8Array(0)

/** Copying alone is cheap, so that memory is what bounds it. */
const inlineBytesMax = 2 * 1024 * 1024

/** Puts batches into their topic's own codec (compression.type): small ones at once, those that would hold up the event loop on other threads. */
export class Recoder {
  private readonly compression: Compression
  private readonly check: BatchCheck
  private readonly lateCheck: BatchCheck
  private readonly decompressedBytesMax: number
  private readonly waiting: Recoding[] = []
  private underWay = 0
  private beginning = false

  /** `lateCheck` is for what comes from other threads, under the bound `decompressedBytesMax`. */
  constructor(compression: Compression, check: BatchCheck, lateCheck: BatchCheck, decompressedBytesMax: number) {
    this.compression = compression
    this.check = check
    this.lateCheck = lateCheck
    this.decompressedBytesMax = decompressedBytesMax
  }

  /** Tells the outcome before it returns; false when that would hold up the loop: use `later`. */
  now(recoding: Recoding): boolean {
    const { records, settings } = recoding
    const codec = targetOf(recoding)
    // It says which package is missing; nothing was decompressed for it.
    if (!this.compression.available(codec)) this.compression.compress(codec, nothing)
    const present = codecOf(records, 0)
    const stored = records.subarray(batchHeaderBytes)
    const bytesMax = Math.min(inlineBytesMax, this.decompressedBytesMax, compressInlineBytesMax(codec, settings.compressionLevel))
    let plain = stored
    if (present !== codecNone) {
      if (!decompressesInline(present, stored.length)) return false
      try {
        plain = this.compression.decompress(present, stored, bytesMax)
      } catch (error) {
        if (isMillraceError(error, 'MR_RECORD_DECOMPRESSED_TOO_LARGE')) return false
        this.check.refuseDecompression(error)
        recoding.refused(this.check)
        return true
      }
    } else if (plain.length > bytesMax) return false
    const found = this.checked(this.check, recoding, plain)
    if (found !== undefined) this.assemble(recoding, found, codec === codecNone ? plain : this.compression.compress(codec, plain, settings.compressionLevel))
    return true
  }

  /** Tells the outcome later, unless the recoding is abandoned by then. */
  later(recoding: Recoding): void {
    this.waiting.push(recoding)
    this.goOn()
  }

  private begin(recoding: Recoding): void {
    this.underWay++
    const { records } = recoding
    const present = codecOf(records, 0)
    const stored = records.subarray(batchHeaderBytes)
    if (present === codecNone) this.decompressed(recoding, undefined, stored)
    else {
      this.compression.decompressLater(present, stored, this.decompressedBytesMax, (error, plain) => {
        this.decompressed(recoding, error, plain)
      })
    }
  }

  private decompressed(recoding: Recoding, error: unknown, plain: Uint8Array | undefined): void {
    const found = this.tell(recoding, () => {
      if (plain !== undefined) return this.checked(this.lateCheck, recoding, plain)
      this.lateCheck.refuseDecompression(error)
      recoding.refused(this.lateCheck)
      return undefined
    })
    if (found === undefined) this.end()
    else this.compress(recoding, found, plain!)
  }

  private compress(recoding: Recoding, found: BatchFindings, plain: Uint8Array): void {
    const codec = targetOf(recoding)
    if (codec === codecNone) {
      this.tell(recoding, () => { this.assemble(recoding, found, plain) })
      this.end()
      return
    }
    this.compression.compressLater(codec, plain, recoding.settings.compressionLevel, (error, packed) => {
      this.tell(recoding, () => {
        if (packed === undefined) recoding.failed(error)
        else this.assemble(recoding, found, packed)
      })
      this.end()
    })
  }

  /** What the check finds; undefined when it refuses, which is told then. It may be used for another batch before this one is compressed. */
  private checked(check: BatchCheck, recoding: Recoding, plain: Uint8Array): BatchFindings | undefined {
    const { records, settings, nowMs } = recoding
    if (settings.batchCheck === 'header') return check.headerFindings(records, 0)
    if (check.checkRecords(records, 0, plain, 0, plain.length, settings, nowMs())) return check.findings()
    recoding.refused(check)
    return undefined
  }

  private assemble(recoding: Recoding, found: BatchFindings, packed: Uint8Array): void {
    const { topic, settings, records } = recoding
    const size = batchHeaderBytes + packed.length
    if (size > settings.maxMessageBytes) throw new MillraceError('MR_RECORD_TOO_LARGE', { size, limit: settings.maxMessageBytes, topic })
    recoding.recoded(batchWithRecords(records, 0, targetOf(recoding), packed), found)
  }

  private tell<T>(recoding: Recoding, outcome: () => T): T | undefined {
    if (recoding.abandoned) return undefined
    try {
      return outcome()
    } catch (error) {
      recoding.failed(error)
      return undefined
    }
  }

  private end(): void {
    this.underWay--
    this.goOn()
  }

  /** In a loop of its own: some end as soon as they begin. */
  private goOn(): void {
    if (this.beginning) return
    this.beginning = true
    try {
      while (this.underWay < underWayMax && this.waiting.length > 0) {
        const next = this.waiting.shift()!
        if (!next.abandoned) this.begin(next)
      }
    } finally {
      this.beginning = false
    }
  }
}

const targetOf = ({ settings }: Recoding): CompressionCodec => codecNamed(settings.compressionType)!
