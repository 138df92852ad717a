import { type TopicDirectory } from './topic-directory.ts'

interface Reader {
  readonly about: { readonly topics: readonly string[], readonly pattern: string | null }
}

/** What one member reads, and what of it there is. */
interface Reading {
  readonly topics: readonly string[]
  readonly byPattern: readonly string[] | undefined
  readonly present: readonly string[]
}

/**
 * The topics that members read and that are there. Brought up to date by what has changed since it was asked last, so that a member that comes costs its own names and
 * not everybody's; topics that come or go cost all of them once. It is right for whatever members it is asked about, so copies of a group share it.
 */
export class Subscriptions {
  private readonly readings = new Map<string, Reading>()
  private readonly readers = new Map<string, number>()
  private version = -1

  /** Of these members alone from now on. */
  follow(members: ReadonlyMap<string, Reader>, patterns: ReadonlyMap<string, { readonly topics: readonly string[] }>, topics: TopicDirectory): this {
    if (this.version !== topics.version) {
      this.readings.clear()
      this.readers.clear()
      this.version = topics.version
    }
    for (const [memberId, reading] of [...this.readings]) if (!members.has(memberId)) this.leave(memberId, reading)
    for (const [memberId, { about }] of members) {
      const byPattern = about.pattern === null ? undefined : patterns.get(about.pattern)?.topics
      const known = this.readings.get(memberId)
      if (known?.topics === about.topics && known.byPattern === byPattern) continue
      if (known !== undefined) this.leave(memberId, known)
      this.join(memberId, about.topics, byPattern, topics)
    }
    return this
  }

  /** What anybody reads of what there is. */
  get present(): IterableIterator<string> {
    return this.readers.keys()
  }

  /** What this member reads of what there is, each topic once. */
  presentOf(memberId: string): readonly string[] {
    return this.readings.get(memberId)?.present ?? []
  }

  private join(memberId: string, topics: readonly string[], byPattern: readonly string[] | undefined, directory: TopicDirectory): void {
    const present = new Set<string>()
    for (const names of [topics, byPattern ?? []]) for (const name of names) if (directory.byName(name) !== undefined) present.add(name)
    this.readings.set(memberId, { topics, byPattern, present: [...present] })
    for (const name of present) this.readers.set(name, (this.readers.get(name) ?? 0) + 1)
  }

  private leave(memberId: string, { present }: Reading): void {
    this.readings.delete(memberId)
    for (const name of present) {
      const left = this.readers.get(name)! - 1
      if (left === 0) this.readers.delete(name)
      else this.readers.set(name, left)
    }
  }
}
