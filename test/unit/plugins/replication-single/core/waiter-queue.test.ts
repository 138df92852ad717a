import { describe, expect, it } from 'vitest'
import { Prng } from '../../../../../src/base/prng.ts'
import { WaiterQueue } from '../../../../../src/plugins/replication-single/core/waiter-queue.ts'
import { seedOf } from '../../../../integration/seeds.ts'

const seed = seedOf(1)

describe('WaiterQueue', () => {
  it(`calls the same as a sorted list would, through random waits, cancels and watermarks (seed ${seed})`, () => {
    const random = new Prng(seed)
    const queue = new WaiterQueue()
    const calls: string[] = []
    const expected: string[] = []
    let waiting: { id: number, offset: number, reached: () => void, failed: () => void }[] = []
    for (let id = 0; id < 3000; id++) {
      const choice = random.below(10)
      if (choice < 6) {
        const waiter = { id, offset: random.below(50), reached: () => calls.push(`${id}`), failed: () => calls.push(`${id} failed`) }
        queue.add(waiter)
        waiting.push(waiter)
      } else if (choice < 8 && waiting.length > 0) {
        const waiter = random.pick(waiting)
        queue.remove(waiter)
        waiting = waiting.filter((other) => other !== waiter)
      } else {
        const watermark = random.below(20)
        expect(queue.hasReached(watermark)).toBe(waiting.some((waiter) => waiter.offset <= watermark))
        expected.push(...waiting.filter((waiter) => waiter.offset <= watermark).sort((left, right) => left.offset - right.offset || left.id - right.id)
          .map((waiter) => `${waiter.id}`))
        waiting = waiting.filter((waiter) => waiter.offset > watermark)
        queue.reach(watermark)
      }
      expect(queue.size, `seed ${seed}`).toBe(waiting.length)
    }
    queue.fail(new Error('end'))
    expected.push(...waiting.sort((left, right) => left.offset - right.offset || left.id - right.id).map((waiter) => `${waiter.id} failed`))
    expect(calls, `seed ${seed}`).toEqual(expected)
    expect(queue.size).toBe(0)
  })
})
