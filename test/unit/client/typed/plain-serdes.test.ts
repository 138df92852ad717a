import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bytes, text } from '../../../../src/client/index.ts'
import { thrown, utf8, valuePlace } from './typed-fixtures.ts'

describe('text()', () => {
  it('gives back every text that UTF-8 has bytes for, a mark of byte order at its front included', () => {
    fc.assert(fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), fc.constant('\ufeffa')), value => {
      expect(text().decode(text().encode(value, valuePlace) as Uint8Array, valuePlace)).toBe(value)
    }))
  })

  it('refuses halves of surrogate pairs, which would come back as something else', () => {
    for (const value of ['\ud800', 'a\udfff', '\udc00\ud800']) expect(() => text().encode(value, valuePlace)).toThrow('half of a surrogate pair')
    expect(text().encode('\u{1f600}', valuePlace)).toEqual(utf8('\u{1f600}'))
  })

  it('refuses bytes that are no UTF-8, without showing them', () => {
    for (const broken of [[0xff], [0x61, 0xc3], [0xed, 0xa0, 0x80], [0xc0, 0x80], [0xf4, 0x90, 0x80, 0x80]]) {
      expect(thrown(() => text().decode(Uint8Array.from(broken), valuePlace))).toMatchObject({ message: 'it is no UTF-8', path: '' })
    }
  })

  it('takes nothing but texts', () => {
    expect(() => text().encode(7 as never, valuePlace)).toThrow('it is a number, and text is wanted')
  })
})

describe('bytes()', () => {
  it('gives the bytes as they are, without a copy', () => {
    const given = Uint8Array.of(0, 255, 1)
    expect(bytes().encode(given, valuePlace)).toBe(given)
    expect(bytes().decode(given, valuePlace)).toBe(given)
    expect(() => bytes().encode('text' as never, valuePlace)).toThrow('it is a string, and bytes are wanted')
  })
})
