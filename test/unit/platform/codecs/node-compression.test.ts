import fc from 'fast-check'
import { createRequire } from 'node:module'
import { describe, expect, test } from 'vitest'
import { Prng } from '../../../../src/base/prng.ts'
import { isMillraceError, type MillraceError } from '../../../../src/kernel/errors/index.ts'
import { BatchBuilder } from '../../../../src/kernel/record/batch-builder.ts'
import { BatchCheck } from '../../../../src/kernel/record/batch-check.ts'
import { BatchReader } from '../../../../src/kernel/record/batch-reader.ts'
import { codecNamed, type CompressionCodec } from '../../../../src/kernel/record/compression-codec.ts'
import { decompressedBound } from '../../../../src/kernel/record/decompressed-bound.ts'
import { NodeCompression } from '../../../../src/platform/codecs/node-compression.ts'
import { javaBatches } from './java-batches.ts'

const compression = new NodeCompression()
const limit = 64 * 1024 * 1024
const codecs = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const
const packed = codecs.slice(1)
const idOf = (name: string): CompressionCodec => codecNamed(name)!
const base64 = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'base64'))

function failure(work: () => unknown): MillraceError {
  try {
    work()
  } catch (error) {
    if (isMillraceError(error)) return error
    throw error
  }
  throw new Error('it did not fail')
}

const later = (codec: CompressionCodec, bytes: Uint8Array, limitBytes: number): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    compression.decompressLater(codec, bytes, limitBytes, (error, result) => {
      if (result === undefined) reject(error as Error)
      else resolve(result)
    })
  })

const compressedLater = (codec: CompressionCodec, bytes: Uint8Array, level?: number): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    let returned = false
    compression.compressLater(codec, bytes, level, (error, result) => {
      if (result === undefined || !returned) reject(error as Error)
      else resolve(result)
    })
    returned = true
  })

describe.each(codecs)('%s', (name) => {
  const codec = idOf(name)

  test('what is compressed comes back, on the loop and off it', async () => {
    expect(compression.available(codec)).toBe(true)
    await fc.assert(fc.asyncProperty(fc.uint8Array({ maxLength: 500 }), fc.integer({ min: 1, max: 300 }), async (unit, repeat) => {
      const bytes = Uint8Array.from(Array.from({ length: repeat }, () => [...unit]).flat())
      const compressed = compression.compress(codec, bytes)
      expect(Buffer.compare(compression.decompress(codec, compressed, limit), bytes)).toBe(0)
      expect(Buffer.compare(await later(codec, compressed, limit), bytes)).toBe(0)
    }), { numRuns: 25 })
  })

  test('incompressible bytes of several blocks come back', async () => {
    const bytes = new Prng(5).bytes(700_001)
    const compressed = compression.compress(codec, bytes)
    expect(Buffer.compare(compression.decompress(codec, compressed, 700_001), bytes)).toBe(0)
    expect(Buffer.compare(await later(codec, compressed, 800_000), bytes)).toBe(0)
  })

  test('what is compressed off the loop is what is compressed on it, at any level', async () => {
    const text = new TextEncoder().encode(Array.from({ length: 40_000 }, (_, index) => `line ${index % 97} of ${index % 13}`).join('\n'))
    for (const bytes of [new Uint8Array(), new Uint8Array(1_000_000), text, new Prng(5).bytes(700_001)]) {
      for (const level of [undefined, 1, 9]) {
        const compressed = await compressedLater(codec, bytes, level)
        expect(Buffer.compare(compression.decompress(codec, compressed, limit), bytes)).toBe(0)
        // Node's own codecs may split what they give into other pieces; the size tells the level.
        expect(Math.abs(compressed.length - compression.compress(codec, bytes, level).length)).toBeLessThanOrEqual(64)
      }
    }
  })

  test('the result is the caller\'s: nothing else writes to it or sees it', () => {
    const bytes = new TextEncoder().encode('hello world '.repeat(50))
    const first = compression.compress(codec, bytes)
    const copy = first.slice()
    const out = compression.decompress(codec, first, limit)
    compression.compress(codec, bytes.slice(5))
    out.fill(0)
    expect(Buffer.compare(first, copy)).toBe(0)
    expect(compression.decompress(codec, first, limit)[0]).toBe(104)
  })

  test('a batch that Java built passes the check and is read', () => {
    const batch = base64(javaBatches[name])
    const check = new BatchCheck(compression)
    const rules = {
      batchCheck: 'records' as const, compact: false, maxMessageBytes: 10_000, timestampType: 'CreateTime' as const,
      timestampBeforeMaxMs: Infinity, timestampAfterMaxMs: 1000,
    }
    expect([check.check(batch, 0, batch.length, rules, 1_700_000_001_500), check.reason]).toEqual([true, ''])
    expect([check.maxTimestamp, check.recordsCount, check.codec]).toEqual([1_700_000_002_000, 3, codec])
    const read = [...new BatchReader(compression).open(batch)]
    const text = (bytes: Uint8Array | null): string | null => bytes === null ? null : new TextDecoder().decode(bytes)
    const value = 'value value value value value'
    expect(read.map((record) => [text(record.key), text(record.value)])).toEqual([['key0', value], [null, value], ['key2', null]])
    expect(read[0]!.headers).toEqual([{ key: 'h', value: Uint8Array.of(120) }, { key: 'n', value: null }].map((each) => ({ ...each, value: each.value && expect.toSatisfy((bytes: Uint8Array) => bytes[0] === 120) })))
    // The builder makes of these records the very bytes that Java does, before compression.
    const builder = new BatchBuilder()
    for (const record of read) builder.append(record.timestamp, record.key, record.value, record.headers)
    const rebuilt = builder.finish({ producerId: 4000, producerEpoch: 1, baseSequence: 17, transactional: true })
    expect(Buffer.from(rebuilt).toString('base64')).toBe(javaBatches.none)
  })
})

describe.each(packed)('%s, hostile input', (name) => {
  const codec = idOf(name)
  const bomb = compression.compress(codec, new Uint8Array(30_000_000))

  test('a bomb is refused at the limit, on the loop and off it, and taken by a limit that fits', async () => {
    expect(failure(() => compression.decompress(codec, bomb, 29_999_999)).code).toBe('MR_RECORD_DECOMPRESSED_TOO_LARGE')
    await expect(later(codec, bomb, 1000)).rejects.toMatchObject({ code: 'MR_RECORD_DECOMPRESSED_TOO_LARGE' })
    // Bounds from block headers are up to one block above the truth.
    expect(compression.decompress(codec, bomb, 31_000_000).length).toBe(30_000_000)
  })

  test('a bomb is known from its headers, before any of it is decoded', () => {
    const bound = decompressedBound(codec, bomb)
    expect(bound).toBeGreaterThanOrEqual(30_000_000)
    if (name !== 'gzip') expect(bound).toBeLessThan(31_000_000)
  })

  test('bytes cut off anywhere are corrupt, never shorter output', () => {
    const bytes = compression.compress(codec, new TextEncoder().encode('one two three four five six seven '.repeat(40)))
    for (let length = 0; length < bytes.length; length++) {
      const cut = bytes.subarray(0, length)
      // A snappy frame may end behind any block; with one block that is its header alone.
      if (name === 'snappy' && length === 16) continue
      expect(failure(() => compression.decompress(codec, cut, limit)).code).toBe('MR_RECORD_CORRUPT')
    }
  })

  test('garbage is corrupt or too large, and the process lives', async () => {
    const prng = new Prng(99)
    for (let round = 0; round < 300; round++) {
      const garbage = prng.bytes(prng.between(0, 200))
      // Half of them begin like the real thing.
      if (round % 2 === 0) garbage.set(bomb.subarray(0, Math.min(garbage.length, prng.between(0, 20))))
      // The frame of snappy has no end mark: what stops behind a block is a whole frame.
      if (name === 'snappy' && garbage.length <= 16) continue
      const { code } = failure(() => compression.decompress(codec, garbage, 100_000))
      expect(['MR_RECORD_CORRUPT', 'MR_RECORD_DECOMPRESSED_TOO_LARGE']).toContain(code)
    }
    await expect(later(codec, prng.bytes(50), 100_000)).rejects.toSatisfy((error) => isMillraceError(error))
  })

  test('a damaged byte gives an error or output within the limit', () => {
    const good = compression.compress(codec, new Prng(7).bytes(3000))
    const prng = new Prng(8)
    for (let round = 0; round < 500; round++) {
      const bad = good.slice()
      bad[prng.below(bad.length)]! ^= 1 << prng.below(8)
      try {
        expect(compression.decompress(codec, bad, 100_000).length).toBeLessThanOrEqual(100_000)
      } catch (error) {
        expect(isMillraceError(error)).toBe(true)
      }
    }
  })
})

describe('frames of other writers', () => {
  const hello = 'hello world, '.repeat(40)
  test.each([
    ['lz4', 'the lz4 command', 'BCJNGGRApxgAAADfaGVsbG8gd29ybGQsIA0A/+RQcmxkLCAAAAAA6EQMsw=='],
    ['lz4', 'the lz4 command with block checksums and a size', 'BCJNGHxACAIAAAAAAAD1GAAAAN9oZWxsbyB3b3JsZCwgDQD/5FBybGQsIGieF2AAAAAA6EQMsw=='],
    ['lz4', 'python with linked blocks', 'BCJNGGhACAIAAAAAAAAJGAAAAN9oZWxsbyB3b3JsZCwgDQD/5FBybGQsIAAAAAA='],
    ['zstd', 'the zstd command', 'KLUv/WQIAaUAAGhoZWxsbyB3b3JsZCwgAQD4oM4v8BJc4Q=='],
    ['zstd', 'the zstd command from a pipe, without a size', 'KLUv/QRYpQAAaGhlbGxvIHdvcmxkLCABAPigzi/wElzh'],
    ['snappy', 'python as one raw block', 'iAQwaGVsbG8gd29ybGQsIP4NAP4NAP4NAP4NAP4NAP4NAP4NAOoNAA=='],
  ])('%s: what %s wrote is read', async (name, _writer, text) => {
    const bytes = base64(text)
    expect(new TextDecoder().decode(compression.decompress(idOf(name), bytes, limit))).toBe(hello)
    expect(new TextDecoder().decode(await later(idOf(name), bytes, limit))).toBe(hello)
  })

  test('joined frames: gzip, snappy and zstd are read as one, lz4 is refused because Java would read the first alone', () => {
    const part = new TextEncoder().encode(hello)
    for (const name of packed) {
      const frame = compression.compress(idOf(name), part)
      const joined = Uint8Array.from([...frame, ...frame])
      if (name === 'lz4') expect(failure(() => compression.decompress(3, joined, limit)).message).toContain('bytes follow the frame')
      else expect(new TextDecoder().decode(compression.decompress(idOf(name), joined, limit))).toBe(hello + hello)
    }
  })

  test('gzip that tells its size may have the whole limit; several members, which are joined, have half of it; one that lies is corrupt', async () => {
    const member = Uint8Array.from(compression.compress(1, new Uint8Array(3_000_000)))
    expect(compression.decompress(1, member, 3_000_000).length).toBe(3_000_000)
    expect(failure(() => compression.decompress(1, member, 2_999_999)).code).toBe('MR_RECORD_DECOMPRESSED_TOO_LARGE')
    const small = Uint8Array.from(compression.compress(1, Uint8Array.of(1)))
    const lying = member.slice()
    lying.set([1, 0, 0, 0], lying.length - 4)
    const both = Uint8Array.from([...member, ...small])
    const size = 3_000_001
    expect(compression.decompress(1, both, 2 * size).length).toBe(size)
    expect((await later(1, both, 2 * size)).length).toBe(size)
    expect(failure(() => compression.decompress(1, both, 2 * size - 2)).code).toBe('MR_RECORD_DECOMPRESSED_TOO_LARGE')
    // zlib looks at the size itself.
    expect(failure(() => compression.decompress(1, lying, 100_000_000)).code).toBe('MR_RECORD_CORRUPT')
  })

  test('a zstd frame that lies about its size is judged by its blocks', () => {
    // Magic, descriptor with a 4-byte size and no checksum, window of 128 KiB, size 1, then blocks of one repeated byte.
    const blocks = Array.from({ length: 100 }, (_, index) => [...little24((131_072 << 3) | 2 | (index === 99 ? 1 : 0)), 0x41]).flat()
    const frame = Uint8Array.from([0x28, 0xb5, 0x2f, 0xfd, 0x80, 7 << 3, 1, 0, 0, 0, ...blocks])
    expect(decompressedBound(4, frame)).toBe(100 * 131_072)
    expect(failure(() => compression.decompress(4, frame, 1_000_000)).code).toBe('MR_RECORD_DECOMPRESSED_TOO_LARGE')
  })

  test('a zstd frame that asks for a huge window is refused for the memory it wants', () => {
    // Window of 2^31 bytes, no size, one stored block of one byte.
    const frame = Uint8Array.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 21 << 3, ...little24((1 << 3) | 1), 0x41])
    expect(failure(() => compression.decompress(4, frame, limit)).code).toBe('MR_RECORD_DECOMPRESSED_TOO_LARGE')
  })

  test('levels change the size and are brought into the codec\'s range', () => {
    const prng = new Prng(31)
    const text = new TextEncoder().encode(Array.from({ length: 3000 }, () => `line ${prng.below(50)} of ${prng.below(9)}`).join('\n'))
    for (const codec of [1, 4] as const) {
      const fast = compression.compress(codec, text, 1).length
      expect(compression.compress(codec, text, 99).length).toBeLessThan(fast)
      expect(compression.compress(codec, text, -2_000_000).length).toBeGreaterThan(0)
    }
  })
})

describe('optional packages', () => {
  const without = (name: string): NodeCompression => new NodeCompression((wanted) => {
    if (wanted === name) throw new Error(`Cannot find module '${name}'`)
    return createRequire(import.meta.url)(wanted) as unknown
  })

  test.each([['snappy', 'snappy'], ['lz4', 'lz4-napi']])('without its package %s is unavailable and the error names %s', async (name, packageName) => {
    const bare = without(packageName)
    expect(bare.available(idOf(name))).toBe(false)
    const error = failure(() => bare.compress(idOf(name), Uint8Array.of(1)))
    expect([error.code, error.row.kafka]).toEqual(['MR_RECORD_CODEC_UNAVAILABLE', 76])
    expect(error.message).toContain(`install the optional package ${packageName}`)
    await new Promise<void>((resolve) => {
      bare.decompressLater(idOf(name), Uint8Array.of(1), 10, (failed) => {
        expect(isMillraceError(failed, 'MR_RECORD_CODEC_UNAVAILABLE')).toBe(true)
        resolve()
      })
    })
    await new Promise<void>((resolve) => {
      bare.compressLater(idOf(name), Uint8Array.of(1), undefined, (failed) => {
        expect(isMillraceError(failed, 'MR_RECORD_CODEC_UNAVAILABLE')).toBe(true)
        resolve()
      })
    })
    expect(bare.available(idOf('gzip'))).toBe(true)
  })

  test('four decompressions at most are under way, the others follow in their order, whatever became of those before', async () => {
    const compressed = compression.compress(idOf('snappy'), new Uint8Array(100))
    let underWay = 0
    let most = 0
    let calls = 0
    const counting = new NodeCompression(() => ({
      uncompress: async (raw: Uint8Array) => {
        const call = calls++
        most = Math.max(most, ++underWay)
        await new Promise((resolve) => { setImmediate(resolve) })
        underWay--
        if (call % 3 === 0) throw new Error('made up')
        return raw
      },
    }))
    const ended: number[] = []
    await new Promise<void>((resolve) => {
      for (let index = 0; index < 50; index++) {
        const bytes = index % 7 === 0 ? Uint8Array.of(1) : compressed
        counting.decompressLater(idOf('snappy'), bytes, limit, () => {
          ended.push(index)
          if (ended.length === 50) resolve()
        })
      }
    })
    expect(most).toBe(4)
    expect(underWay).toBe(0)
    expect([...ended].sort((left, right) => left - right)).toEqual(ended.map((_, index) => index))
    // Of two that are further apart than those under way, the earlier one ended first.
    expect(ended.every((index, place) => Math.abs(index - place) <= 4)).toBe(true)
  })

  test('done is never called before decompressLater has returned, also when it is refused at once', async () => {
    let returned = false
    const finished = new Promise<void>((resolve) => {
      compression.decompressLater(3, Uint8Array.of(1, 2, 3), 10, () => {
        expect(returned).toBe(true)
        resolve()
      })
    })
    returned = true
    await finished
  })
})

function little24(value: number): number[] {
  return [value & 0xff, (value >>> 8) & 0xff, (value >>> 16) & 0xff]
}
