/** Thrown when something that the code promises of itself does not hold: a bug, never bad input. It has no code; it stops the broker. */
export class AssertionError extends Error {
  override readonly name = 'AssertionError'
}

/** Checks an invariant. Stays on in production: going on half-applied costs more than stopping. */
export function assert(condition: unknown, claim: string): asserts condition {
  if (!condition) throw new AssertionError(`invariant broken: ${claim}`)
}

/** For a `switch` that must have handled every case. */
export function unreachable(value: never, where: string): never {
  throw new AssertionError(`invariant broken: unexpected ${String(value)} in ${where}`)
}
