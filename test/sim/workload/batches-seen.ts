import { BatchReader } from '../../../src/kernel/record/batch-reader.ts'
import { batchesIn } from '../../../src/kernel/record/record-batch.ts'
import { type Compression } from '../../../src/kernel/ports/compression.ts'
import { type SeenBatch, type SeenRecord, Violation } from '../history.ts'
import { contentOf } from './random-records.ts'

export interface SeenBytes {
  readonly batches: SeenBatch[]
  readonly records: SeenRecord[]
}

/** What a Fetch response holds, CRCs checked. */
export function seenIn(bytes: Uint8Array | null, compression: Compression): SeenBytes {
  const batches: SeenBatch[] = []
  const records: SeenRecord[] = []
  if (bytes === null) return { batches, records }
  const reader = new BatchReader(compression)
  let size = 0
  for (const batch of batchesIn(bytes)) {
    if (!batch.crcValid()) throw new Violation(`the CRC of the batch at offset ${batch.baseOffset} does not match`)
    const { baseOffset, lastOffset, producerId, producerEpoch, baseSequence, recordsCount } = batch
    batches.push({ baseOffset, lastOffset, producerId, producerEpoch, baseSequence, recordsCount })
    for (const record of reader.open(bytes, batch.at)) records.push({ offset: record.offset, timestamp: record.timestamp, content: contentOf(record) })
    size += batch.sizeBytes
  }
  if (size !== bytes.length) throw new Violation(`${bytes.length} bytes were fetched, of which ${size} are batches`)
  return { batches, records }
}
