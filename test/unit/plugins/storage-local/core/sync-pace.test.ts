import { describe, expect, it } from 'vitest'
import { SyncPace, type SyncMode } from '../../../../../src/plugins/storage-local/core/sync-pace.ts'

/** How many of so many syncs were waited for on the event loop, where each takes as long as `durationMs` says. */
function inlineOf(pace: SyncPace, syncs: number, durationMs: (index: number) => number): number {
  let inline = 0
  for (let index = 0; index < syncs; index++) {
    const isInline = pace.inline
    if (isInline) inline++
    pace.took(isInline, durationMs(index))
  }
  return inline
}

describe('a sync of the redo log', () => {
  it.each([['inline', 100], ['pooled', 0]] as const)('is always %s where that is set', (mode: SyncMode, inline) => {
    expect(inlineOf(new SyncPace(mode), 100, () => 50)).toBe(inline)
  })

  it('is waited for on the loop once syncs have been quick in the pool', () => {
    expect(inlineOf(new SyncPace('adaptive'), 64, () => 0.1)).toBe(0)
    expect(inlineOf(new SyncPace('adaptive'), 1064, () => 0.1)).toBe(1000)
  })

  it('that takes a millisecond is tried on the loop once in 65, and one that takes longer never', () => {
    expect(inlineOf(new SyncPace('adaptive'), 6500, () => 1)).toBe(100)
    expect(inlineOf(new SyncPace('adaptive'), 6500, () => 5)).toBe(0)
  })

  it('goes back to the pool with the first that stalls, and is tried again when those have been quick', () => {
    const pace = new SyncPace('adaptive')
    inlineOf(pace, 1000, () => 0.1)
    expect(inlineOf(pace, 65, index => index === 0 ? 100 : 0.1)).toBe(1)
    expect(pace.inline).toBe(true)
  })
})
