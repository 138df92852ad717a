import { BatchBuilder } from './batch-builder.ts'
import { readInt16, readInt32 } from './batch-header.ts'

/** What a control record says: the second int16 of its key. Readers pass over types that they do not know. */
export const controlAbort = 0
export const controlCommit = 1

export interface EndTransactionMarker {
  readonly commit: boolean
  readonly coordinatorEpoch: number
  readonly producerId: number
  readonly producerEpoch: number
  readonly timestamp: number
}

const builder = new BatchBuilder(undefined, 128)
const key = new Uint8Array(4)
const value = new Uint8Array(6)

/**
 * The batch that ends a transaction in one partition: one record, transactional and control, no sequence. Like every batch it occupies
 * an offset (quirk 38). Base offset and leader epoch are put in at append. The caller owns the bytes.
 */
export function endTransactionBatch(marker: EndTransactionMarker): Uint8Array {
  key[3] = marker.commit ? controlCommit : controlAbort
  new DataView(value.buffer).setInt32(2, marker.coordinatorEpoch)
  builder.reset()
  builder.append(marker.timestamp, key, value)
  return builder.finish({
    producerId: marker.producerId, producerEpoch: marker.producerEpoch, transactional: true, control: true,
  })
}

/** The type of a control record; undefined for a key that is too short or of a negative version. A newer version is read as version 0. */
export function controlTypeOf(recordKey: Uint8Array | null): number | undefined {
  if (recordKey === null || recordKey.length < 4 || readInt16(recordKey, 0) < 0) return undefined
  return readInt16(recordKey, 2)
}

/** The coordinator epoch in the value of an end-of-transaction record; undefined for one that is too short. */
export function coordinatorEpochOf(recordValue: Uint8Array | null): number | undefined {
  if (recordValue === null || recordValue.length < 6 || readInt16(recordValue, 0) < 0) return undefined
  return readInt32(recordValue, 2)
}
