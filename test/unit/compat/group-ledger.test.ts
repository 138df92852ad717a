import { describe, expect, test } from 'vitest'

import { Ledger } from '../../compat/groups/ledger.ts'
import { type Line } from '../../compat/groups/lines.ts'

const assigned = (timestamp: number, ...partitions: number[]): Line => ({ name: 'partitions_assigned', timestamp, partitions: partitions.map(partition => ({ partition })) })
const revoked = (timestamp: number, ...partitions: number[]): Line => ({ ...assigned(timestamp, ...partitions), name: 'partitions_revoked' })
const read = (partition: number, minOffset: number, maxOffset = minOffset): Line => ({ name: 'records_consumed', partitions: [{ partition, minOffset, maxOffset }] })
const committed = (partition: number, offset: number, success = true): Line => ({ name: 'offsets_committed', success, offsets: [{ partition, offset }] })
const seeked = (partition: number, offset: number): Line => ({ name: 'seeked', partition, offset })

/** What a ledger has to say of lines, each with the member that printed it. */
function ledgerOf(...lines: readonly (readonly [member: string, line: Line])[]): Ledger {
  const ledger = new Ledger()
  for (const [member, line] of lines) ledger.take(member, line, 0)
  return ledger
}

describe('the ledger of a group', () => {
  test('what a member reads in order, hands over and another one reads on from the commit is without fault', () => {
    const ledger = ledgerOf(['a', assigned(1, 0)], ['a', read(0, 0, 9)], ['a', committed(0, 8)], ['a', revoked(2, 0)], ['b', assigned(2, 0)], ['b', read(0, 8, 12)], ['b', committed(0, 13)])
    expect([ledger.faults, ledger.overlaps(), ledger.again, ledger.committed.get(0)]).toEqual([[], [], 2, 13])
    expect(ledger.missing(new Map([[0, 13]]))).toEqual([])
  })

  test('a record that is read again though it was committed is told', () => {
    const ledger = ledgerOf(['a', assigned(1, 0)], ['a', read(0, 0, 9)], ['a', committed(0, 8)], ['a', revoked(2, 0)], ['b', assigned(2, 0)], ['b', read(0, 7)])
    expect(ledger.faults).toEqual(['b reads 0:7 again though 8 is committed'])
  })

  test('a commit that failed makes nothing final', () => {
    expect(ledgerOf(['a', assigned(1, 0)], ['a', read(0, 0, 9)], ['a', committed(0, 8, false)], ['a', revoked(2, 0)], ['b', assigned(2, 0)], ['b', read(0, 0)]).faults).toEqual([])
  })

  test('a member that skips a record, or goes back without being told to, is told', () => {
    expect(ledgerOf(['a', assigned(1, 0)], ['a', read(0, 0)], ['a', read(0, 2)]).faults).toEqual(['a reads 0:2 where 1 is next'])
    expect(ledgerOf(['a', assigned(1, 0)], ['a', read(0, 0, 4)], ['a', read(0, 3)]).faults).toEqual(['a reads 0:3 where 5 is next'])
  })

  test('what a member that was told to seek reads again is counted apart, once', () => {
    const lines = [['a', assigned(1, 0)], ['a', read(0, 0, 9)], ['a', committed(0, 10)], ['a', seeked(0, 5)], ['a', read(0, 5, 12)]] as const
    const ledger = ledgerOf(...lines)
    expect([ledger.faults, ledger.askedAgain, ledger.again]).toEqual([[], 5, 0])
    expect(ledgerOf(...lines, ['a', revoked(2, 0)], ['b', assigned(2, 0)], ['b', read(0, 5)]).faults).toEqual(['b reads 0:5 again though 10 is committed'])
  })

  test('a record of a partition that its reader does not own is told, unless its client is known for it', () => {
    const lines = [['a', assigned(1, 0)], ['a', revoked(2, 0)], ['a', read(0, 0)]] as const
    expect(ledgerOf(...lines).faults).toEqual(['a reads 0:0, which it does not own'])
    const lenient = new Ledger(member => member === 'a')
    for (const [member, line] of lines) lenient.take(member, line, 0)
    expect([lenient.faults, lenient.late]).toEqual([[], 1])
  })

  test('two owners of a partition at once are told, but for what begins in an unclean stretch', () => {
    const ledger = ledgerOf(['a', assigned(10, 0)], ['b', assigned(20, 0)], ['a', revoked(25, 0)], ['b', revoked(30, 0)])
    expect(ledger.overlaps()).toEqual(['0 is owned by a and b for 5 ms'])
    expect(ledger.overlaps([[15, 22]])).toEqual([])
    expect(ledger.overlaps([[21, 40]])).toHaveLength(1)
    expect(ledgerOf(['a', assigned(10, 0)], ['a', revoked(20, 0)], ['b', assigned(20, 0)]).overlaps()).toEqual([])
  })

  test('how long a partition had no owner is told, and whether it moved', () => {
    const ledger = ledgerOf(['a', assigned(10, 0, 1)], ['a', revoked(20, 0, 1)], ['b', assigned(27, 0)], ['a', assigned(30, 1)])
    expect(ledger.gaps()).toEqual([{ partition: 0, ms: 7, isMoved: true }, { partition: 1, ms: 10, isMoved: false }])
  })

  test('a member that is gone owns nothing more', () => {
    const ledger = ledgerOf(['a', assigned(10, 0, 1)])
    ledger.gone('a', 15)
    ledger.take('b', assigned(16, 0, 1), 0)
    expect([[...ledger.owned('a')], ledger.overlaps()]).toEqual([[], []])
  })

  test('what nobody has read is named', () => {
    expect(ledgerOf(['a', assigned(1, 0, 1)], ['a', read(0, 0, 4)], ['a', read(1, 3, 4)]).missing(new Map([[0, 6], [1, 5]]))).toEqual(['0:5 of 6', '1:0 of 5'])
    expect(ledgerOf(['a', assigned(1, 1)], ['a', read(1, 3, 4)]).missing(new Map([[1, 5]]), () => 3)).toEqual([])
  })
})
