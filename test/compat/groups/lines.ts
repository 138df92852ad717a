/** One line of a member or a producer, as Kafka's VerifiableConsumer and VerifiableProducer print them; members of ours add `seeked` and timestamps, and may leave a topic out. */
export interface Line {
  readonly name: string
  readonly timestamp?: number
  readonly partitions?: readonly { readonly partition: number, readonly minOffset?: number, readonly maxOffset?: number }[]
  readonly offsets?: readonly { readonly partition: number, readonly offset: number }[]
  readonly success?: boolean
  readonly partition?: number
  readonly offset?: number
}
