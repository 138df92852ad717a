import { describe, expect, test } from 'vitest'
import { type Clock, type Timers } from '../../../src/kernel/ports/clock.ts'
import { timersConformance } from '../../../src/testkit/conformance/clock.ts'
import { failuresOf } from '../../../src/testkit/conformance/kit.ts'
import { ManualClock, ManualTimers } from '../../../src/testkit/world/manual-clock.ts'

const run = (breakTimers: (timers: ManualTimers) => Partial<Timers>, breakClock: Partial<Clock> = {}) => failuresOf(declare => {
  timersConformance({
    test: declare,
    create: () => {
      const real = new ManualTimers(new ManualClock())
      const replaced = breakTimers(real)
      const timers: Timers = {
        after: (delayMs, callback) => (replaced.after ?? real.after.bind(real))(delayMs, callback),
        soon: callback => (replaced.soon ?? real.soon.bind(real))(callback),
      }
      const clock: Clock = { wallMs: () => real.clock.wallMs(), monotonicMs: () => real.clock.monotonicMs(), ...breakClock }
      const settle = async <T>(promise: Promise<T>): Promise<T> => {
        for (let round = 0; round < 10; round++) {
          real.advance(20)
          await Promise.resolve()
        }
        return Promise.race([promise, Promise.reject(new Error('never settled'))])
      }
      return { timers, clock, settle }
    },
  })
})

describe('timersConformance', () => {
  test('unbroken timers pass', async () => {
    expect(await run(() => ({}))).toEqual([])
  })

  const cases: Readonly<Record<string, () => Promise<string[]>>> = {
    'timers fire early': () => run(real => ({ after: (delayMs, callback) => real.after(delayMs - 0.5, callback) })),
    'timers fire twice': () => run(real => ({
      after: (delayMs, callback) => {
        real.after(delayMs + 0.1, callback)
        return real.after(delayMs, callback)
      },
    })),
    'after(0) calls at once': () => run(real => ({
      after: (delayMs, callback) => {
        if (delayMs === 0) callback()
        return real.after(delayMs === 0 ? 1e9 : delayMs, callback)
      },
    })),
    'soon calls at once': () => run(() => ({ soon: callback => callback() })),
    'equal timers fire in reverse': () => run(real => {
      let set = 0
      return { after: (delayMs, callback) => real.after(delayMs + 0.9 - set++ * 0.001, callback) }
    }),
    'cancel does nothing': () => run(real => ({
      after: (delayMs, callback) => {
        real.after(delayMs, callback)
        return { cancel: () => {} }
      },
    })),
    'the steady clock goes back': () => {
      let nowMs = 1e6
      return run(() => ({}), { monotonicMs: () => nowMs-- })
    },
    'wall milliseconds have fractions': () => run(() => ({}), { wallMs: () => 1.5 }),
  }
  for (const [defect, failing] of Object.entries(cases)) {
    test(`timers fail where ${defect}`, async () => {
      expect(await failing()).not.toEqual([])
    })
  }
})
