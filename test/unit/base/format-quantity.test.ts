import { expect, test } from 'vitest'
import { formatBytes, formatDuration } from '../../../src/base/format-quantity.ts'

test.each([
  [0, '0 B'], [1, '1 B'], [1023, '1023 B'], [1024, '1 KiB'], [1536, '1.5 KiB'], [10_240, '10 KiB'], [12_345, '12.1 KiB'],
  [123_456, '121 KiB'], [1_048_575, '1 MiB'], [1_073_741_824, '1 GiB'], [-2048, '-2 KiB'], [2 ** 60, '1024 PiB'],
])('%d bytes are %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text)
})

test.each([
  [0, '0ms'], [15, '15ms'], [1000, '1s'], [1500, '1s 500ms'], [65_000, '1m 5s'], [3_600_000, '1h'], [3_600_005, '1h'],
  [183_600_000, '2d 3h'], [-1500, '-1s 500ms'],
])('%d ms are %s', (durationMs, text) => {
  expect(formatDuration(durationMs)).toBe(text)
})
