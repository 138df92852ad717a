import { type Exchange, type ProtocolHandler } from '../../../kernel/ports/protocol-handler.ts'
import { BatchCheck } from '../../../kernel/record/batch-check.ts'
import { type produceApi, type ProduceRequest } from '../../../wire/messages/00-produce.ts'
import { type ResponseDraftOf } from '../../../wire/schema/message.ts'
import { rangeOf } from '../core/version-ranges.ts'
import { type ProduceHost, type ProduceParts, ProduceRun } from './produce-run.ts'
import { Recoder } from './recoder.ts'

/**
 * Few compressed bytes may be many records: above so many decompressed ones a batch is left to another thread, at the price of having begun
 * twice. It takes a few milliseconds to get there, with the slowest codec.
 */
const inlineBytesMax = 2 * 1024 * 1024

/**
 * Produce v3-11: appends one batch a partition (quirk 26) and answers when what `acks` asks for has happened: 0 never (quirk 25), 1 once the
 * batch is in the log, -1 once the high watermark is past it, or REQUEST_TIMED_OUT. Each partition succeeds or fails by itself.
 *
 * Versions: v5 logStartOffset; v7 zstd (quirk 28); v8 error messages and the records at fault (quirk 27); v9 flexible; v10 leader hints;
 * v11 nothing for us, since its new code belongs to transactions.
 * Left out: transactions. A transactional id or a transactional batch is refused.
 */
export class ProduceHandler implements ProtocolHandler, ProduceHost {
  readonly apiKey = 0
  readonly minVersion = rangeOf(0).min
  readonly maxVersion = rangeOf(0).max
  readonly parts: ProduceParts
  readonly check: BatchCheck
  readonly lateCheck: BatchCheck
  readonly recoder: Recoder

  constructor(parts: ProduceParts) {
    this.parts = parts
    this.check = new BatchCheck(parts.compression, Math.min(parts.decompressedBytesMax, inlineBytesMax))
    this.lateCheck = new BatchCheck(parts.compression, parts.decompressedBytesMax)
    this.recoder = new Recoder(parts.compression, this.check, this.lateCheck, parts.decompressedBytesMax)
  }

  handle(request: ProduceRequest, exchange: Exchange): void {
    new ProduceRun(this, request, exchange).start()
  }

  failure(request: ProduceRequest, errorCode: number): ResponseDraftOf<typeof produceApi> | undefined {
    // Quirk 25: with acks=0 nobody reads an answer; the connection closes.
    if (request.acks === 0) return undefined
    return {
      responses: request.topicData.map(({ name, topicId, partitionData }) => ({
        name, topicId, partitionResponses: partitionData.map(({ index }) => ({ index, errorCode, baseOffset: -1 })),
      })),
    }
  }
}
