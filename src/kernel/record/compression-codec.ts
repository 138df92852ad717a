/** How the records of a batch are compressed: the low three bits of its attributes. */
export type CompressionCodec = 0 | 1 | 2 | 3 | 4

/** Codecs as settings and clients name them. */
export type CompressionName = 'none' | 'gzip' | 'snappy' | 'lz4' | 'zstd'

/** Records as they are. */
export const codecNone: CompressionCodec = 0
/** RFC 1952. */
export const codecGzip: CompressionCodec = 1
/** In xerial's framing. */
export const codecSnappy: CompressionCodec = 2
/** LZ4 frames. */
export const codecLz4: CompressionCodec = 3
/** RFC 8878. */
export const codecZstd: CompressionCodec = 4

const names: readonly CompressionName[] = ['none', 'gzip', 'snappy', 'lz4', 'zstd']

/** What to do where a compressed batch meets an object that was made without a Compression. */
export const noCompressionRemedy = 'give whatever reads the batch a Compression'

/** Whether a number is that of a codec: 0 to 4. */
export function isCodec(codec: number): codec is CompressionCodec {
  return codec >= 0 && codec < names.length
}

/** As settings and clients name it. */
export function codecName(codec: CompressionCodec): CompressionName {
  return names[codec]!
}

/** Also takes Kafka's other word for none, `uncompressed`. Undefined for a name that is no codec. */
export function codecNamed(name: string): CompressionCodec | undefined {
  const index = name === 'uncompressed' ? 0 : names.indexOf(name as CompressionName)
  return isCodec(index) ? index : undefined
}

/**
 * So many bytes are best compressed on the event loop: above, it would stand still for more than about a millisecond. zstd's levels differ by a factor
 * of a hundred.
 */
export function compressInlineBytesMax(codec: CompressionCodec, level = 0): number {
  if (codec === codecNone) return Infinity
  if (codec === codecGzip) return 0x4000
  if (codec !== codecZstd) return 0x4_0000
  if (level <= 3) return 0x1_0000
  return level <= 9 ? 0x4000 : 0x400
}

/**
 * Whether so many compressed bytes are best decompressed on the event loop: a hop to another thread and back costs about 50 µs, in which
 * lz4 and snappy decode a quarter of a mebibyte, gzip and zstd far less.
 */
export function decompressesInline(codec: CompressionCodec, compressedBytes: number): boolean {
  return compressedBytes <= (codec === codecGzip || codec === codecZstd ? 0x1_0000 : 0x4_0000)
}
