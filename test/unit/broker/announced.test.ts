import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Broker, createBroker } from '../../../src/broker/index.ts'
import { topicConfigTable } from '../../../src/kernel/config/topic-config-table.ts'
import { isDescribed } from '../../../src/kernel/config/config-row.ts'
import { apiVersionsApi, createTopicsApi, describeClusterApi, metadataApi } from '../../../src/wire/index.ts'
import { callOnce } from '../../integration/raw-peer.ts'

let broker: Broker
let port = 0

beforeAll(async () => {
  broker = await createBroker({ preset: 'memory', http: 'off', logLevel: 'silent' })
  await broker.start()
  port = broker.kafka!.port
})
afterAll(async () => { await broker.stop() })

describe('the composed broker', () => {
  it('quirk 31: has the feature group.version at 1, and no transaction.version, so that no client uses the second version of transactions', async () => {
    for (const version of [3, 4]) {
      const answer = await callOnce(port, apiVersionsApi, version, { clientSoftwareName: 'test', clientSoftwareVersion: '1' })
      expect(answer.finalizedFeatures).toEqual([{ name: 'group.version', minVersionLevel: 1, maxVersionLevel: 1 }])
      expect(answer.supportedFeatures.filter(({ name }) => name === 'transaction.version')).toEqual([])
    }
  })

  it('quirk 20: CreateTopics 5 answers with each setting of topics that is described, with the value that was given, and the defaults of the others', async () => {
    const answer = await callOnce(port, createTopicsApi, 5, {
      topics: [{ name: 'told', numPartitions: -1, replicationFactor: -1, assignments: [], configs: [{ name: 'retention.ms', value: '5000' }] }], timeoutMs: 10_000,
    })
    const [topic] = answer.topics
    expect(topic).toMatchObject({ errorCode: 0, numPartitions: 1, replicationFactor: 1 })
    const told = new Map(topic!.configs!.map(({ name, value }) => [name, value]))
    expect([...told.keys()].sort()).toEqual(topicConfigTable.filter((row) => isDescribed(row, false)).map(({ name }) => name).sort())
    expect([told.get('retention.ms'), told.get('cleanup.policy')]).toEqual(['5000', 'delete'])
  })

  it('quirk 18: names a controller that is one of the brokers that it names, in Metadata and in DescribeCluster', async () => {
    for (const version of [1, 9, 12]) {
      const { brokers, controllerId } = await callOnce(port, metadataApi, version, { topics: [] })
      expect(brokers.map(({ nodeId, port: at }) => [nodeId, at])).toContainEqual([controllerId, port])
    }
    const { brokers, controllerId } = await callOnce(port, describeClusterApi, 0, { includeClusterAuthorizedOperations: false })
    expect(brokers.map(({ brokerId }) => brokerId)).toContain(controllerId)
  })
})
