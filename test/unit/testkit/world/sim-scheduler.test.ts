import { describe, expect, test } from 'vitest'
import { Prng } from '../../../../src/base/prng.ts'
import { SimScheduler } from '../../../../src/testkit/world/sim-scheduler.ts'
import { SimClock, SimTimers } from '../../../../src/testkit/world/sim-timers.ts'

describe('SimScheduler', () => {
  test('time jumps from event to event, and ends where it was told', async () => {
    const scheduler = new SimScheduler()
    const seen: number[] = []
    scheduler.after(5, 'a', () => {
      seen.push(scheduler.nowMs)
      scheduler.after(2.5, 'a', () => seen.push(scheduler.nowMs))
    })
    scheduler.after(100, 'a', () => seen.push(scheduler.nowMs))
    await scheduler.run(50)
    expect(seen).toEqual([5, 7.5])
    expect(scheduler.nowMs).toBe(50)
    await scheduler.runFor(50)
    expect(seen).toEqual([5, 7.5, 100])
  })

  test('between two events every promise chain goes as far as it can, however long it is', async () => {
    const scheduler = new SimScheduler()
    const order: string[] = []
    const chain = async (): Promise<void> => {
      for (let turn = 0; turn < 5000; turn++) await Promise.resolve()
      order.push(`chain done at ${scheduler.nowMs}`)
    }
    scheduler.after(1, 'a', () => void chain())
    scheduler.after(1, 'a', () => order.push(`event at ${scheduler.nowMs}`))
    await scheduler.run(2)
    expect(order).toEqual(['chain done at 1', 'event at 1'])
  })

  test('chains that were begun before time runs come first', async () => {
    const scheduler = new SimScheduler()
    const order: string[] = []
    void (async () => {
      for (let turn = 0; turn < 100; turn++) await Promise.resolve()
      order.push('chain')
    })()
    scheduler.after(0, 'a', () => order.push('event'))
    await scheduler.run(0)
    expect(order).toEqual(['chain', 'event'])
  })

  test('complete gives value and error of the promise', async () => {
    const scheduler = new SimScheduler()
    const after = (ms: number): Promise<number> => new Promise(resolve => void scheduler.after(ms, 'a', () => resolve(ms)))
    expect(await scheduler.complete(after(3).then(value => value + 1))).toBe(4)
    await expect(scheduler.complete(after(3).then(() => Promise.reject(new Error('its own'))))).rejects.toThrow('its own')
    expect(scheduler.nowMs).toBe(6)
  })

  test('when nothing is left to happen the wait is reported, with what waits', async () => {
    const scheduler = new SimScheduler()
    scheduler.describeWith(() => ['connection a to b: 5 bytes unread while paused'])
    scheduler.after(7, 'a', () => {})
    await expect(scheduler.complete(new Promise(() => {}), { what: 'the answer' })).rejects.toThrow(
      'at 7 ms: nothing is left to happen, and the answer is still waited for\n  connection a to b: 5 bytes unread while paused')
  })

  test('a wait that takes longer than its bound is given up although things go on', async () => {
    const scheduler = new SimScheduler()
    const again = (): void => void scheduler.after(1000, 'a', again)
    again()
    await expect(scheduler.complete(new Promise(() => {}), { withinMs: 5000 })).rejects.toThrow('at 5000 ms')
  })

  test('events that make each other for ever, while time stands still, end the run', async () => {
    const scheduler = new SimScheduler({ eventsAtOnceMax: 20_000 })
    const again = (): void => void scheduler.after(0, 'spinner', again)
    scheduler.after(7, 'spinner', again)
    await expect(scheduler.run(10)).rejects.toThrow(/at 7 ms: time stands still after 20000 events; the last is of spinner/)
  })

  test('an event that throws ends the run, with the time and whom it happened to', async () => {
    const scheduler = new SimScheduler()
    scheduler.after(3, 'broker-1', () => {
      throw new Error('invariant broken: x')
    })
    await expect(scheduler.run(10)).rejects.toThrow('an event of broker-1 threw at 3 ms: Error: invariant broken: x')
  })

  test('time is not advanced from within', async () => {
    const scheduler = new SimScheduler()
    let inner: Promise<void> | undefined
    scheduler.after(1, 'a', () => {
      inner = scheduler.run(5)
      inner.catch(() => {})
    })
    await scheduler.run(2)
    await expect(inner).rejects.toThrow('advanced by one at a time')
  })

  test('lanes of one moment take turns by the seed, each in its own order', async () => {
    const orderOf = async (seed: number | undefined): Promise<string> => {
      const scheduler = new SimScheduler(seed === undefined ? {} : { shuffle: new Prng(seed) })
      const order: string[] = []
      for (let index = 0; index < 4; index++) for (const lane of ['a', 'b', 'c']) scheduler.after(1, lane, () => order.push(`${lane}${index}`))
      await scheduler.run(1)
      for (const lane of ['a', 'b', 'c']) {
        expect(order.filter(each => each.startsWith(lane))).toEqual([0, 1, 2, 3].map(index => `${lane}${index}`))
      }
      return order.join()
    }
    expect(await orderOf(undefined)).toBe('a0,b0,c0,a1,b1,c1,a2,b2,c2,a3,b3,c3')
    expect(await orderOf(1)).toBe(await orderOf(1))
    expect(new Set(await Promise.all([1, 2, 3, 4, 5].map(orderOf))).size).toBeGreaterThan(2)
  })

  test('an event cancelled by another of the same moment does not happen, shuffled or not', async () => {
    for (const seed of [undefined, 1, 2, 3, 4, 5, 6]) {
      const scheduler = new SimScheduler(seed === undefined ? {} : { shuffle: new Prng(seed) })
      let happened = 0
      const entries = ['a', 'b'].map((lane, index) => scheduler.after(1, lane, () => {
        happened++
        scheduler.cancel(entries[1 - index]!)
      }))
      await scheduler.run(2)
      expect(happened, `seed ${seed}`).toBe(1)
    }
  })
})

describe('SimTimers', () => {
  test('what comes due while a process is paused happens afterwards, in the order of its times', async () => {
    const scheduler = new SimScheduler()
    const timers = new SimTimers(scheduler, 'a')
    const fired: string[] = []
    timers.after(20, () => fired.push(`at the end ${scheduler.nowMs}`))
    timers.after(5, () => fired.push(`first ${scheduler.nowMs}`))
    const cancelled = timers.after(6, () => fired.push('cancelled'))
    timers.after(7, () => fired.push(`second ${scheduler.nowMs}`))
    timers.pause(20)
    await scheduler.run(19)
    cancelled.cancel()
    expect(fired).toEqual([])
    await scheduler.run(20)
    expect(fired).toEqual(['first 20', 'second 20', 'at the end 20'])
  })

  test('nothing happens to a process that was killed', async () => {
    const scheduler = new SimScheduler()
    const timers = new SimTimers(scheduler, 'a')
    let fired = 0
    timers.after(1, () => fired++)
    timers.soon(() => fired++)
    timers.kill()
    timers.after(1, () => fired++)
    await scheduler.run(5)
    expect(fired).toBe(0)
  })

  test('the wall clock of a machine may be wrong, its steady clock is the simulation\'s', async () => {
    const scheduler = new SimScheduler()
    const clock = new SimClock(scheduler, 1000)
    const startMs = clock.wallMs()
    await scheduler.run(10.5)
    expect([clock.wallMs() - startMs, clock.monotonicMs()]).toEqual([10, 10.5])
    clock.offsetMs -= 5000
    expect(clock.wallMs() - startMs).toBe(-4990)
  })
})
