import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { isUndecodable, json, MillraceError, text, topic, typedConsumer, type Consumer, type ConsumerRecord, type Producer, type RecordOf, type Serde, type TypedRecord } from '../../../../src/client/index.ts'
import { recordOf, thrown, utf8 } from './typed-fixtures.ts'

const Order = z.object({ id: z.string(), at: z.iso.datetime().transform(at => new Date(at)) })
type OrderSent = z.input<typeof Order>
type OrderRead = z.output<typeof Order>
const orders = topic('orders', { key: text(), value: json(Order) })
const sent: OrderSent = { id: 'o-1', at: '2026-12-01T00:00:00Z' }

describe('a typed topic', () => {
  it('has the types of its serdes: what is sent is the input of the schema, what is read its output, and null is a tombstone', () => {
    expectTypeOf<RecordOf<typeof orders>>().toEqualTypeOf<TypedRecord<'orders', string, OrderRead>>()
    expectTypeOf<RecordOf<typeof orders>['value']>().toEqualTypeOf<{ id: string, at: Date } | null>()
    const check = async (producer: Producer, consumer: Consumer): Promise<void> => {
      await producer.send(orders, { key: 'a', value: sent })
      await producer.send(orders, { value: null })
      // @ts-expect-error: a Date is the output of the schema, not its input
      await producer.send(orders, { key: 'a', value: { id: 'o-1', at: new Date() } })
      // @ts-expect-error: keys are text
      await producer.send(orders, { key: 1, value: sent })
      // @ts-expect-error: without a value
      await producer.sendMany(orders, [{ key: 'a' }])
      for (const record of await typedConsumer(consumer, orders).poll()) expectTypeOf(record.value).toEqualTypeOf<OrderRead | null>()
      const payments = topic('payments', { value: json<{ cents: number }>() })
      for await (const record of typedConsumer(consumer, [orders, payments])) {
        if (record.topic === 'orders') expectTypeOf(record.value).toEqualTypeOf<OrderRead | null>()
        else expectTypeOf(record).toEqualTypeOf<TypedRecord<'payments', Uint8Array, { cents: number }>>()
      }
      expectTypeOf(topic('any', { value: json() }).decode({} as ConsumerRecord)).toEqualTypeOf<TypedRecord<'any', Uint8Array, unknown> | Promise<TypedRecord<'any', Uint8Array, unknown>>>()
    }
    expect(check).toBeTypeOf('function')
  })

  it('answers at once when its serdes do, and gives null to no serde', () => {
    const none: Serde<string> = { encode: () => { throw new Error('asked') }, decode: () => { throw new Error('asked') } }
    const nothing = topic('orders', { key: none, value: none })
    expect(nothing.encode({ value: null })).toEqual({ topic: 'orders', key: null, value: null })
    expect(nothing.decode(recordOf(null, null))).toMatchObject({ key: null, value: null, topic: 'orders', partition: 2, offset: 7 })
    expect(orders.encode({ key: 'k', value: sent, partition: 1, timestamp: 5, headers: { a: 'b' } })).toEqual({
      topic: 'orders', key: utf8('k'), value: utf8(JSON.stringify(sent)), partition: 1, timestamp: 5, headers: { a: 'b' },
    })
    expect(orders.decode(recordOf(utf8('k'), utf8(JSON.stringify(sent))))).toMatchObject({ key: 'k', value: { id: 'o-1', at: new Date(sent.at) } })
  })

  it('names part, path and reason of what cannot be sent', () => {
    expect(thrown(() => orders.encode({ key: 'k', value: { id: 'x', at: 'never' } }))).toMatchObject({
      code: 'MR_CLIENT_RECORD_INVALID', details: { topic: 'orders', part: 'value', path: 'at' }, message: expect.stringMatching(/^the record for orders cannot be sent: value at at: /),
    })
    expect(thrown(() => orders.encode({ key: 7 as never, value: sent }))).toMatchObject({ details: { part: 'key', reason: 'key: it is a number, and text is wanted' } })
    expect(thrown(() => orders.encode({ key: 'k' } as never))).toMatchObject({ message: expect.stringContaining('value is missing') })
    expect(thrown(() => orders.encode({ valeu: sent } as never))).toMatchObject({ message: expect.stringContaining('did you mean value?') })
    expect(thrown(() => orders.encode(null as never))).toMatchObject({ code: 'MR_CLIENT_RECORD_INVALID' })
  })

  it('names topic, partition, offset, part, path and reason of what cannot be decoded, and has its bytes', () => {
    const bad = recordOf(utf8('k'), utf8('{"id":"o-1","at":"never"}'))
    const error = thrown(() => orders.decode(bad))
    expect(error).toMatchObject({ code: 'MR_CLIENT_RECORD_UNDECODABLE', details: { topic: 'orders', partition: 2, offset: 7, part: 'value', path: 'at' } })
    expect((error as Error).message).toMatch(/^the value of the record at offset 7 of orders-2 cannot be decoded at at: /)
    expect(isUndecodable(error) && error.record).toBe(bad)
    expect(thrown(() => orders.decode(recordOf(Uint8Array.of(0xff), null)))).toMatchObject({ details: { part: 'key', reason: 'it is no UTF-8' } })
    expect(isUndecodable(new MillraceError('MR_CLIENT_RECORD_UNDECODABLE'))).toBe(false)
  })

  it('takes serdes that answer later, for the key, the value or both, and leaves no rejection to itself', async () => {
    const late: Serde<string> = { encode: async value => Promise.resolve(utf8(value)), decode: async bytes => Promise.resolve(new TextDecoder().decode(bytes)) }
    const broken: Serde<string> = { encode: () => Promise.reject(new Error('no')), decode: () => Promise.reject(new Error('no')) }
    for (const [key, value] of [[late, late], [text(), late], [late, text()]] as const) {
      const both = topic('orders', { key, value })
      expect(await both.encode({ key: 'k', value: 'v' })).toEqual({ topic: 'orders', key: utf8('k'), value: utf8('v') })
      expect(await both.decode(recordOf(utf8('k'), utf8('v')))).toMatchObject({ key: 'k', value: 'v' })
    }
    const throwing: Serde<string> = { encode: () => { throw new Error('no') }, decode: () => { throw new Error('no') } }
    for (const [key, value] of [[broken, broken], [text(), broken], [broken, text()], [broken, throwing], [late, throwing], [throwing, broken]] as const) {
      const both = topic('orders', { key, value })
      await expect(Promise.resolve().then(() => both.encode({ key: 'k', value: 'v' }))).rejects.toMatchObject({ code: 'MR_CLIENT_RECORD_INVALID' })
      await expect(Promise.resolve().then(() => both.decode(recordOf(utf8('k'), utf8('v'))))).rejects.toMatchObject({ code: 'MR_CLIENT_RECORD_UNDECODABLE' })
    }
  })

  it('leaves an error of the world as it is: the record is not at fault', () => {
    const outside = new MillraceError('MR_NET_CONNECT', { host: 'h', port: 1, reason: 'x' })
    const serde: Serde<string> = { encode: () => { throw outside }, decode: () => { throw outside } }
    const some = topic('orders', { value: serde })
    expect(thrown(() => some.encode({ value: 'v' }))).toBe(outside)
    expect(thrown(() => some.decode(recordOf(null, utf8('v'))))).toBe(outside)
  })

  it('refuses what is no name, no serde or another topic\'s record', () => {
    const wrong: [() => unknown, string][] = [
      [() => topic('' as never, { value: text() }), 'not empty'], [() => topic('t', null as never), '{ key, value }'], [() => topic('t', {} as never), 'value is undefined'],
      [() => topic('t', { value: text as never }), 'is it a call that is missing'], [() => topic('t', { value: text(), keys: text() } as never), 'did you mean key?'],
      [() => topic('other', { value: text() }).decode(recordOf(null, null)), 'a record of orders'],
    ]
    for (const [run, words] of wrong) expect(thrown(run)).toMatchObject({ code: 'MR_CLIENT_SETTING', message: expect.stringContaining(words) })
    expect(thrown(() => topic('t', { value: { encode: () => 'text', decode: () => 1 } as never }).encode({ value: 1 as never }))).toMatchObject({ message: expect.stringContaining('gave a string and no bytes') })
  })
})
