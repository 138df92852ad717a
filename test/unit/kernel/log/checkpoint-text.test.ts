import { describe, expect, test } from 'vitest'
import {
  CheckpointTextError, formatPartitionOffsets, parseCheckpointText, parsePartitionOffsets, wholeNumber,
} from '../../../../src/kernel/log/checkpoint-text.ts'

describe('checkpoint text', () => {
  test('offsets of partitions are written as Kafka writes them and read back', () => {
    const offsets = new Map([['orders-0', 12], ['a-b-11', 9007199254740991]])
    expect(formatPartitionOffsets(offsets)).toBe('0\n2\norders 0 12\na-b 11 9007199254740991\n')
    expect(parsePartitionOffsets(formatPartitionOffsets(offsets))).toEqual(offsets)
  })

  test('an empty file holds no entries', () => {
    expect(parseCheckpointText('', 3)).toEqual([])
    expect(parsePartitionOffsets('0\n0\n').size).toBe(0)
  })

  test('a text that was cut before its last field is refused', () => {
    const text = '0\n2\norders 0 12\norders 1 345\n'
    // A cut inside the last offset cannot be told from a smaller offset: whoever writes a checkpoint replaces the file as a whole.
    for (let length = 1; length <= text.indexOf('345'); length++) {
      expect(() => parsePartitionOffsets(text.slice(0, length)), JSON.stringify(text.slice(0, length))).toThrow(CheckpointTextError)
    }
  })

  test('negative, fractional and unsafe numbers are no whole numbers', () => {
    expect(['-1', '1.5', '9007199254740992', '99999999999999999', '', ' 1', '0x10'].map(wholeNumber)).toEqual(new Array(7).fill(undefined))
    expect(wholeNumber('0')).toBe(0)
  })
})
