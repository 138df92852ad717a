import { describe, expect, it } from 'vitest'
import { isMillraceError } from '../../../../src/kernel/errors/index.ts'
import { checkTopicName, collisionKey, isInternalTopic } from '../../../../src/kernel/model/topic-name.ts'

const refusal = (name: string): unknown => {
  try {
    checkTopicName(name)
    return undefined
  } catch (error) {
    return error
  }
}

describe('topic names', () => {
  it.each(['a', 'Orders_2024', 'a.b-c_d', '...', '0', 'x'.repeat(249), '__consumer_offsets'])('%s is legal', (name) => {
    expect(refusal(name)).toBeUndefined()
  })

  it.each(['', '.', '..', 'a b', 'a/b', 'ä', 'a:b', 'x'.repeat(250), 'a\n', 'a\u0000'])('%j is refused with 17', (name) => {
    const error = refusal(name)
    expect(isMillraceError(error, 'MR_TOPIC_NAME_INVALID') && error.row.kafka).toBe(17)
  })

  it('collide when they differ in dots and underscores alone', () => {
    expect(collisionKey('a.b_c')).toBe(collisionKey('a_b.c'))
    expect(collisionKey('a.b')).not.toBe(collisionKey('a-b'))
  })

  it('are internal for the topics that the broker keeps for itself', () => {
    expect(['__consumer_offsets', '__transaction_state', 'orders', '__mine'].map(isInternalTopic)).toEqual([true, true, false, false])
  })
})
