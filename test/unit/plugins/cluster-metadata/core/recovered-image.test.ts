import { describe, expect, it } from 'vitest'
import { ImageChanges } from '../../../../../src/plugins/cluster-metadata/core/image-changes.ts'
import { emptyImage, type MetadataImage } from '../../../../../src/plugins/cluster-metadata/core/metadata-image.ts'
import { type MetadataRecord } from '../../../../../src/plugins/cluster-metadata/core/metadata-records.ts'
import { recoverImage, type PartitionEvidence } from '../../../../../src/plugins/cluster-metadata/core/recovered-image.ts'
import { decodeRecords, encodeRecords } from '../../../../../src/plugins/cluster-metadata/core/record-codec.ts'
import { type TopicSettings } from '../../../../../src/kernel/model/topic-settings.ts'

const clusterId = 'MkU3OEVBNTcwNTJENDM2Qg'
const ids = { orders: 'AAAAAAAAAAAAAAAAAAAAAQ', offsets: 'AAAAAAAAAAAAAAAAAAAAAg', known: 'AAAAAAAAAAAAAAAAAAAAAw' }

const evidence = (topic: string, topicId: string, partition = 0): PartitionEvidence => ({ path: `/data/${topic}-${partition}`, topic, partition, topicId, leaderEpoch: 3, producerId: -1, bytes: 100 })

function imageIn(snapshot: Uint8Array): MetadataImage {
  const changes = new ImageChanges(emptyImage, () => ({}) as TopicSettings)
  for (const record of decodeRecords(snapshot)) changes.replay(record)
  return changes.finish(0, -1).image
}

/** The settings of each topic of an image. */
const overridesIn = (snapshot: Uint8Array): Record<string, Record<string, string>> =>
  Object.fromEntries([...imageIn(snapshot).topicsById.values()].map(({ name, overrides }) => [name, Object.fromEntries(overrides)]))

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

  it('that are whole and behind a log get what only directories know, leader epochs above those of every log, and producer ids above all that a log knows', () => {
    const records: MetadataRecord[] = [
      { type: 'cluster', clusterId }, { type: 'producerIdsAllocated', nodeId: 1, brokerEpoch: 1, next: 5000 }, { type: 'topicCreated', topicId: ids.known, name: 'known' },
      { type: 'partitionCreated', topicId: ids.known, partition: 0, leader: 1, leaderEpoch: 2, partitionEpoch: 2, replicas: [1], isr: [1] },
    ]
    const whole = { snapshot: encodeRecords(records), commands: [], isWhole: true }
    const known = (leaderEpoch: number, producerId: number): PartitionEvidence => ({ ...evidence('known', ids.known), leaderEpoch, producerId })
    const fresh = recoverImage(whole, [known(2, 4000), evidence('orders', ids.orders)], 1, clusterId)
    expect([fresh.ahead, fresh.topics.map(({ name }) => name)]).toEqual([undefined, ['known']])
    const older = recoverImage(whole, [known(3, 2 ** 40 + 7), evidence('orders', ids.orders)], 1, clusterId)
    expect([older.ahead, older.topics.map(({ name }) => name)]).toEqual(['known-0', ['known', 'orders']])
    for (const { snapshot, nextProducerId } of [fresh, older]) {
      const image = imageIn(snapshot)
      expect(image.topicsById.get(ids.known)!.partitions[0]!.leaderEpoch).toBeGreaterThan(3)
      expect(image.nextProducerId).toBe(nextProducerId)
    }
    expect(fresh.nextProducerId).toBeGreaterThan(5000)
    expect(older.nextProducerId).toBeGreaterThan(2 ** 40 + 7)
  })

  it('give producer ids that the wire can carry, and leader epochs of 32 bits, whatever a client has made up or a disk has made of an epoch', () => {
    const { snapshot, nextProducerId } = recoverImage(
      { snapshot: undefined, commands: [], isWhole: false }, [{ ...evidence('orders', ids.orders), producerId: Number.MAX_SAFE_INTEGER, leaderEpoch: 2 ** 31 - 1 }], 1, clusterId)
    expect(nextProducerId).toBe(2 ** 40)
    expect(imageIn(snapshot).topicsById.get(ids.orders)!.partitions[0]!.leaderEpoch).toBeLessThan(2 ** 31 - 1)
  })
})
