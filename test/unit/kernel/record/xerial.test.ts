import { describe, expect, test } from 'vitest'
import { isMillraceError } from '../../../../src/kernel/errors/index.ts'
import { isXerial, readXerial, writeXerial } from '../../../../src/kernel/record/xerial.ts'

const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text.replaceAll(' ', ''), 'hex'))
const blocks = (bytes: Uint8Array): string[] => {
  const all: string[] = []
  readXerial(bytes, (raw) => all.push(Buffer.from(raw).toString('hex')))
  return all
}
const frameHead = '82534e4150505900 00000001 00000001'

describe('xerial framing', () => {
  test('writes magic, version, oldest version and blocks with their length', () => {
    expect(Buffer.from(writeXerial([Uint8Array.of(1, 2), Uint8Array.of(3)])).toString('hex')).toBe(`${frameHead} 00000002 0102 00000001 03`.replaceAll(' ', ''))
  })

  test('reads its blocks', () => {
    expect(blocks(hex(`${frameHead} 00000002 0102 00000001 03`))).toEqual(['0102', '03'])
    expect(blocks(hex(frameHead))).toEqual([])
  })

  test('quirk 28: version fields written little-endian are taken', () => {
    expect(blocks(hex('82534e4150505900 01000000 01000000 00000001 07'))).toEqual(['07'])
  })

  test('quirk 28: bytes without the framing are one raw block', () => {
    const raw = hex('0a 24 68656c6c6f776f726c64')
    expect(isXerial(raw)).toBe(false)
    expect(blocks(raw)).toEqual([Buffer.from(raw).toString('hex')])
  })

  test('joined streams are read as one', () => {
    expect(blocks(hex(`${frameHead} 00000001 01 ${frameHead} 00000001 02`))).toEqual(['01', '02'])
  })

  test.each([`${frameHead} 0000`, `${frameHead} 00000003 0102`, `${frameHead} ffffffff 01`])('a frame that breaks off is corrupt: %s', (text) => {
    try {
      blocks(hex(text))
      expect.unreachable()
    } catch (error) {
      expect(isMillraceError(error, 'MR_RECORD_CORRUPT')).toBe(true)
    }
  })
})
