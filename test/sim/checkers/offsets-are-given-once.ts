import { type Checker, type HistoryEvent, type SeenRecord, Violation } from '../history.ts'
import { Overtaken } from './overtaken.ts'
import { PartitionStates } from './partition-states.ts'

interface Given {
  readonly content: string
  readonly acks: 'all' | 1
}

/**
 * S9: offsets of a log strictly increase and no offset is given twice. There are no transactions, so that gaps are only where compaction has left them, and before an offset
 * to which records were deleted while they were read. What was acknowledged to acks=1 and not synced a power cut may take, and its offset is given again.
 */
export class OffsetsAreGivenOnce implements Checker {
  readonly claim = 'S9 offsets are given once'
  private readonly given = new PartitionStates(() => new Map<number, Given>())
  private readonly overtaken = new Overtaken()
  private readonly asked = new PartitionStates(() => ({ below: 0 }))

  see(event: HistoryEvent): void {
    this.given.see(event)
    this.overtaken.see(event)
    this.asked.see(event)
    switch (event.kind) {
      case 'ended':
        if (event.how === 'power') for (const [, given] of this.given) for (const [offset, { acks }] of given) if (acks === 1) given.delete(offset)
        return
      case 'deleting': {
        const asked = this.asked.of(event.partition)
        asked.below = Math.max(asked.below, event.offset)
        return
      }
      case 'appended':
        return this.take(event)
      case 'read':
      case 'fetched':
        return this.checkOrder(event.partition, event.records)
      case 'scanned':
        this.checkOrder(event.partition, event.records)
        return checkWhole(event, this.overtaken.has(event.partition))
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

  private checkOrder(partition: string, records: readonly SeenRecord[]): void {
    const { below } = this.asked.of(partition)
    for (let index = 1; index < records.length; index++) {
      const [before, after] = [records[index - 1]!.offset, records[index]!.offset]
      const mayBeGap = after > before && (after <= below || this.overtaken.has(partition))
      if (after !== before + 1 && !mayBeGap) throw new Violation(`${partition} gave offset ${after} behind ${before}`)
    }
  }
}

/** Without holes; where compaction has made some, within the bounds. */
function checkWhole({ partition, startOffset, highWatermark, batches, records }: HistoryEvent & { kind: 'scanned' }, isCompacted: boolean): void {
  const [first, last] = [records[0]?.offset ?? highWatermark, records.at(-1)?.offset ?? startOffset - 1]
  if (isCompacted ? first < startOffset || last >= highWatermark : first !== startOffset || last !== highWatermark - 1) {
    throw new Violation(`${partition} gives ${first} to ${last}, and says that it holds ${startOffset} to ${highWatermark - 1}`)
  }
  for (let index = 1; index < batches.length; index++) {
    const [before, after] = [batches[index - 1]!, batches[index]!]
    if (isCompacted ? after.baseOffset <= before.lastOffset : after.baseOffset !== before.lastOffset + 1) throw new Violation(`${partition} has a batch at ${after.baseOffset} behind one that ends at ${before.lastOffset}`)
  }
}
