import { type Compression } from '../../kernel/ports/compression.ts'
import { type CompressionCodec } from '../../kernel/record/compression-codec.ts'
import { check, checkCode, checkEqual, checkThrows, type DeclareTest } from './kit.ts'

/** What is examined, and with whose `test`. `create` is called for each test. */
export interface CompressionConformance {
  readonly test: DeclareTest
  readonly create: () => Compression
  /** Lets time pass until the promise is settled. One of this machine needs nothing. */
  readonly settle?: <T>(promise: Promise<T>) => Promise<T>
}

const codecs: readonly CompressionCodec[] = [0, 1, 2, 3, 4]

/** A format may tell only a bound before it is decoded, which the limit is compared with: a block of LZ4 is up to 4 MiB, a window of zstd 128 MiB. */
const ampleBytes = 256 << 20

/** Bytes that compress well, and do not all equal one another. */
function sample(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, index) => (index >> 4) & 0x3f)
}

type Later = (error: unknown, bytes: Uint8Array | undefined) => void

interface Outcome {
  readonly error: unknown
  readonly bytes: Uint8Array | undefined
  readonly early: boolean
  readonly times: number
}

/** What a call off the loop comes to, and whether `done` came before the call had returned. */
function later(run: (done: Later) => void): Promise<Outcome> {
  return new Promise(resolve => {
    let returned = false
    let times = 0
    run((error, bytes) => {
      times++
      const early = !returned
      queueMicrotask(() => resolve({ error: error ?? undefined, bytes, early, times }))
    })
    returned = true
  })
}

/** What every Compression promises, whatever codecs it has. */
export function compressionConformance({ test, create, settle = promise => promise }: CompressionConformance): void {
  const each = (title: string, body: (compression: Compression, codec: CompressionCodec) => Promise<void> | void): void => {
    test(title, async () => {
      const compression = create()
      for (const codec of codecs) if (compression.available(codec)) await body(compression, codec)
    })
  }

  test('codec 0 and one that compresses are there, and a codec that is not is refused by name', () => {
    const compression = create()
    check(compression.available(0), 'codec 0 is available')
    check(codecs.some(codec => codec > 0 && compression.available(codec)), 'a codec that compresses is available')
    for (const codec of codecs) if (!compression.available(codec)) checkThrows('MR_RECORD_CODEC_UNAVAILABLE', () => compression.compress(codec, sample(10)), 'a codec that is not there')
    return Promise.resolve()
  })
  each('what was compressed comes back, also nothing and much', (compression, codec) => {
    for (const length of [0, 1, 61, 70_000, 300_000]) {
      checkEqual(compression.decompress(codec, compression.compress(codec, sample(length)), ampleBytes), sample(length), `${length} bytes through codec ${codec}`)
    }
  })
  each('bytes that repeat get smaller, but with codec 0', (compression, codec) => {
    const { length } = compression.compress(codec, sample(100_000))
    check(codec === 0 ? length === 100_000 : length < 50_000, `codec ${codec} makes ${length} bytes of 100000`)
  })
  each('any level is taken, and what it makes comes back', (compression, codec) => {
    for (const level of [-1_000_000, -1, 0, 1, 9, 22, 1_000_000]) {
      checkEqual(compression.decompress(codec, compression.compress(codec, sample(5000), level), ampleBytes), sample(5000), `level ${level} of codec ${codec}`)
    }
  })
  each('nothing is decompressed beyond its limit', (compression, codec) => {
    const packed = compression.compress(codec, sample(100_000))
    checkThrows('MR_RECORD_DECOMPRESSED_TOO_LARGE', () => compression.decompress(codec, packed, 99_999), `codec ${codec}, a byte too many`)
    checkEqual(compression.decompress(codec, packed, ampleBytes).length, 100_000, `codec ${codec}, with room`)
  })
  each('results are the caller\'s: the next call does not change them', (compression, codec) => {
    const packed = compression.compress(codec, sample(3000))
    const kept = packed.slice()
    const plain = compression.decompress(codec, packed, ampleBytes)
    compression.decompress(codec, compression.compress(codec, new Uint8Array(3000).fill(7)), ampleBytes)
    checkEqual(packed, kept, 'what was compressed')
    checkEqual(plain, sample(3000), 'what was decompressed')
  })
  each('off the loop the same comes out, once, and not before the call has returned', async (compression, codec) => {
    const packed = await settle(later(done => { compression.compressLater(codec, sample(40_000), undefined, done) }))
    check(packed.error === undefined && !packed.early && packed.times === 1, `compressed by codec ${codec} off the loop, once`)
    const plain = await settle(later(done => { compression.decompressLater(codec, packed.bytes!, ampleBytes, done) }))
    check(plain.error === undefined && !plain.early && plain.times === 1, `decompressed by codec ${codec} off the loop, once`)
    checkEqual(plain.bytes, sample(40_000), `what codec ${codec} gives off the loop`)
  })
  each('off the loop a limit is kept too, and the error is told, not thrown', async (compression, codec) => {
    const packed = compression.compress(codec, sample(40_000))
    const { error, early } = await settle(later(done => { compression.decompressLater(codec, packed, 100, done) }))
    check(!early, `codec ${codec} tells it later`)
    checkCode('MR_RECORD_DECOMPRESSED_TOO_LARGE', error, `codec ${codec} off the loop`)
  })
}
