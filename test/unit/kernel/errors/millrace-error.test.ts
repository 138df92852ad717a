import { describe, expect, it } from 'vitest'
import { MillraceError, reasonOf } from '../../../../src/kernel/errors/index.ts'

describe('an error inside of another', () => {
  it('adds its reason alone where it has one', () => {
    expect(reasonOf(new MillraceError('MR_NET_CLOSED', { host: 'a', port: 1, reason: 'ECONNRESET' }))).toBe('ECONNRESET')
  })

  it('adds all that it says where it has none', () => {
    expect(reasonOf(new MillraceError('MR_TOPIC_EXISTS', { topic: 'orders' }))).toBe('topic orders exists already')
    expect(reasonOf(new Error('no'))).toBe('no')
    expect(reasonOf('no')).toBe('no')
  })
})

it('an error says what somebody else has said in its place, and keeps its details', () => {
  const error = new MillraceError('MR_TOPIC_EXISTS', { topic: 'orders' }, undefined, 'Topic \'orders\' already exists.')
  expect([error.message, error.details, error.code]).toEqual(['Topic \'orders\' already exists.', { topic: 'orders' }, 'MR_TOPIC_EXISTS'])
})
