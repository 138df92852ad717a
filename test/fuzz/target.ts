import { type Prng } from '../../src/base/prng.ts'
import { type Specimen } from './grammar/specimen.ts'

export const targetNames = ['codecs', 'batches', 'formats', 'requests', 'frames', 'files'] as const
export type TargetName = (typeof targetNames)[number]

/** What is run, and kept in the corpus. */
export interface FuzzInput {
  /** What the bytes are; a target knows its kinds. */
  readonly kind: string
  readonly bytes: Uint8Array
}

/** What may not happen has happened. */
export class Finding extends Error {
  override readonly name = 'Finding'
}

/** Something that is given hostile bytes. */
export interface Target {
  readonly name: TargetName
  /** Most bytes that an input may make it allocate, beside twice its own. */
  readonly limitBytes: number
  /** Sound bytes: what the mutators begin with. */
  make(prng: Prng): Specimen
  /** Puts right what would end the run at the first check: sizes, checksums. Not always. */
  repair?(specimen: Specimen, prng: Prng): Specimen
  /**
   * Takes one input, and says in a word what came of it: inputs with an outcome that was not seen yet are kept to be mutated on. Throws
   * a Finding, or whatever the product throws and should not.
   */
  run(input: FuzzInput): string | Promise<string>
  /** The part of `run` that a broker does once with such an input: what it allocates counts. Default: all of `run`. */
  weigh?(input: FuzzInput): void
  /** After some hundred inputs: honest use must go on, and nothing of it may have changed. Throws a Finding. */
  check?(): Promise<void>
  close?(): Promise<void>
}
