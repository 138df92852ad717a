import { type ConsumerRecord } from '../../src/client/index.ts'

/** What producers were told is stored, and what a reader finds; per partition of one topic. */
export class Acknowledged {
  /** partition → offset → value */
  readonly #told = new Map<number, Map<number, string>>()
  count = 0

  add(partition: number, offset: number, value: string): void {
    const offsets = this.#told.get(partition) ?? new Map<number, string>()
    this.#told.set(partition, offsets)
    if (offsets.has(offset)) throw new Error(`two records were acknowledged at offset ${offset} of partition ${partition}`)
    offsets.set(offset, value)
    this.count += 1
  }

  /**
   * Faults of a log read from its beginning: an acknowledged record that is not at its offset, a value that is there twice, offsets that do not
   * ascend by one, values of one producer out of their order. Values are `producer/number/padding`.
   */
  faultsOf(records: readonly Pick<ConsumerRecord, 'partition' | 'offset' | 'text'>[]): string[] {
    const faults: string[] = []
    const seen = new Set<string>()
    const next = new Map<number, number>()
    const latest = new Map<string, number>()
    const missing = new Map([...this.#told].map(([partition, offsets]) => [partition, new Map(offsets)]))
    for (const record of records) {
      const { partition, offset } = record
      const value = record.text() ?? ''
      const where = `offset ${offset} of partition ${partition}`
      if (offset !== (next.get(partition) ?? 0)) faults.push(`${where} follows offset ${(next.get(partition) ?? 0) - 1}`)
      next.set(partition, offset + 1)
      const [producer, number] = value.split('/')
      const name = `${producer}/${number}`
      if (seen.has(name)) faults.push(`${name} is stored twice, again at ${where}`)
      seen.add(name)
      const stream = `${producer}@${partition}`
      if ((latest.get(stream) ?? -1) > Number(number)) faults.push(`${name} at ${where} comes after number ${latest.get(stream)}`)
      latest.set(stream, Number(number))
      const told = missing.get(partition)?.get(offset)
      if (told !== undefined && told !== value) faults.push(`${where} holds ${name}, and ${told.slice(0, 40)} was acknowledged there`)
      missing.get(partition)?.delete(offset)
    }
    for (const [partition, offsets] of missing) {
      for (const [offset, value] of offsets) faults.push(`${value.slice(0, 40)}, acknowledged at offset ${offset} of partition ${partition}, is gone`)
    }
    return faults
  }
}
