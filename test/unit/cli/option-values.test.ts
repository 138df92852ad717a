import { describe, expect, it } from 'vitest'
import { collect, collectPairs, collectSettings, endpoint, wholeNumber } from '../../../src/cli/option-values.ts'

describe('values of options', () => {
  it('whole numbers have bounds', () => {
    expect([wholeNumber('--n')('0'), wholeNumber('--n')('2147483647')]).toEqual([0, 2_147_483_647])
    for (const text of ['', '-1', '1.5', '1e3', '2147483648', ' 1', '0x10', 'ten']) expect(() => wholeNumber('--n')(text), text).toThrow(/--n .*: it takes a whole number from 0 to 2147483647/)
    expect(() => wholeNumber('--n', 1)('0')).toThrow(/from 1/)
  })

  it('those that may be repeated are kept in order', () => {
    expect(collect('b', collect('a'))).toEqual(['a', 'b'])
    expect(collectPairs('--header')('b=', collectPairs('--header')('b=1=2'))).toEqual([['b', '1=2'], ['b', '']])
    for (const text of ['', 'a', '=1']) expect(() => collectPairs('--set')(text), text).toThrow(/--set .*: write it as key=value/)
  })

  it('settings that are given twice are refused, with both values', () => {
    expect(collectSettings('--set')('b=', collectSettings('--set')('a=1=2'))).toEqual([['a', '1=2'], ['b', '']])
    expect(() => collectSettings('--config')('a=2', collectSettings('--config')('a=1'))).toThrow('--config a=2: a is given twice, as 1 before; keep one of them')
    expect(() => collectSettings('--set')('a', [])).toThrow(/write it as key=value/)
  })

  it('endpoints are a host and a port', () => {
    for (const text of ['127.0.0.1:0', 'localhost:65535', '[::1]:9092', 'broker-1.example:1']) expect(endpoint('--listen')(text)).toBe(text)
    expect(endpoint('--http', 'off')('off')).toBe('off')
    for (const text of ['off', 'localhost', ':9092', '9092', '::1:9092', 'a:b', 'http://a:1', 'a:1/']) expect(() => endpoint('--listen')(text), text).toThrow(/--listen .*: write it as HOST:PORT/)
    for (const text of ['127.0.0.1:99999', '[::1]:65536', 'a:12345678901']) expect(() => endpoint('--listen')(text), text).toThrow(/--listen .*: port \d+ is out of range, ports go from 0 to 65535$/)
  })
})
