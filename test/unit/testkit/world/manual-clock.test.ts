import { describe, expect, test } from 'vitest'
import { ManualClock, ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'

describe('ManualTimers', () => {
  test('advance stops at each timer on the way, also at those set meanwhile', () => {
    const timers = new ManualTimers()
    const seen: number[] = []
    timers.after(3, () => {
      seen.push(timers.clock.monotonicMs())
      timers.after(4, () => seen.push(timers.clock.monotonicMs()))
    })
    timers.after(20, () => seen.push(timers.clock.monotonicMs()))
    expect(timers.nextInMs).toBe(3)
    timers.advance(10)
    expect(seen).toEqual([3, 7])
    expect(timers.clock.monotonicMs()).toBe(10)
    expect([timers.pending, timers.nextInMs]).toEqual([1, 10])
  })

  test('soon runs before the next timer and needs no time', () => {
    const timers = new ManualTimers()
    const ran: string[] = []
    timers.after(0, () => ran.push('timer'))
    timers.soon(() => {
      ran.push('soon')
      timers.soon(() => ran.push('soon after'))
    })
    timers.runSoon()
    expect(ran).toEqual(['soon', 'soon after'])
    timers.advance(0)
    expect(ran).toEqual(['soon', 'soon after', 'timer'])
  })
})

test('setting the wall clock moves no time', () => {
  const clock = new ManualClock(1000)
  clock.advance(5)
  clock.setWall(500)
  expect([clock.wallMs(), clock.monotonicMs()]).toEqual([500, 5])
})
