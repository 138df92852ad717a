import { type Exchange, type ProtocolHandler } from '../../../kernel/ports/protocol-handler.ts'
import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { type fetchApi, type FetchRequest } from '../../../wire/messages/01-fetch.ts'
import { type ResponseDraftOf } from '../../../wire/schema/message.ts'
import { rangeOf } from '../core/version-ranges.ts'
import { noBytes } from './fetch-partition.ts'
import { type FetchHost, type FetchParts, FetchRun } from './fetch-run.ts'

type Response = ResponseDraftOf<typeof fetchApi>

/**
 * Fetch v4-16: whole batches below the high watermark, or below the last stable offset for read_committed, in the order of the requested
 * partitions, which is thereby the order of fairness. Waits until `minBytes` are there or `maxWaitMs` is over; answers errors at once
 * (quirk 34).
 *
 * Versions: v9 and v12 leader epochs and divergence (KIP-320, KIP-595); v10 zstd (quirk 28); v12 flexible; v13 topic ids, of which an
 * unknown one is 100 (quirk 16); v16 leader hints.
 * Left out: sessions (the session id is 0 in every answer, which is legal: quirk 40), replicas as clients, other replicas than the leader
 * (preferred replica -1: quirk 41).
 */
export class FetchHandler implements ProtocolHandler, FetchHost {
  readonly apiKey = 1
  readonly minVersion = rangeOf(1).min
  readonly maxVersion = rangeOf(1).max
  readonly parts: FetchParts
  /** Bytes of logs in answers that have not left. */
  outstandingBytes = 0
  stopping = false
  private readonly waiting = new Set<FetchRun>()

  constructor(parts: FetchParts) {
    this.parts = parts
    parts.tools.onStopWaiting(() => {
      this.stopping = true
      for (const run of [...this.waiting]) run.expired()
    })
  }

  handle(request: FetchRequest, exchange: Exchange): void {
    const { sessionEpoch } = request
    // Full fetches have epoch 0 (begin a session) or -1 (end it, or none); everything else refers to a session, and there is none.
    if (sessionEpoch > 0 || sessionEpoch < -1) {
      exchange.reply({ errorCode: kafkaErrors.FETCH_SESSION_ID_NOT_FOUND, sessionId: 0, responses: [] } satisfies Response)
      return
    }
    if (Math.max(request.replicaId, request.replicaState.replicaId) >= 0) {
      // Replication does not go through this API; a client that poses as a replica would move watermarks (CVE-2018-1288).
      exchange.reply(this.failure(request, kafkaErrors.CLUSTER_AUTHORIZATION_FAILED))
      return
    }
    new FetchRun(this, request, exchange).start()
  }

  failure(request: FetchRequest, errorCode: number): Response {
    return {
      errorCode: kafkaErrors.NONE,
      responses: request.topics.map(({ topic, topicId, partitions }) => ({
        topic, topicId, partitions: partitions.map(({ partition }) => ({ partitionIndex: partition, errorCode, highWatermark: -1, abortedTransactions: null, records: noBytes })),
      })),
    }
  }

  enter(run: FetchRun): void {
    this.waiting.add(run)
    this.parts.tools.metrics.waitingFetches = this.waiting.size
  }

  leave(run: FetchRun): void {
    this.waiting.delete(run)
    this.parts.tools.metrics.waitingFetches = this.waiting.size
  }
}
