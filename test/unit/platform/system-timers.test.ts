import { describe, expect, test, vi } from 'vitest'
import { SystemTimers } from '../../../src/platform/system-timers.ts'

describe('SystemTimers', () => {
  test('no timer fires before its time', async () => {
    const timers = new SystemTimers()
    const early: number[] = []
    await Promise.all([3, 1, 2, 0, 2, 1, 0.5, 3, 1.25, 0.75].map(delayMs => new Promise<void>(resolve => {
      const startMs = performance.now()
      timers.after(delayMs, () => {
        if (performance.now() - startMs < delayMs) early.push(delayMs)
        resolve()
      })
    })))
    expect(early).toEqual([])
  })

  test('timers fire in the order of their times, and those due together in the order they were set', () => {
    vi.useFakeTimers()
    try {
      const timers = new SystemTimers()
      const fired: number[] = []
      for (const [index, delayMs] of [3, 1, 2, 0, 2, 1, 0.5, 3].entries()) timers.after(delayMs, () => fired.push(index))
      vi.advanceTimersByTime(1)
      timers.after(1, () => fired.push(8))
      vi.advanceTimersByTime(5)
      expect(fired).toEqual([3, 6, 1, 5, 2, 4, 8, 0, 7])
    } finally {
      vi.useRealTimers()
    }
  })

  test('a wait of more than 2^31 ms does not fire at once', () => {
    vi.useFakeTimers()
    try {
      const timers = new SystemTimers()
      let fired = 0
      const delayMs = 2 ** 32
      timers.after(delayMs, () => fired++)
      vi.advanceTimersByTime(delayMs - 1)
      expect(fired).toBe(0)
      vi.advanceTimersByTime(2)
      expect(fired).toBe(1)
    } finally {
      vi.useRealTimers()
    }
  })

  test('a cancelled timer does not fire, and cancelling the first leaves the others', () => {
    vi.useFakeTimers()
    try {
      const timers = new SystemTimers()
      const fired: string[] = []
      const first = timers.after(5, () => fired.push('first'))
      timers.after(10, () => fired.push('second'))
      timers.after(7, () => fired.push('third'))
      first.cancel()
      first.cancel()
      vi.advanceTimersByTime(20)
      expect(fired).toEqual(['third', 'second'])
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  test('with nothing left to wait for no native timer keeps the process alive', () => {
    vi.useFakeTimers()
    try {
      const timers = new SystemTimers()
      timers.after(1000, () => {}).cancel()
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  test('a callback that throws does not take the others with it', () => {
    vi.useFakeTimers()
    try {
      const timers = new SystemTimers()
      const fired: string[] = []
      timers.after(5, () => {
        throw new Error('of the callback')
      })
      timers.after(5, () => fired.push('other'))
      expect(() => vi.advanceTimersByTime(5)).toThrow('of the callback')
      vi.advanceTimersByTime(5)
      expect(fired).toEqual(['other'])
    } finally {
      vi.useRealTimers()
    }
  })
})
