import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { json, schemaRegistry, text, topic, type Serde, type SerdePlace } from '../../../../../src/client/index.ts'
import { recordOf, thrown, utf8, valuePlace } from '../typed-fixtures.ts'
import { callsTo, TestRegistry } from './test-registry.ts'

const Order = z.object({ id: z.string() }).meta({ title: 'Order' })
const jsonSchema = { type: 'object', title: 'shop.Order' }

function withRegistry() {
  const server = new TestRegistry()
  return { server, registry: schemaRegistry({ url: 'http://registry', world: { http: callsTo(server) } }) }
}

describe('json in the Confluent wire format', () => {
  it('finds its schema once a subject, and answers at once from then on', async () => {
    const { server, registry } = withRegistry()
    server.add('other', '"int"')
    server.add('orders-value', JSON.stringify(jsonSchema), 'JSON')
    const serde = json(Order, { registry, jsonSchema })
    const first = serde.encode({ id: 'o-1' }, valuePlace)
    expect(first).toBeInstanceOf(Promise)
    expect(await first).toEqual(Uint8Array.of(0, 0, 0, 0, 2, ...utf8('{"id":"o-1"}')))
    expect(serde.encode({ id: 'o-2' }, valuePlace)).toEqual(Uint8Array.of(0, 0, 0, 0, 2, ...utf8('{"id":"o-2"}')))
    expect(serde.decode(serde.encode({ id: 'o-2' }, valuePlace) as Uint8Array, valuePlace)).toEqual({ id: 'o-2' })
    expect(server.asked.map(({ method, path }) => `${method} ${path}`)).toEqual(['POST /subjects/orders-value'])
  })

  it('leaves it to its user whether a schema that is not there is registered: the error is the registry\'s, not the record\'s', async () => {
    const { server, registry } = withRegistry()
    const orders = topic('orders', { key: text(), value: json(Order, { registry, jsonSchema }) })
    await expect(orders.encode({ value: { id: 'o-1' } })).rejects.toMatchObject({ code: 'MR_REGISTRY_NOT_FOUND', message: expect.stringContaining('autoRegister') })
    const serde = json(Order, { registry, jsonSchema, autoRegister: true })
    await serde.encode({ id: 'o-1' }, valuePlace)
    expect(server.subjects.get('orders-value')).toEqual([1])
    expect(await orders.encode({ value: { id: 'o-1' } })).toMatchObject({ value: Uint8Array.of(0, 0, 0, 0, 1, ...utf8('{"id":"o-1"}')) })
  })

  it('takes the JSON Schema of the validator where it can tell, and says what to do where it cannot', async () => {
    const { server, registry } = withRegistry()
    await json(Order, { registry, autoRegister: true, subject: 'record' }).encode({ id: 'o-1' }, valuePlace)
    expect(JSON.parse(server.schemas[0]!.schema)).toMatchObject({ $schema: 'http://json-schema.org/draft-07/schema#', properties: { id: { type: 'string' } } })
    expect([...server.subjects.keys()]).toEqual(['Order'])
    expect(() => json(v.object({ id: v.string() }), { registry })).toThrow('tells no JSON Schema; give one')
    expect(() => json(z.object({ at: z.date() }), { registry })).toThrow('has no JSON Schema for itself')
    expect(() => json(undefined, { registry })).toThrow('give one')
  })

  it('names subjects after the topic, the record, both, or as a function says', async () => {
    const { server, registry } = withRegistry()
    const place: SerdePlace = { topic: 'orders', part: 'key' }
    for (const subject of [undefined, 'topic', 'record', 'topic-record', (at: SerdePlace, record: string) => `${at.part}:${record}`] as const) {
      await json(Order, { registry, jsonSchema, autoRegister: true, ...(subject === undefined ? {} : { subject }) }).encode({ id: 'x' }, place)
    }
    expect([...server.subjects.keys()]).toEqual(['orders-key', 'shop.Order', 'orders-shop.Order', 'key:shop.Order'])
    expect(() => json(Order, { registry, jsonSchema: {}, subject: 'record' }).encode({ id: 'x' }, place)).toThrow('the schema has no name')
  })

  it('writes with the latest version, and refuses one of another format', async () => {
    const { server, registry } = withRegistry()
    server.add('orders-value', '{"a":1}', 'JSON')
    server.add('orders-value', '{"a":2}', 'JSON')
    const serde: Serde<{ id: string }> = json(Order, { registry, useLatest: true })
    expect((await serde.encode({ id: 'x' }, valuePlace))[4]).toBe(2)
    expect(serde.encode({ id: 'x' }, valuePlace)).toBeInstanceOf(Uint8Array)
    server.add('avro-value', '"int"')
    await expect(serde.encode({ id: 'x' }, { topic: 'avro', part: 'value' })).rejects.toMatchObject({ code: 'MR_CLIENT_SETTING', message: expect.stringContaining('of the type AVRO') })
  })

  it('asks no registry for a value that is refused', () => {
    const { server, registry } = withRegistry()
    expect(() => json(Order, { registry, jsonSchema }).encode({ id: 1 as never }, valuePlace)).toThrow()
    expect(server.asked).toHaveLength(0)
  })

  it('takes no bytes without the frame, whatever they are', () => {
    const { registry } = withRegistry()
    const orders = topic('orders', { value: json(undefined, { registry, jsonSchema }) })
    const hostile: [Uint8Array, string][] = [
      [utf8('{"id":"o-1"}'), 'begins with the byte 123'], [new Uint8Array(), 'has 0 bytes'], [Uint8Array.of(0, 0, 0, 1), 'has 4 bytes'], [Uint8Array.of(1, 0, 0, 0, 1, 0x31), 'begins with the byte 1'],
      [Uint8Array.of(0, 0, 0, 0, 1), 'it is no JSON'], [Uint8Array.of(0, 0, 0, 0, 1, 0xff), 'it is no UTF-8'],
    ]
    for (const [bytes, words] of hostile) expect(thrown(() => orders.decode(recordOf(null, bytes)))).toMatchObject({ code: 'MR_CLIENT_RECORD_UNDECODABLE', message: expect.stringContaining(words) })
  })

  it('refuses options that contradict one another or say nothing', () => {
    const { registry } = withRegistry()
    const wrong: [object, string][] = [
      [{ registry, autoRegister: true, useLatest: true, jsonSchema }, 'cannot be together'], [{ autoRegister: true }, 'only together with registry'], [{ registry: {}, jsonSchema }, 'schemaRegistry({ url }) makes one'],
      [{ registry, subject: 'name', jsonSchema }, 'topic-record or a function'],
    ]
    for (const [options, words] of wrong) expect(thrown(() => json(Order, options))).toMatchObject({ code: 'MR_CLIENT_SETTING', message: expect.stringContaining(words) })
  })
})
