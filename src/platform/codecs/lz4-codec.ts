import { codecLz4 } from '../../kernel/record/compression-codec.ts'
import { loadOptional, type LoadPackage, type NativeCodec } from './native-codec.ts'

interface Lz4Package {
  compressFrame(data: Uint8Array): Promise<Uint8Array>
  compressFrameSync(data: Uint8Array): Uint8Array
  decompressFrameSync(data: Uint8Array): Uint8Array
  decompressFrame(data: Uint8Array): Promise<Uint8Array>
}

/**
 * LZ4 frames of the package `lz4-napi`: version 1 with independent blocks, as Java reads them. It has no levels. It decodes the first of
 * several frames only; the check of the bound has refused bytes behind the first.
 */
export function loadLz4(load: LoadPackage): NativeCodec {
  const lz4 = loadOptional<Lz4Package>(load, 'lz4-napi', codecLz4)
  return {
    compress: (bytes) => lz4.compressFrameSync(bytes),
    compressLater: (bytes) => lz4.compressFrame(bytes),
    decompress: (bytes) => lz4.decompressFrameSync(bytes),
    decompressLater: (bytes) => lz4.decompressFrame(bytes),
  }
}
