/** A topic, directory, cluster or incarnation id: 16 bytes as 22 characters of URL-safe base64, as Kafka writes them. */
export type Uuid = string

/** "No id": sixteen zero bytes. */
export const zeroUuid: Uuid = 'AAAAAAAAAAAAAAAAAAAAAA'

/** A partition, by its place and by the id of the topic it belongs to. A topic made again under an old name has another id. */
export interface PartitionId {
  readonly topic: string
  readonly topicId: Uuid
  /** From 0. */
  readonly partition: number
}

/** `-1`: no producer id, epoch or sequence. */
export const none = -1
