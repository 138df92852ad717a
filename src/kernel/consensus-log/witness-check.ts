import { encodeHardState, noVote, type HardState } from './store-layout.ts'
import { type WitnessReading } from './witness.ts'

/** `equal`: both say the same. `ahead`: the store has one write more, which nobody had an answer to; the witness is to be written. */
export type StoreStanding = 'equal' | 'ahead'

/** Why a store must not be used, in words that go on after "the metadata in …:". */
export interface StoreRefusal {
  readonly reason: string
}

/**
 * Compares what the store says with the witness. The store is written and synced first, then the witness, then answers are given: so the
 * store equals the witness or is one write ahead, and everything else has lost something or is not of this directory.
 */
export function standingOf(store: HardState, witness: WitnessReading): StoreStanding | StoreRefusal {
  const { newest, damage } = witness
  if (newest === undefined) return { reason: `the witness of what was acknowledged can not be read: ${damage}` }
  const foreign = foreignness(store, newest)
  if (foreign !== undefined) return { reason: foreign }
  const ahead = store.sequence - newest.sequence
  if (ahead < 0) return { reason: lostBehind(store, newest) }
  if (ahead > 1) return { reason: `the witness ends ${ahead} writes before the store, where one is the most: it was put back from a copy, or lost what was written` }
  if (ahead === 1) return goesOn(store, newest) ?? 'ahead'
  // A crash that tears a slot comes after the sync of the store, which then is ahead.
  if (damage !== undefined) return { reason: `the witness is damaged, and not by a crash: ${damage}; whether the store has all that was acknowledged can not be told` }
  return sameBytes(encodeHardState(store), encodeHardState(newest)) ? 'equal' : { reason: lostBehind(store, newest) }
}

function foreignness(store: HardState, witness: HardState): string | undefined {
  if (store.directoryId !== witness.directoryId) return `the witness is of directory ${witness.directoryId}, the store of ${store.directoryId}`
  if (store.nodeId !== witness.nodeId) return `the witness is of node ${witness.nodeId}, the store of ${store.nodeId}`
  return undefined
}

/** A write takes nothing back but the end of a log. */
function goesOn(store: HardState, witness: HardState): StoreRefusal | undefined {
  if (store.term < witness.term) return { reason: `term ${witness.term} was reached, and the store is in ${store.term}` }
  if (store.term === witness.term && witness.vote !== noVote && store.vote !== witness.vote) {
    return { reason: `the vote in term ${store.term} was given to node ${witness.vote}, and the store says ${voteText(store.vote)}` }
  }
  return undefined
}

function lostBehind(store: HardState, witness: HardState): string {
  if (witness.last.index > store.last.index) return `entries up to ${witness.last.index} were acknowledged, and it ends at ${store.last.index}`
  if (witness.term > store.term) return `term ${witness.term} was reached, and the store is in ${store.term}`
  if (witness.term === store.term && witness.vote !== store.vote) return `the vote in term ${store.term} is not the one that was given`
  if (witness.last.index === store.last.index && witness.last.chain !== store.last.chain) return `entry ${store.last.index} is not the one that was acknowledged`
  return `write ${witness.sequence} was acknowledged, and the store is at write ${store.sequence}`
}

const voteText = (vote: number): string => (vote === noVote ? 'nobody' : `node ${vote}`)

function sameBytes(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, index) => byte === right[index])
}
