import { describe, expect, test } from 'vitest'
import { BytesReader } from '../../../src/base/bytes-reader.ts'
import { Prng } from '../../../src/base/prng.ts'
import { isMillraceError, type MillraceError } from '../../../src/kernel/errors/index.ts'
import {
  apiVersionsApi, codecFor, consumerAssignment, consumerSubscription, consumerGroupHeartbeatApi, decodeAssignment, decodeSubscription, fetchApi,
  listOffsetsApi, type MessageDefinition, metadataApi, produceApi, readRequestHeader, wireApis,
} from '../../../src/wire/index.ts'
import { readMessages } from './reference/kafka-grammar.ts'
import { randomMessage } from './reference/random-message.ts'
import { encode, type Message } from './reference/reference-codec.ts'

const facts = readMessages()
const seed = Number(process.env['SEED'] ?? 977)
const definitions: MessageDefinition[] = [
  ...wireApis.flatMap(api => [api.request, api.response]), consumerSubscription, consumerAssignment,
]

/** Every definition in its first version, its last one, and the first flexible one. */
function* samples(): Generator<{ definition: MessageDefinition; version: number; message: Message; prng: Prng }> {
  for (const definition of definitions) {
    const { min, max } = definition.versions
    for (const version of new Set([min, Math.max(min, Math.min(max, definition.flexible?.min ?? max)), max])) {
      const prng = new Prng(seed).fork(`${definition.name}${version}`)
      yield { definition, version, message: randomMessage(facts.get(definition.name)!, version, prng), prng }
    }
  }
}

function read(definition: MessageDefinition, version: number, bytes: Uint8Array): unknown {
  return codecFor(definition, version).read(new BytesReader(bytes))
}

function refusal(run: () => unknown): MillraceError {
  try {
    run()
  } catch (error) {
    if (isMillraceError(error, 'MR_PROTOCOL_MALFORMED')) return error
    throw error
  }
  throw new Error('it was read')
}

/** Elements of all arrays, at every depth. */
function countElements(value: unknown): number {
  if (value instanceof Uint8Array || typeof value !== 'object' || value === null) return 0
  const own = Array.isArray(value) ? value.length : 0
  return Object.values(value).reduce((sum: number, inner) => sum + countElements(inner), own)
}

const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'))

describe('a malformed message', () => {
  test(`is refused when it is cut off, at eighty places from its first byte to its last, naming message and field (seed ${seed})`, () => {
    for (const { definition, version, message } of samples()) {
      const bytes = new Uint8Array(encode(facts.get(definition.name)!, version, message))
      // Inside of long texts and batches one cut is like another.
      const step = Math.max(1, Math.floor(bytes.length / 80))
      for (let length = 0; length < bytes.length; length += step) {
        const { details } = refusal(() => read(definition, version, bytes.subarray(0, length)))
        expect(details['what']).toMatch(new RegExp(`^${definition.name} v${version} [a-z]|^${definition.name} v${version}  \\(tags\\)$`))
        expect(details['position']).toBeLessThanOrEqual(length)
      }
    }
  })

  test(`with flipped bits is read or refused, and never has more elements than bytes (seed ${seed})`, () => {
    for (const { definition, version, message, prng } of samples()) {
      const original = new Uint8Array(encode(facts.get(definition.name)!, version, message))
      for (let round = 0; round < 60 && original.length > 0; round++) {
        const bytes = original.slice()
        for (let flips = prng.between(1, 4); flips > 0; flips--) bytes[prng.below(bytes.length)]! ^= 1 << prng.below(8)
        try {
          expect(countElements(read(definition, version, bytes))).toBeLessThanOrEqual(bytes.length)
        } catch (error) {
          if (!isMillraceError(error, 'MR_PROTOCOL_MALFORMED')) throw error
        }
      }
    }
  })

  test(`of random bytes is read or refused (seed ${seed})`, () => {
    for (const { definition, version, prng } of samples()) {
      for (let round = 0; round < 20; round++) {
        const bytes = prng.bytes(prng.below(120))
        try {
          expect(countElements(read(definition, version, bytes))).toBeLessThanOrEqual(bytes.length)
        } catch (error) {
          if (!isMillraceError(error, 'MR_PROTOCOL_MALFORMED')) throw error
        }
      }
    }
  })

  test('that counts more elements than it has bytes for is refused before they are allocated', () => {
    expect(refusal(() => read(metadataApi.request, 1, hex('7fffffff'))).message)
      .toBe('cannot read MetadataRequest v1 topics at byte 4: it counts 2147483647 elements and 0 bytes are left')
    expect(refusal(() => read(metadataApi.request, 9, hex('ffffffff0f 0000'))).message)
      .toBe('cannot read MetadataRequest v9 topics at byte 5: it counts 4294967294 elements and 2 bytes are left')
    // 100 partitions of at least 12 bytes each are announced, and there are 100 bytes.
    const bytes = new Uint8Array([...hex('ffffffff 00000001 0001 74 00000064'), ...new Uint8Array(100)])
    expect(refusal(() => read(listOffsetsApi.request, 1, bytes)).message).toContain('ListOffsetsRequest v1 topics[].partitions at byte 15')
  })

  test('whose arrays have more elements together than are taken is refused before they are allocated, naming the array; without a bound it is read', () => {
    // Metadata v9: topics of an empty name, each of two bytes.
    const topics = (count: number): Uint8Array => new Uint8Array([...hex('e907'), ...Array.from({ length: count }, () => [1, 0]).flat(), 0, 0, 0, 0])
    const bytes = topics(1000)
    const limited = (most: number): unknown => codecFor(metadataApi.request, 9).read(new BytesReader(bytes), most)
    expect(refusal(() => limited(999)).message).toBe('cannot read MetadataRequest v9 topics at byte 2: its arrays have more than the 999 elements that are taken')
    expect(codecFor(metadataApi.request, 9).read(new BytesReader(bytes), 1000).topics).toHaveLength(1000)
    expect(codecFor(metadataApi.request, 9).read(new BytesReader(bytes)).topics).toHaveLength(1000)
    // Elements of arrays in elements count too.
    const nested = hex('ffffffff 00000002 0001 61 00000002 00000000 0000000000000000 00000001 0000000000000000 0001 62 00000001 00000000 0000000000000000')
    const offsets = (most: number): unknown => codecFor(listOffsetsApi.request, 1).read(new BytesReader(nested), most)
    expect(refusal(() => offsets(4)).message).toContain('topics[].partitions')
    expect(offsets(5)).toBeDefined()
  })

  test('with a length beyond its end is refused', () => {
    expect(refusal(() => read(metadataApi.request, 1, hex('00000001 7fff 61'))).message)
      .toBe('cannot read MetadataRequest v1 topics[].name at byte 6: 32767 bytes are needed and 1 are left')
    expect(refusal(() => read(produceApi.request, 3, hex('ffff ffff 00000001 00000001 0001 74 00000001 00000000 7fffffff 00'))).message)
      .toContain('ProduceRequest v3 topicData[].partitionData[].records')
  })

  test('with null where null is not allowed is refused', () => {
    expect(refusal(() => read(metadataApi.request, 0, hex('ffffffff'))).message)
      .toBe('cannot read MetadataRequest v0 topics at byte 4: null is not allowed here')
    expect(refusal(() => read(metadataApi.request, 9, hex('02 00 00'))).message).toContain('MetadataRequest v9 topics[].name')
    expect(refusal(() => read(apiVersionsApi.request, 3, hex('00'))).message).toContain('ApiVersionsRequest v3 clientSoftwareName')
  })

  test('with text that is not UTF-8, and is too long for its length once it is read, is refused; else it is read with U+FFFD', () => {
    const request = (bytes: number): Uint8Array =>
      new Uint8Array([...hex('00000001'), bytes >> 8, bytes & 0xff, ...new Uint8Array(bytes).fill(0xff), 1])
    const name = (bytes: number): string | null => codecFor(metadataApi.request, 4).read(new BytesReader(request(bytes))).topics![0]!.name
    expect(name(10_922)).toBe('\ufffd'.repeat(10_922))
    expect(refusal(() => name(10_923)).message).toBe('cannot read MetadataRequest v4 topics[].name at byte 6: it is not UTF-8')
  })

  test('with an int64 beyond 2^53 - 1 is refused', () => {
    const response = hex('00000000 00000001 0001 74 00000001 00000000 0000 0020000000000000 0000000000000000 00000000 ffffffff')
    expect(refusal(() => read(fetchApi.response, 4, response)).message)
      .toContain('FetchResponse v4 responses[].partitions[].highWatermark at byte 21: it is beyond 2^53 - 1')
  })

  test('with a tagged field beyond its end, or one larger than its size says, is refused', () => {
    expect(refusal(() => read(apiVersionsApi.request, 3, hex('01 01 01 05 ffffffff0f'))).message)
      .toContain('ApiVersionsRequest v3')
    // finalizedFeaturesEpoch (tag 1, 8 bytes) in a field of 4 bytes, with enough bytes behind it.
    expect(refusal(() => read(apiVersionsApi.response, 3, hex('0000 01 00000000 01 01 04 0000000000000000'))).message)
      .toContain('ApiVersionsResponse v3 finalizedFeaturesEpoch')
  })

  test('leaves a reader that is used for the next message as it was', () => {
    const bytes = hex('0000 01 00000000 01 01 04 0000000000000000')
    const reader = new BytesReader(bytes)
    refusal(() => codecFor(apiVersionsApi.response, 3).read(reader))
    reader.reset(hex('0000 00000000 00000009'))
    expect(codecFor(apiVersionsApi.response, 1).read(reader).throttleTimeMs).toBe(9)
  })

  test('header or member data is refused in the same way', () => {
    expect(refusal(() => readRequestHeader(new BytesReader(hex('0003 0001 0000'))))
      .message).toBe('cannot read a request header at byte 4: 4 bytes are needed and 2 are left')
    expect(refusal(() => decodeSubscription(hex('00'))).message).toContain('the version of ConsumerProtocolSubscription')
    expect(refusal(() => decodeAssignment(hex('ffff'))).message).toContain('it is -1')
  })
})

describe('what a reader takes without complaint', () => {
  test(`tagged fields that it does not know, in every struct of every flexible message (seed ${seed})`, () => {
    for (const { definition, version, message } of samples()) {
      const fact = facts.get(definition.name)!
      for (const unknownTag of [77, 2 ** 31]) {
        const bytes = new Uint8Array(encode(fact, version, message, { unknownTag }))
        const reader = new BytesReader(bytes)
        expect(codecFor(definition, version).read(reader)).toEqual(message)
        expect(reader.remaining).toBe(0)
      }
    }
  })

  test('quirk 5: bytes behind the body, as librdkafka sends them to ask for all topics', () => {
    for (const body of ['00000000 00 00 00 00', '00000000 01 00 00 00']) {
      expect(codecFor(metadataApi.request, 9).read(new BytesReader(hex(body))).topics).toBe(null)
    }
    for (const { definition, version, message } of samples()) {
      const bytes = new Uint8Array([...encode(facts.get(definition.name)!, version, message), 0, 0, 0])
      expect(read(definition, version, bytes)).toEqual(message)
    }
  })

  test('a high watermark of 2^63 - 1 in Fetch v18, which means that the follower knows none', () => {
    const fact = facts.get('FetchRequest')!
    const message = randomMessage(fact, 18, new Prng(1))
    const partition = {
      partition: 0, currentLeaderEpoch: -1, fetchOffset: 0, lastFetchedEpoch: -1, logStartOffset: -1, partitionMaxBytes: 1,
      replicaDirectoryId: 'AAAAAAAAAAAAAAAAAAAAAA', highWatermark: 5,
    }
    const topicId = 'mKYwH6x0QDuRL3bZ1OyCmA'
    const bytes = encode(fact, 18, { ...message, topics: [{ topic: '', topicId, partitions: [partition] }] })
    const at = bytes.indexOf(hex('01 01 08 0000000000000005'))
    expect(at).toBeGreaterThan(0)
    bytes.set(hex('7fffffffffffffff'), at + 3)
    expect(codecFor(fetchApi.request, 18).read(new BytesReader(bytes)).topics[0]!.partitions[0]!.highWatermark).toBe(Number.MAX_SAFE_INTEGER)
  })

  test('quirk 55: a struct that may be null', () => {
    const nothing = codecFor(consumerGroupHeartbeatApi.response, 0).read(new BytesReader(hex('00000000 0000 00 00 00000001 00001388 ff 00')))
    expect(nothing.assignment).toBe(null)
    const empty = codecFor(consumerGroupHeartbeatApi.response, 0).read(new BytesReader(hex('00000000 0000 00 00 00000001 00001388 01 01 00 00')))
    expect(empty.assignment).toEqual({ topicPartitions: [] })
  })

  test('member data of a version that is not known yet, read as the newest that is', () => {
    expect(decodeSubscription(hex('0009 00000001 0001 74 ffffffff 00000000 00000005 ffff cafe')))
      .toEqual({ topics: ['t'], userData: null, ownedPartitions: [], generationId: 5, rackId: null })
    expect(decodeAssignment(new Uint8Array(0))).toEqual({ assignedPartitions: [], userData: null })
  })
})
