import { type Clock } from '../kernel/ports/clock.ts'

/** The clocks of this machine: the wall clock that NTP moves, and the steady one of the process. */
export class SystemClock implements Clock {
  wallMs(): number {
    return Date.now()
  }

  monotonicMs(): number {
    return performance.now()
  }
}
