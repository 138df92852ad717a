import { describe, expect, test } from 'vitest'

import { makeDataset, verify } from '../../compat/dataset.ts'
import { decodeStream, encodeReceived, encodeStream, type ReceivedRecord } from '../../compat/record-stream.ts'

const dataset = makeDataset('text', 20)
const received = (): ReceivedRecord[] =>
  dataset.contents.map((content, i) => ({ partition: i % 2, offset: Math.floor(i / 2), content: Buffer.from(content) }))

describe('the verifier of the compat suite', () => {
  test('what was read as it was written is accepted, in any interleaving of the partitions', () => {
    const records = received()
    const byPartition = [...records.filter(r => r.partition === 1), ...records.filter(r => r.partition === 0)]
    expect(verify(dataset, byPartition, true).sha256).toBe(verify(dataset, records, true).sha256)
  })

  test('one flipped byte anywhere in a record is told with both versions of it', () => {
    const length = dataset.contents[7]!.length
    for (let at = 0; at < length; at++) {
      const records = received()
      records[7]!.content[at]! ^= 1
      expect(() => verify(dataset, records, true), `byte ${at}`).toThrow()
    }
  })

  test('a missing last record is told', () => {
    expect(() => verify(dataset, received().slice(0, -1), true)).toThrow(/19 records read, 20 written/)
  })

  test('a record read twice is told', () => {
    const records = received()
    expect(() => verify(dataset, [...records, { ...records[19]!, offset: 10 }], true)).toThrow(/record 19 follows record 19/)
  })

  test('a gap in the offsets and a changed order are told', () => {
    const gap = received()
    gap[19] = { ...gap[19]!, offset: 10 }
    expect(() => verify(dataset, gap, true)).toThrow(/offset 10 follows offset 8/)
    const swapped = received()
    ;[swapped[4], swapped[6]] = [{ ...swapped[4]!, content: swapped[6]!.content }, { ...swapped[6]!, content: swapped[4]!.content }]
    expect(() => verify(dataset, swapped, true)).toThrow(/follows record/)
  })

  test('a stream decodes to what was encoded, and one cut short is refused', () => {
    const binary = makeDataset('binary', 60)
    expect(decodeStream(encodeStream(binary.contents)).map(({ content }) => content)).toEqual(binary.contents)
    const stream = encodeReceived(3, 2 ** 40, binary.contents[0]!)
    expect(decodeStream(stream)).toEqual([{ partition: 3, offset: 2 ** 40, content: binary.contents[0] }])
    expect(() => decodeStream(stream.subarray(0, -1))).toThrow()
  })
})
