import { type AirportSum } from './airport-digest.ts'

export interface Check {
  readonly claim: string
  readonly holds: boolean
  /** Where it does not hold; for people. */
  readonly detail: string
}

/** Compares what was read with what the file says. */
export function verify(expected: ReadonlyMap<string, AirportSum>, read: ReadonlyMap<string, AirportSum>): readonly Check[] {
  const total = (sums: ReadonlyMap<string, AirportSum>): number => [...sums.values()].reduce((sum, each) => sum + each.count, 0)
  const airports = new Set([...expected.keys(), ...read.keys()])
  const wrongCount = [...airports].filter((airport) => expected.get(airport)?.count !== read.get(airport)?.count)
  const wrongDigest = [...airports].filter((airport) => expected.get(airport)?.digest !== read.get(airport)?.digest)
  return [
    {
      claim: `${total(expected).toLocaleString('en')} flights went in, and as many came out`,
      holds: total(expected) === total(read), detail: `${total(read).toLocaleString('en')} came out`,
    },
    { claim: `each of ${expected.size} airports has its number of flights`, holds: wrongCount.length === 0, detail: some(wrongCount) },
    { claim: 'contents and order of each airport\'s flights are those of the file, by checksum', holds: wrongDigest.length === 0, detail: some(wrongDigest) },
  ]
}

const some = (airports: readonly string[]): string => airports.slice(0, 8).join(', ') + (airports.length > 8 ? `, and ${airports.length - 8} more` : '')
