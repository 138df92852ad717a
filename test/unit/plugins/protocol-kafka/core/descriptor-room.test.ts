import { expect, it } from 'vitest'
import { DescriptorRoom } from '../../../../../src/plugins/protocol-kafka/core/descriptor-room.ts'

it.each([
  { openFilesMax: 120, others: 50, taken: 55 },
  { openFilesMax: 1024, others: 100, taken: 860 },
  // As many logs as leave hardly anything: what is left is still for whoever comes.
  { openFilesMax: 1024, others: 742, taken: 218 },
  { openFilesMax: 1_048_576, others: 10_000, taken: 1_038_512 },
  { openFilesMax: 64, others: 60, taken: 0 },
])('of $openFilesMax files an eighth, 64 at most, are left beside the $others that are no connections: $taken connections', ({ openFilesMax, others, taken }) => {
  const before = Math.max(0, taken - 1)
  const room = new DescriptorRoom(() => ({ openFiles: others + before + 1, openFilesMax }))
  expect(room.has(before, 0)).toBe(taken > 0)
  expect(room.has(taken, 0)).toBe(false)
})

it('the system is asked once a second at most, however many come', () => {
  let looks = 0
  const room = new DescriptorRoom(() => { looks++; return { openFiles: 100, openFilesMax: 100 } })
  for (let ms = 0; ms < 5000; ms++) room.has(0, ms)
  expect(looks).toBe(5)
})

it.each([{ openFiles: undefined, openFilesMax: 100 }, { openFiles: 100, openFilesMax: undefined }])('where the system tells nothing every connection is taken', told => {
  expect(new DescriptorRoom(() => told).has(1_000_000, 0)).toBe(true)
})
