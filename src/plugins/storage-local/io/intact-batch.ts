import { type File } from '../../../kernel/ports/file-system.ts'
import { batchBytesOf, batchHeaderBytes, magicOf } from '../../../kernel/record/batch-header.ts'
import { BatchScan, scanChunkBytes } from './batch-scan.ts'

/** What looks like headers may be the content of records, made to be looked at for long: then the search ends with a yes. */
const checkedFactorMax = 4

/** Whether a batch with the right CRC begins anywhere in the range: there is no telling where, when the bytes before it are not to be trusted. */
export function holdsIntactBatch(file: File, from: number, end: number): boolean {
  const window = new Uint8Array(Math.min(scanChunkBytes, Math.max(batchHeaderBytes, end - from)))
  const buffer = new Uint8Array(65_536)
  let checkedBytes = 0
  for (let start = from; end - start >= batchHeaderBytes;) {
    const starts = file.read(window, 0, Math.min(window.length, end - start), start) - batchHeaderBytes + 1
    if (starts <= 0) return false
    for (let at = 0; at < starts; at++) {
      if (magicOf(window, at) !== 2) continue
      const size = batchBytesOf(window, at)
      if (size < batchHeaderBytes || size > end - start - at) continue
      checkedBytes += size
      const scan = new BatchScan(file, start + at, start + at + size, buffer)
      if (checkedBytes > (end - from) * checkedFactorMax || (scan.next() && scan.crcValid())) return true
    }
    start += starts
  }
  return false
}
