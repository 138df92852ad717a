import { gunzip, gunzipSync, gzipSync } from 'node:zlib'
import { clampLevel, type NativeCodec } from './native-codec.ts'

/** gzip of node:zlib, levels 1 to 9, by default 6. Several members in a row are read as one. */
export const gzipCodec: NativeCodec = {
  compress: (bytes, level) => gzipSync(bytes, { level: clampLevel(level, 1, 9, 6) }),
  decompress: (bytes, limitBytes) => gunzipSync(bytes, { maxOutputLength: limitBytes }),
  decompressLater: (bytes, limitBytes) => new Promise((resolve, reject) => {
    gunzip(bytes, { maxOutputLength: limitBytes }, (error, result) => {
      if (error === null) resolve(result)
      else reject(error)
    })
  }),
}
