import avsc from 'avsc'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { avro, SerdeFault } from '../../../../../src/client/index.ts'
import { thrown, valuePlace as place } from '../typed-fixtures.ts'
import { anyAvro } from './sample-avro.ts'

const order = {
  type: 'record', name: 'shop.Order',
  fields: [{ name: 'id', type: 'string' }, { name: 'items', type: { type: 'array', items: { type: 'record', name: 'Item', fields: [{ name: 'price', type: 'double' }] } } }, { name: 'note', type: ['null', 'string'], default: null }],
}
/** A zigzag number as Avro writes it. */
function long(value: bigint): number[] {
  const bytes: number[] = []
  let rest = value < 0n ? -value * 2n - 1n : value * 2n
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128)
  return [...bytes, Number(rest)]
}

describe('avro()', () => {
  it('gives back every value of every schema', () => {
    fc.assert(fc.property(anyAvro, ({ schema, value }) => {
      const serde = avro(schema as object)
      expect(serde.decode(serde.encode(value, place) as Uint8Array, place)).toEqual(value)
    }), { numRuns: 500 })
  })

  it('writes what avsc writes, from an object, its text, or a type of avsc', () => {
    const value = { id: 'o-1', items: [{ price: 1.5 }], note: 'x' }
    const expected = Uint8Array.from(avsc.Type.forSchema(order as never).toBuffer(value))
    for (const schema of [order, JSON.stringify(order), avsc.Type.forSchema(order as never)]) expect(Uint8Array.from(avro(schema).encode(value, place) as Uint8Array)).toEqual(expected)
  })

  it('names the place and the type of what is wrong with a value, and not the value', () => {
    const serde = avro(order)
    expect(thrown(() => serde.encode({ id: 'o-1', items: [{ price: 1 }, { price: 's3cret' }] }, place))).toMatchObject({ path: 'items[1].price', message: 'it is a string, and the schema says double' })
    expect(thrown(() => serde.encode({ id: 7, items: [] }, place))).toMatchObject({ path: 'id', message: 'it is a number, and the schema says string' })
    expect(thrown(() => serde.encode('s3cret', place))).toMatchObject({ path: '', message: 'it is a string, and the schema says shop.Order' })
  })

  it('leaves logical types to avsc', () => {
    class DateType extends avsc.types.LogicalType {
      override _fromValue(value: number): Date { return new Date(value) }
      override _toValue(value: Date): number { return value.getTime() }
    }
    const serde = avro<Date[]>({ type: 'array', items: { type: 'long', logicalType: 'timestamp-millis' } }, { avsc: { logicalTypes: { 'timestamp-millis': DateType } } })
    const dates = [new Date(0), new Date(1_800_000_000_000)]
    expect(serde.decode(serde.encode(dates, place) as Uint8Array, place)).toEqual(dates)
    const bigints = avro<bigint>('"long"', { avsc: { registry: { long: avsc.types.LongType.__with({
      fromBuffer: (bytes: Buffer) => bytes.readBigInt64LE(), toBuffer: (value: bigint) => { const bytes = Buffer.alloc(8); bytes.writeBigInt64LE(value); return bytes },
      fromJSON: BigInt, toJSON: Number, isValid: (value: unknown) => typeof value === 'bigint', compare: (a: bigint, b: bigint) => Number(a - b),
    }) } } })
    expect(bigints.decode(bigints.encode(2n ** 60n + 1n, place) as Uint8Array, place)).toBe(2n ** 60n + 1n)
  })

  it('gives back every safe integer as a long, and refuses those beyond', () => {
    const longs = avro<number>('long')
    for (const value of [-(2 ** 52) - 1, -Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, -(2 ** 31) - 1, 2 ** 32, -(2 ** 32), 0, -1]) {
      const bytes = longs.encode(value, place) as Uint8Array
      expect([...bytes]).toEqual(long(BigInt(value)))
      expect(longs.decode(bytes, place)).toBe(value)
    }
    expect(() => longs.decode(Uint8Array.from(long(-(2n ** 53n))), place)).toThrow('a long that a number cannot hold')
    expect(() => longs.encode(2 ** 53, place)).toThrow('the schema says')
  })

  it('refuses bytes that promise more items than they hold, before anything is made of them', () => {
    const bombs: [object, number[]][] = [
      [{ type: 'array', items: 'null' }, long(2n ** 40n)], [{ type: 'array', items: 'long' }, long(2n ** 31n)], [{ type: 'map', values: 'null' }, long(2n ** 50n)],
      [{ type: 'array', items: 'null' }, [...long(-(2n ** 40n)), ...long(1n)]], [{ type: 'array', items: { type: 'array', items: 'null' } }, [...long(60_000n), ...long(60_000n), ...long(60_000n)]],
      [{ type: 'array', items: { type: 'record', name: 'Empty', fields: [] } }, long(2n ** 33n)], [{ type: 'array', items: { type: 'fixed', name: 'None', size: 0 } }, long(2n ** 33n)],
      [{ type: 'record', name: 'R', fields: [{ name: 'a', type: ['null', { type: 'map', values: 'string' }] }] }, [...long(1n), ...long(2n ** 45n)]],
      [{ type: 'array', items: 'null' }, [...long(65_000n), ...long(65_000n), 0]], [{ type: 'array', items: 'string' }, [...long(1n), ...long(2n ** 40n)]], [{ type: 'array', items: 'bytes' }, [...long(1n), ...long(-5n)]],
      [{ type: 'array', items: 'null' }, Array.from({ length: 20 }, () => 0xff)], [{ type: 'array', items: ['null', 'int'] }, [...long(1n), ...long(7n)]], [{ type: 'array', items: 'null' }, [...long(-1n), ...long(-9n), 0]],
    ]
    for (const [schema, bytes] of bombs) expect(thrown(() => avro(schema).decode(Uint8Array.from(bytes), place)), JSON.stringify(schema)).toBeInstanceOf(SerdeFault)
    const many = avro<null[]>({ type: 'array', items: 'null' })
    expect((many.decode(many.encode(new Array(60_000).fill(null), place) as Uint8Array, place) as null[]).length).toBe(60_000)
  })

  it('makes a value or a SerdeFault of any bytes, also of values that were damaged', () => {
    const list = { type: 'record', name: 'List', fields: [{ name: 'next', type: ['List', 'null'] }, { name: 'all', type: { type: 'array', items: 'List' } }] }
    const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 3 })
    const attempt = (schema: object, bytes: Uint8Array): void => {
      try {
        avro(schema).decode(bytes, place)
      } catch (error) {
        expect(error).toBeInstanceOf(SerdeFault)
      }
    }
    for (const schema of [order, list]) fc.assert(fc.property(fc.uint8Array({ maxLength: 100 }), bytes => { attempt(schema, bytes) }), { numRuns: 1000 })
    fc.assert(fc.property(anyAvro, damage, ({ schema, value }, hits) => {
      const bytes = Uint8Array.from(avro(schema as object).encode(value, place) as Uint8Array)
      for (const [at, byte] of hits) if (bytes.length > 0) bytes[at % bytes.length] = byte
      attempt(schema as object, bytes)
    }), { numRuns: 500 })
    attempt({ type: 'array', items: list }, Uint8Array.from([2, ...Array.from({ length: 300_000 }, () => 0)]))
  })

  it('refuses bytes that are too short or too long', () => {
    const bytes = avro(order).encode({ id: 'o-1', items: [], note: null }, place) as Uint8Array
    expect(() => avro(order).decode(bytes.subarray(0, -1), place)).toThrow('its Avro ends early')
    expect(() => avro(order).decode(Uint8Array.of(...bytes, 0), place)).toThrow('trailing data')
    expect(() => avro('"string"').decode(Uint8Array.of(8, 0x61), place)).toThrow('truncated buffer')
  })

  it('refuses what is no schema', () => {
    const wrong: [unknown, object | undefined, string][] = [
      [{ type: 'recrod' }, undefined, 'the schema is no Avro'], ['{', undefined, 'the schema is no Avro'], [7, undefined, 'a number'], [null, undefined, 'null'], [undefined, undefined, 'neither a schema nor a registry'],
      [order, { autoRegister: true }, 'only together with registry'], [order, { logicalTypes: {} }, 'unknown here'],
    ]
    for (const [schema, options, words] of wrong) expect(thrown(() => avro(schema as never, options as never))).toMatchObject({ code: 'MR_CLIENT_SETTING', message: expect.stringContaining(words) })
  })
})
