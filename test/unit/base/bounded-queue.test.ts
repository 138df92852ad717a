import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BoundedQueue } from '../../../src/base/bounded-queue.ts'

test('a full queue refuses and keeps what it has', () => {
  const queue = new BoundedQueue<number>(2)
  expect([queue.push(1), queue.push(2), queue.push(3)]).toEqual([true, true, false])
  expect(queue.isFull).toBe(true)
  expect([queue.shift(), queue.shift(), queue.shift()]).toEqual([1, 2, undefined])
})

test('behaves like an array cut at its capacity', () => {
  const command = fc.oneof(fc.constant('shift' as const), fc.constant('clear' as const), fc.nat(), fc.nat(), fc.nat())
  fc.assert(fc.property(fc.integer({ min: 1, max: 40 }), fc.array(command, { maxLength: 200 }), (capacity, commands) => {
    const queue = new BoundedQueue<number>(capacity)
    const model: number[] = []
    for (const item of commands) {
      if (item === 'shift') expect(queue.shift()).toBe(model.shift())
      else if (item === 'clear') {
        queue.clear()
        model.length = 0
      } else {
        expect(queue.push(item)).toBe(model.length < capacity)
        if (model.length < capacity) model.push(item)
      }
      expect([...queue]).toEqual(model)
      expect(queue.peek()).toBe(model[0])
      expect(queue.at(model.length - 1)).toBe(model.at(-1))
      expect(queue.at(model.length)).toBeUndefined()
    }
  }))
})
