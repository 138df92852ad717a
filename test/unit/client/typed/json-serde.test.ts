import { type StandardSchemaV1 } from '@standard-schema/spec'
import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { json, type StandardSchema } from '../../../../src/client/index.ts'
import { ofUtf8, thrown, utf8, valuePlace as place } from './typed-fixtures.ts'

const Order = z.object({ id: z.string(), items: z.array(z.object({ price: z.number() })) })
const written = (value: unknown): string | null => ofUtf8(json().encode(value, place) as Uint8Array)
const read = (text: string, options = {}): unknown => json(undefined, options).decode(utf8(text), place)

describe('json()', () => {
  it('gives back every JSON value', () => {
    fc.assert(fc.property(fc.jsonValue(), value => {
      expect(read(written(value)!)).toEqual(JSON.parse(JSON.stringify(value)))
    }), { numRuns: 500 })
  })

  it('refuses, with its place, what JSON.stringify would lose without a word', () => {
    const lost: [unknown, string, string][] = [
      [{ a: [1, NaN] }, 'a[1]', 'no finite number'], [-Infinity, '', 'no finite number'], [{ 'odd name': new Map([[1, 2]]) }, '["odd name"]', 'a Map or a Set'],
      [{ a: { b: new Set([1]) } }, 'a.b', 'a Map or a Set'], [{ a: [{ n: 7n }] }, 'a[0].n', 'bigint'], [undefined, '', 'undefined'], [() => 1, '', 'function'],
    ]
    for (const [value, path, reason] of lost) expect(thrown(() => written(value)), reason).toMatchObject({ path, message: expect.stringContaining(reason) })
    expect(written({ a: null, b: {}, c: 'null {}' })).toBe('{"a":null,"b":{},"c":"null {}"}')
  })

  it('writes Dates and whatever has a toJSON as these say', () => {
    expect(written({ at: new Date(0), n: { toJSON: () => '12n' } })).toBe('{"at":"1970-01-01T00:00:00.000Z","n":"12n"}')
  })

  it('refuses circles and depths that the engine cannot do', () => {
    const circle: Record<string, unknown> = {}
    circle['self'] = circle
    expect(() => written(circle)).toThrow(/circular/)
    let deep: unknown = 1
    for (let depth = 0; depth < 200_000; depth++) deep = [deep]
    expect(() => written(deep)).toThrow('it is nested too deeply')
  })

  it('says why bytes are no JSON, and not what they are', () => {
    for (const secret of ['s3cret', '{"a":s3cret}', '{"password": "s3cret", oops "more than a few words follow it here"}', '"s3cret', '\u0000s3cret', '{"s3cret":1}x', '']) {
      const error = thrown(() => read(secret)) as Error
      expect(error.message).toMatch(/^it is no JSON: ./)
      expect(error.message).not.toContain('s3cret')
      expect(error.cause).toBeUndefined()
    }
    expect(() => json().decode(Uint8Array.of(0x22, 0xff, 0x22), place)).toThrow('it is no UTF-8')
    expect(read('\ufeff{"a":1}')).toEqual({ a: 1 })
  })

  it('refuses an integer that a number would change, says where it is, and takes it when told to round', () => {
    expect(thrown(() => read('{"id": 9007199254740993}'))).toMatchObject({ message: expect.stringContaining('an integer of 16 digits at position 7') })
    expect(() => read(`[${'9'.repeat(100_000)}]`)).toThrow('an integer of 100000 digits')
    expect(read('{"id": 9007199254740993}', { integers: 'round' })).toEqual({ id: 9007199254740992 })
    const exact = '{"id":"9007199254740993","\\"9007199254740993":1,"x":0.12345678901234567,"y":1e300,"z":9007199254740992,"w":-12345678901234567e3,"s":"\\\\"}'
    expect(read(exact)).toEqual(JSON.parse(exact))
  })

  it('finds every integer that would change, whatever stands around it, and no other', () => {
    const number = fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n })
    fc.assert(fc.property(fc.array(fc.oneof(number, fc.string(), fc.double({ noNaN: true, noDefaultInfinity: true }))), values => {
      const isKept = values.every(value => typeof value !== 'bigint' || BigInt(Number(value)) === value || String(Number(value)) === String(value))
      const textOf = `{"a":[${values.map(value => typeof value === 'bigint' ? String(value) : JSON.stringify(value)).join(',')}]}`
      if (isKept) expect(read(textOf)).toEqual(JSON.parse(textOf))
      else expect(() => read(textOf)).toThrow('which a number cannot hold')
    }), { numRuns: 500 })
  })

  it('lets no bytes through that are not what JSON.parse makes of them, and breaks at none', () => {
    fc.assert(fc.property(fc.oneof(fc.uint8Array({ maxLength: 200 }), fc.string().map(utf8)), bytes => {
      let value: unknown
      try {
        value = json(undefined, { integers: 'round' }).decode(bytes, place)
      } catch (error) {
        expect(error).toMatchObject({ name: 'SerdeFault' })
        return
      }
      expect(value).toEqual(JSON.parse(new TextDecoder().decode(bytes)))
    }), { numRuns: 500 })
  })
})

describe('json(schema)', () => {
  it('takes the input of a schema to be sent, and gives its output when it is read', () => {
    const Event = z.object({ at: z.iso.datetime().transform(at => new Date(at)), n: z.string().transform(BigInt), kind: z.string().default('new') })
    const serde = json(Event)
    const bytes = serde.encode({ at: '2026-12-01T00:00:00Z', n: '9007199254740993' }, place) as Uint8Array
    expect(ofUtf8(bytes)).toBe('{"at":"2026-12-01T00:00:00Z","n":"9007199254740993"}')
    expect(serde.decode(bytes, place)).toEqual({ at: new Date('2026-12-01T00:00:00Z'), n: 9007199254740993n, kind: 'new' })
  })

  it.each([
    ['zod', Order as StandardSchema],
    ['valibot', v.object({ id: v.string(), items: v.array(v.object({ price: v.number() })) }) as StandardSchema],
  ])('says with the path what %s has against a value, sent or read', (_vendor, schema) => {
    const serde = json(schema)
    const wrong = { id: 'o-1', items: [{ price: 1 }, { price: 'two' }] }
    expect(thrown(() => serde.encode(wrong, place))).toMatchObject({ path: 'items[1].price', message: expect.stringMatching(/number/i) })
    expect(thrown(() => serde.decode(utf8(JSON.stringify(wrong)), place))).toMatchObject({ path: 'items[1].price' })
  })

  it('shows the first three complaints and counts the others', () => {
    const issues = ['a', 'b', 'c', 'd', 'e'].map(key => ({ message: `${key} is bad`, path: [{ key }] }))
    const schema: StandardSchema = { '~standard': { version: 1, vendor: 'own', validate: () => ({ issues }) } }
    expect(thrown(() => json(schema).decode(utf8('{}'), place))).toMatchObject({ path: 'a', message: 'a is bad; b: b is bad; c: c is bad (and 2 more)' })
  })

  it('awaits a validator that answers later', async () => {
    const serde = json(z.string().refine(async value => Promise.resolve(value !== 'bad'), 'it is bad'))
    const later: StandardSchema<string> = { '~standard': { version: 1, vendor: 'own', validate: value => Promise.resolve(value === 'bad' ? { issues: [{ message: 'it is bad' }] } : { value: value as string }) } }
    for (const each of [json(later), serde]) {
      expect(ofUtf8(await each.encode('good', place))).toBe('"good"')
      expect(await each.decode(utf8('"good"'), place)).toBe('good')
      await expect(Promise.resolve().then(() => each.encode('bad', place))).rejects.toThrow('it is bad')
      await expect(Promise.resolve().then(() => each.decode(utf8('"bad"'), place))).rejects.toThrow('it is bad')
    }
  })

  it('refuses what is no schema, and options that there are not', () => {
    expect(() => json({ parse: () => 1 } as never)).toThrow('no Standard Schema')
    expect(() => json(Order, { integer: 'round' } as never)).toThrow('did you mean integers?')
    expect(() => json(Order, { integers: 'up' } as never)).toThrow('integers is refuse or round')
  })
})

it('StandardSchema is what the specification says, both ways', () => {
  expectTypeOf<StandardSchemaV1<string, number>>().toExtend<StandardSchema<string, number>>()
  expectTypeOf<StandardSchema<string, number>>().toExtend<StandardSchemaV1<string, number>>()
})
