import { MillraceError } from '../../../kernel/errors/millrace-error.ts'
import { type Decision } from './decision.ts'
import { type MetadataImage } from './metadata-image.ts'

/** Producer ids given to a broker at a time, as in Kafka. */
export const producerIdBlock = 1000

export interface ProducerIds {
  readonly first: number
  readonly count: number
}

/**
 * The next block of producer ids. What a broker does not use of it is lost: ids are never given twice.
 * Throws MR_CLUSTER_BROKER_NOT_REGISTERED or MR_CLUSTER_BROKER_EPOCH_STALE.
 */
export function decideProducerIds(image: MetadataImage, nodeId: number, brokerEpoch: number): Decision<ProducerIds> {
  const broker = image.brokers.get(nodeId)
  if (broker === undefined) throw new MillraceError('MR_CLUSTER_BROKER_NOT_REGISTERED', { nodeId })
  if (broker.epoch !== brokerEpoch) throw new MillraceError('MR_CLUSTER_BROKER_EPOCH_STALE', { nodeId, epoch: brokerEpoch })
  const first = image.nextProducerId
  return {
    records: [{ type: 'producerIdsAllocated', nodeId, brokerEpoch, next: first + producerIdBlock }],
    reply: { first, count: producerIdBlock },
  }
}
