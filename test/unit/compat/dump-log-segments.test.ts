import { describe, expect, test } from 'vitest'

import { complaintsIn } from '../../compat/dump-log-segments.ts'

const files = ['/d/t-0/00000000000000000000.log', '/d/t-0/00000000000000001000.log']
const batch = (valid: boolean): string =>
  `baseOffset: 0 lastOffset: 9 count: 10 baseSequence: 0 lastSequence: 9 producerId: 1 isvalid: ${valid}`

describe('the judge of DumpLogSegments output', () => {
  test('a good dump has no complaint', () => {
    expect(complaintsIn(`Dumping ${files[0]}\nLog starting offset: 0\n${batch(true)}\n`, files, true)).toEqual([])
  })

  test('the gap that the tool sees before the first record of a later segment is not one', () => {
    const output = `Non-consecutive offsets in ${files[1]}\n  -1 is followed by 1000\n`
    expect(complaintsIn(output, files, true)).toEqual([])
  })

  test('a real gap is told with its file, also where it comes first in a segment', () => {
    const output = `Non-consecutive offsets in ${files[1]}\n  -1 is followed by 1001\n  1005 is followed by 1007\n`
    expect(complaintsIn(output, files, true)).toEqual([
      `Non-consecutive offsets in ${files[1]} -1 is followed by 1001`,
      `Non-consecutive offsets in ${files[1]} 1005 is followed by 1007`,
    ])
  })

  test('in a compacted topic offsets may have gaps, and may not go back', () => {
    const output = `Non-consecutive offsets in ${files[1]}\n  -1 is followed by 1001\n  1005 is followed by 1007\n  1007 is followed by 1002\n`
    expect(complaintsIn(output, files, true, /t-0/)).toEqual([`Non-consecutive offsets in ${files[1]} 1007 is followed by 1002`])
    expect(complaintsIn(output, files, true, /other/)).toHaveLength(3)
  })

  test('a batch with a wrong checksum is told with its file', () => {
    expect(complaintsIn(`Dumping ${files[1]}\n${batch(true)}\n${batch(false)}\n`, files, true))
      .toEqual([`${files[1]}: ${batch(false)}`])
  })

  test.each([
    'Found 12 invalid bytes at the end of 00000000000000000000.log',
    'Mismatches in :/d/t-0/00000000000000000000.index',
    'Found timestamp mismatch in :/d/t-0/00000000000000000000.timeindex',
    'Found out of order timestamp in :/d/t-0/00000000000000000000.timeindex',
    'The following indexed offsets are not found in the log.',
    'Ignoring unknown file /d/t-0/leader-epoch-checkpoint',
    'Exception in thread "main" org.apache.kafka.storage.internals.log.CorruptIndexException: …',
  ])('a complaint: %s', line => {
    expect(complaintsIn(line, files, true)).toEqual([line])
  })
})
