import { type BytesReader } from '../../../base/bytes-reader.ts'
import { type Clock } from '../../../kernel/ports/clock.ts'
import { type Logger } from '../../../kernel/ports/telemetry.ts'
import { type FrameMemory } from '../../../wire/frame-memory.ts'
import { type Deadlines } from '../deadlines.ts'
import { type ProtocolMetrics } from '../metrics.ts'
import { type RequestRouter } from '../request-router.ts'
import { type MemoryWatch } from './memory-watch.ts'
import { type OutgoingBatchPool } from './outgoing-batch.ts'

/** What the connections of a broker share. */
export interface ConnectionSetting {
  readonly router: RequestRouter
  readonly clock: Clock
  readonly deadlines: Deadlines
  readonly budget: MemoryWatch
  readonly batches: OutgoingBatchPool
  readonly metrics: ProtocolMetrics
  readonly logger: Logger
  /** Requests are read one at a time, so one cursor serves all connections. */
  readonly reader: BytesReader
  readonly frames: FrameMemory
  readonly frameBytesMax: number
  readonly requestsMax: number
  readonly requestElementsMax: number
  readonly outputBytesMax: number
  readonly idleMs: number
  readonly requestReadTimeoutMs: number
}
