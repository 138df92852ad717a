import { describe, expect, it } from 'vitest'
import { Deadlines, type Expiring } from '../../../../src/plugins/protocol-kafka/deadlines.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'

function setUp(): { timers: ManualTimers, deadlines: Deadlines, fired: [string, number, number][], waiter: (name: string) => Expiring } {
  const timers = new ManualTimers()
  const fired: [string, number, number][] = []
  return {
    timers, fired, deadlines: new Deadlines(timers.clock, timers),
    waiter: (name) => ({ expired: (nowMs, stalledMs) => { fired.push([name, nowMs, stalledMs]) } }),
  }
}

describe('deadlines', () => {
  it('expire in their order, each once', () => {
    const { timers, deadlines, fired, waiter } = setUp()
    deadlines.after(30, waiter('c'))
    deadlines.after(10, waiter('a'))
    deadlines.after(20, waiter('b'))
    timers.advance(100)
    expect(fired).toEqual([['a', 10, 0], ['b', 20, 0], ['c', 30, 0]])
    expect(deadlines.size).toBe(0)
  })

  it('a thousand waiters have one timer between them', () => {
    const { timers, deadlines, waiter } = setUp()
    for (let index = 0; index < 1000; index++) deadlines.after(500 + index, waiter(String(index)))
    expect(timers.pending).toBe(1)
    timers.advance(700)
    expect(timers.pending).toBe(1)
  })

  it('one that was removed does not expire, and costs no new timer', () => {
    const { timers, deadlines, fired, waiter } = setUp()
    const first = deadlines.after(10, waiter('first'))
    deadlines.after(50, waiter('second'))
    deadlines.remove(first)
    timers.advance(20)
    expect(fired).toEqual([])
    timers.advance(40)
    expect(fired.map(([name]) => name)).toEqual(['second'])
    deadlines.remove(first)
  })

  it('one that is added while others expire is kept', () => {
    const { timers, deadlines, fired, waiter } = setUp()
    deadlines.after(10, { expired: () => { deadlines.after(5, waiter('later')) } })
    timers.advance(14)
    expect(fired).toEqual([])
    timers.advance(1)
    expect(fired.map(([name]) => name)).toEqual(['later'])
  })

  it('after a stall, what came in meanwhile is handled first, and the waiters are told how long it was', () => {
    const { timers, deadlines, fired, waiter } = setUp()
    deadlines.after(1000, waiter('stalled'))
    const answeredMeanwhile = deadlines.after(1000, waiter('answered'))
    // The process stands still for 9 seconds; then the timer fires, late, and the events that waited come behind it.
    timers.clock.advance(10_000)
    timers.soon(() => { deadlines.remove(answeredMeanwhile) })
    timers.advance(0)
    expect(fired).toEqual([['stalled', 10_000, 9000]])
  })

  it('nothing expires after a stop', () => {
    const { timers, deadlines, fired, waiter } = setUp()
    deadlines.after(10, waiter('a'))
    deadlines.stop()
    deadlines.after(10, waiter('b'))
    timers.advance(100)
    expect(fired).toEqual([])
    expect(timers.pending).toBe(0)
  })
})
