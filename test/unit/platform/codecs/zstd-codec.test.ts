import { expect, test } from 'vitest'
import { loadZstd } from '../../../../src/platform/codecs/zstd-codec.ts'

const refuse = (name: string): unknown => {
  throw new Error(`Cannot find module '${name}'`)
}

test('a node:zlib with zstd is used before any package, with level and limit', async () => {
  const seen: unknown[] = []
  const ofNode = {
    constants: { ZSTD_c_compressionLevel: 100 },
    zstdCompressSync: (bytes: Uint8Array, options: unknown) => (seen.push(options), bytes),
    zstdDecompressSync: (bytes: Uint8Array, options: unknown) => (seen.push(options), bytes),
    zstdDecompress: (bytes: Uint8Array, options: unknown, done: (error: Error | null, result: Uint8Array) => void) => {
      seen.push(options)
      done(bytes.length === 0 ? new Error('short') : null, bytes)
    },
  }
  const codec = loadZstd(refuse, ofNode)
  codec.compress(Uint8Array.of(1), 30)
  codec.decompress(Uint8Array.of(1), 77)
  expect([...await codec.decompressLater(Uint8Array.of(1), 78)]).toEqual([1])
  await expect(codec.decompressLater(new Uint8Array(0), 78)).rejects.toThrow('short')
  expect(seen).toEqual([{ params: { 100: 22 } }, { maxOutputLength: 77 }, { maxOutputLength: 78 }, { maxOutputLength: 78 }])
})

test('without both, the error names the package to install', () => {
  const ofNode = { constants: { ZSTD_c_compressionLevel: 0 }, zstdDecompressSync: () => new Uint8Array(), zstdDecompress: () => undefined }
  expect(() => loadZstd(refuse, ofNode)).toThrow('install the optional package @toondepauw/node-zstd')
})
