import { describe, expect, it } from 'vitest'
import { foreignProtocol } from '../../../../../src/plugins/protocol-kafka/core/foreign-protocol.ts'

/** As the size of a frame is read. */
const sizeOf = (bytes: Uint8Array): number => new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getInt32(0)
const ofText = (text: string): number => sizeOf(new TextEncoder().encode(text))

describe('the first bytes of a peer', () => {
  it('tell TLS of any version', () => {
    for (const minor of [0, 1, 2, 3, 4]) expect(foreignProtocol(sizeOf(new Uint8Array([0x16, 3, minor, 1])))).toBe('TLS')
  })

  it('tell HTTP by its methods, and by the preface of its second version', () => {
    const requests = ['GET / HTTP/1.1', 'HEAD /', 'POST /', 'PUT /', 'DELETE /', 'OPTIONS *', 'PATCH /', 'CONNECT a:1', 'TRACE /', 'PRI * HTTP/2.0']
    expect(requests.filter((request) => foreignProtocol(ofText(request)) !== 'HTTP')).toEqual([])
  })

  it('tell nothing else: sizes that are merely too large, negative ones, other words', () => {
    for (const size of [104_857_601, 0x7fff_ffff, -1, -0x8000_0000, 0x1602_0301, 0x1503_0301]) expect(foreignProtocol(size)).toBeUndefined()
    for (const text of ['get ', 'GETA', 'SSH-2.0', 'EHLO a']) expect(foreignProtocol(ofText(text))).toBeUndefined()
  })
})
