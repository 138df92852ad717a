import { type RoundFacts, type RoundFigures } from './round-work.ts'

/** What the thread of compaction is told. Memory is shared, and named by a number. */
export type ToWorker =
  | { readonly type: 'begin', readonly facts: RoundFacts }
  | { readonly type: 'memory', readonly id: number, readonly bytes: Uint8Array }
  | { readonly type: 'index', readonly memory: number, readonly end: number }
  | { readonly type: 'reached', readonly offset: number }
  | { readonly type: 'compact', readonly memory: number, readonly end: number, readonly keepsLast: boolean, readonly target: number }
  | { readonly type: 'figures' }
  | { readonly type: 'end' }

/** Whether it is answered: these are, once each, in their order. What the others fail with is the answer to the next of these. */
export function isQuestion({ type }: ToWorker): boolean {
  return type === 'index' || type === 'compact' || type === 'figures'
}

/**
 * `compacted`: what is left is in the target, `bytes` of it, or in an array of its own where that is too small; `as it was` where nothing goes.
 * `failed`: there was no memory, or it is a defect of this program; the round is over.
 */
export type FromWorker =
  | { readonly type: 'indexed', readonly isWhole: boolean }
  | { readonly type: 'compacted', readonly left: 'as it was' | number | Uint8Array }
  | { readonly type: 'figures', readonly figures: RoundFigures }
  | { readonly type: 'failed', readonly error: unknown }
