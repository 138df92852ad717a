import { MillraceError } from '../errors/index.ts'
import { readInt32 } from './batch-header.ts'

/**
 * The framing that Java's snappy streams put around raw snappy blocks, and with them Kafka: a magic of 8 bytes, two int32 for the version
 * and the oldest version that can read it, then blocks of int32 length and bytes. Streams may be joined, each with a header of its own.
 * Readers also take one raw block without any framing, as some clients write it; and they do not look at the version fields,
 * which others wrote with the bytes swapped (quirk 28).
 */
const magic = Uint8Array.of(0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00)
const headerBytes = 16

/** Uncompressed bytes of a block, as Java's stream cuts them. */
export const xerialBlockBytes = 32 * 1024

export function isXerial(bytes: Uint8Array, at = 0): boolean {
  if (bytes.length - at < headerBytes) return false
  for (let index = 0; index < magic.length; index++) if (bytes[at + index] !== magic[index]) return false
  return true
}

/** Calls `block` with each raw block, in order: for framed bytes those in the frame, else all of it. MR_RECORD_CORRUPT for a broken frame. */
export function readXerial(bytes: Uint8Array, block: (raw: Uint8Array) => void): void {
  if (!isXerial(bytes)) {
    block(bytes)
    return
  }
  let at = headerBytes
  while (at < bytes.length) {
    if (isXerial(bytes, at)) {
      at += headerBytes
      continue
    }
    const start = at + 4
    const length = start <= bytes.length ? readInt32(bytes, at) : -1
    if (length < 0 || length > bytes.length - start) {
      throw new MillraceError('MR_RECORD_CORRUPT', { reason: `the snappy frame breaks off at byte ${at}` })
    }
    block(bytes.subarray(start, start + length))
    at = start + length
  }
}

/** Puts compressed blocks into a frame. */
export function writeXerial(blocks: readonly Uint8Array[]): Uint8Array {
  let size = headerBytes
  for (const block of blocks) size += 4 + block.length
  const framed = new Uint8Array(size)
  const view = new DataView(framed.buffer)
  framed.set(magic, 0)
  view.setInt32(8, 1)
  view.setInt32(12, 1)
  let at = headerBytes
  for (const block of blocks) {
    view.setInt32(at, block.length)
    framed.set(block, at + 4)
    at += 4 + block.length
  }
  return framed
}
