import { createRequire } from 'node:module'
import { isMillraceError, MillraceError } from '../../kernel/errors/index.ts'
import { type Compression } from '../../kernel/ports/compression.ts'
import { codecGzip, codecLz4, codecName, codecNone, codecSnappy, codecZstd, isCodec, type CompressionCodec } from '../../kernel/record/compression-codec.ts'
import { decompressedBound } from '../../kernel/record/decompressed-bound.ts'
import { gzipCodec } from './gzip-codec.ts'
import { loadLz4 } from './lz4-codec.ts'
import { type LoadPackage, type NativeCodec } from './native-codec.ts'
import { loadSnappy } from './snappy-codec.ts'
import { loadZstd, type ZstdOfNode } from './zstd-codec.ts'

/** A decoder that was stopped by its limit fails with this code. */
const tooLargeCode = 'ERR_BUFFER_TOO_LARGE'

/**
 * Compressions and decompressions under way at once; the others wait for their turn. There are no more threads that could do them, and each may have its
 * limit in memory: a thousand small bombs take no more of it than these.
 */
const underWayMax = 4

/** Compression by node:zlib and optional native packages, each loaded when it is first used. */
export class NodeCompression implements Compression {
  private readonly load: LoadPackage
  private readonly zstd: ZstdOfNode | undefined
  private readonly loaded = new Map<CompressionCodec, NativeCodec>()
  private readonly waiting: (() => void)[] = []
  private underWay = 0

  /** `zstd` is by default that of node:zlib, where it has one. */
  constructor(load: LoadPackage = createRequire(import.meta.url), zstd?: ZstdOfNode) {
    this.load = load
    this.zstd = zstd
  }

  available(codec: CompressionCodec): boolean {
    try {
      return codec === codecNone || this.native(codec) !== undefined
    } catch {
      return false
    }
  }

  compress(codec: CompressionCodec, bytes: Uint8Array, level?: number): Uint8Array {
    return codec === codecNone ? bytes.slice() : this.native(codec).compress(bytes, level)
  }

  compressLater(
    codec: CompressionCodec, bytes: Uint8Array, level: number | undefined, done: (error: unknown, compressed: Uint8Array | undefined) => void,
  ): void {
    // Whatever a codec says here is no fault of the bytes: there are none that can not be compressed.
    this.later(async () => codec === codecNone ? bytes.slice() : await this.native(codec).compressLater(bytes, level), (error) => error, done)
  }

  decompress(codec: CompressionCodec, bytes: Uint8Array, limitBytes: number): Uint8Array {
    const native = this.prepare(codec, bytes, limitBytes)
    if (native === undefined) return bytes.slice()
    try {
      return withinLimit(native.decompress(bytes, limitBytes), limitBytes)
    } catch (error) {
      throw translated(error, codec, limitBytes)
    }
  }

  decompressLater(
    codec: CompressionCodec, bytes: Uint8Array, limitBytes: number, done: (error: unknown, decompressed: Uint8Array | undefined) => void,
  ): void {
    this.later(async () => {
      const native = this.prepare(codec, bytes, limitBytes)
      return withinLimit(native === undefined ? bytes.slice() : await native.decompressLater(bytes, limitBytes), limitBytes)
    }, (error) => translated(error, codec, limitBytes), done)
  }

  private later(
    work: () => Promise<Uint8Array>, errorOf: (error: unknown) => unknown, done: (error: unknown, result: Uint8Array | undefined) => void,
  ): void {
    const begin = (): void => {
      this.underWay++
      work().then(
        (result) => done(undefined, result),
        (error: unknown) => done(errorOf(error), undefined),
      ).finally(() => {
        this.underWay--
        this.waiting.shift()?.()
      })
    }
    if (this.underWay < underWayMax) begin()
    else this.waiting.push(begin)
  }

  /** The codec, once the bound that the bytes tell of themselves is within the limit; undefined for codec 0. */
  private prepare(codec: CompressionCodec, bytes: Uint8Array, limitBytes: number): NativeCodec | undefined {
    const native = codec === codecNone ? undefined : this.native(codec)
    const bound = decompressedBound(codec, bytes)
    if (bound > limitBytes && bound !== Infinity) throw tooLarge(limitBytes)
    return native
  }

  private native(codec: CompressionCodec): NativeCodec {
    let native = this.loaded.get(codec)
    if (native === undefined) {
      native = this.loadNative(codec)
      this.loaded.set(codec, native)
    }
    return native
  }

  private loadNative(codec: CompressionCodec): NativeCodec {
    if (codec === codecGzip) return gzipCodec
    if (codec === codecSnappy) return loadSnappy(this.load)
    if (codec === codecLz4) return loadLz4(this.load)
    if (codec === codecZstd) return loadZstd(this.load, this.zstd)
    throw new MillraceError('MR_RECORD_BATCH_INVALID', { reason: `unknown codec ${String(codec)}` })
  }
}

function withinLimit(result: Uint8Array, limitBytes: number): Uint8Array {
  if (result.length > limitBytes) throw tooLarge(limitBytes)
  return result
}

function translated(error: unknown, codec: CompressionCodec, limitBytes: number): MillraceError {
  if (isMillraceError(error)) return error
  if (error instanceof Error && 'code' in error && error.code === tooLargeCode) return tooLarge(limitBytes, error)
  const reason = `${isCodec(codec) ? codecName(codec) : 'codec'}: ${error instanceof Error ? error.message : String(error)}`
  return new MillraceError('MR_RECORD_CORRUPT', { reason }, error)
}

function tooLarge(limitBytes: number, cause?: unknown): MillraceError {
  return new MillraceError('MR_RECORD_DECOMPRESSED_TOO_LARGE', { limit: limitBytes }, cause)
}
