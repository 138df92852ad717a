import { expect, it } from 'vitest'
import { checkSubscription } from '../../../../src/client/group/group-arguments.ts'

it('a RegExp in an array of topics is named, and that it is given by itself', () => {
  expect(() => { checkSubscription([/^e$/i], {}) }).toThrow('the array has the RegExp /^e$/i; give it by itself, not in an array: subscribe(/^e$/i)')
  expect(() => { checkSubscription(['a', {}], {}) }).toThrow('{} is no name of a topic')
  expect(() => { checkSubscription(/^e$/, {}) }).not.toThrow()
})
