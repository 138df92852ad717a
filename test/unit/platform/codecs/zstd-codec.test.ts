import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { NodeCompression } from '../../../../src/platform/codecs/node-compression.ts'
import { loadZstd, noZstdOfNode } from '../../../../src/platform/codecs/zstd-codec.ts'

const refuse = (name: string): unknown => {
  throw new Error(`Cannot find module '${name}'`)
}

// A frame that stores one byte: magic, single segment of one byte, last block.
const frameOf = (byte: number): number[] => [0x28, 0xb5, 0x2f, 0xfd, 0x20, 1, 0x09, 0, 0, byte]

test('a node:zlib with zstd is used before any package, with level and limit, one frame at a time', async () => {
  const seen: unknown[] = []
  const first = (bytes: Uint8Array): Uint8Array => bytes.subarray(9, 10)
  const ofNode = {
    constants: { ZSTD_c_compressionLevel: 100 },
    zstdCompressSync: (bytes: Uint8Array, options: unknown) => (seen.push(options), bytes),
    zstdCompress: (bytes: Uint8Array, options: { params: object }, done: (error: Error | null, result: Uint8Array) => void) => {
      seen.push({ params: options.params })
      done(bytes.length === 0 ? new Error('out of memory') : null, bytes)
    },
    zstdDecompressSync: (bytes: Uint8Array, options: unknown) => (seen.push(options), first(bytes)),
    zstdDecompress: (bytes: Uint8Array, options: unknown, done: (error: Error | null, result: Uint8Array) => void) => {
      seen.push(options)
      done(bytes[9] === 0 ? new Error('damaged') : null, first(bytes))
    },
  }
  const codec = loadZstd(refuse, ofNode)
  const skippable = [0x50, 0x2a, 0x4d, 0x18, 1, 0, 0, 0, 99]
  const two = Uint8Array.from([...frameOf(1), ...skippable, ...frameOf(2)])
  codec.compress(Uint8Array.of(1), 30)
  expect([...await codec.compressLater(Uint8Array.of(7), 31)]).toEqual([7])
  await expect(codec.compressLater(new Uint8Array(), -200_000)).rejects.toThrow('out of memory')
  expect([...codec.decompress(two, 77)]).toEqual([1, 2])
  expect([...await codec.decompressLater(two, 78)]).toEqual([1, 2])
  await expect(codec.decompressLater(Uint8Array.from(frameOf(0)), 78)).rejects.toThrow('damaged')
  const limit = (maxOutputLength: number): object => ({ maxOutputLength })
  expect(seen).toEqual([{ params: { 100: 22 } }, { params: { 100: 22 } }, { params: { 100: -131_072 } }, limit(77), limit(77), limit(78), limit(78), limit(78)])
})

test('without both, the error names the package to install', () => {
  const ofNode = { constants: { ZSTD_c_compressionLevel: 0 }, zstdCompress: () => undefined, zstdDecompressSync: () => new Uint8Array(), zstdDecompress: () => undefined }
  expect(() => loadZstd(refuse, ofNode)).toThrow('install the optional package @toondepauw/node-zstd')
})

test('the zstd of node:zlib can be done without: the bytes are then those of the package, under every release of Node', () => {
  const plain = Buffer.from(Array.from({ length: 2000 }, (_, index) => `value ${index % 37}`).join())
  const { Encoder } = createRequire(import.meta.url)('@toondepauw/node-zstd') as { Encoder: new (level: number) => { encodeSync(bytes: Buffer): Uint8Array } }
  const packed = new NodeCompression(undefined, noZstdOfNode).compress(4, plain)
  expect(Buffer.from(packed).equals(new Encoder(3).encodeSync(plain))).toBe(true)
  expect(Buffer.from(new NodeCompression().decompress(4, packed, 1_000_000)).equals(plain)).toBe(true)
})
