import { type File } from '../../../kernel/ports/file-system.ts'
import { batchBytesOf, batchHeaderBytes, crcValid, magicOf } from '../../../kernel/record/batch-header.ts'

const pieceBytes = 1 << 20

/**
 * Writes the batches of a segment from `position` to `end`, its size, once more, as they are: so that the next sync brings them to the disk.
 *
 * After a sync that failed the system counts what it could not write as written (Rebello et al., "Can Applications Recover from fsync
 * Failures?", USENIX ATC 2020). A process that is killed then leaves pages that its successor reads, and that a sync which succeeds does not
 * write; a power cut takes them.
 *
 * Bytes are only written over themselves, and only of batches whose CRC holds; a crash between any two writes changes nothing that can be
 * seen. Gives the position of the first batch that does not read as such any more, or undefined.
 */
export function rewriteBatches(file: File, position: number, end: number): number | undefined {
  let buffer = new Uint8Array(Math.min(pieceBytes, Math.max(batchHeaderBytes, end - position)))
  while (position < end) {
    const filled = file.read(buffer, 0, Math.min(buffer.length, end - position), position)
    const sound = soundBytes(buffer, filled)
    if (sound > 0) {
      file.write([buffer.subarray(0, sound)], position)
      position += sound
      continue
    }
    const size = filled < batchHeaderBytes ? 0 : batchBytesOf(buffer, 0)
    if (size <= buffer.length || size > end - position) return position
    buffer = new Uint8Array(size)
  }
  // A cut that was not synced either.
  file.truncate(end)
  return undefined
}

/** Of the whole batches at the beginning of what was read. */
function soundBytes(bytes: Uint8Array, filled: number): number {
  let at = 0
  while (at + batchHeaderBytes <= filled) {
    const size = batchBytesOf(bytes, at)
    if (magicOf(bytes, at) !== 2 || size < batchHeaderBytes || at + size > filled || !crcValid(bytes, at)) break
    at += size
  }
  return at
}
