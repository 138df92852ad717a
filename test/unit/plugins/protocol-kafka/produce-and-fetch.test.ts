import { describe, expect, it } from 'vitest'
import { batchesIn } from '../../../../src/kernel/record/record-batch.ts'
import { apiVersionsApi, fetchApi, metadataApi, produceApi } from '../../../../src/wire/messages/index.ts'
import { batchOf } from './fixture/batches.ts'
import { TestBroker } from './fixture/test-broker.ts'

describe('end to end', () => {
  it('what is produced is fetched', async () => {
    const broker = await TestBroker.start()
    const client = broker.connect()
    const versions = await client.call(apiVersionsApi, 3, { clientSoftwareName: 'test', clientSoftwareVersion: '1' })
    expect(versions.apiKeys.map(({ apiKey }) => apiKey)).toContain(0)
    const metadata = await client.call(metadataApi, 12, { topics: [{ name: 'first' }] })
    expect(metadata.topics[0]).toMatchObject({ errorCode: 0, name: 'first', partitions: [{ leaderId: 1 }] })
    const produced = await client.call(produceApi, 9, {
      transactionalId: null, acks: -1, timeoutMs: 1000, topicData: [{ name: 'first', partitionData: [{ index: 0, records: batchOf(['hello']) }] }],
    })
    expect(produced.responses[0]!.partitionResponses[0]).toMatchObject({ errorCode: 0, baseOffset: 0 })
    const fetched = await client.call(fetchApi, 12, {
      maxWaitMs: 0, minBytes: 1, maxBytes: 1e6, topics: [{ topic: 'first', partitions: [{ partition: 0, fetchOffset: 0, partitionMaxBytes: 1e6 }] }],
      forgottenTopicsData: [],
    })
    const [partition] = fetched.responses[0]!.partitions
    expect(partition).toMatchObject({ errorCode: 0, highWatermark: 1 })
    expect([...batchesIn(partition!.records!)].map(({ recordsCount }) => recordsCount)).toEqual([1])
  })
})
