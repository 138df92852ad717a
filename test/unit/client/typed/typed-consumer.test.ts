import { describe, expect, it } from 'vitest'
import { json, text, topic, typedConsumer, type Consumer, type Serde, type TypedConsumerOptions } from '../../../../src/client/index.ts'
import { testWorld, type TestWorld } from '../world/client-world.ts'
import { ofUtf8 } from './typed-fixtures.ts'

const orders = topic('orders', { key: text(), value: json<{ id: number }>() })

/** Two partitions of five records each, ids 0 to 4 and 10 to 14; offset 2 of partition 0 is no JSON. */
async function worldWithPoison(): Promise<{ world: TestWorld, consumer: Consumer, typed: (options?: TypedConsumerOptions) => ReturnType<typeof reader> }> {
  const world = await testWorld()
  world.cluster.addTopic('orders', [1, 1])
  const client = world.client()
  const producer = client.producer()
  for (const partition of [0, 1]) {
    for (let id = 0; id < 5; id++) {
      if (partition === 0 && id === 2) await world.complete(producer.send({ topic: 'orders', partition, key: 'k', value: 'poison' }))
      else await world.complete(producer.send(orders, { key: 'k', value: { id: partition * 10 + id }, partition }))
    }
  }
  const consumer = client.consumer()
  const reader = (options?: TypedConsumerOptions) => typedConsumer(consumer, orders, options)
  return { world, consumer, typed: reader }
}
const both = [{ topic: 'orders', partition: 0 }, { topic: 'orders', partition: 1 }]
const undecodable = { code: 'MR_CLIENT_RECORD_UNDECODABLE', details: { topic: 'orders', partition: 0, offset: 2, part: 'value' } }

/** Polls until so many polls were refused; gives what came, by partition. */
async function pollUntilRefused(world: TestWorld, poll: () => Promise<{ value: { id: number } | null, partition: number }[]>, refusals: number) {
  const ids: number[][] = [[], []]
  const errors: unknown[] = []
  while (errors.length < refusals) {
    try {
      for (const record of await world.complete(poll())) ids[record.partition]!.push(record.value!.id)
    } catch (error) {
      errors.push(error)
    }
  }
  return { ids, errors }
}

describe('a typed consumer', () => {
  it('gives what came before a record that cannot be decoded, then fails and stays there, while the other partition goes on', async () => {
    const { world, consumer, typed } = await worldWithPoison()
    const reader = typed()
    consumer.assign(both)
    const { ids, errors } = await pollUntilRefused(world, () => reader.poll({ maxRecords: 3 }), 5)
    expect(ids).toEqual([[0, 1], [10, 11, 12, 13, 14]])
    for (const error of errors) expect(error).toMatchObject(undecodable)
    expect(ofUtf8((errors[0] as { record: { value: Uint8Array } }).record.value)).toBe('poison')
    expect(await world.complete(consumer.position(both[0]!))).toBe(2)
    consumer.seek({ ...both[0]!, offset: 3 })
    const rest = await world.complete(reader.poll())
    expect(rest.map(record => [record.offset, record.key, record.value])).toEqual([[3, 'k', { id: 3 }], [4, 'k', { id: 4 }]])
  })

  it('passes over such a record when it was given to onUndecodable, and not when that fails', async () => {
    const { world, consumer, typed } = await worldWithPoison()
    const seen: unknown[] = []
    consumer.assign(both)
    let isDown = true
    const reader = typed({ onUndecodable: async error => {
      seen.push([error.details['offset'], ofUtf8(error.record.value)])
      await Promise.resolve()
      if (isDown) throw new Error('no place for dead letters')
    } })
    const { ids, errors } = await pollUntilRefused(world, () => reader.poll(), 2)
    expect(errors.map(error => (error as Error).message)).toEqual(['no place for dead letters', 'no place for dead letters'])
    isDown = false
    while (ids[0]!.length < 4) for (const record of await world.complete(reader.poll())) ids[record.partition]!.push(record.value!.id)
    expect(ids).toEqual([[0, 1, 3, 4], [10, 11, 12, 13, 14]])
    expect(seen).toEqual([[2, 'poison'], [2, 'poison'], [2, 'poison']])
  })

  it('as a loop ends with the error at such a record, and begins there again', async () => {
    const { world, consumer, typed } = await worldWithPoison()
    consumer.assign([both[0]!])
    const given: number[] = []
    const loop = async (): Promise<void> => { for await (const record of typed()) given.push(record.offset) }
    for (let attempt = 0; attempt < 2; attempt++) expect(await world.rejection(loop())).toMatchObject(undecodable)
    expect(given).toEqual([0, 1])
    consumer.seek({ ...both[0]!, offset: 3 })
    const end = async (): Promise<void> => { for await (const record of typed()) if (given.push(record.offset) === 4) await consumer.close() }
    await world.complete(end())
    expect(given).toEqual([0, 1, 3, 4])
  })

  it('as a loop that is left loses nothing', async () => {
    const { world, consumer, typed } = await worldWithPoison()
    consumer.assign([both[1]!])
    const given: number[] = []
    const one = async (): Promise<void> => { for await (const record of typed()) { given.push(record.offset); break } }
    for (let round = 0; round < 5; round++) await world.complete(one())
    expect(given).toEqual([0, 1, 2, 3, 4])
  })

  it('keeps the order with serdes that answer later', async () => {
    const { world, consumer } = await worldWithPoison()
    consumer.assign([both[1]!])
    const late: Serde<string> = { encode: () => new Uint8Array(), decode: bytes => bytes.length % 2 === 0 ? Promise.resolve().then(() => ofUtf8(bytes)!) : ofUtf8(bytes)! }
    const records = await world.complete(typedConsumer(consumer, topic('orders', { value: late })).poll())
    expect(records.map(record => record.offset)).toEqual([0, 1, 2, 3, 4])
  })

  it('refuses a record of a topic that it was not given, without losing it', async () => {
    const { world, consumer } = await worldWithPoison()
    consumer.assign([both[1]!])
    const other = typedConsumer(consumer, [topic('payments', { value: text() })])
    for (let attempt = 0; attempt < 2; attempt++) expect(await world.rejection(other.poll())).toMatchObject({ code: 'MR_CLIENT_SETTING', message: expect.stringContaining('a record of orders, and was given payments') })
    expect((await world.complete(typedConsumer(consumer, orders).poll())).map(record => record.offset)).toEqual([0, 1, 2, 3, 4])
  })

  it('refuses what is no topic, and options that there are not', async () => {
    const { consumer } = await worldWithPoison()
    for (const wrong of [[], [text()], 'orders', undefined]) expect(() => typedConsumer(consumer, wrong as never)).toThrow('it takes a consumer and a topic')
    expect(() => typedConsumer(consumer, orders, { onUndecodeable: () => 1 } as never)).toThrow('did you mean onUndecodable?')
  })
})
