import { describe, expect, it } from 'vitest'
import { BytesReader } from '../../../../../src/base/bytes-reader.ts'
import { BytesWriter } from '../../../../../src/base/bytes-writer.ts'
import { writeRequestHeader } from '../../../../../src/wire/request-header.ts'
import { versionRanges } from '../../../../../src/plugins/protocol-kafka/core/version-ranges.ts'
import { apiVersionsApi, metadataApi } from '../../../../../src/wire/messages/index.ts'
import { TestBroker, turn } from '../fixture/test-broker.ts'

/** A request frame with any header and body. */
function rawFrame(apiKey: number, apiVersion: number, body: readonly number[], clientId: string | null = 'raw'): Uint8Array {
  const writer = new BytesWriter()
  writer.int32(0)
  writeRequestHeader(writer, { apiKey, apiVersion, correlationId: 77, clientId })
  writer.raw(new Uint8Array(body))
  writer.patchInt32(0, writer.position - 4)
  return writer.finish()
}

describe('ApiVersions', () => {
  it('quirk 1: a version too new is answered in version 0 with 35 and the range of ApiVersions; its body is not read', async () => {
    const broker = await TestBroker.start()
    for (const version of [5, 9, 0x7fff]) {
      const client = broker.connect()
      client.socket.onWrite = undefined
      client.socket.give(rawFrame(18, version, [0xff, 0xff, 0xff, 0xff, 0xff]))
      await turn()
      const reader = new BytesReader(client.socket.writes[0]!)
      expect(reader.int32()).toBe(client.socket.writes[0]!.length - 4)
      expect([reader.int32(), reader.int16(), reader.int32()]).toEqual([77, 35, 1])
      expect([reader.int16(), reader.int16(), reader.int16()]).toEqual([18, 0, 4])
      expect(reader.remaining).toBe(0)
      expect(client.socket.destroyed).toBe(false)
    }
  })

  it.each([0, 1, 2, 3, 4])('quirk 2: the response header of version %i has no tag buffer', async (version) => {
    const client = (await TestBroker.start()).connect()
    client.socket.onWrite = undefined
    client.socket.give(rawFrame(18, version, version < 3 ? [] : [5, ...Buffer.from('test'), 2, ...Buffer.from('1'), 0]))
    await turn()
    const reader = new BytesReader(client.socket.writes[0]!, 4)
    expect([reader.int32(), reader.int16()]).toEqual([77, 0])
    // The count of APIs follows at once, and after it the first of them: Produce, from version 0 (quirk 8).
    expect(version < 3 ? reader.int32() : reader.uvarint() - 1).toBe(versionRanges.length)
    expect([reader.int16(), reader.int16()]).toEqual([0, 0])
  })

  it('quirk 3: the client id has a 16-bit length in flexible headers too, and may be null', async () => {
    const broker = await TestBroker.start()
    for (const clientId of [null, '', 'ein Klient']) {
      const client = broker.connect()
      client.socket.onWrite = undefined
      client.socket.give(rawFrame(18, 3, [5, ...Buffer.from('test'), 2, ...Buffer.from('1'), 0], clientId))
      await turn()
      expect(client.socket.writes).toHaveLength(1)
    }
  })

  it('quirk 4: from version 3 on, names of client software that could not be one are refused with 42', async () => {
    const client = (await TestBroker.start()).connect()
    const ask = async (clientSoftwareName: string, clientSoftwareVersion: string): Promise<number> =>
      (await client.call(apiVersionsApi, 3, { clientSoftwareName, clientSoftwareVersion })).errorCode
    for (const [name, version] of [['', '1'], ['a', ''], ['-a', '1'], ['a', '1 '], ['a b', '1'], ['a.', '1']] as const) expect(await ask(name, version)).toBe(42)
    expect(await ask('librdkafka', 'v2.15.1-5-g3-dirty')).toBe(0)
    expect((await client.call(apiVersionsApi, 2, {})).errorCode).toBe(0)
  })

  it('quirk 5: bytes behind the body are ignored', async () => {
    const broker = await TestBroker.start()
    broker.cluster.topic('t')
    const client = broker.connect()
    const { bytes, response } = client.frame(metadataApi, 9, { topics: null })
    const longer = new Uint8Array(bytes.length + 3)
    longer.set(bytes)
    new DataView(longer.buffer).setInt32(0, longer.length - 4)
    client.socket.give(longer)
    expect((await response).topics.map(({ name }) => name)).toEqual(['t'])
  })

  it('there are no features where no other plugin has one', async () => {
    const answer = await (await TestBroker.start()).connect().call(apiVersionsApi, 4, { clientSoftwareName: 'x', clientSoftwareVersion: '1' })
    expect(answer).toMatchObject({ supportedFeatures: [], finalizedFeatures: [], finalizedFeaturesEpoch: -1 })
  })
})
