import { describe, expect, it } from 'vitest'
import { Lookout } from '../../../src/client/lookout.ts'
import { ManualTimers } from '../../../src/testkit/world/manual-clock.ts'

function watched(onLook: (lookout: Lookout) => void = () => {}) {
  const timers = new ManualTimers()
  let looks = 0
  const lookout: Lookout = new Lookout(timers, () => {
    looks++
    onLook(lookout)
  })
  return { timers, lookout, looks: () => looks }
}

describe('a lookout', () => {
  it('looks once at the end of a turn, however often it is asked', () => {
    const { timers, lookout, looks } = watched()
    for (let count = 0; count < 3; count++) lookout.runSoon()
    expect(looks()).toBe(0)
    timers.advance(0)
    expect(looks()).toBe(1)
  })

  it('never looks within a look: it looks again soon', () => {
    let again = true
    const { timers, lookout, looks } = watched((each) => {
      if (again) each.run()
      again = false
    })
    lookout.run()
    expect(looks()).toBe(1)
    timers.advance(0)
    expect(looks()).toBe(2)
  })

  it('looks again after a look that failed', () => {
    const { lookout, looks } = watched(() => { throw new Error('a look') })
    expect(() => { lookout.run() }).toThrow('a look')
    expect(() => { lookout.run() }).toThrow('a look')
    expect(looks()).toBe(2)
  })

  it('looks at the moment planned last, with one timer', () => {
    const { timers, lookout, looks } = watched()
    lookout.plan(50, 0)
    lookout.plan(100, 0)
    lookout.plan(100, 0)
    expect(timers.pending).toBe(1)
    timers.advance(99)
    expect(looks()).toBe(0)
    timers.advance(1)
    expect(looks()).toBe(1)
    lookout.plan(200, 100)
    lookout.plan(Infinity, 100)
    expect(timers.pending).toBe(0)
  })

  it('that is closed looks no more, now, soon or at the moment planned', () => {
    const { timers, lookout, looks } = watched()
    lookout.runSoon()
    lookout.plan(50, 0)
    lookout.close()
    lookout.run()
    lookout.runSoon()
    timers.advance(1000)
    expect(looks()).toBe(0)
    expect(timers.pending).toBe(0)
  })
})
