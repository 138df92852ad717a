import { unreachable } from '../../base/assert.ts'
import { BytesReader } from '../../base/bytes-reader.ts'
import { isBytesError } from '../../base/bytes-error.ts'
import { MillraceError } from '../errors/index.ts'
import { codecGzip, codecLz4, codecName, codecNone, codecSnappy, codecZstd, type CompressionCodec } from './compression-codec.ts'
import { readXerial } from './xerial.ts'

/** Longest block that a zstd frame may hold (RFC 8878, 3.1.1.2.3). */
const zstdBlockBytesMax = 128 * 1024
/** Window that every zstd decoder should afford (RFC 8878, 3.1.1.1.2); above it the window counts as memory that is asked for. */
const zstdWindowBytesFree = 8 * 1024 * 1024
const lz4Magic = 0x184d_2204
const zstdMagic = 0xfd2f_b528
/** A byte of an LZ4 block adds 255 bytes at most: the longest step of a match length. */
const lz4RatioMax = 255

/**
 * How many bytes the compressed ones can become at most, from their frame and block headers alone. What a frame merely claims of its
 * content is not trusted. Infinity for gzip, which tells nothing: its decoder has to stop by itself. MR_RECORD_CORRUPT for bytes that
 * are not of the format.
 */
export function decompressedBound(codec: CompressionCodec, bytes: Uint8Array): number {
  try {
    if (codec === codecNone) return bytes.length
    if (codec === codecGzip) return Infinity
    if (codec === codecSnappy) return snappyBound(bytes)
    if (codec === codecLz4) return lz4Bound(bytes)
    if (codec === codecZstd) return zstdBound(bytes)
    return unreachable(codec as never, 'decompressedBound')
  } catch (error) {
    if (isBytesError(error)) throw corrupt(`${codecName(codec)}: ${error.message}`)
    throw error
  }
}

/** Whether the blocks of an LZ4 frame can be read one by one. Java's reader, and with it every Kafka broker, refuses frames that can not. */
export function lz4BlocksIndependent(bytes: Uint8Array): boolean {
  return bytes.length > 4 && (bytes[4]! & 0x20) !== 0
}

/** A raw block begins with its uncompressed length, and a decoder makes no more than that. */
function snappyBound(bytes: Uint8Array): number {
  let total = 0
  readXerial(bytes, (raw) => {
    total += new BytesReader(raw).uvarint()
  })
  return total
}

/** One frame and nothing behind it: Java reads the first and leaves the rest, other readers differ. */
function lz4Bound(bytes: Uint8Array): number {
  const reader = new BytesReader(bytes)
  if (little32(reader) !== lz4Magic) throw corrupt('lz4: no frame of LZ4 begins like this')
  const flags = reader.uint8()
  const sizeCode = (reader.uint8() >> 4) & 7
  if (flags >> 6 !== 1 || sizeCode < 4) throw corrupt('lz4: unknown frame version or block size')
  if ((flags & 0x01) !== 0) throw corrupt('lz4: the frame needs a dictionary')
  const blockBytesMax = 1 << (8 + 2 * sizeCode)
  const checksumBytes = (flags & 0x10) === 0 ? 0 : 4
  reader.skip(((flags & 0x08) === 0 ? 0 : 8) + 1)
  let total = 0
  for (;;) {
    const size = little32(reader)
    if (size === 0) break
    const length = size & 0x7fff_ffff
    const stored = size >= 0x8000_0000
    if (length > blockBytesMax) throw corrupt('lz4: a block is larger than the frame allows')
    total += stored ? length : Math.min(blockBytesMax, length * lz4RatioMax)
    reader.skip(length + checksumBytes)
  }
  if ((flags & 0x04) !== 0) reader.skip(4)
  if (reader.remaining > 0) throw corrupt('lz4: bytes follow the frame')
  return total
}

/** Any number of frames, skippable ones included. */
function zstdBound(bytes: Uint8Array): number {
  let total = 0
  walkZstd(bytes, (bound) => {
    total += bound
  })
  return total
}

/**
 * The frames of zstd bytes, without skippable ones: for decoders that stop silently behind the first, as node:zlib does. MR_RECORD_CORRUPT for
 * bytes that are no frames.
 */
export function zstdFrames(bytes: Uint8Array): readonly Uint8Array[] {
  const frames: Uint8Array[] = []
  try {
    walkZstd(bytes, (_bound, start, end) => {
      frames.push(bytes.subarray(start, end))
    })
  } catch (error) {
    if (isBytesError(error)) throw corrupt(`zstd: ${error.message}`)
    throw error
  }
  return frames
}

function walkZstd(bytes: Uint8Array, frame: (bound: number, start: number, end: number) => void): void {
  const reader = new BytesReader(bytes)
  do {
    const start = reader.position
    const magic = little32(reader)
    if ((magic & 0xffff_fff0) >>> 0 === 0x184d_2a50) {
      reader.skip(little32(reader))
      continue
    }
    if (magic !== zstdMagic) throw corrupt('zstd: no frame of Zstandard begins like this')
    const bound = zstdFrameBound(reader)
    frame(bound, start, reader.position)
  } while (reader.remaining > 0)
}

function zstdFrameBound(reader: BytesReader): number {
  const descriptor = reader.uint8()
  const singleSegment = (descriptor & 0x20) !== 0
  if ((descriptor & 0x08) !== 0) throw corrupt('zstd: a reserved bit is set')
  let window = 0
  if (!singleSegment) {
    const code = reader.uint8()
    const base = 2 ** (10 + (code >> 3))
    window = base + (base / 8) * (code & 7)
  }
  reader.skip([0, 1, 2, 4][descriptor & 3]!)
  const contentSize = zstdContentSize(reader, descriptor >> 6, singleSegment)
  if (singleSegment) window = contentSize
  const blockBytesMax = Math.min(window, zstdBlockBytesMax)
  let total = 0
  for (;;) {
    const head = reader.uint8() | (reader.uint8() << 8) | (reader.uint8() << 16)
    const kind = (head >> 1) & 3
    const size = head >>> 3
    if (kind === 3) throw corrupt('zstd: a block is of a reserved kind')
    // 0 stored, 1 one byte repeated, 2 compressed.
    total += kind === 2 ? blockBytesMax : size
    reader.skip(kind === 1 ? 1 : size)
    if ((head & 1) !== 0) break
  }
  if ((descriptor & 0x04) !== 0) reader.skip(4)
  const windowMemory = Math.min(window, contentSize)
  return windowMemory > zstdWindowBytesFree ? Math.max(total, windowMemory) : total
}

/** Infinity when the frame does not say. */
function zstdContentSize(reader: BytesReader, code: number, singleSegment: boolean): number {
  switch (code) {
    case 0: return singleSegment ? reader.uint8() : Infinity
    case 1: return (reader.uint8() | (reader.uint8() << 8)) + 256
    case 2: return little32(reader)
    default: {
      const low = little32(reader)
      return little32(reader) * 0x1_0000_0000 + low
    }
  }
}

function little32(reader: BytesReader): number {
  const at = reader.advance(4, 'int32')
  return reader.view.getUint32(at, true)
}

function corrupt(reason: string): MillraceError {
  return new MillraceError('MR_RECORD_CORRUPT', { reason })
}
