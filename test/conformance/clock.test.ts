import { describe, test } from 'vitest'
import { SystemClock } from '../../src/platform/system-clock.ts'
import { SystemTimers } from '../../src/platform/system-timers.ts'
import { timersConformance } from '../../src/testkit/conformance/clock.ts'
import { ManualClock, ManualTimers } from '../../src/testkit/world/manual-clock.ts'

describe('SystemTimers and SystemClock', () => {
  timersConformance({ test, create: () => ({ timers: new SystemTimers(), clock: new SystemClock() }) })
})

describe('ManualTimers and ManualClock', () => {
  timersConformance({
    test,
    create: () => {
      const clock = new ManualClock()
      const timers = new ManualTimers(clock)
      const settle = async <T>(promise: Promise<T>): Promise<T> => {
        timers.advance(100)
        return promise
      }
      return { timers, clock, settle }
    },
  })
})
