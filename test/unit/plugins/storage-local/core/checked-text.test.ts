import { expect, it } from 'vitest'
import { parsePartitionOffsets } from '../../../../../src/kernel/log/checkpoint-text.ts'
import { checkedText, withChecksum } from '../../../../../src/plugins/storage-local/core/checked-text.ts'

const text = '0\n2\norders 0 4711\npayments 12 9\n'
const stored = withChecksum(text, 'log starts')
const encoder = new TextEncoder()
const decoder = new TextDecoder()

it('a checkpoint with a checksum is read by who knows of none', () => {
  expect(stored).not.toBe(text)
  expect(parsePartitionOffsets(stored)).toEqual(parsePartitionOffsets(text))
  expect(checkedText(stored, 'log starts')).toBe(text)
})

it('it is refused when any bit of it is another, and under another name', () => {
  expect(checkedText(stored, 'watermarks')).toBeUndefined()
  const bytes = encoder.encode(stored)
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const other = bytes.slice()
    other[bit >> 3]! ^= 1 << (bit & 7)
    const found = checkedText(decoder.decode(other), 'log starts')
    const isCheckpoint = (): boolean => {
      try {
        return found !== undefined && JSON.stringify([...parsePartitionOffsets(found)]) !== JSON.stringify([...parsePartitionOffsets(text)])
      } catch {
        return false
      }
    }
    expect(isCheckpoint(), `bit ${bit}`).toBe(false)
  }
})

it('one without entries, or without a checksum, is taken as it is', () => {
  for (const plain of ['', '0\n0\n', text]) expect(checkedText(plain, 'log starts')).toBe(plain)
  expect(withChecksum('0\n0\n', 'log starts')).toBe('0\n0\n')
})
