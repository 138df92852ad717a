import { type BrokerRegistration } from '../../../kernel/ports/controller.ts'
import { type Decision } from './decision.ts'
import { type MetadataImage } from './metadata-image.ts'

/** Registers a broker under a new epoch; the same life of it registering again gets the epoch that it has. */
export function decideRegistration(image: MetadataImage, registration: BrokerRegistration): Decision<number> {
  const known = image.brokers.get(registration.nodeId)
  if (known !== undefined && known.incarnationId === registration.incarnationId) return { records: [], reply: known.epoch }
  const epoch = nextEpoch(image)
  return { records: [{ type: 'brokerRegistered', ...registration, epoch, fenced: false }], reply: epoch }
}

/** Node ids of the brokers that can be given partitions, ascending. */
export const usableBrokers = (image: MetadataImage): readonly number[] =>
  [...image.brokers.values()].filter((broker) => !broker.fenced).map((broker) => broker.nodeId).sort((left, right) => left - right)

function nextEpoch(image: MetadataImage): number {
  let highest = 0
  for (const broker of image.brokers.values()) highest = Math.max(highest, broker.epoch)
  return highest + 1
}
