import { describe, expect, it } from 'vitest'
import { Acknowledged } from '../crash/acknowledged.ts'
import { crashLoop } from '../crash/crash-loop.ts'

const record = (partition: number, offset: number, value: string) => ({ partition, offset, text: () => value })

describe('what the crash loop calls a fault', () => {
  const told = new Acknowledged()
  told.add(0, 0, 'p/0/')
  told.add(0, 1, 'p/1/')
  it.each([
    ['a sound log', [record(0, 0, 'p/0/'), record(0, 1, 'p/1/'), record(0, 2, 'p/2/')], []],
    ['a lost record', [record(0, 0, 'p/0/')], [/p\/1\/.* is gone/]],
    ['another record at the offset', [record(0, 0, 'p/0/'), record(0, 1, 'p/9/')], [/holds p\/9/]],
    ['a duplicate', [record(0, 0, 'p/0/'), record(0, 1, 'p/1/'), record(0, 2, 'p/1/')], [/stored twice/]],
    ['a gap', [record(0, 0, 'p/0/'), record(0, 1, 'p/1/'), record(0, 3, 'p/3/')], [/follows offset 1/]],
    ['a turned order', [record(0, 0, 'p/0/'), record(0, 1, 'p/1/'), record(0, 2, 'q/5/'), record(0, 3, 'q/4/')], [/comes after number 5/]],
  ])('%s', (_what, records, expected) => {
    const faults = told.faultsOf(records)
    expect(faults).toHaveLength(expected.length)
    expected.forEach((pattern, at) => { expect(faults[at]).toMatch(pattern) })
  })
})

describe('a broker killed with kill -9 under load', () => {
  it.each(['fsync', 'os'] as const)('keeps every record acknowledged to idempotent acks=all producers, at its offset, once (durability=%s)', async (durability) => {
    const result = await crashLoop({ runs: 4, seed: durability === 'fsync' ? 11 : 12, durability })
    expect(result.faults).toEqual([])
    expect(result.acknowledged).toBeGreaterThan(100)
  }, 240_000)
})
