import { expect, test } from 'vitest'
import { codecName, codecNamed, decompressesInline, isCodec } from '../../../../src/kernel/record/compression-codec.ts'

test('names and ids belong together', () => {
  expect([0, 1, 2, 3, 4].map((id) => codecName(id as 0))).toEqual(['none', 'gzip', 'snappy', 'lz4', 'zstd'])
  expect(['none', 'gzip', 'snappy', 'lz4', 'zstd', 'uncompressed', 'producer', ''].map(codecNamed)).toEqual([0, 1, 2, 3, 4, 0, undefined, undefined])
  expect([-1, 0, 4, 5, 7].map(isCodec)).toEqual([false, true, true, false, false])
})

test('dear codecs leave the event loop earlier than cheap ones', () => {
  expect([decompressesInline(1, 100_000), decompressesInline(4, 100_000), decompressesInline(3, 100_000), decompressesInline(2, 100_000)]).toEqual([false, false, true, true])
  expect(decompressesInline(1, 65_536)).toBe(true)
})
