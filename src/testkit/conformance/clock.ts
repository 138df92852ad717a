import { type Clock, type Timers } from '../../kernel/ports/clock.ts'
import { check, checkEqual, type DeclareTest } from './kit.ts'

/** Timers with their clock. */
export interface TimersSubject {
  readonly timers: Timers
  readonly clock: Clock
  /** Lets time pass until the promise is settled. Real timers need nothing. */
  readonly settle?: <T>(promise: Promise<T>) => Promise<T>
}

/** What is examined, and with whose `test`. `create` is called for each test. */
export interface TimersConformance {
  readonly test: DeclareTest
  readonly create: () => TimersSubject
}

interface Claim {
  readonly title: string
  readonly body: (subject: Required<TimersSubject>) => Promise<void>
}

const claim = (title: string, body: Claim['body']): Claim => ({ title, body })

const claims: readonly Claim[] = [
  claim('a timer fires once, and no sooner than it was told', async ({ timers, clock, settle }) => {
    for (const delayMs of [0, 0.5, 1, 2.25, 10]) {
      const startMs = clock.monotonicMs()
      let firedMs = 0
      let fired = 0
      await settle(new Promise<void>(resolve => timers.after(delayMs, () => {
        firedMs = clock.monotonicMs()
        fired++
        resolve()
      })))
      // Sums of fractions are not exact.
      check(firedMs - startMs >= delayMs - 1e-6, `${delayMs} ms have passed`)
      await settle(new Promise<void>(resolve => timers.after(2, resolve)))
      checkEqual(fired, 1, 'times fired')
    }
  }),
  claim('no callback runs before the call that set it has returned', async ({ timers, settle }) => {
    let returned = false
    const early = await settle(new Promise<boolean>(resolve => {
      timers.after(0, () => resolve(!returned))
      returned = true
    }))
    check(!early, 'after(0) waits for its caller')
    returned = false
    const earlySoon = await settle(new Promise<boolean>(resolve => {
      timers.soon(() => resolve(!returned))
      returned = true
    }))
    check(!earlySoon, 'soon waits for its caller')
  }),
  claim('timers of equal delay fire in the order they were set, later ones after earlier ones', async ({ timers, settle }) => {
    const fired: number[] = []
    await settle(new Promise<void>(resolve => {
      timers.after(20, resolve)
      for (let index = 0; index < 50; index++) timers.after(5, () => fired.push(index))
      timers.after(1, () => fired.push(-1))
    }))
    checkEqual(fired, [-1, ...Array.from({ length: 50 }, (_, index) => index)], 'order')
  }),
  claim('soon runs in the order of the calls', async ({ timers, settle }) => {
    const ran: number[] = []
    await settle(new Promise<void>(resolve => {
      for (let index = 0; index < 20; index++) timers.soon(() => ran.push(index))
      timers.soon(resolve)
    }))
    checkEqual(ran, Array.from({ length: 20 }, (_, index) => index), 'order')
  }),
  claim('a cancelled timer does not fire; cancelling again, or one that fired, does nothing', async ({ timers, settle }) => {
    let fired = 0
    const cancelled = timers.after(1, () => fired++)
    cancelled.cancel()
    cancelled.cancel()
    const kept = timers.after(1, () => fired += 10)
    await settle(new Promise<void>(resolve => timers.after(5, resolve)))
    kept.cancel()
    checkEqual(fired, 10, 'only the timer that was kept fired')
  }),
  claim('a timer may cancel another that is due at the same time', async ({ timers, settle }) => {
    let fired = false
    await settle(new Promise<void>(resolve => {
      const pending = { cancel: (): void => {} }
      timers.after(2, () => pending.cancel())
      pending.cancel = (timer => () => timer.cancel())(timers.after(2, () => {
        fired = true
      }))
      timers.after(6, resolve)
    }))
    check(!fired, 'the second did not fire')
  }),
  claim('the steady clock never goes back, and the wall clock gives whole milliseconds', async ({ timers, clock, settle }) => {
    let lastMs = clock.monotonicMs()
    for (let round = 0; round < 5; round++) {
      await settle(new Promise<void>(resolve => timers.after(1, resolve)))
      const nowMs = clock.monotonicMs()
      check(nowMs >= lastMs, 'it went on')
      lastMs = nowMs
      check(Number.isSafeInteger(clock.wallMs()) && clock.wallMs() > 0, `${clock.wallMs()} is a whole number of milliseconds`)
    }
  }),
]

/** What every pair of Timers and Clock must do. Takes some 100 ms of the subject's time. */
export function timersConformance({ test, create }: TimersConformance): void {
  for (const { title, body } of claims) {
    test(title, () => body({ settle: <T>(promise: Promise<T>) => promise, ...create() }))
  }
}
