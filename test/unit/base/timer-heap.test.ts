import fc from 'fast-check'
import { expect, test } from 'vitest'
import { TimerHeap, type TimerEntry } from '../../../src/base/timer-heap.ts'

test('entries leave by deadline, equal ones in the order of adding', () => {
  const heap = new TimerHeap<string>()
  heap.add(20, 'c')
  heap.add(10, 'a')
  heap.add(10, 'b')
  expect(heap.peek()?.value).toBe('a')
  expect(heap.popDue(9)).toBeUndefined()
  expect([heap.popDue(15), heap.popDue(15), heap.popDue(15)].map((entry) => entry?.value)).toEqual(['a', 'b', undefined])
  expect(heap.size).toBe(1)
})

test('removing or moving an entry that has left says false', () => {
  const heap = new TimerHeap<string>()
  const entry = heap.add(1, 'a')
  heap.add(2, 'b')
  expect(heap.popDue(1)).toBe(entry)
  expect(heap.remove(entry)).toBe(false)
  expect(heap.reschedule(entry, 5)).toBe(false)
  expect(heap.size).toBe(1)
})

test('clear makes every handle one that has left', () => {
  const heap = new TimerHeap<string>()
  const entry = heap.add(1, 'a')
  heap.clear()
  heap.add(1, 'other')
  expect(heap.remove(entry)).toBe(false)
  expect(heap.size).toBe(1)
})

test('after any adds, removes and moves it pops like a sorted list', () => {
  const command = fc.oneof(
    fc.record({ kind: fc.constant('add' as const), at: fc.nat(50), which: fc.nat() }),
    fc.record({ kind: fc.constant('remove' as const), at: fc.nat(50), which: fc.nat() }),
    fc.record({ kind: fc.constant('move' as const), at: fc.nat(50), which: fc.nat() }),
    fc.record({ kind: fc.constant('pop' as const), at: fc.nat(50), which: fc.nat() }),
  )
  fc.assert(fc.property(fc.array(command, { maxLength: 200 }), (commands) => {
    const heap = new TimerHeap<number>()
    let model: { entry: TimerEntry<number>, at: number, order: number }[] = []
    let order = 0
    const sorted = (): typeof model => [...model].sort((left, right) => left.at - right.at || left.order - right.order)
    for (const { kind, at, which } of commands) {
      const chosen = model.length === 0 ? undefined : model[which % model.length]!
      if (kind === 'add') model.push({ entry: heap.add(at, order), at, order: order++ })
      else if (kind === 'remove' && chosen) {
        expect(heap.remove(chosen.entry)).toBe(true)
        model = model.filter((item) => item !== chosen)
      } else if (kind === 'move' && chosen) {
        expect(heap.reschedule(chosen.entry, at)).toBe(true)
        chosen.at = at
        chosen.order = order++
      } else if (kind === 'pop') {
        const expected = sorted()[0]
        const popped = heap.popDue(at)
        if (expected !== undefined && expected.at <= at) {
          expect(popped).toBe(expected.entry)
          model = model.filter((item) => item !== expected)
        } else expect(popped).toBeUndefined()
      }
      expect(heap.size).toBe(model.length)
    }
    expect(sorted().map((item) => item.entry)).toEqual(Array.from({ length: model.length }, () => heap.popDue(50)))
  }))
})
