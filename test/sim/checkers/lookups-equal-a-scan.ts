import { type Checker, type HistoryEvent, type SeenRecord, Violation } from '../history.ts'
import { PartitionStates } from './partition-states.ts'

/** What a lookup has to find in these records: the first that is as old as asked for or newer, or the first of the newest. */
export function locateByScan(records: readonly SeenRecord[], wanted: number | 'max'): SeenRecord | undefined {
  if (wanted !== 'max') return records.find(record => record.timestamp >= wanted)
  let newest: SeenRecord | undefined
  for (const record of records) if (record.timestamp > (newest?.timestamp ?? -1)) newest = record
  return newest
}

/**
 * S20: lookups by time, and where the log begins and ends, are what a scan of all its records finds. Of a lookup made while others write, this
 * holds: the record that it names has the timestamp that it names, and one that is not too old.
 */
export class LookupsEqualAScan implements Checker {
  readonly claim = 'S20 lookups equal a scan'
  private readonly named = new PartitionStates(() => new Map<number, number>())

  see(event: HistoryEvent): void {
    this.named.see(event)
    if (event.kind === 'located') return this.take(event)
    if (event.kind !== 'scanned') return
    const { partition, records, lookups } = event
    for (const { wanted, offset, timestamp } of lookups) {
      const expected = locateByScan(records, wanted)
      if (offset !== (expected?.offset ?? -1) || timestamp !== (expected?.timestamp ?? -1)) {
        throw new Violation(`looking for ${wanted} in ${partition} found ${offset} of ${timestamp}; a scan finds ${expected?.offset ?? -1} of ${expected?.timestamp ?? -1}`)
      }
    }
    const named = this.named.of(partition)
    for (const record of records) {
      const timestamp = named.get(record.offset)
      if (timestamp !== undefined && timestamp !== record.timestamp) {
        throw new Violation(`a lookup in ${partition} gave offset ${record.offset} the timestamp ${timestamp}; the record has ${record.timestamp}`)
      }
    }
  }

  private take({ partition, wanted, offset, timestamp }: HistoryEvent & { kind: 'located' }): void {
    if (offset < 0) return
    if (wanted !== 'max' && timestamp < wanted) throw new Violation(`looking for ${wanted} in ${partition} found ${offset}, which is of ${timestamp}`)
    this.named.of(partition).set(offset, timestamp)
  }
}
