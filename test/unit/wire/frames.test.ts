import { describe, expect, test } from 'vitest'
import { BytesReader } from '../../../src/base/bytes-reader.ts'
import { BytesWriter } from '../../../src/base/bytes-writer.ts'
import {
  apiVersionsApi, codecFor, metadataApi, produceApi, readCorrelationId, readRequestHeader, readResponseHeaderRest, writeRequestFrame, writeResponseFrame,
} from '../../../src/wire/index.ts'

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

describe('frames', () => {
  test('a request is size, header v1 and body where the version is not flexible', () => {
    const writer = new BytesWriter()
    writeRequestFrame(writer, metadataApi, { version: 1, correlationId: 7, clientId: 'c' }, { topics: null })
    expect(hex(writer.finish())).toBe('0000000f' + '0003' + '0001' + '00000007' + '000163' + 'ffffffff')
  })

  test('quirk 3: the client id of a flexible header has a 16-bit length and may be null', () => {
    const writer = new BytesWriter()
    writeRequestFrame(writer, apiVersionsApi, { version: 3, correlationId: 7, clientId: null }, { clientSoftwareName: 'm', clientSoftwareVersion: '1' })
    const frame = writer.finish()
    expect(hex(frame)).toBe('00000010' + '0012' + '0003' + '00000007' + 'ffff' + '00' + '026d' + '0231' + '00')
    const reader = new BytesReader(frame, 4)
    expect(readRequestHeader(reader)).toEqual({ apiKey: 18, apiVersion: 3, correlationId: 7, clientId: null })
    expect(codecFor(apiVersionsApi.request, 3).read(reader).clientSoftwareName).toBe('m')
  })

  test('quirk 2: a flexible ApiVersions response has header v0, another flexible response has v1', () => {
    const writer = new BytesWriter()
    writeResponseFrame(writer, apiVersionsApi, { version: 3, correlationId: 7 }, { errorCode: 0, apiKeys: [] })
    expect(hex(writer.finish())).toBe('0000000c' + '00000007' + '0000' + '01' + '00000000' + '00')
    writer.reset()
    writeResponseFrame(writer, produceApi, { version: 9, correlationId: 7 }, { responses: [] })
    const frame = writer.finish()
    expect(hex(frame)).toBe('0000000b' + '00000007' + '00' + '01' + '00000000' + '00')
    const reader = new BytesReader(frame, 4)
    expect(readCorrelationId(reader)).toBe(7)
    readResponseHeaderRest(reader, 0, 9)
    expect(codecFor(produceApi.response, 9).read(reader)).toEqual({ responses: [], throttleTimeMs: 0, nodeEndpoints: [] })
  })

  test('the size of a frame counts record batches that go out without a copy', () => {
    const writer = new BytesWriter()
    const records = new Uint8Array(100_000).fill(5)
    writeRequestFrame(writer, produceApi, { version: 9, correlationId: 1, clientId: 'c' }, {
      acks: 1, timeoutMs: 1, topicData: [{ name: 't', partitionData: [{ index: 0, records }] }],
    })
    expect(writer.pieces().some(piece => piece === records)).toBe(true)
    const frame = writer.finish()
    expect(new DataView(frame.buffer).getInt32(0)).toBe(frame.length - 4)
  })
})
