import { type Checker, type HistoryEvent, Violation } from '../history.ts'
import { PartitionStates } from './partition-states.ts'

interface Original {
  readonly baseOffset: number
  readonly acks: 'all' | 1
}

/** S11: an idempotent batch that is sent again gets the offset of the original, or is called a duplicate; it is never stored a second time. */
export class RetriesFindTheOriginal implements Checker {
  readonly claim = 'S11 retries find the original'
  private readonly originals = new PartitionStates(() => new Map<string, Original>())

  see(event: HistoryEvent): void {
    this.originals.see(event)
    if (event.kind === 'appended') return this.take(event)
    if (event.kind === 'ended' && event.how === 'power') {
      for (const [, originals] of this.originals) for (const [batch, { acks }] of originals) if (acks === 1) originals.delete(batch)
    }
    if (event.kind === 'scanned') checkOnce(event)
  }

  private take({ partition, producer, baseOffset, acks }: HistoryEvent & { kind: 'appended' }): void {
    if (producer === undefined) return
    const batch = `${producer.id}/${producer.epoch}/${producer.sequence}`
    const originals = this.originals.of(partition)
    const original = originals.get(batch)
    if (baseOffset < 0) return
    if (original !== undefined && original.baseOffset !== baseOffset) {
      throw new Violation(`batch ${batch} of ${partition} was stored at ${original.baseOffset}, and again at ${baseOffset}`)
    }
    originals.set(batch, { baseOffset, acks: original?.acks === 'all' ? 'all' : acks })
  }
}

function checkOnce({ partition, batches }: HistoryEvent & { kind: 'scanned' }): void {
  const seen = new Map<string, number>()
  for (const { producerId, producerEpoch, baseSequence, baseOffset } of batches) {
    if (producerId < 0) continue
    const batch = `${producerId}/${producerEpoch}/${baseSequence}`
    const before = seen.get(batch)
    if (before !== undefined) throw new Violation(`${partition} has batch ${batch} at ${before} and at ${baseOffset}`)
    seen.set(batch, baseOffset)
  }
}
