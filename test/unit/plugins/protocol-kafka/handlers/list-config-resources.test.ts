import { describe, expect, it } from 'vitest'
import { listConfigResourcesApi } from '../../../../../src/wire/messages/index.ts'
import { TestBroker } from '../fixture/test-broker.ts'

async function brokerWithTopics(): Promise<TestBroker> {
  const broker = await TestBroker.start()
  for (const name of ['a', '__consumer_offsets']) broker.cluster.topic(name)
  const endpoints = (listener: string) => [{ listener, host: 'localhost', port: 9 }]
  const common = { epoch: 1, incarnationId: 'AAAAAAAAAAAAAAAAAAAAAQ', rack: undefined }
  broker.cluster.brokers.set(2, { nodeId: 2, endpoints: endpoints('PLAINTEXT'), fenced: true, ...common })
  broker.cluster.brokers.set(3, { nodeId: 3, endpoints: endpoints('ELSEWHERE'), fenced: false, ...common })
  return broker
}

describe('ListConfigResources', () => {
  it.each<[string, number[], string[]]>([
    ['all without types, in Kafka\'s order: brokers that this listener reaches, fenced ones too, and topics, internal ones too', [], ['4 1', '4 2', '2 a', '2 __consumer_offsets']],
    ['a type once, however often it is asked for', [2, 4, 2], ['4 1', '4 2', '2 a', '2 __consumer_offsets']],
    ['topics alone', [2], ['2 a', '2 __consumer_offsets']],
    ['nothing of what has no settings here', [8, 16, 32], []],
  ])('lists %s', async (_title, resourceTypes, expected) => {
    const { errorCode, configResources } = await (await brokerWithTopics()).connect().call(listConfigResourcesApi, 1, { resourceTypes })
    expect([errorCode, configResources.map(({ resourceType, resourceName }) => `${resourceType} ${resourceName}`)]).toEqual([0, expected])
  })

  it.each([[[77]], [[2, 0]]])('refuses types that nobody knows, %j, with UNSUPPORTED_VERSION and without the others', async (resourceTypes) => {
    expect(await (await brokerWithTopics()).connect().call(listConfigResourcesApi, 1, { resourceTypes })).toMatchObject({ errorCode: 35, configResources: [] })
  })

  it('version 0 asks for client metrics alone, of which there are none', async () => {
    expect(await (await brokerWithTopics()).connect().call(listConfigResourcesApi, 0, {})).toMatchObject({ errorCode: 0, configResources: [] })
  })
})
