import { type Checker, type HistoryEvent, type SeenRecord, Violation } from '../history.ts'
import { PartitionStates } from './partition-states.ts'

interface Given {
  readonly content: string
  readonly acks: 'all' | 1
}

/**
 * S9: offsets of a log strictly increase and no offset is given twice. Nothing here compacts and there are no transactions, so there are no gaps
 * either. What was acknowledged to acks=1 and not synced a power cut may take, and its offset is given again.
 */
export class OffsetsAreGivenOnce implements Checker {
  readonly claim = 'S9 offsets are given once'
  private readonly given = new PartitionStates(() => new Map<number, Given>())

  see(event: HistoryEvent): void {
    this.given.see(event)
    switch (event.kind) {
      case 'ended':
        if (event.how === 'power') for (const [, given] of this.given) for (const [offset, { acks }] of given) if (acks === 1) given.delete(offset)
        return
      case 'appended':
        return this.take(event)
      case 'read':
      case 'fetched':
        return checkOrder(event.partition, event.records)
      case 'scanned':
        checkOrder(event.partition, event.records)
        return checkDense(event)
    }
  }

  private take({ partition, acks, baseOffset, contents }: HistoryEvent & { kind: 'appended' }): void {
    if (baseOffset < 0) return
    const given = this.given.of(partition)
    contents.forEach((content, index) => {
      const before = given.get(baseOffset + index)
      if (before !== undefined && before.content !== content) {
        throw new Violation(`offset ${baseOffset + index} of ${partition} was given to ${content}, and to ${before.content} before`)
      }
      given.set(baseOffset + index, { content, acks: before?.acks === 'all' ? 'all' : acks })
    })
  }
}

function checkOrder(partition: string, records: readonly SeenRecord[]): void {
  for (let index = 1; index < records.length; index++) {
    const [before, after] = [records[index - 1]!.offset, records[index]!.offset]
    if (after !== before + 1) throw new Violation(`${partition} gave offset ${after} behind ${before}`)
  }
}

function checkDense({ partition, startOffset, highWatermark, batches, records }: HistoryEvent & { kind: 'scanned' }): void {
  const [first, last] = [records[0]?.offset ?? highWatermark, records.at(-1)?.offset ?? startOffset - 1]
  if (first !== startOffset || last !== highWatermark - 1) {
    throw new Violation(`${partition} gives ${first} to ${last}, and says that it holds ${startOffset} to ${highWatermark - 1}`)
  }
  for (let index = 1; index < batches.length; index++) {
    const [before, after] = [batches[index - 1]!, batches[index]!]
    if (after.baseOffset !== before.lastOffset + 1) throw new Violation(`${partition} has a batch at ${after.baseOffset} behind one that ends at ${before.lastOffset}`)
  }
}
