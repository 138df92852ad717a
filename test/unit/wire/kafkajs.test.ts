import { createRequire } from 'node:module'
import { describe, expect, test } from 'vitest'
import { BytesReader } from '../../../src/base/bytes-reader.ts'
import { BytesWriter } from '../../../src/base/bytes-writer.ts'
import {
  codecFor, createTopicsApi, decodeAssignment, decodeSubscription, describeGroupsApi, encodeAssignment, encodeSubscription, fetchApi, FrameSplitter,
  joinGroupApi, listOffsetsApi, type MessageDefinition, type MessageOf, metadataApi, offsetCommitApi, offsetFetchApi, produceApi, readRequestHeader,
  wireApi,
} from '../../../src/wire/index.ts'

/** A second opinion, from a client that others wrote. kafkajs knows no flexible versions. */
const load = createRequire(import.meta.url)
const protocol = 'kafkajs/src/protocol'

interface KafkajsRequest { apiKey: number; apiVersion: number; encode: () => Promise<{ buffer: Buffer }> }

const kafkajsRequest = (api: string, version: number, options: unknown): KafkajsRequest =>
  load(`${protocol}/requests/${api}/v${version}/request`)(options)

/** What kafkajs sends, read by ours: the whole frame. */
async function readByUs<D extends MessageDefinition>(definition: D, request: KafkajsRequest): Promise<MessageOf<D>> {
  const encodeRequest = load(`${protocol}/request`) as (options: unknown) => Promise<{ buffer: Buffer }>
  const { buffer } = await encodeRequest({ correlationId: 77, clientId: 'kafkajs', request })
  const splitter = new FrameSplitter({ frameBytesMax: 1 << 20 })
  splitter.feed(buffer)
  expect(splitter.next()).toBe(true)
  const reader = new BytesReader(splitter.buffer, splitter.offset, splitter.offset + splitter.length)
  const header = readRequestHeader(reader)
  expect(header).toEqual({ apiKey: request.apiKey, apiVersion: request.apiVersion, correlationId: 77, clientId: 'kafkajs' })
  expect(wireApi(header.apiKey)!.request).toBe(definition)
  const message = codecFor(definition, header.apiVersion).read(reader)
  expect(reader.remaining).toBe(0)
  return message as MessageOf<D>
}

/** What we answer, read by kafkajs. */
async function readByKafkajs(api: string, definition: MessageDefinition, version: number, message: unknown): Promise<unknown> {
  const writer = new BytesWriter()
  codecFor(definition, version).write(writer, message as never)
  return load(`${protocol}/requests/${api}/v${version}/response`).decode(Buffer.from(writer.finish()))
}

describe('requests of kafkajs, read by us', () => {
  test('Metadata v6, for some topics and for all', async () => {
    expect(await readByUs(metadataApi.request, kafkajsRequest('metadata', 6, { topics: ['a', 'b'], allowAutoTopicCreation: false })))
      .toMatchObject({ topics: [{ name: 'a' }, { name: 'b' }], allowAutoTopicCreation: false })
  })

  test('Produce v7 with a batch that kafkajs built', async () => {
    const message = await readByUs(produceApi.request, kafkajsRequest('produce', 7, {
      acks: -1, timeout: 30_000, transactionalId: 'tx', producerId: 5, producerEpoch: 1, compression: 0,
      topicData: [{ topic: 'orders', partitions: [{ partition: 3, firstSequence: 0, messages: [{ key: 'k', value: 'v', timestamp: 1, headers: {} }] }] }],
    }))
    expect(message).toMatchObject({ transactionalId: 'tx', acks: -1, timeoutMs: 30_000 })
    const [partition] = message.topicData[0]!.partitionData
    expect(message.topicData[0]!.name).toBe('orders')
    expect(partition!.index).toBe(3)
    // The magic byte of the batch.
    expect(partition!.records![16]).toBe(2)
  })

  test('Fetch v11', async () => {
    const message = await readByUs(fetchApi.request, kafkajsRequest('fetch', 11, {
      replicaId: -1, maxWaitTime: 500, minBytes: 1, maxBytes: 1000, rackId: 'r1',
      topics: [{ topic: 'orders', partitions: [{ partition: 0, currentLeaderEpoch: -1, fetchOffset: '12345678901', logStartOffset: -1, maxBytes: 64 }] }],
    }))
    expect(message).toMatchObject({ replicaId: -1, maxWaitMs: 500, isolationLevel: 1, sessionEpoch: -1, rackId: 'r1', forgottenTopicsData: [] })
    expect(message.topics[0]!.partitions[0]).toMatchObject({ partition: 0, fetchOffset: 12_345_678_901, partitionMaxBytes: 64 })
  })

  test('JoinGroup v5, and the subscription in it', async () => {
    const { MemberMetadata } = load('kafkajs/src/consumer/assignerProtocol')
    const metadata = MemberMetadata.encode({ version: 1, topics: ['a'], userData: Buffer.from('u') })
    const message = await readByUs(joinGroupApi.request, kafkajsRequest('joinGroup', 5, {
      groupId: 'g', sessionTimeout: 1, rebalanceTimeout: 2, memberId: 'm', groupInstanceId: 'i', protocolType: 'consumer',
      groupProtocols: [{ name: 'RoundRobinAssigner', metadata }],
    }))
    expect(message).toMatchObject({ groupId: 'g', rebalanceTimeoutMs: 2, groupInstanceId: 'i', protocols: [{ name: 'RoundRobinAssigner' }] })
    // Whatever the version, kafkajs writes and reads the fields of v0. Its own assigner says 0; one of a user that says 1 is cut off for us.
    expect(() => decodeSubscription(message.protocols[0]!.metadata)).toThrow('ConsumerProtocolSubscription v1 ownedPartitions')
    expect(decodeSubscription(MemberMetadata.encode({ version: 0, topics: ['a'], userData: Buffer.from('u') })).topics).toEqual(['a'])
  })

  test('CreateTopics v3, OffsetCommit v5, OffsetFetch v4, ListOffsets v3', async () => {
    expect(await readByUs(createTopicsApi.request, kafkajsRequest('createTopics', 3, {
      topics: [{ topic: 't', numPartitions: 2, replicationFactor: 1, replicaAssignment: [], configEntries: [{ name: 'cleanup.policy', value: 'compact' }] }],
      validateOnly: true, timeout: 9,
    }))).toEqual({
      topics: [{ name: 't', numPartitions: 2, replicationFactor: 1, assignments: [], configs: [{ name: 'cleanup.policy', value: 'compact' }] }],
      timeoutMs: 9, validateOnly: true,
    })
    expect(await readByUs(offsetCommitApi.request, kafkajsRequest('offsetCommit', 5, {
      groupId: 'g', groupGenerationId: 4, memberId: 'm', topics: [{ topic: 't', partitions: [{ partition: 1, offset: '7', metadata: null }] }],
    }))).toMatchObject({
      generationIdOrMemberEpoch: 4, topics: [{ name: 't', partitions: [{ partitionIndex: 1, committedOffset: 7, committedMetadata: null }] }],
    })
    expect(await readByUs(offsetFetchApi.request, kafkajsRequest('offsetFetch', 4, {
      groupId: 'g', topics: [{ topic: 't', partitions: [{ partition: 1 }] }],
    }))).toMatchObject({ groupId: 'g', topics: [{ name: 't', partitionIndexes: [1] }] })
    expect(await readByUs(listOffsetsApi.request, kafkajsRequest('listOffsets', 3, {
      replicaId: -1, isolationLevel: 0, topics: [{ topic: 't', partitions: [{ partition: 1, timestamp: -2 }] }],
    }))).toMatchObject({ topics: [{ name: 't', partitions: [{ partitionIndex: 1, timestamp: -2 }] }] })
  })
})

describe('responses of ours, read by kafkajs', () => {
  test('Metadata v6', async () => {
    expect(await readByKafkajs('metadata', metadataApi.response, 6, {
      brokers: [{ nodeId: 1, host: 'localhost', port: 9092, rack: null }], clusterId: 'c', controllerId: 1,
      topics: [{ errorCode: 0, name: 't', isInternal: false, partitions: [
        { errorCode: 0, partitionIndex: 0, leaderId: 1, replicaNodes: [1, 2], isrNodes: [1], offlineReplicas: [2] },
      ] }],
    })).toMatchObject({
      clusterId: 'c', controllerId: 1, brokers: [{ nodeId: 1, host: 'localhost', port: 9092 }],
      topicMetadata: [{ topic: 't', partitionMetadata: [{ partitionId: 0, leader: 1, replicas: [1, 2], isr: [1], offlineReplicas: [2] }] }],
    })
  })

  test('Produce v7, Fetch v11 and DescribeGroups v2', async () => {
    expect(await readByKafkajs('produce', produceApi.response, 7, {
      responses: [{ name: 't', partitionResponses: [{ index: 2, errorCode: 0, baseOffset: 12_345_678_901, logStartOffset: 3 }] }], throttleTimeMs: 4,
    })).toMatchObject({
      topics: [{ topicName: 't', partitions: [{ partition: 2, errorCode: 0, baseOffset: '12345678901', logAppendTime: '-1', logStartOffset: '3' }] }],
    })
    expect(await readByKafkajs('fetch', fetchApi.response, 11, {
      responses: [{ topic: 't', partitions: [{
        partitionIndex: 1, errorCode: 0, highWatermark: 9, lastStableOffset: 8, abortedTransactions: [{ producerId: 5, firstOffset: 6 }],
        records: new Uint8Array(0),
      }] }],
    })).toMatchObject({ responses: [{ topicName: 't', partitions: [
      { partition: 1, highWatermark: '9', lastStableOffset: '8', preferredReadReplica: -1, abortedTransactions: [{ producerId: '5', firstOffset: '6' }], messages: [] },
    ] }] })
    expect(await readByKafkajs('describeGroups', describeGroupsApi.response, 2, {
      groups: [{ errorCode: 0, groupId: 'g', groupState: 'Stable', protocolType: 'consumer', protocolData: 'range', members: [] }],
    })).toMatchObject({ groups: [{ groupId: 'g', state: 'Stable', protocol: 'range', members: [] }] })
  })

  test('subscription and assignment', () => {
    const { MemberAssignment, MemberMetadata } = load('kafkajs/src/consumer/assignerProtocol')
    expect(MemberMetadata.decode(Buffer.from(encodeSubscription(0, { topics: ['a', 'b'] })))).toMatchObject({ version: 0, topics: ['a', 'b'] })
    expect(MemberAssignment.decode(Buffer.from(encodeAssignment(1, { assignedPartitions: [{ topic: 'a', partitions: [0, 2] }] }))))
      .toMatchObject({ version: 1, assignment: { a: [0, 2] } })
    expect(decodeAssignment(MemberAssignment.encode({ version: 1, assignment: { a: [0, 2] } })).assignedPartitions).toEqual([{ topic: 'a', partitions: [0, 2] }])
  })
})
