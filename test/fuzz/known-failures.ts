import { type TargetName } from './target.ts'

export interface KnownFailure {
  readonly target: TargetName
  readonly message: RegExp
  /** What is wrong, and what should be. */
  readonly defect: string
}

/**
 * What the fuzzer has found and nobody has mended yet. A run counts these and goes on; the corpus holds an input for each, and the replay
 * fails when one of them does not fail any more, so that the list only shrinks.
 */
export const knownFailures: readonly KnownFailure[] = [
  {
    target: 'files', message: /invariant broken: offsets in an index ascend/,
    defect: 'storage-local makes an index anew from a segment whose base offsets do not ascend, and breaks an invariant; it should fence the log with MR_LOG_CORRUPT',
  },
]

export function knownFailure(target: TargetName, message: string): KnownFailure | undefined {
  return knownFailures.find(known => known.target === target && known.message.test(message))
}
