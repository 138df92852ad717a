import { OverlayMap } from '../../../base/overlay-map.ts'
import { zeroUuid, type Uuid } from '../../../kernel/model/ids.ts'
import { type BrokerImage, type ClusterImage, type TopicImage } from '../../../kernel/ports/cluster-metadata.ts'

/** A broker with what only the controller looks at. */
export interface RegisteredBroker extends BrokerImage {
  readonly directoryIds: readonly Uuid[]
}

/**
 * The whole metadata at one index, immutable. Versions share what did not change. Made by `ImageChanges`.
 */
export interface MetadataImage extends ClusterImage {
  readonly brokers: ReadonlyMap<number, RegisteredBroker>
  readonly topics: OverlayMap<string, TopicImage>
  readonly topicsById: OverlayMap<Uuid, TopicImage>
  /** Names of topics by their collision keys: one topic a key. */
  readonly namesByCollisionKey: OverlayMap<string, string>
  readonly removals: OverlayMap<Uuid, readonly number[]>
  readonly features: ReadonlyMap<string, number>
  /** The next producer id to give out. */
  readonly nextProducerId: number
}

export const emptyImage: MetadataImage = {
  index: 0,
  clusterId: zeroUuid,
  controllerId: -1,
  brokers: new Map(),
  topics: new OverlayMap(),
  topicsById: new OverlayMap(),
  namesByCollisionKey: new OverlayMap(),
  removals: new OverlayMap(),
  features: new Map(),
  nextProducerId: 0,
}
