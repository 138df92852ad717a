import { type RoundFacts, type RoundFigures } from './round-work.ts'

/** What the thread of compaction is told. Memory is shared, and named by a number. Each but `memory` and `reached` is answered, in their order. */
export type ToWorker =
  | { readonly type: 'begin', readonly facts: RoundFacts }
  | { readonly type: 'memory', readonly id: number, readonly bytes: Uint8Array }
  | { readonly type: 'index', readonly memory: number, readonly end: number }
  | { readonly type: 'reached', readonly offset: number }
  | { readonly type: 'compact', readonly memory: number, readonly end: number, readonly keepsLast: boolean, readonly target: number }
  | { readonly type: 'figures' }
  | { readonly type: 'end' }

/**
 * `compacted`: what is left is in the target, `bytes` of it, or in an array of its own where that is too small; `as it was` where nothing goes.
 * `failed`: a defect of this program; the round is over.
 */
export type FromWorker =
  | { readonly type: 'indexed', readonly isWhole: boolean }
  | { readonly type: 'compacted', readonly left: 'as it was' | number | Uint8Array }
  | { readonly type: 'figures', readonly figures: RoundFigures }
  | { readonly type: 'failed', readonly error: unknown }
