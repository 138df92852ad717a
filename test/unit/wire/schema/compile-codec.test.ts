import { describe, expect, expectTypeOf, test } from 'vitest'
import { BytesReader } from '../../../../src/base/bytes-reader.ts'
import { BytesWriter } from '../../../../src/base/bytes-writer.ts'
import { type DraftOf, type MessageOf, type RequestOf, type ResponseDraftOf, type fetchApi, produceApi } from '../../../../src/wire/index.ts'
import { codecFor } from '../../../../src/wire/schema/compile-codec.ts'
import { arrayOf, bool, bytes, int32, int64, int8, nested, string, struct, uuid } from '../../../../src/wire/schema/definition.ts'
import { defineMessage, type MessageDefinition } from '../../../../src/wire/schema/message.ts'

const hex = (data: Uint8Array): string => Buffer.from(data).toString('hex')

function written(definition: MessageDefinition, version: number, message: unknown): Uint8Array {
  const writer = new BytesWriter()
  codecFor(definition, version).write(writer, message as never)
  return writer.finish()
}

describe('a compiled codec', () => {
  test('writes tagged fields ascending by tag, whatever their order in the definition', () => {
    const definition = defineMessage({ name: 'Tagged', versions: '0', flexible: '0+' }, {
      third: int8('0+', { tag: 3 }), first: int8('0+', { tag: 1 }), second: string('0+', { tag: 2, nullable: '0+', default: null }),
    })
    const bytesOfAll = written(definition, 0, { third: 3, first: 1, second: 'b' })
    expect(hex(bytesOfAll)).toBe('03' + '010101' + '02020262' + '030103')
    expect(codecFor(definition, 0).read(new BytesReader(bytesOfAll))).toEqual({ third: 3, first: 1, second: 'b' })
    expect(hex(written(definition, 0, { third: 0, first: 0, second: null }))).toBe('00')
  })

  test('reads tagged fields in any order and takes the last one of a tag', () => {
    const definition = defineMessage({ name: 'Tagged', versions: '0', flexible: '0+' }, {
      first: int8('0+', { tag: 1 }), second: int8('0+', { tag: 2 }),
    })
    const reader = new BytesReader(new Uint8Array([3, 2, 1, 9, 1, 1, 8, 2, 1, 7]))
    expect(codecFor(definition, 0).read(reader)).toEqual({ first: 8, second: 7 })
  })

  test('a tagged struct that may be null begins with an int8, and tagged fields may hold tagged fields', () => {
    const definition = defineMessage({ name: 'Deep', versions: '0', flexible: '0+' }, {
      maybe: nested('0+', struct('Maybe', { inner: int8('0+', { tag: 0 }), name: string('0+') }), { tag: 0, nullable: '0+', default: null }),
      list: arrayOf('0+', struct('Item', { id: uuid('0+', { tag: 5 }) }), { tag: 1 }),
    })
    const message = { maybe: { inner: 7, name: 'n' }, list: [{ id: 'AAAAAAAAAAAAAAAAAAAAAA' }, { id: 'mKYwH6x0QDuRL3bZ1OyCmA' }] }
    const data = written(definition, 0, message)
    expect(hex(data)).toBe('02' + '0007' + '01' + '026e' + '01000107' + '0115' + '03' + '00' + '010510' + '98a6301fac74403b912f76d9d4ec8298')
    expect(codecFor(definition, 0).read(new BytesReader(data))).toEqual(message)
    expect(codecFor(definition, 0).read(new BytesReader(written(definition, 0, {})))).toEqual({ maybe: null, list: [] })
  })

  test('fields may be called like anything that its source uses', () => {
    const names = ['reader', 'writer', 'message', 'value', 'count', 'index', 'tag', 'tagEnd', 'end', 'outer', 'primitives', 'trace', 'default', 'noBytes', 'newWriter']
    const fields = Object.fromEntries(names.map((name, index) => [name, index % 2 === 0 ? int32('0+') : int32('0+', { tag: index })]))
    const definition = defineMessage({ name: 'Names', versions: '0', flexible: '0+' }, fields)
    const message = Object.fromEntries(names.map((name, index) => [name, index + 1]))
    expect(codecFor(definition, 0).read(new BytesReader(written(definition, 0, message)))).toEqual(message)
  })

  test('has no field that objects inherit, nor a name that is no identifier', () => {
    for (const name of ['constructor', 'toString', 'a-b', 'Upper', '__proto', 'a;b']) {
      const definition = defineMessage({ name: 'Bad', versions: '0' }, { [name]: int8('0+') })
      expect(() => written(definition, 0, {})).toThrow('invariant broken')
    }
  })

  test('gives one shape for all versions: the same keys in the same order', () => {
    const definition = defineMessage({ name: 'Shape', versions: '0-1', flexible: '1+' }, {
      late: int64('1+', { default: -1 }), both: bool('0+'), early: bytes('0', { nullable: '0', default: null }), tagged: string('1+', { tag: 0, ignorable: true }),
    })
    const keys = ['late', 'both', 'early', 'tagged']
    for (const version of [0, 1]) {
      expect(Object.keys(codecFor(definition, version).read(new BytesReader(written(definition, version, {}))) as object)).toEqual(keys)
    }
  })

  test('is compiled once a version', () => {
    expect(codecFor(produceApi.request, 9)).toBe(codecFor(produceApi.request, 9))
    expect(codecFor(produceApi.request, 9)).not.toBe(codecFor(produceApi.request, 10))
  })
})

describe('the types of messages', () => {
  test('follow from the definitions', () => {
    type Request = RequestOf<typeof produceApi>
    expectTypeOf<Request['transactionalId']>().toEqualTypeOf<string | null>()
    expectTypeOf<Request['acks']>().toEqualTypeOf<number>()
    expectTypeOf<Request['topicData'][number]['partitionData'][number]['records']>().toEqualTypeOf<Uint8Array | null>()
    expectTypeOf<MessageOf<typeof fetchApi.request>['replicaState']>().toEqualTypeOf<{ readonly replicaId: number; readonly replicaEpoch: number }>()
    expectTypeOf<MessageOf<typeof fetchApi.response>['responses'][number]['partitions'][number]['abortedTransactions']>()
      .toEqualTypeOf<readonly { readonly producerId: number; readonly firstOffset: number }[] | null>()
  })

  test('let a draft leave out what has a default or is not in every version, and nothing else', () => {
    type Draft = DraftOf<typeof produceApi.request>
    expectTypeOf<{ acks: number; timeoutMs: number; topicData: [] }>().toExtend<Draft>()
    expectTypeOf<{ acks: number; topicData: [] }>().not.toExtend<Draft>()
    expectTypeOf<{ acks: string; timeoutMs: number; topicData: [] }>().not.toExtend<Draft>()
    expectTypeOf<RequestOf<typeof produceApi>>().toExtend<Draft>()
    expectTypeOf<ResponseDraftOf<typeof produceApi>['throttleTimeMs']>().toEqualTypeOf<number | undefined>()
  })
})
