import { afterEach, expect, test } from 'vitest'
import { crc32c, uninstallCrc32c } from '../../../../src/base/crc32c.ts'
import { Prng } from '../../../../src/base/prng.ts'
import { installNativeCrc32c } from '../../../../src/platform/codecs/native-crc32c.ts'

afterEach(uninstallCrc32c)

test('the native CRC gives what the tables give, for any length, position and seed', () => {
  const bytes = new Prng(1).bytes(5000)
  const ranges = Array.from({ length: 200 }, (_, index) => [index % 17, 200 + index * 24, index * 21_474_836] as const)
  const slow = ranges.map(([start, end, seed]) => crc32c(bytes, start, end, seed))
  expect(installNativeCrc32c()).toBe(true)
  expect(ranges.map(([start, end, seed]) => crc32c(bytes, start, end, seed))).toEqual(slow)
})

test('a package that is missing, or computes something else, leaves the tables in place', () => {
  expect(installNativeCrc32c(() => { throw new Error('Cannot find module') })).toBe(false)
  expect(installNativeCrc32c(() => ({ crc32c: () => 7 }))).toBe(false)
  expect(crc32c(new TextEncoder().encode('123456789'))).toBe(0xe3069283)
})
