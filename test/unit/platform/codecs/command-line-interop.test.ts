import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { Prng } from '../../../../src/base/prng.ts'
import { codecNamed } from '../../../../src/kernel/record/compression-codec.ts'
import { NodeCompression } from '../../../../src/platform/codecs/node-compression.ts'

// The commands of the system, where they are installed: lz4, zstd, gzip, and Python's snappy.
const compression = new NodeCompression()
const limit = 64 * 1024 * 1024

const python = '/usr/bin/python3'
const pythonSnappy = (call: string): readonly string[] => ['-c', `import sys, snappy; sys.stdout.buffer.write(snappy.${call}(sys.stdin.buffer.read()))`]

const present = (command: string, args: readonly string[]): boolean => {
  try {
    execFileSync(command, args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
const run = (command: string, args: readonly string[], input: Uint8Array): Uint8Array =>
  execFileSync(command, args, { input, maxBuffer: limit, stdio: ['pipe', 'pipe', 'ignore'] })

const prng = new Prng(21)
const samples: readonly Uint8Array[] = [
  new TextEncoder().encode('a'),
  new TextEncoder().encode(Array.from({ length: 20_000 }, () => `{"user":${prng.below(5000)},"ok":true}`).join('\n')),
  prng.bytes(300_000),
]

interface Tool {
  readonly codec: 'gzip' | 'lz4' | 'zstd' | 'snappy'
  readonly command: string
  readonly check: readonly string[]
  readonly unpack?: readonly string[]
  readonly packs: readonly (readonly string[])[]
}

const tools: readonly Tool[] = [
  { codec: 'gzip', command: 'gzip', check: ['--version'], unpack: ['-dc'], packs: [['-c'], ['-c9']] },
  { codec: 'lz4', command: 'lz4', check: ['--version'], unpack: ['-dc'], packs: [['-c'], ['-c', '-9', '-B4', '-BD'], ['-c', '-BX', '--no-frame-crc']] },
  { codec: 'zstd', command: 'zstd', check: ['--version'], unpack: ['-dc'], packs: [['-c'], ['-c', '-19', '--no-check'], ['-c', '--fast=5']] },
  { codec: 'snappy', command: python, check: ['-c', 'import snappy'], packs: [pythonSnappy('compress')] },
]

describe.each(tools)('$codec beside $command', ({ codec, command, check, unpack, packs }) => {
  const id = codecNamed(codec)!
  test.skipIf(!present(command, check))('reads what it writes', () => {
    for (const sample of samples) {
      for (const pack of packs) expect(Buffer.compare(compression.decompress(id, run(command, pack, sample), limit), sample)).toBe(0)
    }
  })

  test.skipIf(unpack === undefined || !present(command, check))('writes what it reads', () => {
    for (const sample of samples) expect(Buffer.compare(run(command, unpack!, compression.compress(id, sample)), sample)).toBe(0)
  })
})
