import { describe, expect, it } from 'vitest'
import {
  alterConfigsApi, alterPartitionReassignmentsApi, createPartitionsApi, createTopicsApi, deleteTopicsApi, describeConfigsApi, describeProducersApi,
  describeTopicPartitionsApi, electLeadersApi, fetchApi, findCoordinatorApi, incrementalAlterConfigsApi, listOffsetsApi, metadataApi,
  offsetForLeaderEpochApi, produceApi,
} from '../../../../src/wire/index.ts'
import { batchOf } from './fixture/batches.ts'
import { TestBroker } from './fixture/test-broker.ts'

/** What is there and what is not, in an order of the client's own. */
const topics = ['there', 'nobody', 'other']
const partitions = [1, 7, 0]
const asked = topics.flatMap((topic) => partitions.map((partition) => `${topic}-${partition}`))

async function client() {
  const broker = await TestBroker.start({ settings: { 'auto.create.topics.enable': 'false' } })
  broker.cluster.topic('there', 2)
  broker.cluster.topic('other', 2)
  return broker.connect()
}

/** Some clients wait for ever, and one ends its process, where a result is missing. */
describe('quirk 54: one result for each thing that was asked for, in order, whether it is there or not', () => {
  it('Produce', async () => {
    const topicData = topics.map((name) => ({ name, partitionData: partitions.map((index) => ({ index, records: batchOf(['a']) })) }))
    const { responses } = await (await client()).call(produceApi, 11, { transactionalId: null, acks: -1, timeoutMs: 1000, topicData })
    expect(responses.flatMap(({ name, partitionResponses }) => partitionResponses.map(({ index }) => `${name}-${index}`))).toEqual(asked)
  })

  it('Fetch', async () => {
    const { responses } = await (await client()).call(fetchApi, 12, {
      maxWaitMs: 0, minBytes: 0, maxBytes: 1_000_000, forgottenTopicsData: [],
      topics: topics.map((topic) => ({ topic, partitions: partitions.map((partition) => ({ partition, fetchOffset: 0, partitionMaxBytes: 1000 })) })),
    })
    expect(responses.flatMap(({ topic, partitions: results }) => results.map(({ partitionIndex }) => `${topic}-${partitionIndex}`))).toEqual(asked)
  })

  it('ListOffsets', async () => {
    const answer = await (await client()).call(listOffsetsApi, 9, {
      replicaId: -1, topics: topics.map((name) => ({ name, partitions: partitions.map((partitionIndex) => ({ partitionIndex, timestamp: -1 })) })),
    })
    expect(answer.topics.flatMap(({ name, partitions: results }) => results.map(({ partitionIndex }) => `${name}-${partitionIndex}`))).toEqual(asked)
  })

  it('OffsetForLeaderEpoch', async () => {
    const answer = await (await client()).call(offsetForLeaderEpochApi, 4, {
      topics: topics.map((topic) => ({ topic, partitions: partitions.map((partition) => ({ partition, leaderEpoch: 3 })) })),
    })
    expect(answer.topics.flatMap(({ topic, partitions: results }) => results.map(({ partition }) => `${topic}-${partition}`))).toEqual(asked)
  })

  it('Metadata, CreateTopics and DeleteTopics', async () => {
    const connection = await client()
    const metadata = await connection.call(metadataApi, 12, { topics: topics.map((name) => ({ name })) })
    expect(metadata.topics.map(({ name }) => name)).toEqual(topics)
    const created = await connection.call(createTopicsApi, 7, { timeoutMs: 1000, topics: topics.map((name) => ({ name, numPartitions: 1, replicationFactor: 1, assignments: [], configs: [] })) })
    expect(created.topics.map(({ name, errorCode }) => [name, errorCode])).toEqual([['there', 36], ['nobody', 0], ['other', 36]])
    const deleted = await connection.call(deleteTopicsApi, 6, { timeoutMs: 1000, topics: ['never', ...topics].map((name) => ({ name })) })
    expect(deleted.responses.map(({ name, errorCode }) => [name, errorCode])).toEqual([['never', 3], ['there', 0], ['nobody', 0], ['other', 0]])
  })

  it('AlterConfigs and IncrementalAlterConfigs', async () => {
    const connection = await client()
    const resources = [...topics.map((resourceName) => ({ resourceType: 2, resourceName, configs: [] })), { resourceType: 4, resourceName: '9', configs: [] }]
    for (const api of [alterConfigsApi, incrementalAlterConfigsApi]) {
      const { responses } = await connection.call(api, 1, { resources, validateOnly: false })
      expect(responses.map(({ resourceName, errorCode }) => [resourceName, errorCode])).toEqual([['there', 0], ['nobody', 3], ['other', 0], ['9', 42]])
    }
  })

  it('DescribeTopicPartitions, which sorts them, and DescribeProducers', async () => {
    const connection = await client()
    const described = await connection.call(describeTopicPartitionsApi, 0, { topics: topics.map((name) => ({ name })) })
    expect(described.topics.map(({ name }) => name)).toEqual([...topics].sort())
    const producers = await connection.call(describeProducersApi, 0, { topics: topics.map((name) => ({ name, partitionIndexes: partitions })) })
    expect(producers.topics.flatMap(({ name, partitions: results }) => results.map(({ partitionIndex }) => `${name}-${partitionIndex}`))).toEqual(asked)
  })

  it('CreatePartitions, ElectLeaders and AlterPartitionReassignments', async () => {
    const connection = await client()
    const extended = await connection.call(createPartitionsApi, 3, { timeoutMs: 1000, validateOnly: false, topics: topics.map((name) => ({ name, count: 3, assignments: null })) })
    expect(extended.results.map(({ name, errorCode }) => [name, errorCode])).toEqual([['there', 0], ['nobody', 3], ['other', 0]])
    const elected = await connection.call(electLeadersApi, 2, { electionType: 0, topicPartitions: topics.map((topic) => ({ topic, partitions })) })
    expect(elected.replicaElectionResults.flatMap(({ topic, partitionResult }) => partitionResult.map(({ partitionId }) => `${topic}-${partitionId}`))).toEqual(asked)
    const moved = await connection.call(alterPartitionReassignmentsApi, 1, {
      topics: topics.map((name) => ({ name, partitions: partitions.map((partitionIndex) => ({ partitionIndex, replicas: [1] })) })),
    })
    expect(moved.responses.flatMap(({ name, partitions: results }) => results.map(({ partitionIndex }) => `${name}-${partitionIndex}`))).toEqual(asked)
  })

  it('DescribeConfigs and FindCoordinator', async () => {
    const connection = await client()
    const resources = [...topics.map((resourceName) => ({ resourceType: 2, resourceName, configurationKeys: [] })), { resourceType: 4, resourceName: '9', configurationKeys: null }]
    const configs = await connection.call(describeConfigsApi, 4, { resources })
    expect(configs.results.map(({ resourceName }) => resourceName)).toEqual([...topics, '9'])
    const found = await connection.call(findCoordinatorApi, 6, { coordinatorKeys: ['one', 'two', 'one'] })
    expect(found.coordinators.map(({ key }) => key)).toEqual(['one', 'two', 'one'])
  })
})
