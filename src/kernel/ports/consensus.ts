import { token } from '../plugin/token.ts'

/**
 * What commands are applied to. Calls come one at a time, in index order, each index once between two `restore` calls. None may throw but for this: a machine that can
 * not read what was agreed (a newer release wrote it) throws: `open` rejects with that error, or, once open, the broker ends.
 */
export interface ReplicatedMachine {
  /** Starts anew from a snapshot of everything up to and with `index`; undefined with index 0 means empty. */
  restore(index: number, snapshot: Uint8Array | undefined): void
  /** A committed command. The bytes are valid during the call. It must not throw: what was agreed is applied. */
  apply(index: number, term: number, command: Uint8Array): void
  /** All that was applied so far, for `restore`, here or elsewhere, in this release or a newer one. */
  snapshot(): Uint8Array
  /** This node leads from now on, in `term`, and has applied all that was committed before. */
  led(term: number): void
  /** It leads no more. What was appended and not yet resolved may still be committed by another leader. */
  lost(): void
}

/** What one node knows of the log and of who leads, at one moment. Indexes count commands from 1; 0 is before the first. */
export interface ConsensusStatus {
  /** This node. */
  readonly nodeId: number
  /** Undefined while there is none that is known. */
  readonly leaderId: number | undefined
  /** The newest that this node knows of; never goes back. */
  readonly term: number
  /** Of the newest command in the log here, committed or not. */
  readonly lastIndex: number
  /** Of the newest command that is agreed; never above the last one. */
  readonly commitIndex: number
  /** Of the newest command that the machine here has got; never above the committed one. */
  readonly appliedIndex: number
  /** Node ids of those who agree. */
  readonly voters: readonly number[]
}

/**
 * One log of commands, agreed among voters. A committed command is durable on a majority and is applied on every node, in one order.
 */
export interface Consensus {
  /**
   * Loads the newest snapshot and the log behind it into the machine and takes part from then on. Called once.
   * Rejects with MR_CLUSTER_METADATA_CORRUPT when what is on disk can not be trusted, MR_CLUSTER_METADATA_LOST when it is gone.
   */
  open(machine: ReplicatedMachine): Promise<void>
  /**
   * Leader only. Order is fixed by the call; the bytes are the caller's again when it returns. Resolves with the index of the last command when all are committed and applied here.
   * Rejects with MR_CLUSTER_NOT_CONTROLLER (not appended), MR_CLUSTER_STOPPED, or the error of the disk (unknown whether it will be).
   */
  append(commands: readonly Uint8Array[]): Promise<number>
  /**
   * Throws MR_CLUSTER_NO_SPACE while there is too little space for commands that add to what is agreed. Asked before such a command is
   * decided; those that take away from it, or must be, are appended all the same.
   */
  checkSpace(): void
  /**
   * Resolves when this node has applied everything that was committed anywhere before the call (Raft thesis 6.4, read index). Rejects with MR_CLUSTER_NOT_CONTROLLER
   * while no leader is known that could say what that is, MR_CLUSTER_STOPPED once the stop has begun, or the error of the disk.
   */
  barrier(): Promise<void>
  /** What this node knows now of who leads; it may be out of date elsewhere. From memory, at any time: throws nothing. */
  status(): ConsensusStatus
}
export const Consensus = token<Consensus>('Consensus', { open: true, append: true, checkSpace: true, barrier: true, status: true })
