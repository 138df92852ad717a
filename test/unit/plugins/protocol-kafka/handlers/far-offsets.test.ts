import { describe, expect, it } from 'vitest'
import { fetchApi, listOffsetsApi } from '../../../../../src/wire/messages/index.ts'
import { type Api, type RequestDraftOf, type ResponseOf } from '../../../../../src/wire/schema/message.ts'
import { batchOf } from '../fixture/batches.ts'
import { fetch } from '../fixture/requests.ts'
import { TestBroker } from '../fixture/test-broker.ts'

/** Stands in the request where the test wants a number that cannot be written. */
const placeholder = 0x0012_3456 * 0x1_0000_0000 + 0x789a_bcde
const placeholderBytes = [0x00, 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde]

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- any API
async function ask<A extends Api<any, any>>(broker: TestBroker, api: A, version: number, request: RequestDraftOf<A>, value: bigint): Promise<ResponseOf<A>> {
  const client = broker.connect()
  const { bytes, response } = client.frame(api, version, request)
  const at = bytes.findIndex((_, index) => placeholderBytes.every((byte, place) => bytes[index + place] === byte))
  expect(at).toBeGreaterThan(0)
  new DataView(bytes.buffer, bytes.byteOffset).setBigInt64(at, value)
  client.socket.give(bytes)
  return response
}

const values = [2n ** 53n - 1n, 2n ** 53n, 2n ** 60n, 2n ** 63n - 1n, -(2n ** 53n), -(2n ** 63n)]

describe('a 64-bit number that no log reaches', () => {
  it.each(values)('%s as an offset of Fetch is out of range, and the connection goes on', async value => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    replica!.append(batchOf(['a']), 0, batchOf(['a']).length)
    const request = fetch('t', [placeholder])
    const { responses } = await ask(broker, fetchApi, 12, request, value)
    expect(responses[0]!.partitions[0]!.errorCode).toBe(1)
  })

  it.each(values)('%s as a timestamp of ListOffsets finds nothing that is later', async value => {
    const broker = await TestBroker.start()
    const [replica] = broker.cluster.topic('t')
    replica!.append(batchOf(['a']), 0, batchOf(['a']).length)
    const request = { replicaId: -1, topics: [{ name: 't', partitions: [{ partitionIndex: 0, timestamp: placeholder }] }] }
    const { topics } = await ask(broker, listOffsetsApi, 2, { ...request, isolationLevel: 0 }, value)
    const { errorCode, offset } = topics[0]!.partitions[0]!
    if (value > 0n) expect([errorCode, offset]).toEqual([0, -1])
    else expect([errorCode, offset]).toEqual([35, -1])
  })
})
