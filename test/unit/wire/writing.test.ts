import { describe, expect, test } from 'vitest'
import { BytesReader } from '../../../src/base/bytes-reader.ts'
import { BytesWriter } from '../../../src/base/bytes-writer.ts'
import { isMillraceError } from '../../../src/kernel/errors/index.ts'
import {
  codecFor, completeMessage, fetchApi, findCoordinatorApi, heartbeatApi, joinGroupApi, type MessageDefinition, metadataApi, offsetFetchApi,
  produceApi, saslAuthenticateApi, wireApis,
} from '../../../src/wire/index.ts'
import { type FactField, type FactMessage, type Range, readMessages } from './reference/kafka-grammar.ts'
import { defaultOf, encode, type Message } from './reference/reference-codec.ts'

const facts = readMessages()
const holds = (range: Range | undefined, version: number): boolean => range !== undefined && version >= range.min && version <= range.max

function write(definition: MessageDefinition, version: number, message: unknown): Uint8Array {
  const writer = new BytesWriter()
  codecFor(definition, version).write(writer, message as never)
  return writer.finish()
}

function codeOf(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (isMillraceError(error)) return error.code
    throw error
  }
  return 'none'
}

const someValue = (field: FactField): unknown => {
  if (field.isArray) return [field.fields.length > 0 ? defaults(field.fields) : scalarValue(field.type)]
  if (field.fields.length === 0) return field.type === 'bool' ? defaultOf(field) !== true : scalarValue(field.type)
  const [first] = field.fields
  return { ...defaults(field.fields), [first!.name]: someValue(first!) }
}

function scalarValue(type: string): unknown {
  switch (type) {
    case 'bool': return true
    case 'string': return 'text'
    case 'uuid': return 'mKYwH6x0QDuRL3bZ1OyCmA'
    case 'bytes':
    case 'records': return new Uint8Array(3)
    default: return 7
  }
}

/** Defaults that every version may send. */
function defaults(fields: FactField[]): Message {
  return Object.fromEntries(fields.map(field => [field.name, defaultOf(field)]))
}

/** Every field that this version lacks, with a message that sets it and leaves everything else at its default. */
function* absentFields(fact: FactMessage, version: number): Generator<{ path: string; field: FactField; message: Message }> {
  yield* absentIn(fact.fields, version, '', own => own)
}

function* absentIn(
  fields: FactField[], version: number, path: string, wrap: (own: Message) => Message,
): Generator<{ path: string; field: FactField; message: Message }> {
  for (const field of fields) {
    const at = path === '' ? field.name : `${path}.${field.name}`
    const set = (value: unknown): Message => wrap({ ...defaults(fields), [field.name]: value })
    if (!holds(field.versions, version)) yield { path: at, field, message: set(someValue(field)) }
    else yield* absentIn(field.fields, version, at, own => set(field.isArray ? [own] : own))
  }
}

describe('a writer', () => {
  test('takes the default for every field that is left out', () => {
    expect(write(metadataApi.request, 9, {})).toEqual(write(metadataApi.request, 9, {
      topics: [], allowAutoTopicCreation: true, includeClusterAuthorizedOperations: false, includeTopicAuthorizedOperations: false,
    }))
    const draft = { maxWaitMs: 1, minBytes: 1, topics: [] }
    const read = codecFor(fetchApi.request, 18).read(new BytesReader(write(fetchApi.request, 18, draft)))
    expect(read).toEqual(completeMessage(fetchApi.request, draft))
    expect(read).toMatchObject({ clusterId: null, maxBytes: 0x7fff_ffff, sessionEpoch: -1, rackId: '', replicaState: { replicaId: -1, replicaEpoch: -1 } })
  })

  test('drops what a version lacks where the definition allows it, and refuses it where not: every field of every version', () => {
    let dropped = 0
    let refused = 0
    for (const definition of wireApis.flatMap(api => [api.request, api.response])) {
      const fact = facts.get(definition.name)!
      for (let version = definition.versions.min; version <= definition.versions.max; version++) {
        for (const { path, field, message } of absentFields(fact, version)) {
          const what = `${definition.name} v${version} ${path}`
          const code = codeOf(() => write(definition, version, message))
          if (field.ignorable) {
            expect(code, what).toBe('none')
            expect(Buffer.from(write(definition, version, message)).equals(encode(fact, version, message)), what).toBe(true)
            dropped++
          } else {
            expect(code, what).toBe('MR_PROTOCOL_FIELD_VERSION')
            refused++
          }
        }
      }
    }
    expect(dropped).toBeGreaterThan(300)
    expect(refused).toBeGreaterThan(100)
  })

  test('names message, field and version of a value that it may not drop', () => {
    expect(() => write(findCoordinatorApi.request, 3, { coordinatorKeys: ['a', 'b'] }))
      .toThrow('FindCoordinatorRequest.coordinatorKeys cannot be sent in version 3')
    expect(() => write(offsetFetchApi.request, 7, { groups: [{ groupId: 'g', topics: null }] })).toThrow('OffsetFetchRequest.groups')
    expect(() => write(heartbeatApi.request, 2, { groupId: 'g', generationId: 1, memberId: 'm', groupInstanceId: 'i' }))
      .toThrow('HeartbeatRequest.groupInstanceId')
  })

  test('refuses numbers that their type cannot hold, rather than send other numbers', () => {
    const heartbeat = { groupId: 'g', memberId: 'm' }
    for (const generationId of [2 ** 31, -(2 ** 31) - 1, 1.5, NaN, Infinity, '1', null]) {
      expect(codeOf(() => write(heartbeatApi.request, 0, { ...heartbeat, generationId }))).toBe('MR_PROTOCOL_UNWRITABLE')
    }
    for (const acks of [32_768, -32_769, 0.5]) {
      expect(codeOf(() => write(produceApi.request, 9, { acks, timeoutMs: 1, topicData: [] }))).toBe('MR_PROTOCOL_UNWRITABLE')
    }
    for (const sessionLifetimeMs of [2 ** 53, -(2 ** 53), 0.1, NaN]) {
      expect(codeOf(() => write(saslAuthenticateApi.response, 1, { errorCode: 0, errorMessage: null, authBytes: new Uint8Array(0), sessionLifetimeMs })))
        .toBe('MR_PROTOCOL_UNWRITABLE')
    }
  })

  test('refuses null, and values of another type, where they are not allowed', () => {
    const heartbeat = { groupId: 'g', generationId: 1, memberId: 'm' }
    for (const memberId of [null, 5, {}]) {
      expect(codeOf(() => write(heartbeatApi.request, 0, { ...heartbeat, memberId }))).toBe('MR_PROTOCOL_UNWRITABLE')
      expect(codeOf(() => write(heartbeatApi.request, 4, { ...heartbeat, memberId }))).toBe('MR_PROTOCOL_UNWRITABLE')
    }
    expect(() => write(metadataApi.request, 0, { topics: null })).toThrow('cannot write MetadataRequest.topics: null is not an array')
    expect(() => write(metadataApi.request, 9, { topics: [{ name: null }] })).toThrow('cannot write MetadataRequest.topics[].name: null is not a string')
    expect(() => write(fetchApi.response, 13, { responses: [{ topicId: 'short', partitions: [] }] })).toThrow('short is not an id of 22 characters')
    expect(codeOf(() => write(saslAuthenticateApi.request, 0, { authBytes: 'token' }))).toBe('MR_PROTOCOL_UNWRITABLE')
  })

  test('refuses text above 32767 bytes in a version that is not flexible, and sends it in one that is', () => {
    const heartbeat = { groupId: 'ü'.repeat(16_384), generationId: 1, memberId: 'm' }
    expect(() => write(heartbeatApi.request, 3, heartbeat)).toThrow('HeartbeatRequest.groupId: its 32768 bytes are more than the 32767 that fit')
    expect(codecFor(heartbeatApi.request, 4).read(new BytesReader(write(heartbeatApi.request, 4, heartbeat))).groupId).toBe(heartbeat.groupId)
  })

  test('copies record batches of up to 4096 bytes and sends larger ones from where they are', () => {
    const message = (records: Uint8Array) => ({ acks: 1, timeoutMs: 1, topicData: [{ name: 't', partitionData: [{ index: 0, records }] }] })
    for (const version of [8, 9]) {
      for (const [size, pieces] of [[4096, 1], [4097, version < 9 ? 2 : 3]] as const) {
        const records = new Uint8Array(size)
        const writer = new BytesWriter()
        codecFor(produceApi.request, version).write(writer, message(records))
        expect(writer.pieces().length).toBe(pieces)
        expect(writer.pieces().includes(records)).toBe(size > 4096)
      }
    }
  })

  test('gives the version it cannot write its own error, as does the reader', () => {
    for (const version of [2, 14, -1, 3.5, NaN]) expect(codeOf(() => codecFor(produceApi.request, version))).toBe('MR_PROTOCOL_UNSUPPORTED_VERSION')
    expect(() => codecFor(produceApi.request, 14)).toThrow('version 14 of ProduceRequest is not served; it is served from 3 to 13')
  })
})

describe('completing a draft', () => {
  test('fills in defaults at every depth and leaves the draft alone', () => {
    const draft = { groupId: 'g', sessionTimeoutMs: 1, memberId: '', protocolType: 'consumer', protocols: [{ name: 'range', metadata: new Uint8Array(0) }] }
    const before = JSON.stringify(draft)
    expect(completeMessage(joinGroupApi.request, draft)).toEqual({ ...draft, rebalanceTimeoutMs: -1, groupInstanceId: null, reason: null })
    expect(JSON.stringify(draft)).toBe(before)
    expect(completeMessage(fetchApi.response, { responses: [{ partitions: [{ partitionIndex: 1, errorCode: 0, highWatermark: 2, records: null }] }] }))
      .toMatchObject({ responses: [{ topic: '', partitions: [{ lastStableOffset: -1, abortedTransactions: [], records: null }] }] })
  })

  test('shares the structs of defaults, which nobody can change', () => {
    const response = completeMessage(fetchApi.response, { responses: [{ partitions: [{ partitionIndex: 1, errorCode: 0, highWatermark: 2, records: null }] }] })
    expect(Object.isFrozen(response.responses[0]!.partitions[0]!.currentLeader)).toBe(true)
  })
})
