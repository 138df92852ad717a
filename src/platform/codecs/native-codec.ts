import { type CompressionCodec, codecName } from '../../kernel/record/compression-codec.ts'
import { MillraceError } from '../../kernel/errors/index.ts'

/**
 * One codec, as NodeCompression drives it. Bounds known from headers have been checked before; `limitBytes` is for the decoders that can
 * stop by themselves. Whatever these throw or reject with that is no error of ours means that the bytes are not of the format.
 */
export interface NativeCodec {
  compress(bytes: Uint8Array, level: number | undefined): Uint8Array
  compressLater(bytes: Uint8Array, level: number | undefined): Promise<Uint8Array>
  decompress(bytes: Uint8Array, limitBytes: number): Uint8Array
  decompressLater(bytes: Uint8Array, limitBytes: number): Promise<Uint8Array>
}

/** Loads a package by name, or throws. */
export type LoadPackage = (name: string) => unknown

/** An optional package, loaded now. MR_RECORD_CODEC_UNAVAILABLE when it is not installed or does not run on this machine. */
export function loadOptional<T>(load: LoadPackage, name: string, codec: CompressionCodec): T {
  try {
    return load(name) as T
  } catch (error) {
    throw new MillraceError('MR_RECORD_CODEC_UNAVAILABLE', { codec: codecName(codec), package: name, remedy: `install the optional package ${name}` }, error)
  }
}

/** Between two bounds, `fallback` for none. */
export function clampLevel(level: number | undefined, min: number, max: number, fallback: number): number {
  return level === undefined ? fallback : Math.min(max, Math.max(min, Math.trunc(level)))
}

/** Size of the pieces in which node:zlib gives what it has compressed off the loop: each is a hop between threads, and its memory is taken before. */
export function chunkBytes(plainBytes: number): number {
  return Math.min(0x10_0000, Math.max(0x4000, plainBytes >> 2))
}

/** The parts one behind the other; a single one as it is. */
export function joined(parts: readonly Uint8Array[]): Uint8Array {
  if (parts.length === 1) return parts[0]!
  const all = new Uint8Array(parts.reduce((total, part) => total + part.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
