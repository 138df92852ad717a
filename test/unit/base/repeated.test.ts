import { expect, it } from 'vitest'
import { repeated } from '../../../src/base/repeated.ts'

it('names each item that occurs more than once, whatever stands between', () => {
  expect([...repeated(['a', 'b', 'a', 'c', 'b', 'a'])]).toEqual(['a', 'b'])
  expect(repeated([1, 2, 3]).size).toBe(0)
})
