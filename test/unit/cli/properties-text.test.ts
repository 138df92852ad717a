import { describe, expect, it } from 'vitest'
import { parseProperties } from '../../../src/cli/properties-text.ts'

const read = (text: string): Record<string, string> => Object.fromEntries(parseProperties(text).map(({ key, value }) => [key, value]))

describe('a file in the format of java.util.Properties', () => {
  it('has keys before =, : or blank, and comments after # or !', () => {
    expect(read('# a comment\n! another\n\na=1\nb: 2\nc 3\n  d  =  4 \ne\nf=\n')).toEqual({ a: '1', b: '2', c: '3', d: '4 ', e: '', f: '' })
  })

  it('keeps = and : in values, and takes escaped ones into keys', () => {
    expect(read('url=http://a:1/?b=c\na\\=b\\:c=d\n')).toEqual({ 'url': 'http://a:1/?b=c', 'a=b:c': 'd' })
  })

  it('goes on after a backslash at the end of a line, and not after two', () => {
    expect(read('a=one,\\\n   two\nb=three\\\\\nc=4\\')).toEqual({ a: 'one,two', b: 'three\\', c: '4' })
  })

  it('knows escapes of Java', () => {
    expect(read('a=tab\\there\\nline \\u00e9 \\\\ \\q')).toEqual({ a: 'tab\there\nline é \\ q' })
  })

  it('reads lines of any system, and says on which one a property begins', () => {
    expect(parseProperties('#\r\na=1\rb=2\\\n3\n\nc=4').map(({ key, line }) => [key, line])).toEqual([['a', 2], ['b', 3], ['c', 6]])
  })

  it('gives the last one of a key last', () => {
    expect(read('a=1\na=2')).toEqual({ a: '2' })
  })
})
