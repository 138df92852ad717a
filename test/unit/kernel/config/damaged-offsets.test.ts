import { expect, it } from 'vitest'
import { damagedOffsetsConfig, damagedOffsetsName, parseDamagedOffsets } from '../../../../src/kernel/config/damaged-offsets.ts'

it('damaged offsets are read as they were told, and what is none is left out', () => {
  const damage = [{ partition: 0, ranges: [{ first: 4, last: 4 }, { first: 9, last: 2 ** 52 }] }, { partition: 12, ranges: [{ first: 0, last: 7 }] }]
  const { name, value, readOnly, source } = damagedOffsetsConfig(damage)
  expect([name, value, readOnly, source]).toEqual([damagedOffsetsName, '0:4-4,0:9-4503599627370496,12:0-7', true, 'default'])
  expect(parseDamagedOffsets(value!)).toEqual(damage)
  expect(parseDamagedOffsets('')).toEqual([])
  expect(parseDamagedOffsets('0:1-2,x,3:4,5:6-7')).toEqual([{ partition: 0, ranges: [{ first: 1, last: 2 }] }, { partition: 5, ranges: [{ first: 6, last: 7 }] }])
})
