import { describe, expect, it } from 'vitest'
import { brokerError } from '../../../src/client/client-error.ts'
import { MillraceError } from '../../../src/kernel/errors/index.ts'
import { kafkaErrors } from '../../../src/wire/index.ts'

const creating = (kafkaCode: number, message: string | null, topic = 'c6') => brokerError(kafkaCode, { what: `creating topic ${topic}`, topic, message })

describe('the error for what a broker answered', () => {
  const codes = [
    'MR_TOPIC_NAME_INVALID', 'MR_TOPIC_PARTITIONS_INVALID', 'MR_TOPIC_REPLICATION_INVALID', 'MR_TOPIC_ASSIGNMENT_INVALID', 'MR_TOPIC_REQUEST_INVALID', 'MR_TOPIC_EXISTS',
  ] as const
  it.each(codes)('names the topic once, whether this broker says why or another: %s', (code) => {
    for (const topic of ['c6', 'bad name', 'a.b', 'a[b']) {
      const told = new MillraceError(code, { topic, reason: 'replication factor 3 needs as many brokers' })
      const message = creating(told.row.kafka, told.message, topic).message
      expect([message, message.split(topic).length - 1]).toEqual([message, 1])
    }
  })

  it('is in the broker\'s own words where they name the topic, with the code of the protocol where ours says less', () => {
    expect(creating(kafkaErrors.INVALID_REPLICATION_FACTOR, 'topic c6: replication factor 3 needs as many brokers, and 1 are registered'))
      .toMatchObject({ code: 'MR_TOPIC_REPLICATION_INVALID', message: 'topic c6: replication factor 3 needs as many brokers, and 1 are registered' })
    expect(creating(kafkaErrors.INVALID_REQUEST, 'topic c6: it is named more than once in the request'))
      .toMatchObject({ code: 'MR_CLIENT_BROKER_REFUSED', message: 'topic c6: it is named more than once in the request (the broker answered INVALID_REQUEST)' })
    expect(brokerError(kafkaErrors.RECORD_LIST_TOO_LARGE, { what: 'producing to c6-0', topic: 'c6', partition: 0, message: 'c6-0 takes less' }).message).not.toContain('producing to')
  })

  it('says of a setting that is refused which it is, for which topic, and why', () => {
    expect(creating(kafkaErrors.INVALID_CONFIG, 'unknown setting retention.mss; did you mean retention.ms?')).toMatchObject({
      code: 'MR_CONFIG_INVALID', message: 'creating topic c6: unknown setting retention.mss; did you mean retention.ms?',
      details: { topic: 'c6', error: 'INVALID_CONFIG', reason: 'unknown setting retention.mss; did you mean retention.ms?' },
    })
    expect(creating(kafkaErrors.INVALID_CONFIG, null)).toMatchObject({ code: 'MR_CLIENT_BROKER_REFUSED', message: 'creating topic c6: the broker answered INVALID_CONFIG; correct what was asked for, or see the log of that broker' })
  })

  it('names the topic itself where the broker does not', () => {
    expect(creating(kafkaErrors.INVALID_REPLICATION_FACTOR, 'Unable to replicate the partition 3 time(s)').message).toBe('topic c6: Unable to replicate the partition 3 time(s)')
    expect(creating(kafkaErrors.INVALID_TOPIC_EXCEPTION, null, 'bad name').message).toBe('invalid topic name bad name: only letters, digits, ".", "_" and "-" are allowed')
    expect(creating(kafkaErrors.INVALID_PARTITIONS, null).message).toBe('topic c6: INVALID_PARTITIONS')
    expect(creating(kafkaErrors.INVALID_REQUEST, 'invalid value 5 for c6.ms').message).toBe('creating topic c6: the broker answered INVALID_REQUEST (invalid value 5 for c6.ms); correct what was asked for, or see the log of that broker')
  })
})
