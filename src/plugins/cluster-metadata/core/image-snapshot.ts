import { zeroUuid } from '../../../kernel/model/ids.ts'
import { ImageChanges, type SettingsOf } from './image-changes.ts'
import { emptyImage, type MetadataImage } from './metadata-image.ts'
import { type MetadataRecord } from './metadata-records.ts'

/**
 * The records that rebuild an image from nothing. Brokers come before partitions, so that their registration moves no epoch. Equal images
 * give equal records.
 */
export function imageRecords(image: MetadataImage): readonly MetadataRecord[] {
  const records: MetadataRecord[] = []
  if (image.clusterId !== zeroUuid) records.push({ type: 'cluster', clusterId: image.clusterId })
  for (const [name, level] of image.features) records.push({ type: 'featureLevel', name, level })
  for (const broker of [...image.brokers.values()].sort((left, right) => left.nodeId - right.nodeId)) {
    records.push({ type: 'brokerRegistered', ...broker })
  }
  for (const topic of [...image.topicsById.values()].sort((left, right) => (left.id < right.id ? -1 : 1))) {
    records.push({ type: 'topicCreated', topicId: topic.id, name: topic.name })
    for (const partition of topic.partitions) records.push({ type: 'partitionCreated', topicId: topic.id, ...partition })
    const overrides = [...topic.overrides].sort(([left], [right]) => (left < right ? -1 : 1))
    for (const [name, value] of overrides) records.push({ type: 'topicConfigSet', topicId: topic.id, name, value })
  }
  for (const [topicId, nodeIds] of [...image.removals].sort(([left], [right]) => (left < right ? -1 : 1))) {
    records.push({ type: 'topicRemoval', topicId, nodeIds })
  }
  if (image.nextProducerId > 0) records.push({ type: 'producerIdsAllocated', nodeId: -1, brokerEpoch: -1, next: image.nextProducerId })
  return records
}

/** The image that the records of a snapshot make. */
export function imageFromRecords(records: readonly MetadataRecord[], index: number, controllerId: number, settingsOf: SettingsOf): MetadataImage {
  const changes = new ImageChanges(emptyImage, settingsOf)
  for (const record of records) changes.replay(record)
  return changes.finish(index, controllerId).image
}
