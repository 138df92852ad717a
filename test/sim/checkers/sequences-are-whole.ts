import { type Checker, type HistoryEvent, Violation } from '../history.ts'

const sequences = 0x8000_0000

/**
 * S10: of each producer id and epoch the stored sequences of a partition are consecutive modulo 2^31 and each occurs once; and what an idempotent
 * producer sent (its contents begin with `once`) is stored once at most, whatever it was told.
 */
export class SequencesAreWhole implements Checker {
  readonly claim = 'S10 sequences are whole'

  see(event: HistoryEvent): void {
    if (event.kind !== 'scanned') return
    const { partition, batches, records } = event
    const next = new Map<string, number>()
    for (const { producerId, producerEpoch, baseSequence, recordsCount, baseOffset } of batches) {
      if (producerId < 0) continue
      const producer = `${producerId}/${producerEpoch}`
      const expected = next.get(producer)
      if (expected !== undefined && expected !== baseSequence) {
        throw new Violation(`${partition} has sequence ${baseSequence} of producer ${producer} at offset ${baseOffset}, where ${expected} comes next`)
      }
      next.set(producer, (baseSequence + recordsCount) % sequences)
    }
    const stored = new Map<string, number>()
    for (const { content, offset } of records) {
      if (!content.startsWith('once')) continue
      const before = stored.get(content)
      if (before !== undefined) throw new Violation(`${partition} has ${content} at ${before} and at ${offset}`)
      stored.set(content, offset)
    }
  }
}
