import { type RecordHeader } from '../../kernel/record/log-record.ts'
import { type Bytes } from '../bytes-of.ts'

/** By name, or as pairs where a name occurs more than once or the order matters. */
export type HeadersToSend =
  | Readonly<Record<string, Bytes>>
  | readonly { readonly key: string, readonly value: Bytes }[]

/** A record to send. */
export interface ProducerRecord {
  /** Where it goes. It is made when it is not there, where the broker does that. */
  readonly topic: string
  /** Records of one key go to one partition, in the order in which they were sent. Text is sent as UTF-8. */
  readonly key?: Bytes
  /** Null deletes the key in a compacted topic. Bytes are copied by `send`, so they may be reused at once. */
  readonly value: Bytes
  /** In the order given. Texts are sent as UTF-8. Default: none. */
  readonly headers?: HeadersToSend
  /** Milliseconds since the epoch. Default: now. */
  readonly timestamp?: number
  /** Default: what the partitioner says. */
  readonly partition?: number
}

/** Where a record came to be. */
export interface RecordMetadata {
  readonly topic: string
  readonly partition: number
  /** -1 where it is not known: with acks 0, and when an earlier attempt turned out to have been stored. */
  readonly offset: number
  /** The record's, or that of the broker where the topic is set to LogAppendTime. */
  readonly timestamp: number
}

export type HeaderList = readonly RecordHeader[]
