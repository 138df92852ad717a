import { describe, expect, it } from 'vitest'
import { ImageChanges } from '../../../../../src/plugins/cluster-metadata/core/image-changes.ts'
import { emptyImage } from '../../../../../src/plugins/cluster-metadata/core/metadata-image.ts'
import { type MetadataRecord } from '../../../../../src/plugins/cluster-metadata/core/metadata-records.ts'
import { recoverImage, type PartitionEvidence } from '../../../../../src/plugins/cluster-metadata/core/recovered-image.ts'
import { decodeRecords, encodeRecords } from '../../../../../src/plugins/cluster-metadata/core/record-codec.ts'
import { type TopicSettings } from '../../../../../src/kernel/model/topic-settings.ts'

const clusterId = 'MkU3OEVBNTcwNTJENDM2Qg'
const ids = { orders: 'AAAAAAAAAAAAAAAAAAAAAQ', offsets: 'AAAAAAAAAAAAAAAAAAAAAg', known: 'AAAAAAAAAAAAAAAAAAAAAw' }

const evidence = (topic: string, topicId: string, partition = 0): PartitionEvidence => ({ path: `/data/${topic}-${partition}`, topic, partition, topicId, leaderEpoch: 3, bytes: 100 })

/** The settings of each topic of an image. */
function overridesIn(snapshot: Uint8Array): Record<string, Record<string, string>> {
  const changes = new ImageChanges(emptyImage, () => ({}) as TopicSettings)
  for (const record of decodeRecords(snapshot)) changes.replay(record)
  return Object.fromEntries([...changes.finish(0, -1).image.topicsById.values()].map(({ name, overrides }) => [name, Object.fromEntries(overrides)]))
}

describe('metadata that are made again', () => {
  it('of a topic of which only directories are left, retention gives up nothing: its settings are not known', () => {
    const { snapshot } = recoverImage({ snapshot: undefined, commands: [], isWhole: false }, [evidence('orders', ids.orders), evidence('orders', ids.orders, 1)], 1, clusterId)
    expect(overridesIn(snapshot)).toEqual({ orders: { 'retention.ms': '-1', 'retention.bytes': '-1' } })
  })

  it('a topic that brokers keep for themselves is compacted and synced again, as it was made', () => {
    const { snapshot } = recoverImage({ snapshot: undefined, commands: [], isWhole: false }, [evidence('__consumer_offsets', ids.offsets)], 1, clusterId)
    expect(overridesIn(snapshot)['__consumer_offsets']).toMatchObject({ 'cleanup.policy': 'compact', 'durability': 'fsync' })
  })

  it('a topic that the metadata still know keeps its settings, also where more of its partitions are found', () => {
    const records: MetadataRecord[] = [
      { type: 'cluster', clusterId }, { type: 'topicCreated', topicId: ids.known, name: 'known' },
      { type: 'partitionCreated', topicId: ids.known, partition: 0, leader: 1, leaderEpoch: 0, partitionEpoch: 0, replicas: [1], isr: [1] },
      { type: 'topicConfigSet', topicId: ids.known, name: 'retention.ms', value: '5000' },
    ]
    const { snapshot } = recoverImage({ snapshot: encodeRecords(records), commands: [], isWhole: false }, [evidence('known', ids.known), evidence('known', ids.known, 1)], 1, clusterId)
    expect(overridesIn(snapshot)).toEqual({ known: { 'retention.ms': '5000' } })
  })
})
