import { describe, expect, it } from 'vitest'
import { compactionStateConfig, compactionStateName, parseCompactionState, type PartitionCompaction } from '../../../../src/kernel/config/compaction-state.ts'
import { toldList } from '../../../../src/kernel/config/told-list.ts'

const well: PartitionCompaction = { partition: 0, cleanedTo: 2 ** 52, dirtyBytes: 1234, dirtyRatio: 0.37, lastRoundMs: 1_700_000_000_000, failure: undefined }
const never: PartitionCompaction = { partition: 3, cleanedTo: 0, dirtyBytes: 0, dirtyRatio: 0, lastRoundMs: -1, failure: undefined }
const failed = (partition: number, reason: string): PartitionCompaction => ({ ...never, partition, dirtyRatio: 1, failure: { reason, nextTryMs: 1_700_000_030_000 } })

describe('the state of compaction', () => {
  it('is read as it was told, whatever a reason says, and what is none is left out', () => {
    const states = [well, failed(1, 'offsets 1 to 2, in "a:b,c" – 100%'), failed(2, ''), never]
    const { name, value, readOnly, source } = compactionStateConfig(states)
    expect([name, readOnly, source]).toEqual([compactionStateName, true, 'default'])
    expect(parseCompactionState(value!)).toEqual(states)
    expect(parseCompactionState('')).toEqual([])
    expect(parseCompactionState('0:1:2:3:-1,x,1:2:3,4:5:6:7:8:9:%,5:1:2:3:-2')).toEqual([
      { partition: 0, cleanedTo: 1, dirtyBytes: 2, dirtyRatio: 0.03, lastRoundMs: -1, failure: undefined },
      { partition: 4, cleanedTo: 5, dirtyBytes: 6, dirtyRatio: 0.07, lastRoundMs: 8, failure: { reason: '%', nextTryMs: 9 } },
    ])
  })

  it('is told though a reason is no text, and of a long one the beginning', () => {
    const [state] = parseCompactionState(compactionStateConfig([failed(0, '\uD800')]).value!)
    expect(state!.failure!.reason).toBe('\uFFFD')
    const [long] = parseCompactionState(compactionStateConfig([failed(0, `${'a'.repeat(499)}😀`)]).value!)
    expect(long!.failure!.reason).toBe(`${'a'.repeat(499)}\uFFFD`)
  })

  it('where there is no room for all, tells failed rounds first', () => {
    const states = [well, never, failed(7, 'no space')]
    const whole = compactionStateConfig(states).value!
    expect(parseCompactionState(compactionStateConfig(states, whole.length).value!).map(({ partition }) => partition)).toEqual([0, 3, 7])
    expect(parseCompactionState(compactionStateConfig(states, whole.length - 1).value!).map(({ partition }) => partition)).toEqual([0, 7])
    expect(parseCompactionState(compactionStateConfig(states, 60).value!).map(({ partition }) => partition)).toEqual([7])
  })
})

it('a list that is told holds as many of its entries as fit, whole ones', () => {
  expect([-1, 0, 2, 3, 4, 6, 7, 8].map((bytesMax) => toldList(['one', '23', '4'], bytesMax))).toEqual(['', '', '', 'one', 'one', 'one,23', 'one,23', 'one,23,4'])
  expect(toldList([], 0)).toBe('')
})
