import { MillraceError } from '../../kernel/errors/index.ts'
import { type Deadlines, type Expiring } from './deadlines.ts'

/** As `done` of `withDeadline`: exactly one of the two is not undefined, unless the value is. */
export type Outcome<T> = (error: unknown, value: T | undefined) => void

/** Calls `done` once, later: with what the work came to, or after `timeoutMs` with MR_CLUSTER_TIMEOUT, whatever then becomes of it. */
export function withDeadline<T>(deadlines: Deadlines, timeoutMs: number, work: Promise<T>, done: Outcome<T>): void {
  new TimedWork(deadlines, timeoutMs, done).await(work)
}

class TimedWork<T> implements Expiring {
  private readonly deadlines: Deadlines
  private readonly timeoutMs: number
  private done: Outcome<T> | undefined

  constructor(deadlines: Deadlines, timeoutMs: number, done: Outcome<T>) {
    this.deadlines = deadlines
    this.timeoutMs = timeoutMs
    this.done = done
  }

  await(work: Promise<T>): void {
    const deadline = this.deadlines.after(this.timeoutMs, this)
    const settle = (error: unknown, value: T | undefined): void => {
      this.deadlines.remove(deadline)
      this.end(error, value)
    }
    work.then((value) => { settle(undefined, value) }, (error: unknown) => { settle(error, undefined) })
  }

  expired(): void {
    this.end(new MillraceError('MR_CLUSTER_TIMEOUT', { timeoutMs: this.timeoutMs }), undefined)
  }

  private end(error: unknown, value: T | undefined): void {
    const { done } = this
    this.done = undefined
    done?.(error, value)
  }
}
