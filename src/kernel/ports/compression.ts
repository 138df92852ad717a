import { type CompressionCodec } from '../record/compression-codec.ts'
import { token } from '../plugin/token.ts'

/**
 * Compresses and decompresses what lies behind the header of a batch. The formats are those of Kafka's clients: gzip (RFC 1952), snappy
 * in xerial framing (raw blocks are read too), LZ4 frames with independent blocks, zstd frames (RFC 8878). Codec 0 copies.
 *
 * Nothing is decompressed beyond its limit: where the format tells a bound before decoding, more than the limit is refused unread.
 * Errors: MR_RECORD_CODEC_UNAVAILABLE (an optional package is not installed), MR_RECORD_CORRUPT (these bytes are not of that format),
 * MR_RECORD_DECOMPRESSED_TOO_LARGE.
 */
export interface Compression {
  /** Whether the codec can be used on this machine. Does not throw; the first call for a codec may load its package. */
  available(codec: CompressionCodec): boolean
  /** Blocks the event loop: see `decompressesInline`. The result is the caller's. A level outside the codec's range is brought into it. */
  compress(codec: CompressionCodec, bytes: Uint8Array, level?: number): Uint8Array
  /** Blocks the event loop. At most `limitBytes` come out. The result is the caller's. */
  decompress(codec: CompressionCodec, bytes: Uint8Array, limitBytes: number): Uint8Array
  /**
   * Compresses on another thread. `done` is called once, never before this call has returned, with an error or with bytes that are the
   * caller's. `bytes` must not change until then. A level outside the codec's range is brought into it.
   */
  compressLater(
    codec: CompressionCodec, bytes: Uint8Array, level: number | undefined, done: (error: unknown, compressed: Uint8Array | undefined) => void,
  ): void
  /**
   * Decompresses on another thread. `done` is called once, never before this call has returned, with an error or with bytes that are
   * the caller's. `bytes` must not change until then.
   */
  decompressLater(
    codec: CompressionCodec, bytes: Uint8Array, limitBytes: number, done: (error: unknown, decompressed: Uint8Array | undefined) => void,
  ): void
}

export const Compression = token<Compression>('Compression', { available: true, compress: true, decompress: true, compressLater: true, decompressLater: true })
