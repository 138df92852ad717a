import fc from 'fast-check'
import protobufjs from 'protobufjs'
import { describe, expect, it } from 'vitest'
import { protobuf, schemaRegistry, SerdeFault, topic, type Serde } from '../../../../../src/client/index.ts'
import { messageIndexBytes, readMessageIndex } from '../../../../../src/client/typed/protobuf/message-index.ts'
import { callsTo, TestRegistry } from '../registry/test-registry.ts'
import { recordOf, thrown, valuePlace as place } from '../typed-fixtures.ts'

const proto = `syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
message Other { map<string, int32> counts = 1; enum Kind { NONE = 0; } message First { string x = 1; } message Item { string sku = 1; double unit_price = 2; } }
enum State { NEW = 0; PAID = 1; }
message Order {
  string id = 1; int64 cents = 2; bytes raw = 3; State state = 4; repeated Other.Item items = 5;
  oneof payer { string person = 6; int32 company = 7; }
  map<string, uint64> counts = 8; google.protobuf.Timestamp at = 9; optional uint32 note = 10; Order parent = 11;
}`
const orderOf = (options = {}): Serde<Record<string, unknown>> => protobuf({ proto, message: 'shop.Order' }, options)
const full = {
  id: 'o-1', cents: -(2n ** 63n), raw: Uint8Array.of(1, 2), state: 'PAID', items: [{ sku: 'a', unitPrice: 1.5 }], person: 'me', counts: { x: 2n ** 64n - 1n }, at: { seconds: 5n, nanos: 1 }, note: 0, parent: null,
}

describe('protobuf()', () => {
  it('gives back every value: 64 bits as bigints, enums by name, what is not set by its default', () => {
    const serde = orderOf()
    expect(serde.decode(serde.encode(full, place) as Uint8Array, place)).toEqual({ ...full, raw: Buffer.from([1, 2]) })
    expect(serde.decode(serde.encode({}, place) as Uint8Array, place)).toMatchObject({ id: '', cents: 0n, state: 'NEW', items: [], counts: {} })
    const orders = fc.record({
      id: fc.string({ unit: 'grapheme' }), cents: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), state: fc.constantFrom('NEW', 'PAID'),
      items: fc.array(fc.record({ sku: fc.string({ unit: 'grapheme' }), unitPrice: fc.double() })), counts: fc.dictionary(fc.stringMatching(/^[a-z]{1,9}$/), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), { noNullPrototype: true }),
    })
    fc.assert(fc.property(orders, order => { expect(serde.decode(serde.encode(order, place) as Uint8Array, place)).toMatchObject(order) }))
  })

  it('writes what protobufjs writes, from a file or from a type of protobufjs', () => {
    const type = protobufjs.parse('syntax = "proto3"; message M { string a = 1; }').root.lookupType('M')
    expect(Uint8Array.from(protobuf(type).encode({ a: 'x' }, place) as Uint8Array)).toEqual(Uint8Array.of(10, 1, 0x78))
    expect(orderOf({ keepCase: true }).decode(orderOf().encode({ items: [{ unitPrice: 2 }] }, place) as Uint8Array, place)).toMatchObject({ items: [{ unit_price: 2 }] })
    expect(orderOf({ conversion: { longs: String } }).decode(orderOf().encode({ cents: 7 }, place) as Uint8Array, place)).toMatchObject({ cents: '7' })
  })

  it('refuses with its path what protobufjs would change or leave out without a word', () => {
    const wrong: [object, string, string][] = [
      [{ idd: 'x' }, 'idd', 'no field of that name'], [{ id: 7 }, 'id', 'the schema says string'], [{ cents: '12x' }, 'cents', 'int64'], [{ cents: 2n ** 63n }, 'cents', 'int64'], [{ cents: 1.5 }, 'cents', 'int64'],
      [{ state: 'LOST' }, 'state', 'no name or number of State'], [{ items: [{ sku: 'a' }, { unitPrice: '1' }] }, 'items[1].unitPrice', 'double'], [{ items: {} }, 'items', 'give an array'], [{ counts: [1] }, 'counts', 'give an object'],
      [{ counts: { a: -1 } }, 'counts.a', 'uint64'], [{ person: 'a', company: 1 }, '', 'of which payer has one'], [{ note: 2 ** 32 }, 'note', 'uint32'], [{ raw: 'x' }, 'raw', 'bytes'], [{ id: '\ud800' }, 'id', 'string'], [[], '', 'an array'],
    ]
    for (const [value, path, words] of wrong) expect(thrown(() => orderOf().encode(value as never, place)), words).toMatchObject({ path, message: expect.stringContaining(words) })
    const required = protobuf({ proto: 'syntax = "proto2"; message M { required string a = 1; }', message: 'M' })
    expect(thrown(() => required.encode({}, place))).toMatchObject({ path: 'a', message: 'it is required, and not there' })
  })

  it('makes a value or a SerdeFault of any bytes, however deep', () => {
    const attempt = (bytes: Uint8Array): void => {
      try {
        orderOf().decode(bytes, place)
      } catch (error) {
        expect(error).toBeInstanceOf(SerdeFault)
      }
    }
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), attempt), { numRuns: 300 })
    const encoded = orderOf().encode(full, place) as Uint8Array
    fc.assert(fc.property(fc.nat(), fc.nat(255), (at, byte) => { const bytes = Uint8Array.from(encoded); bytes[at % bytes.length] = byte; attempt(bytes) }), { numRuns: 300 })
    let deep: number[] = []
    for (let depth = 0; depth < 120; depth++) deep = [0x5a, ...(deep.length < 128 ? [deep.length] : [(deep.length & 127) | 128, deep.length >> 7]), ...deep]
    expect(() => orderOf().decode(Uint8Array.from(deep), place)).toThrow(SerdeFault)
  })

  it('refuses what is no file, no message of it, or imports what is not at hand', () => {
    const wrong: [unknown, object | undefined, string][] = [
      [{ proto: 'message {', message: 'M' }, undefined, 'no Protobuf'], [{ proto, message: 'shop.None' }, undefined, 'no message shop.None'], [{ proto, message: 'shop.State' }, undefined, 'no message'], [{}, undefined, '{ proto, message }'],
      [{ proto: 'syntax = "proto3"; import "own.proto"; message M {}', message: 'M' }, undefined, 'imports own.proto'], [{ proto, message: 'shop.Order' }, { useLatest: true }, 'only together with registry'], [{ proto, message: 'shop.Order' }, { longs: 1 }, 'unknown here'],
      [protobufjs.parse('syntax = "proto3"; message M {}').root.lookupType('M'), { registry: {} }, 'give { proto, message }'],
    ]
    for (const [given, options, words] of wrong) expect(thrown(() => protobuf(given as never, options as never))).toMatchObject({ code: 'MR_CLIENT_SETTING', message: expect.stringContaining(words) })
  })
})

describe('protobuf in the Confluent wire format', () => {
  const withRegistry = () => {
    const server = new TestRegistry()
    return { server, registry: schemaRegistry({ url: 'http://registry', world: { http: callsTo(server) } }) }
  }

  it('writes message indexes as zigzag numbers behind their count, and a single zero for the first message', () => {
    expect([[0], [1], [1, 0], [70, 2]].map(index => [...messageIndexBytes(index)])).toEqual([[0], [2, 2], [4, 2, 0], [4, 140, 1, 4]])
    fc.assert(fc.property(fc.array(fc.nat(2 ** 31 - 1), { minLength: 1, maxLength: 9 }), index => {
      const bytes = Uint8Array.of(0, 0, 0, 0, 1, ...messageIndexBytes(index), 9)
      expect(readMessageIndex(bytes)).toEqual({ index, valueAt: bytes.length - 1 })
    }))
  })

  it('counts messages alone, and finds nested ones', async () => {
    const { server, registry } = withRegistry()
    const order = orderOf({ registry, autoRegister: true })
    const item = protobuf({ proto, message: 'shop.Other.Item' }, { registry, autoRegister: true })
    const bytes = await order.encode({ id: 'a' }, place)
    expect([...bytes]).toEqual([0, 0, 0, 0, 1, 2, 2, 10, 1, 0x61])
    expect([...await item.encode({ sku: 'a' }, place)]).toEqual([0, 0, 0, 0, 1, 4, 0, 2, 10, 1, 0x61])
    expect(await order.decode(bytes, place)).toMatchObject({ id: 'a' })
    expect(order.decode(order.encode({ id: 'b' }, place) as Uint8Array, place)).toMatchObject({ id: 'b' })
    expect(server.schemas[0]).toMatchObject({ schema: proto, schemaType: 'PROTOBUF' })
  })

  it('makes undecodable what is another message, or of another format, or broken before the value', async () => {
    const { server, registry } = withRegistry()
    server.add('s', proto, 'PROTOBUF')
    server.add('s', '{}', 'JSON')
    server.add('s', 'Cg5ub3QgcGFyc2VhYmxl', 'PROTOBUF')
    const orders = topic('orders', { value: orderOf({ registry }) })
    const decode = async (...bytes: number[]): Promise<unknown> => orders.decode(recordOf(null, Uint8Array.of(0, 0, 0, 0, ...bytes)))
    const wrong: [number[], string][] = [
      [[1, 0, 10, 1, 0x61], 'it is shop.Other, of schema 1, and not shop.Order'], [[1, 2, 18], 'a message that the schema does not have'], [[2, 2, 2], 'of the type JSON'], [[3, 0], 'cannot be read'], [[1], 'ends inside the message indexes'],
      [[1, 1], 'a negative number'], [[1, 0xff, 0xff, 0xff, 0xff, 0xff, 1], 'more than 32 bits'], [[1, 0xfe, 0xff, 1], 'message indexes; messages are nested'], [[9, 2, 2], 'Schema 9 not found'], [[1, 2, 2, 10, 200], 'its Protobuf is not of Order'],
    ]
    for (const [bytes, words] of wrong) await expect(decode(...bytes), words).rejects.toMatchObject({ code: 'MR_CLIENT_RECORD_UNDECODABLE', message: expect.stringContaining(words) })
    expect(await decode(3, 2, 2, 10, 1, 0x61)).toMatchObject({ value: { id: 'a' } })
  })

  it('writes with the index that the message has in the latest schema', async () => {
    const { server, registry } = withRegistry()
    server.add('orders-value', 'syntax = "proto3"; package shop; message New { } message Other { } message Order { string id = 1; }', 'PROTOBUF')
    expect([...await orderOf({ registry, useLatest: true }).encode({ id: 'a' }, place)]).toEqual([0, 0, 0, 0, 1, 2, 4, 10, 1, 0x61])
    server.add('other-value', 'syntax = "proto3"; message Order { }', 'PROTOBUF')
    await expect(orderOf({ registry, useLatest: true }).encode({ id: 'a' }, { topic: 'other', part: 'value' })).rejects.toMatchObject({ code: 'MR_CLIENT_SETTING', message: expect.stringContaining('has no message shop.Order') })
  })
})
