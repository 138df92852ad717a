import { BatchBuilder } from '../../src/kernel/record/batch-builder.ts'
import { putBaseOffset } from '../../src/kernel/record/batch-header.ts'
import { type RequestDispatcher } from '../../src/kernel/ports/protocol-handler.ts'
import {
  apiVersionsApi, completeMessage, fetchApi, initProducerIdApi, listOffsetsApi, metadataApi, produceApi,
  type FetchRequest, type ListOffsetsRequest, type MetadataRequest, type ProduceRequest,
} from '../../src/wire/index.ts'

/** A broker that keeps nothing: it acknowledges all, and has the same batch to give for ever. What is measured over it is the client. */
export class NullBroker implements RequestDispatcher {
  private readonly partitions: number
  private readonly address: { host: string, port: number }
  private readonly batches = new Map<string, Uint8Array>()
  private readonly recordsPerBatch: number
  private readonly valueBytes: number
  bytesProduced = 0

  constructor(options: { partitions: number, host: string, port: number, valueBytes: number, batchBytes: number }) {
    this.partitions = options.partitions
    this.address = options
    this.valueBytes = options.valueBytes
    this.recordsPerBatch = Math.max(1, Math.floor(options.batchBytes / (options.valueBytes + 20)))
  }

  static readonly spans = new Map([produceApi, fetchApi, listOffsetsApi, metadataApi, initProducerIdApi, apiVersionsApi]
    .map(api => [api.key, { min: Math.max(api.versions.min, 0), max: Math.min(api.versions.max, 17) }]))

  versions(): ReadonlyMap<number, { min: number, max: number }> {
    return NullBroker.spans
  }

  dispatch(apiKey: number, _version: number, request: object, _clientId: string | null,
    done: (error: unknown, response: object | undefined, release: () => void) => void): void {
    const { api, response } = this.answer(apiKey, request)
    const complete = completeMessage(api as typeof metadataApi.response, response as never) as object
    setImmediate(() => { done(undefined, complete, () => undefined) })
  }

  answer(apiKey: number, request: object): { api: unknown, response: object } {
    switch (apiKey) {
      case produceApi.key: return { api: produceApi.response, response: this.produce(request as ProduceRequest) }
      case fetchApi.key: return { api: fetchApi.response, response: this.fetch(request as FetchRequest) }
      case listOffsetsApi.key: return { api: listOffsetsApi.response, response: { topics: (request as ListOffsetsRequest).topics.map(({ name, partitions }) => ({
        name, partitions: partitions.map(({ partitionIndex }) => ({ partitionIndex, errorCode: 0, offset: 0, timestamp: -1 })),
      })) } }
      case initProducerIdApi.key: return { api: initProducerIdApi.response, response: { errorCode: 0, producerId: 1, producerEpoch: 0 } }
      case apiVersionsApi.key: return { api: apiVersionsApi.response, response: {
        errorCode: 0, apiKeys: [...NullBroker.spans].map(([key, { min, max }]) => ({ apiKey: key, minVersion: min, maxVersion: max })),
      } }
      default: return { api: metadataApi.response, response: this.metadata(request as MetadataRequest) }
    }
  }

  private metadata({ topics }: MetadataRequest): object {
    return {
      brokers: [{ nodeId: 1, ...this.address }], controllerId: 1, clusterId: 'null',
      topics: (topics ?? []).map(({ name }) => ({ errorCode: 0, name, topicId: 'bnVsbC1icm9rZXItdG9waQ', partitions: Array.from({ length: this.partitions }, (_, partitionIndex) => ({
        errorCode: 0, partitionIndex, leaderId: 1, leaderEpoch: 0, replicaNodes: [1], isrNodes: [1],
      })) })),
    }
  }

  private produce({ topicData }: ProduceRequest): object {
    return { responses: topicData.map(({ name, topicId, partitionData }) => ({ name, topicId, partitionResponses: partitionData.map(({ index, records }) => {
      this.bytesProduced += records!.length
      return { index, errorCode: 0, baseOffset: 0 }
    }) })) }
  }

  private fetch({ topics }: FetchRequest): object {
    return { responses: topics.map(({ topic, topicId, partitions }) => ({ topic, topicId, partitions: partitions.map(({ partition, fetchOffset, partitionMaxBytes }) => ({
      partitionIndex: partition, errorCode: 0, highWatermark: fetchOffset + 1e6, lastStableOffset: fetchOffset + 1e6, records: this.batchesFrom(partition, fetchOffset, partitionMaxBytes),
    })) })) }
  }

  /** As many batches as fit, the first one beginning at the offset; the same memory each time, as a broker's would be that reads from cache. */
  private batchesFrom(partition: number, offset: number, bytesMax: number): Uint8Array {
    const key = `${partition}/${bytesMax}`
    let bytes = this.batches.get(key)
    const builder = new BatchBuilder()
    if (bytes === undefined) {
      const value = new Uint8Array(this.valueBytes).fill(97)
      for (let index = 0; index < this.recordsPerBatch; index++) builder.append(1_700_000_000_000 + index, new TextEncoder().encode(`key-${index}`), value)
      const one = builder.finish()
      const count = Math.max(1, Math.floor(bytesMax / one.length))
      bytes = new Uint8Array(one.length * count)
      for (let index = 0; index < count; index++) bytes.set(one, index * one.length)
      this.batches.set(key, bytes)
    }
    const size = 12 + new DataView(bytes.buffer).getInt32(8)
    for (let at = 0, base = offset; at < bytes.length; at += size, base += this.recordsPerBatch) putBaseOffset(bytes, at, base)
    return bytes
  }
}
