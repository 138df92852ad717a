import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import { BytesReader } from '../../../src/base/bytes-reader.ts'
import { BytesWriter } from '../../../src/base/bytes-writer.ts'
import { Prng } from '../../../src/base/prng.ts'
import { codecFor, completeMessage, consumerAssignment, consumerSubscription, type MessageDefinition, wireApis } from '../../../src/wire/index.ts'
import { type Field, type Struct } from '../../../src/wire/schema/definition.ts'
import { type FactField, type FactMessage, readApis, readMessages } from './reference/kafka-grammar.ts'
import { randomMessage } from './reference/random-message.ts'
import { decode, encode } from './reference/reference-codec.ts'

const facts = readMessages()
const apis = readApis()
const definitions: MessageDefinition[] = [
  ...wireApis.flatMap(api => [api.request, api.response]), consumerSubscription, consumerAssignment,
]

function factOf(definition: MessageDefinition): FactMessage {
  const fact = facts.get(definition.name)
  if (fact === undefined) throw new Error(`the facts have no ${definition.name}`)
  return fact
}

function* versionsOf(definition: MessageDefinition): Generator<number> {
  for (let version = definition.versions.min; version <= definition.versions.max; version++) yield version
}

/** One line a field, the same from both sources. `default` as JSON, since the facts write numbers in several ways. */
const line = (path: string, parts: Record<string, unknown>): string => `${path} ${JSON.stringify(parts)}`

function factLines(fields: FactField[], path: string): string[] {
  return fields.flatMap(field => [
    line(`${path}.${field.name}`, {
      type: `${field.isArray ? '[]' : ''}${field.type}`, versions: String(field.versions.min) + '-' + String(field.versions.max),
      nullable: field.nullable, tag: field.tag, ignorable: field.ignorable, default: defaultText(field.default, field.type),
    }),
    ...factLines(field.fields, `${path}.${field.name}`),
  ])
}

function defaultText(text: string | undefined, type: string): string | undefined {
  if (text === undefined || text === 'null' || text === 'true' || text === 'false') return text
  return type === 'string' ? text : String(Math.min(Number(text), Number.MAX_SAFE_INTEGER))
}

function definitionLines(struct: Struct, path: string): string[] {
  return Object.entries(struct.fields).flatMap(([name, field]: [string, Field]) => {
    const { type, options, versions, nullable } = field
    const inner = type.kind === 'struct' ? type.struct : type.kind === 'array' && typeof type.element === 'object' ? type.element : undefined
    const typeName = inner?.name ?? (type.kind === 'array' ? type.element as string : type.kind)
    return [
      line(`${path}.${name}`, {
        type: `${type.kind === 'array' ? '[]' : ''}${typeName}`, versions: String(versions.min) + '-' + String(versions.max),
        nullable, tag: options.tag, ignorable: options.ignorable ?? false,
        default: options.default === '' ? '""' : options.default === undefined ? undefined : String(options.default),
      }),
      ...(inner === undefined ? [] : definitionLines(inner, `${path}.${name}`)),
    ]
  })
}

describe('the definitions', () => {
  test('have the keys, names and versions of Kafka 4.4', () => {
    for (const api of wireApis) {
      const fact = apis.find(one => one.key === api.key)!
      expect({ name: api.name, versions: api.versions, flexible: api.flexible })
        .toEqual({ name: fact.name, versions: fact.versions, flexible: fact.flexible })
    }
  })

  test.each(definitions.map(definition => [definition.name, definition] as const))('%s has the fields of Kafka 4.4, in order', (_name, definition) => {
    const fact = factOf(definition)
    expect({ versions: definition.versions, flexible: definition.flexible }).toEqual({ versions: fact.versions, flexible: fact.flexible })
    expect(definitionLines(definition.root, '')).toEqual(factLines(fact.fields, ''))
  })
})

/** As `toEqual`, which takes a millisecond for a few thousand bytes, where they are equal. */
function expectSame(actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected)
}

describe('the compiled codecs', () => {
  const seed = Number(process.env['SEED'] ?? 4_201)
  const rounds = 12

  test.each(definitions.map(definition => [definition.name, definition] as const))(
    `%s: random messages of every version are the same for the reference codec (seed ${seed})`, (name, definition) => {
      const fact = factOf(definition)
      for (const version of versionsOf(definition)) {
        const codec = codecFor(definition, version)
        const prng = new Prng(seed).fork(`${name}${version}`)
        for (let round = 0; round < rounds; round++) {
          const message = randomMessage(fact, version, prng)
          const expected = encode(fact, version, message)
          const writer = new BytesWriter()
          codec.write(writer, message as never)
          const written = writer.finish()
          expect(Buffer.from(written).equals(expected), `bytes of v${version}, round ${round}`).toBe(true)
          expectSame(decode(fact, version, written), { value: message, rest: 0 })
          const reader = new BytesReader(new Uint8Array(expected))
          expectSame(codec.read(reader), message)
          expect(reader.remaining).toBe(0)
        }
      }
    })

  test(`completing a whole message changes nothing (seed ${seed})`, () => {
    for (const definition of definitions) {
      const message = randomMessage(factOf(definition), definition.versions.max, new Prng(seed).fork(definition.name))
      expect(completeMessage(definition, message as never)).toEqual(message)
    }
  })
})
