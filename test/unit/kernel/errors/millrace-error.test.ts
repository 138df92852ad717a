import { describe, expect, it } from 'vitest'
import { errorText, MillraceError, reasonOf, withoutStacks } from '../../../../src/kernel/errors/index.ts'

it('a message is the same whether the error is made or only answered with, and repeats no more than the beginning of a long detail', () => {
  const details = { topic: 'x'.repeat(32_767), reason: 'it is long' }
  const text = errorText('MR_TOPIC_NAME_INVALID', details)
  expect(new MillraceError('MR_TOPIC_NAME_INVALID', details).message).toBe(text)
  expect(text).toBe(`invalid topic name ${'x'.repeat(1000)}…: it is long`)
  expect(new MillraceError('MR_TOPIC_NAME_INVALID', details).details).toBe(details)
})

it('a message shows a detail that is empty as such, and nothing for one that only adds to a word', () => {
  expect(errorText('MR_CONFIG_INVALID', { key: 'listeners', value: '', reason: 'no' })).toBe('invalid value "" for listeners: no')
  expect(errorText('MR_CONFIG_UNKNOWN', { key: 'a', suggestion: '' })).toBe('unknown setting a')
})

describe('an error inside of another', () => {
  it('adds its reason alone where it has one', () => {
    expect(reasonOf(new MillraceError('MR_NET_CLOSED', { host: 'a', port: 1, reason: 'ECONNRESET' }))).toBe('ECONNRESET')
  })

  it('adds all that it says where it has none', () => {
    expect(reasonOf(new MillraceError('MR_TOPIC_EXISTS', { topic: 'orders' }))).toBe('topic orders exists already; choose another name, or delete it first')
    expect(reasonOf(new Error('no'))).toBe('no')
    expect(reasonOf('no')).toBe('no')
  })
})

it('an error says what somebody else has said in its place, and keeps its details', () => {
  const error = new MillraceError('MR_TOPIC_EXISTS', { topic: 'orders' }, undefined, 'Topic \'orders\' already exists.')
  expect([error.message, error.details, error.code]).toEqual(['Topic \'orders\' already exists.', { topic: 'orders' }, 'MR_TOPIC_EXISTS'])
})

it('errors that are made in thousands have no stack, and those around them have theirs', () => {
  const make = (): Error => new MillraceError('MR_TOPIC_UNKNOWN', { topic: 't' })
  const within = withoutStacks(() => [make(), withoutStacks(make), make(), new Error('a fault')])
  expect(within.map(({ stack }) => /\n\s+at /.test(stack!))).toEqual([false, false, false, true])
  expect(within[0]).toMatchObject({ code: 'MR_TOPIC_UNKNOWN', message: 'topic t does not exist' })
  expect(() => withoutStacks(() => { throw make() })).toThrow('topic t does not exist')
  expect(make().stack).toMatch(/\n\s+at /)
})
