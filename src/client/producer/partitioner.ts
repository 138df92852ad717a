import { murmur2 } from '../../base/murmur2.ts'
import { type ProducerRecord } from './producer-record.ts'

/** Gives a partition from 0 to `partitionCount - 1`, or undefined to leave the choice to the default. */
export type Partitioner = (record: ProducerRecord, partitionCount: number) => number | undefined

/** Where Kafka's own clients put a key. */
export function partitionOfKey(key: Uint8Array, partitionCount: number): number {
  return (murmur2(key) & 0x7fff_ffff) % partitionCount
}
