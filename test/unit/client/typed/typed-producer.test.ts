import { describe, expect, it } from 'vitest'
import { deferred } from '../../../../src/base/deferred.ts'
import { json, text, topic, type Serde } from '../../../../src/client/index.ts'
import { testWorld } from '../world/client-world.ts'
import { utf8 } from './typed-fixtures.ts'

/** Answers at once, but for `slow` values, which wait for the gate, and `bad` ones. */
function gated(): { serde: Serde<string>, open: () => void } {
  const gate = deferred<void>()
  const encode = (value: string): Uint8Array | Promise<Uint8Array> => {
    if (value.startsWith('bad')) throw new Error('it is bad')
    return value.startsWith('slow') ? gate.promise.then(() => { if (value === 'slow-bad') throw new Error('it is bad'); return utf8(value) }) : utf8(value)
  }
  return { serde: { encode, decode: bytes => new TextDecoder().decode(bytes) }, open: () => { gate.resolve() } }
}

/** Heard at once, so that nothing is unhandled while other things are waited for. */
const failureOf = (work: Promise<unknown>): Promise<unknown> => work.then(value => { throw new Error(`resolved with ${JSON.stringify(value)}`) }, (error: unknown) => error)

async function worldWithTopic() {
  const world = await testWorld()
  world.cluster.addTopic('orders', [1])
  return { world, producer: world.client().producer(), stored: () => world.cluster.log('orders', 0).records().map(record => record.value) }
}

describe('a producer of typed topics', () => {
  it('sends what the serdes make of a record, and one turn of it as one batch', async () => {
    const { world, producer } = await worldWithTopic()
    const orders = topic('orders', { key: text(), value: json<{ id: number }>() })
    await world.complete(producer.send(orders, { key: 'k', value: { id: 0 }, headers: { a: 'b' } }))
    const places = await world.complete(producer.sendMany(orders, [{ key: 'k', value: { id: 1 } }, { key: 'k', value: null }]))
    expect(places.map(place => place.offset)).toEqual([1, 2])
    const log = world.cluster.log('orders', 0)
    expect(log.records().map(record => [record.key, record.value])).toEqual([['k', '{"id":0}'], ['k', '{"id":1}'], ['k', null]])
    expect(log.batches).toHaveLength(2)
  })

  it('keeps the order of the calls when a serde has to wait, and holds up no other topic', async () => {
    const { world, producer, stored } = await worldWithTopic()
    world.cluster.addTopic('other', [1])
    const { serde, open } = gated()
    const orders = topic('orders', { value: serde })
    const sent = [producer.send(orders, { value: 'slow-1' }), producer.send(orders, { value: '2' }), producer.sendMany(orders, [{ value: '3' }, { value: 'slow-4' }]), producer.send(orders, { value: '5' })]
    const failed = [producer.send(orders, { value: 'slow-bad' }), producer.send(orders, { value: 'bad' })].map(failureOf)
    await world.complete(producer.send(topic('other', { value: serde }), { value: 'x' }))
    expect(stored()).toEqual([])
    open()
    await world.complete(Promise.all(sent))
    for (const each of failed) expect(await world.complete(each)).toMatchObject({ code: 'MR_CLIENT_RECORD_INVALID' })
    await world.complete(producer.send(orders, { value: '6' }))
    expect(stored()).toEqual(['slow-1', '2', '3', 'slow-4', '5', '6'])
  })

  it('sends none of many when one cannot be encoded, early or late', async () => {
    const { world, producer, stored } = await worldWithTopic()
    const { serde, open } = gated()
    const orders = topic('orders', { value: serde })
    expect(await world.rejection(producer.sendMany(orders, [{ value: 'slow-bad' }, { value: 'bad' }]))).toMatchObject({ code: 'MR_CLIENT_RECORD_INVALID' })
    const late = failureOf(producer.sendMany(orders, [{ value: 'a' }, { value: 'slow-bad' }]))
    open()
    expect(await world.complete(late)).toMatchObject({ code: 'MR_CLIENT_RECORD_INVALID', details: { part: 'value', reason: 'value: it is bad' } })
    await world.complete(producer.flush())
    expect(stored()).toEqual([])
  })

  it('flushes and closes behind what is still being encoded; what is given after is refused', async () => {
    const { world, producer, stored } = await worldWithTopic()
    const { serde, open } = gated()
    const orders = topic('orders', { value: serde })
    const first = producer.send(orders, { value: 'slow-1' })
    const flushed = producer.flush().then(() => stored())
    open()
    await world.complete(first)
    expect(await world.complete(flushed)).toEqual(['slow-1'])
    const next = gated()
    const again = topic('orders', { value: next.serde })
    const second = producer.send(again, { value: 'slow-2' })
    const closed = producer.close()
    expect(await failureOf(producer.send(again, { value: '3' }))).toMatchObject({ code: 'MR_CLIENT_CLOSED' })
    expect(await failureOf(producer.sendMany(again, [{ value: '3' }]))).toMatchObject({ code: 'MR_CLIENT_CLOSED' })
    next.open()
    await world.complete(Promise.all([second, closed]))
    expect(stored()).toEqual(['slow-1', 'slow-2'])
  })

  it('gives up what is not encoded when the time to close is up', async () => {
    const { world, producer, stored } = await worldWithTopic()
    const { serde, open } = gated()
    const late = failureOf(producer.send(topic('orders', { value: serde }), { value: 'slow' }))
    await world.complete(producer.close({ timeoutMs: 10 }))
    open()
    expect(await world.complete(late)).toMatchObject({ code: 'MR_CLIENT_CLOSED' })
    expect(stored()).toEqual([])
  })

  it('says how it is called when it is called otherwise', async () => {
    const { world, producer } = await worldWithTopic()
    const orders = topic('orders', { value: text() })
    const wrong = ([
      [producer.send(orders as never), 'send(topic, { key, value })'], [producer.send('orders' as never, { value: 'x' } as never), 'a topic that topic() made'],
      [producer.sendMany('orders' as never, [{ value: 'x' }] as never), 'a topic that topic() made'], [producer.sendMany(orders, { value: 'x' } as never), 'takes an array'],
      [producer.send(orders, { topic: 'orders', value: 'x' } as never), 'topic is unknown here'],
    ] as [Promise<unknown>, string][]).map(([call, words]) => [failureOf(call), words] as const)
    for (const [call, words] of wrong) expect(await world.complete(call)).toMatchObject({ code: 'MR_CLIENT_RECORD_INVALID', message: expect.stringContaining(words) })
  })
})
