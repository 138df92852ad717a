import { type Prng } from '../../base/prng.ts'
import { type Random } from '../../kernel/ports/clock.ts'

/** What a crash leaves of what was not synced: all of it, nothing, or what chance decides. */
export type KeepUnsynced = 'all' | 'none' | Random

/** What has versions on a disk: a block of a file, the size of a file, a name in a directory. */
export type Versioned = 'block' | 'size' | 'name'

/**
 * Decides what a power cut leaves. Everything on the disk that was changed since it was last synced has versions: the synced one, and one
 * after each change. A crash leaves each thing at one of them.
 */
export interface CrashChoice {
  /** `changes` are the numbers of the changes, rising. Says how many of them are in: 0 is the synced version. */
  pick(changes: readonly number[], of: Versioned): number
  /** Draws whether a block that was given to a file, but never reached, holds bytes of files that are gone. Without it: zeros. */
  readonly garbage?: Prng | undefined
  /** Set where every pick is what an ordered disk would have: all changes up to this one. */
  readonly inOrderTo?: number
}

export const nothingUnsynced: CrashChoice = { pick: () => 0, inOrderTo: -1 }
export const everythingUnsynced: CrashChoice = { pick: changes => changes.length, inOrderTo: Infinity }

/** Changes up to this one are in, later ones not: what a disk does that keeps the order. */
export function upTo(change: number): CrashChoice {
  return { pick: changes => countUpTo(changes, change), inOrderTo: change }
}

/** All are in but this one; a block that was written again later has its bytes all the same. */
export function allBut(change: number): CrashChoice {
  return { pick: changes => changes.length > 0 && changes[changes.length - 1] === change ? changes.length - 1 : changes.length }
}

/** This one is in, with what it overwrote, and no other. */
export function only(change: number): CrashChoice {
  return { pick: changes => changes.indexOf(change) + 1 }
}

/** These are in, each with what it overwrote, and no others. */
export function these(numbers: ReadonlySet<number>): CrashChoice {
  return { pick: changes => changes.findLastIndex(number => numbers.has(number)) + 1 }
}

/** From a pick of a kind of thing: how many of its changes are in. */
type Draw = (changes: readonly number[]) => number

/**
 * Chance decides, in one of several manners, since crashes in which everything is a toss of its own are all alike. `last` is the number of
 * the newest change, `first` one of the oldest that was not synced.
 */
export function byChance(prng: Prng, { first, last, garbage }: { readonly first: number, readonly last: number, readonly garbage: boolean }): CrashChoice {
  const any: Draw = changes => prng.below(changes.length + 1)
  const all: Draw = changes => changes.length
  const none: Draw = () => 0
  const mostly = (usual: Draw, share: number): Draw => changes => prng.chance(share) ? usual(changes) : any(changes)
  // In order up to a moment; what comes next is torn, what comes later is not there, or seldom.
  const moment = prng.between(first - 1, last)
  const inOrder: Draw = changes => countUpTo(changes, moment)
  const tornAt: Draw = changes => Math.min(changes.length, inOrder(changes) + prng.below(2))
  const same = (draw: Draw): Record<Versioned, Draw> => ({ block: draw, size: draw, name: draw })
  const manners: readonly (() => Record<Versioned, Draw>)[] = [
    () => same(any),
    () => same(mostly(all, 0.9)),
    () => same(mostly(none, 0.9)),
    () => same(inOrder),
    () => ({ block: tornAt, size: tornAt, name: inOrder }),
    () => same(mostly(inOrder, 0.8)),
    () => ({ block: mostly(none, 0.8), size: all, name: all }),
    () => ({ block: all, size: all, name: any }),
    () => ({ block: any, size: any, name: all }),
  ]
  const draws = prng.pick(manners)()
  return { pick: (changes, of) => draws[of](changes), ...(garbage && prng.chance(0.5) ? { garbage: prng } : {}) }
}

function countUpTo(changes: readonly number[], change: number): number {
  let count = 0
  while (count < changes.length && changes[count]! <= change) count++
  return count
}
