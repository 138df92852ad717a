import { RE2JS, RE2JSException } from 're2js'
import { LruCache } from '../../../base/lru-cache.ts'
import { type Timers } from '../../../kernel/ports/clock.ts'
import { patternSize } from '../core/consumer/pattern-size.ts'

/** Characters, and instructions of the compiled program: they bound what one topic costs. */
const patternLengthMax = 1000
const instructionsMax = 1000
/** Compiled patterns that are kept. */
const keptMax = 200
/** Instructions times characters before others have their turn: some milliseconds. */
const stepsPerTurn = 200_000

/** Told of the topics, in order. Not called when it was stopped. */
type Found = (topics: readonly string[]) => void

/**
 * Finds the topics whose whole name a pattern matches, in RE2's syntax. The engine is linear in pattern and name, both are bounded, and long lists are looked through
 * in pieces: no pattern holds up the broker.
 */
export class TopicPatterns {
  private readonly timers: Timers
  private readonly compiled = new LruCache<string, RE2JS>({ weightMax: keptMax })
  private stopped = false

  constructor(timers: Timers) {
    this.timers = timers
  }

  /** Why it is no pattern that is served; undefined where it is one. */
  fault(pattern: string): string | undefined {
    if (this.compiled.has(pattern)) return undefined
    if (pattern.length > patternLengthMax) return `the pattern has ${pattern.length} characters, and ${patternLengthMax} are allowed`
    const size = patternSize(pattern)
    if (size > 2 * instructionsMax) return `the pattern is too large with its repetitions written out: shorten them`
    try {
      const compiled = RE2JS.compile(pattern)
      if (compiled.programSize() > instructionsMax) return `the pattern comes to ${compiled.programSize()} instructions, and ${instructionsMax} are allowed: shorten it`
      this.compiled.set(pattern, compiled)
      return undefined
    } catch (error) {
      if (!(error instanceof RE2JSException)) throw error
      return `the pattern is none in RE2's syntax: ${error.message}`
    }
  }

  /** Looks through the names. A pattern that is not served matches none. */
  find(pattern: string, names: readonly string[], found: Found): void {
    const matcher = this.fault(pattern) === undefined ? this.compiled.get(pattern) : undefined
    if (matcher === undefined) {
      found([])
      return
    }
    this.findFrom(matcher, names, 0, [], found)
  }

  stop(): void {
    this.stopped = true
  }

  private findFrom(matcher: RE2JS, names: readonly string[], first: number, topics: string[], found: Found): void {
    if (this.stopped) return
    const size = matcher.programSize()
    let steps = 0
    for (let index = first; index < names.length; index++) {
      if (steps > stepsPerTurn) {
        this.timers.soon(() => { this.findFrom(matcher, names, index, topics, found) })
        return
      }
      const name = names[index]!
      steps += size * name.length
      if (matcher.matches(name)) topics.push(name)
    }
    found(topics.sort())
  }
}
