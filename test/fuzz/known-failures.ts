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
export const knownFailures: readonly KnownFailure[] = []

export function knownFailure(target: TargetName, message: string): KnownFailure | undefined {
  return knownFailures.find(known => known.target === target && known.message.test(message))
}
