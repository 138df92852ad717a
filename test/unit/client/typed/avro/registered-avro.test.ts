import { describe, expect, it } from 'vitest'
import { avro, schemaRegistry, topic } from '../../../../../src/client/index.ts'
import { callsTo, TestRegistry } from '../registry/test-registry.ts'
import { recordOf, thrown, valuePlace as place } from '../typed-fixtures.ts'

const record = (fields: unknown[], name = 'shop.Order') => ({ type: 'record', name, fields })
const v1 = record([{ name: 'id', type: 'string' }, { name: 'cents', type: 'int' }])
const v2 = record([{ name: 'id', type: 'string' }, { name: 'cents', type: 'long' }, { name: 'note', type: 'string', default: 'none' }])

function withRegistry() {
  const server = new TestRegistry()
  const down = { is: false }
  const registry = schemaRegistry({ url: 'http://registry', attemptsMax: 1, world: { http: callsTo(server, () => {
    if (down.is) return Promise.resolve({ status: 503, body: new Uint8Array() })
    return undefined
  }) } })
  return { server, registry, down }
}
const framed = (id: number, bytes: Uint8Array): Uint8Array => Uint8Array.of(0, 0, 0, 0, id, ...bytes)

describe('avro in the Confluent wire format', () => {
  it('reads what another schema has written as its own, and answers at once from the second record on', async () => {
    const { server, registry } = withRegistry()
    const writer = avro(v1, { registry, autoRegister: true })
    const reader = avro(v2, { registry })
    const bytes = await writer.encode({ id: 'o-1', cents: 5 }, place)
    expect([...bytes.subarray(0, 5)]).toEqual([0, 0, 0, 0, 1])
    const first = reader.decode(bytes, place)
    expect(first).toBeInstanceOf(Promise)
    expect(await first).toEqual({ id: 'o-1', cents: 5, note: 'none' })
    expect(reader.decode(writer.encode({ id: 'o-2', cents: 6 }, place) as Uint8Array, place)).toEqual({ id: 'o-2', cents: 6, note: 'none' })
    expect(JSON.parse(server.schemas[0]!.schema)).toEqual(v1)
    expect(server.asked.map(({ path }) => path)).toEqual(['/subjects/orders-value/versions', '/schemas/ids/1'])
  })

  it('gives values as they were written when it has no schema of its own, and writes with the latest', async () => {
    const { server, registry } = withRegistry()
    server.add('orders-value', JSON.stringify(v1))
    const any = avro(undefined, { registry, useLatest: true })
    const bytes = await any.encode({ id: 'o-1', cents: 5 }, place)
    expect(await any.decode(bytes, place)).toEqual({ id: 'o-1', cents: 5 })
    expect(any.encode({ id: 'o-2', cents: 5 }, place)).toBeInstanceOf(Uint8Array)
    expect(() => avro(undefined, { registry })).toThrow('say useLatest: true')
  })

  it('writes with the latest schema in place of its own, and refuses what does not fit it', async () => {
    const { server, registry } = withRegistry()
    server.add('orders-value', JSON.stringify(v2))
    const serde = avro(v1, { registry, useLatest: true })
    const bytes = await serde.encode({ id: 'o-1', cents: 5 }, place)
    expect(bytes).toEqual(framed(1, avro(v2).encode({ id: 'o-1', cents: 5, note: 'none' }, place) as Uint8Array))
    await expect(Promise.resolve().then(() => serde.encode({ id: 'o-1', cents: 'x' }, place))).rejects.toMatchObject({ path: 'cents' })
  })

  it('takes in the schemas that a schema names, and those that these name, once each', async () => {
    const { server, registry } = withRegistry()
    server.add('money', JSON.stringify(record([{ name: 'cents', type: 'long' }], 'shop.Money')))
    server.add('item', JSON.stringify(record([{ name: 'price', type: 'shop.Money' }], 'shop.Item')), 'AVRO', [{ name: 'shop.Money', subject: 'money', version: 1 }])
    const id = server.add('orders-value', JSON.stringify(record([{ name: 'item', type: 'shop.Item' }, { name: 'total', type: 'shop.Money' }])), 'AVRO', [
      { name: 'shop.Item', subject: 'item', version: 1 }, { name: 'shop.Money', subject: 'money', version: 1 },
    ])
    const serde = avro(undefined, { registry, useLatest: true })
    const value = { item: { price: { cents: 5 } }, total: { cents: 5 } }
    const bytes = await serde.encode(value, place)
    expect(bytes[4]).toBe(id)
    expect(await serde.decode(bytes, place)).toEqual(value)
    expect(server.asked.filter(({ path }) => path.includes('money'))).toHaveLength(1)
  })

  it('ends where schemas name one another in a circle, or endlessly many', async () => {
    const { server, registry } = withRegistry()
    server.add('a', '"int"', 'AVRO', [{ name: 'b', subject: 'b', version: 1 }])
    server.add('b', '"long"', 'AVRO', [{ name: 'a', subject: 'a', version: 1 }])
    const reader = avro(undefined, { registry, useLatest: true })
    expect(await reader.decode(framed(1, Uint8Array.of(2)), place)).toBe(1)
    server.add('many', '"double"', 'AVRO', Array.from({ length: 101 }, (_, index) => ({ name: `n${index}`, subject: `n${index}`, version: 1 })))
    for (let index = 0; index < 101; index++) server.add(`n${index}`, JSON.stringify({ type: 'fixed', name: `F${index}`, size: 1 }))
    await expect(reader.decode(framed(3, Uint8Array.of(2)), place)).rejects.toThrow('names more than 100 others')
  })

  it('makes records undecodable whose schema is unknown, of another format, no Avro, or cannot be read as its own', async () => {
    const { server, registry } = withRegistry()
    for (const [schema, type] of [['{}', 'JSON'], ['"nothing"', 'AVRO'], ['{', 'AVRO'], [JSON.stringify(record([{ name: 'id', type: 'int' }])), 'AVRO']]) server.add('s', schema!, type)
    const orders = topic('orders', { value: avro(v2, { registry }) })
    const expected: [number, string][] = [[9, 'Schema 9 not found'], [1, 'of the type JSON and not AVRO'], [2, 'schema 2 is no Avro'], [3, 'schema 3 is no Avro'], [4, 'cannot be read as this one']]
    for (const [id, words] of expected) {
      await expect(orders.decode(recordOf(null, framed(id, Uint8Array.of(2))))).rejects.toMatchObject({ code: 'MR_CLIENT_RECORD_UNDECODABLE', message: expect.stringContaining(words), record: { offset: 7 } })
    }
    expect(thrown(() => orders.decode(recordOf(null, Uint8Array.of(2, 2))))).toMatchObject({ code: 'MR_CLIENT_RECORD_UNDECODABLE', message: expect.stringContaining('has 2 bytes') })
  })

  it('does not blame the record for a registry that is down, and reads it when that is up again', async () => {
    const { server, registry, down } = withRegistry()
    server.add('orders-value', JSON.stringify(v1))
    const orders = topic('orders', { value: avro(v1, { registry }) })
    const bytes = framed(1, avro(v1).encode({ id: 'o-1', cents: 5 }, place) as Uint8Array)
    down.is = true
    await expect(orders.decode(recordOf(null, bytes))).rejects.toMatchObject({ code: 'MR_REGISTRY_UNAVAILABLE', row: { retriable: true } })
    await expect(orders.encode({ value: { id: 'o-1', cents: 5 } })).rejects.toMatchObject({ code: 'MR_REGISTRY_UNAVAILABLE' })
    down.is = false
    expect(await orders.decode(recordOf(null, bytes))).toMatchObject({ value: { id: 'o-1', cents: 5 } })
  })
})
