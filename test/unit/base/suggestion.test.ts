import { expect, test } from 'vitest'
import { editDistance, nearestName, suggestion } from '../../../src/base/suggestion.ts'

const settings = ['retention.ms', 'retention.bytes', 'segment.ms', 'cleanup.policy']

test('a typing error is met with the name that was meant', () => {
  expect(suggestion('retension.ms', settings)).toBe('; did you mean retention.ms?')
  expect(nearestName('Retention.MS', settings)).toBe('retention.ms')
  expect(nearestName('cleanup.polciy', settings)).toBe('cleanup.policy')
})

test('a name far from all gets no suggestion', () => {
  expect(suggestion('compression', settings)).toBe('')
  expect(nearestName('x', ['y1', 'zz'])).toBeUndefined()
})

test('counts insertions, deletions, replacements and swaps', () => {
  expect(editDistance('', 'abc')).toBe(3)
  expect(editDistance('kitten', 'sitting')).toBe(3)
  expect(editDistance('ab', 'ba')).toBe(1)
  expect(editDistance('same', 'same')).toBe(0)
})
