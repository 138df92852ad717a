import { type ErrorCode, type ErrorDetails } from '../../kernel/errors/index.ts'
import { type CleanedFacts } from './io/cleaned-segment.ts'
import { type RoundFacts, type RoundFigures } from './round-work.ts'
import { type SegmentAsideFacts } from './segment-aside.ts'

/** What the thread of compaction is told. `index`, `clean`, `discard`, `swapped` and `figures` are answered, once each; `go` and `stop` answer a `progress`. */
export type ToWorker =
  | { readonly type: 'begin', readonly facts: RoundFacts }
  | { readonly type: 'index', readonly segment: SegmentAsideFacts }
  | { readonly type: 'clean', readonly group: readonly SegmentAsideFacts[], readonly facts: CleanedFacts }
  | { readonly type: 'discard', readonly facts: CleanedFacts }
  | { readonly type: 'figures' }
  | { readonly type: 'go' }
  | { readonly type: 'stop' }
  | { readonly type: 'swapped', readonly directory: string }
  | { readonly type: 'end' }

/**
 * `progress`: it has worked through so many bytes, and goes on with as many before it waits for the answer. `failed`: with an error of the table in `coded`, or with a suspicion of a segment; `stopped`: it
 * was told to. Else there was no memory, or it is a defect of this program.
 */
export type FromWorker =
  | { readonly type: 'progress', readonly bytes: number }
  | { readonly type: 'indexed', readonly isWhole: boolean }
  | { readonly type: 'cleaned', readonly sizeBytes: number | undefined }
  | { readonly type: 'discarded' }
  | { readonly type: 'durable' }
  | { readonly type: 'figures', readonly figures: RoundFigures }
  | WorkerFailure

export interface WorkerFailure {
  readonly type: 'failed'
  readonly error: unknown
  readonly coded?: { readonly code: ErrorCode, readonly details: ErrorDetails }
  readonly suspicion?: { readonly baseOffset: number, readonly position: number, readonly reason: string }
  readonly stopped?: boolean
}
