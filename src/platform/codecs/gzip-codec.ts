import { gunzip, gunzipSync, gzip, gzipSync } from 'node:zlib'
import { chunkBytes, clampLevel, type NativeCodec } from './native-codec.ts'

/** gzip of node:zlib, levels 1 to 9, by default 6. Several members in a row are read as one. */
export const gzipCodec: NativeCodec = {
  compress: (bytes, level) => gzipSync(bytes, { level: clampLevel(level, 1, 9, 6) }),
  compressLater: (bytes, level) => new Promise((resolve, reject) => {
    gzip(bytes, { level: clampLevel(level, 1, 9, 6), chunkSize: chunkBytes(bytes.length) }, (error, result) => {
      if (error === null) resolve(result)
      else reject(error)
    })
  }),
  decompress: (bytes, limitBytes) => gunzipSync(bytes, outputOptions(bytes, limitBytes)),
  decompressLater: (bytes, limitBytes) => new Promise((resolve, reject) => {
    gunzip(bytes, outputOptions(bytes, limitBytes), (error, result) => {
      if (error === null) resolve(result)
      else reject(error)
    })
  }),
}

/** Of node:zlib. Smaller chunks would take long, however little a member claims. */
const chunkBytesMin = 16 * 1024
/** Deflate makes no more of a byte than this. */
const ratioMax = 1032

/**
 * The output comes in chunks, which are joined in the end: in memory twice. One chunk of the size that the last four bytes tell (RFC 1952,
 * ISIZE) holds all that an honest client sends. They can lie, as can several members: what is more than they tell may have half the limit.
 */
function outputOptions(bytes: Uint8Array, limitBytes: number): { readonly maxOutputLength: number, readonly chunkSize: number } {
  const told = bytes.length < 4 ? 0 : new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getUint32(bytes.length - 4, true)
  const size = Math.min(told, limitBytes, bytes.length * ratioMax)
  return { maxOutputLength: Math.max(1, size, limitBytes >> 1), chunkSize: Math.max(chunkBytesMin, size + 1) }
}
