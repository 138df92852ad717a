/** The time of a decision. */
export interface MachineTime {
  /** Milliseconds since 1970-01-01 UTC; for what is written. It may jump either way. */
  readonly wallMs: number
  /**
   * Milliseconds that never go back and leave out the time in which this process stood still: the only time in which others are judged for not
   * having been heard. Deadlines of a machine are in it.
   */
  readonly judgedMs: number
}

/** A record to write. A null value deletes its key in a compacted topic. The bytes are the runtime's from then on. */
export interface RecordDraft {
  readonly key: Uint8Array
  readonly value: Uint8Array | null
}

/** An answer to somebody who asked, now or in an earlier command. */
export interface Answer<Reply> {
  readonly asker: number
  readonly reply: Reply
}

/** What a command comes to. */
export interface Decision<Change, Reply> {
  /** Written as one batch, all or none, then replayed in their order. */
  readonly records: readonly RecordDraft[]
  /** Applied behind the records, and written nowhere: a machine that is loaded again does not have them. */
  readonly changes: readonly Change[]
  /** Sent, in their order, when everything that the decision saw or wrote is below the high watermark. */
  readonly answers: readonly Answer<Reply>[]
  /** The records may become several batches, of which a crash may leave the first ones: each must be right without those behind it. */
  readonly divisible?: boolean
}

/**
 * A state that is made by the records of one partition log, and that decides which come next. All of it is synchronous, and pure: time comes
 * in, nothing but the decision goes out.
 *
 * - `decide` and its like look and never change anything. A thrown MillraceError refuses the command, and is told when what it saw is committed.
 * - `replay` takes a record that is in the log, and `apply` a change; both never refuse. Only a record that this release can not read makes
 *   `replay` throw, which ends the load.
 */
export interface ReplayMachine<Command, Change, Reply> {
  /** The first deadline, in judged milliseconds; Infinity without one. May be too early, never too late. */
  readonly nextDeadlineMs: number
  /** `asker` stands for whoever sent the command: it is answered in this decision or a later one, once. */
  decide(command: Command, asker: number, now: MachineTime): Decision<Change, Reply>
  /** What follows from a deadline that has passed. */
  due(now: MachineTime): Decision<Change, Reply>
  /** After the last record of a load, before the first command. */
  loaded(now: MachineTime): Decision<Change, Reply>
  /** The bytes are the caller's again when it returns. */
  replay(key: Uint8Array, value: Uint8Array | null, offset: number): void
  apply(change: Change): void
}

/** Told of the outcome of a command, once: either an error, or a reply. */
export type Done<Reply> = (error: unknown, reply: Reply | undefined) => void
