export { zeroUuid, type Uuid } from '../../base/uuid.ts'
import { type Uuid } from '../../base/uuid.ts'

/** A partition, by its place and by the id of the topic it belongs to. A topic made again under an old name has another id. */
export interface PartitionId {
  readonly topic: string
  readonly topicId: Uuid
  /** From 0. */
  readonly partition: number
}

/** `-1`: no producer id, epoch or sequence. */
export const none = -1
