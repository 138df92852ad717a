import * as zlib from 'node:zlib'
import { codecZstd } from '../../kernel/record/compression-codec.ts'
import { zstdFrames } from '../../kernel/record/decompressed-bound.ts'
import { chunkBytes, clampLevel, joined, loadOptional, type LoadPackage, type NativeCodec } from './native-codec.ts'

/** What node:zlib has from Node 22.15 and 23.8 on. */
export interface ZstdOfNode {
  zstdCompressSync?(bytes: Uint8Array, options: { params: Record<number, number> }): Uint8Array
  zstdCompress(
    bytes: Uint8Array, options: { params: Record<number, number>, chunkSize: number }, done: (error: Error | null, result: Uint8Array) => void,
  ): void
  zstdDecompressSync(bytes: Uint8Array, options: { maxOutputLength: number }): Uint8Array
  zstdDecompress(
    bytes: Uint8Array, options: { maxOutputLength: number }, done: (error: Error | null, result: Uint8Array) => void,
  ): void
  readonly constants: { readonly ZSTD_c_compressionLevel: number }
}

interface ZstdEncoder {
  encode(bytes: Buffer): Promise<Uint8Array>
  encodeSync(bytes: Buffer): Uint8Array
}

interface ZstdPackage {
  readonly Encoder: new (level: number) => ZstdEncoder
  readonly Decoder: new () => { decodeSync(bytes: Buffer): Uint8Array, decode(bytes: Buffer): Promise<Uint8Array> }
}

const levelMin = -131_072
const levelMax = 22
const levelDefault = 3

/** Of a Node that has no zstd, or is not to be asked: its bytes differ with its release, those of the package do not. */
export const noZstdOfNode = {} as ZstdOfNode

/** zstd of node:zlib where it has it, else of the package `@toondepauw/node-zstd`. Levels -131072 to 22, by default 3. */
export function loadZstd(load: LoadPackage, ofNode: ZstdOfNode = zlib as unknown as ZstdOfNode): NativeCodec {
  return ofNode.zstdCompressSync === undefined ? zstdOfPackage(load) : zstdOfNode(ofNode as Required<ZstdOfNode>)
}

function zstdOfNode(ofNode: Required<ZstdOfNode>): NativeCodec {
  const levelParameter = ofNode.constants.ZSTD_c_compressionLevel
  return {
    compress: (bytes, level) => ofNode.zstdCompressSync(bytes, { params: { [levelParameter]: clampLevel(level, levelMin, levelMax, levelDefault) } }),
    compressLater: (bytes, level) => new Promise((resolve, reject) => {
      const params = { [levelParameter]: clampLevel(level, levelMin, levelMax, levelDefault) }
      ofNode.zstdCompress(bytes, { params, chunkSize: chunkBytes(bytes.length) }, (error, result) => {
        if (error === null) resolve(result)
        else reject(error)
      })
    }),
    // node:zlib reads the first frame and leaves the others without a word.
    decompress: (bytes, limitBytes) => joined(zstdFrames(bytes).map((frame) => ofNode.zstdDecompressSync(frame, { maxOutputLength: limitBytes }))),
    decompressLater: (bytes, limitBytes) => Promise.all(zstdFrames(bytes).map((frame) => decompressFrame(ofNode, frame, limitBytes))).then(joined),
  }
}

function decompressFrame(ofNode: ZstdOfNode, frame: Uint8Array, limitBytes: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    ofNode.zstdDecompress(frame, { maxOutputLength: limitBytes }, (error, result) => {
      if (error === null) resolve(result)
      else reject(error)
    })
  })
}

function zstdOfPackage(load: LoadPackage): NativeCodec {
  const { Encoder, Decoder } = loadOptional<ZstdPackage>(load, '@toondepauw/node-zstd', codecZstd)
  const decoder = new Decoder()
  const encoders = new Set<ZstdEncoder>()
  return {
    compress: (bytes, level) => new Encoder(clampLevel(level, levelMin, levelMax, levelDefault)).encodeSync(asBuffer(bytes)),
    async compressLater(bytes, level) {
      const encoder = new Encoder(clampLevel(level, levelMin, levelMax, levelDefault))
      // The other thread may use its memory: it is kept until then.
      encoders.add(encoder)
      try {
        return await encoder.encode(asBuffer(bytes))
      } finally {
        encoders.delete(encoder)
      }
    },
    decompress: (bytes) => decoder.decodeSync(asBuffer(bytes)),
    decompressLater: (bytes) => decoder.decode(asBuffer(bytes)),
  }
}

/** The package takes nothing but Buffers. The same memory. */
function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
