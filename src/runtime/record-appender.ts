import { MillraceError } from '../kernel/errors/index.ts'
import { type Compression } from '../kernel/ports/compression.ts'
import { type Replica } from '../kernel/ports/replicator.ts'
import { BatchBuilder } from '../kernel/record/batch-builder.ts'
import { type CompressionCodec } from '../kernel/record/compression-codec.ts'
import { type RecordDraft } from '../kernel/model/replay-machine.ts'

/** Makes batches of records and appends them. One for each partition: its buffer is kept. */
export class RecordAppender {
  private readonly builder: BatchBuilder
  private readonly codec: CompressionCodec

  /** A codec for which nothing is installed leaves batches as they are. */
  constructor(compression: Compression, codec: number) {
    this.builder = new BatchBuilder(compression, 1024)
    this.codec = codec !== 0 && compression.available(codec as CompressionCodec) ? codec as CompressionCodec : 0
  }

  /**
   * One batch, or, where the records are `divisible`, as many as `max.message.bytes` of the topic asks for. `appended` is told of each record of a batch
   * once that is in the log. Throws MR_RECORD_TOO_LARGE for one that is not to be divided, and what Replica.append throws; what was appended before
   * stays.
   */
  append(replica: Replica, records: readonly RecordDraft[], timestampMs: number, divisible: boolean, appended: (record: RecordDraft, offset: number) => void): void {
    const { builder } = this
    const limit = replica.settings.maxMessageBytes
    let first = 0
    builder.reset()
    for (let index = 0; index < records.length; index++) {
      const { key, value } = records[index]!
      if (divisible && index > first && builder.sizeWith(key, value) > limit) {
        this.appendBatch(replica, records.slice(first, index), limit, appended)
        builder.reset()
        first = index
      }
      builder.append(timestampMs, key, value)
    }
    this.appendBatch(replica, first === 0 ? records : records.slice(first), limit, appended)
  }

  private appendBatch(replica: Replica, records: readonly RecordDraft[], limit: number, appended: (record: RecordDraft, offset: number) => void): void {
    const { builder, codec } = this
    const batch = codec === 0 ? builder.finishInPlace() : builder.finish({ codec })
    if (batch.length > limit) throw new MillraceError('MR_RECORD_TOO_LARGE', { size: batch.length, limit, topic: replica.log.id.topic })
    const { baseOffset } = replica.append(batch, 0, batch.length)
    records.forEach((record, index) => { appended(record, baseOffset + index) })
  }
}
