import { type Checker, type HistoryEvent, Violation } from '../history.ts'
import { PartitionStates } from './partition-states.ts'

/** The highest value seen so far, and when it was seen. */
class Rising {
  private readonly steps: { readonly at: number, readonly value: number }[] = []

  raise(at: number, value: number): void {
    if (value > (this.steps.at(-1)?.value ?? -1)) this.steps.push({ at, value })
  }

  /** The highest that had been seen before. */
  before(at: number): number {
    return this.steps.findLast(step => step.at < at)?.value ?? -1
  }
}

type Mark = 'high watermark' | 'last stable offset' | 'start'

/**
 * S6: high watermark, last stable offset and log start, as clients see them, never decrease; and an acknowledged acks=all produce is below
 * the watermark for whoever asks afterwards. Answers to calls that overlap may come in any order.
 */
export class WatermarksNeverFall implements Checker {
  readonly claim = 'S6 watermarks never fall'
  private readonly seen = new PartitionStates((): Record<Mark, Rising> =>
    ({ 'high watermark': new Rising(), 'last stable offset': new Rising(), 'start': new Rising() }))

  see(event: HistoryEvent, now: number): void {
    this.seen.see(event)
    if (event.kind === 'appended' && event.acks === 'all' && event.baseOffset >= 0) {
      this.seen.of(event.partition)['high watermark'].raise(now, event.baseOffset + event.contents.length)
    } else if (event.kind === 'edge') {
      this.check(event.partition, event.end, event.begun, now, event.offset)
    } else if (event.kind === 'fetched') {
      const { partition, begun } = event
      this.check(partition, 'high watermark', begun, now, event.highWatermark)
      this.check(partition, 'last stable offset', begun, now, event.lastStableOffset)
      // Versions that tell no log start say -1.
      if (event.logStartOffset >= 0) this.check(partition, 'start', begun, now, event.logStartOffset)
    } else if (event.kind === 'scanned') {
      this.check(event.partition, 'high watermark', now, now, event.highWatermark)
      this.check(event.partition, 'start', now, now, event.startOffset)
    }
  }

  private check(partition: string, mark: Mark, begun: number, now: number, value: number): void {
    const rising = this.seen.of(partition)[mark]
    const before = rising.before(begun)
    if (value < before) throw new Violation(`the ${mark} of ${partition} is ${value}, and was ${before} before`)
    rising.raise(now, value)
  }
}
