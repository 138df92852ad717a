import { describe, expect, test } from 'vitest'
import { isMillraceError } from '../../../../src/kernel/errors/index.ts'
import { codecGzip, codecLz4, codecNone, codecSnappy, codecZstd, type CompressionCodec } from '../../../../src/kernel/record/compression-codec.ts'
import { decompressedBound, lz4BlocksIndependent } from '../../../../src/kernel/record/decompressed-bound.ts'

const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text.replaceAll(' ', ''), 'hex'))

const isCorrupt = (codec: CompressionCodec, text: string): boolean => {
  try {
    decompressedBound(codec, hex(text))
    return false
  } catch (error) {
    return isMillraceError(error, 'MR_RECORD_CORRUPT')
  }
}

test('no codec is its own length, gzip tells nothing', () => {
  expect(decompressedBound(codecNone, new Uint8Array(7))).toBe(7)
  expect(decompressedBound(codecGzip, new Uint8Array(7))).toBe(Infinity)
})

test('snappy: the lengths before the raw blocks, added up', () => {
  expect(decompressedBound(codecSnappy, hex('8002 00'))).toBe(256)
  expect(decompressedBound(codecSnappy, hex('82534e4150505900 00000001 00000001 00000003 8002 00 00000002 05 00'))).toBe(261)
  expect(isCorrupt(codecSnappy, '')).toBe(true)
  expect(isCorrupt(codecSnappy, 'ffffffffff')).toBe(true)
})

describe('lz4', () => {
  // Magic, flags, block size 64 KiB, header checksum.
  const head = (flags: string, size = '40'): string => `04224d18 ${flags} ${size}`

  test('a stored block counts its bytes, a compressed one 255 times them and no more than the block size', () => {
    expect(decompressedBound(codecLz4, hex(`${head('60')} 00 03000080 aabbcc 00000000`))).toBe(3)
    expect(decompressedBound(codecLz4, hex(`${head('60')} 00 03000000 aabbcc 00000000`))).toBe(765)
    expect(decompressedBound(codecLz4, hex(`${head('60')} 00 00020000 ${'00'.repeat(512)} 00000000`))).toBe(65_536)
  })

  test('content size, block checksums and a content checksum are stepped over', () => {
    expect(decompressedBound(codecLz4, hex(`${head('7c')} 0300000000000000 00 03000080 aabbcc 11111111 00000000 22222222`))).toBe(3)
  })

  test.each([
    ['another magic', '05224d18 60 40 00 00000000'], ['another version', `${head('20')} 00 00000000`], ['a block size of the past', `${head('60', '30')} 00 00000000`],
    ['a dictionary', `${head('61')} 00000000 00 00000000`], ['no end', `${head('60')} 00 03000080 aabbcc`], ['bytes behind it', `${head('60')} 00 00000000 00`],
    ['a block beyond its size', `${head('60')} 00 01000100 ${'00'.repeat(65_537)} 00000000`],
  ])('a frame with %s is corrupt', (_what, text) => {
    expect(isCorrupt(codecLz4, text)).toBe(true)
  })

  test('linked blocks are told from independent ones', () => {
    expect([lz4BlocksIndependent(hex(head('60'))), lz4BlocksIndependent(hex(head('40'))), lz4BlocksIndependent(hex('0422'))]).toEqual([true, false, false])
  })
})

describe('zstd', () => {
  const magic = '28b52ffd'

  test('stored and repeated blocks count their size, a compressed one the window, at most 128 KiB', () => {
    // Window of 1 KiB (code 0): stored 2 bytes, repeated 16 bytes, compressed 3 bytes (last).
    expect(decompressedBound(codecZstd, hex(`${magic} 00 00 100000 aabb 820000 aa 1d0000 aabbcc`))).toBe(2 + 16 + 1024)
    expect(decompressedBound(codecZstd, hex(`${magic} 00 58 1d0000 aabbcc`))).toBe(131_072)
  })

  test('a single segment has its content for a window', () => {
    expect(decompressedBound(codecZstd, hex(`${magic} 20 0a 1d0000 aabbcc`))).toBe(10)
    expect(decompressedBound(codecZstd, hex(`${magic} 60 0a00 1d0000 aabbcc`))).toBe(266)
  })

  test('frames are added up, skippable ones and checksums stepped over', () => {
    const frame = `${magic} 24 05 290000 0102030405 99999999`
    expect(decompressedBound(codecZstd, hex(`502a4d18 02000000 ffff ${frame} ${frame}`))).toBe(10)
  })

  test('a window above 8 MiB counts as memory, unless the content is smaller', () => {
    expect(decompressedBound(codecZstd, hex(`${magic} 00 88 090000 aa`))).toBe(2 ** 27)
    expect(decompressedBound(codecZstd, hex(`${magic} 80 88 01000000 090000 aa`))).toBe(1)
    expect(decompressedBound(codecZstd, hex(`${magic} 00 68 090000 aa`))).toBe(1)
  })

  test.each([['nothing', ''], ['another magic', '28b52ffe 20 00 010000'], ['a reserved bit', `${magic} 28 00 010000`], ['a reserved kind of block', `${magic} 20 00 070000`], ['no last block', `${magic} 20 01 080000 aa`]])(
    '%s is corrupt', (_what, text) => {
      expect(isCorrupt(codecZstd, text)).toBe(true)
    })
})
