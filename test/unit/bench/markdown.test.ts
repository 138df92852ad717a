import { expect, test } from 'vitest'

import { peers } from '../../../bench/kafka/brokers.ts'
import { markdown, summarize } from '../../../bench/kafka/markdown.ts'
import { type Row, type Sample } from '../../../bench/kafka/rows.ts'

test('a summary is the median and half the spread, for odd and even counts', () => {
  expect(summarize([3, 1, 2])).toEqual({ median: 2, spread: 0.5 })
  expect(summarize([4, 1, 2, 3])).toEqual({ median: 2.5, spread: 0.6 })
  expect(summarize([])).toBeUndefined()
})

const row: Row = { name: 'r', columns: [{ label: 'one', unit: 'msg/s', aim: '≥ 1.0x' }], measure: async () => undefined }
const samples = (value: number): Sample[] => [{ values: [value], cpuNsPerMessage: 10 }]

test('each pair of one promise has its ratio, and what was not measured a dash', () => {
  const all = new Map([['r', new Map([['millrace-os', samples(300)], ['kafka', samples(100)], ['kafka-flush', samples(50)]])]])
  expect(markdown([row], all, peers).split('\n')[2])
    .toBe('| one | ≥ 1.0x | 300 msg/s | 100 msg/s | **3.00x** | – | 50.0 msg/s | – |')
})

test('a pace that was not kept is said, and has no ratio', () => {
  const all = new Map([['r', new Map([['millrace-os', samples(300)], ['kafka', samples(NaN)]])]])
  expect(markdown([row], all, peers.slice(0, 2)).split('\n')[2]).toBe('| one | ≥ 1.0x | 300 msg/s | not sustained | – |')
})
