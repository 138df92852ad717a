import { describe, expect, test } from 'vitest'
import { BufferPool } from '../../../../../src/plugins/storage-local/core/buffer-pool.ts'
import { planDirectory } from '../../../../../src/plugins/storage-local/core/directory-plan.ts'
import { formatMetaProperties, parseMetaProperties } from '../../../../../src/plugins/storage-local/core/meta-properties.ts'
import { formatPartitionMetadata, parsePartitionMetadata } from '../../../../../src/plugins/storage-local/core/partition-metadata.ts'
import { markedDirectory, parsePartitionDirectory, parseSegmentFileName, segmentFileName } from '../../../../../src/plugins/storage-local/core/segment-name.ts'

const hexDigits = '0123456789abcdef0123456789abcdef'

describe('names', () => {
  test('segment files have twenty digits and one suffix, and one more while they come or go', () => {
    expect(segmentFileName(42, '.log')).toBe('00000000000000000042.log')
    expect(parseSegmentFileName('00000000000000000042.timeindex')).toEqual({ offset: 42, suffix: '.timeindex', stage: undefined })
    expect(parseSegmentFileName('00000000000000000000.index.swap')).toEqual({ offset: 0, suffix: '.index', stage: '.swap' })
    for (const name of ['42.log', '00000000000000000042', '00000000000000000042.logs', '00000000000000000042.log.old', 'x0000000000000000042.log', '99999999999999999999.log']) {
      expect(parseSegmentFileName(name), name).toBeUndefined()
    }
  })

  test('partition directories are split at the last dash; padded numbers are none', () => {
    expect(parsePartitionDirectory('a-b-7')).toEqual({ topic: 'a-b', partition: 7, state: undefined })
    expect(parsePartitionDirectory(`a-7.${hexDigits}-delete`)).toEqual({ topic: 'a', partition: 7, state: 'delete' })
    expect(parsePartitionDirectory(`a.b-7.${hexDigits}-stray`)).toEqual({ topic: 'a.b', partition: 7, state: 'stray' })
    for (const name of ['a', 'a-', '-1', 'a-07', 'a b-1', 'a-1.log', 'lost+found']) expect(parsePartitionDirectory(name), name).toBeUndefined()
  })

  test('the name of a marked directory is cut to 255 characters and still recognised', () => {
    const name = markedDirectory('t'.repeat(249), 123_456, hexDigits, 'delete')
    expect(name.length).toBe(255)
    expect(parsePartitionDirectory(name)!.state).toBe('delete')
    expect(markedDirectory('orders', 3, hexDigits, 'stray')).toBe(`orders-3.${hexDigits}-stray`)
  })
})

describe('partition.metadata', () => {
  test('is what Kafka writes, and later versions are read', () => {
    const topicId = 'b3RoZXItY2x1c3Rlci1pZA'
    expect(formatPartitionMetadata(topicId)).toBe(`version: 0\ntopic_id: ${topicId}`)
    expect(parsePartitionMetadata(formatPartitionMetadata(topicId))).toBe(topicId)
    expect(parsePartitionMetadata(`version: 3\nmore: x\ntopic_id: ${topicId}\n`)).toBe(topicId)
  })

  test('a text that was cut, or names no topic, is none', () => {
    const text = formatPartitionMetadata('b3RoZXItY2x1c3Rlci1pZA')
    for (let length = 0; length < text.length; length++) expect(parsePartitionMetadata(text.slice(0, length))).toBeUndefined()
    expect(parsePartitionMetadata('version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA')).toBeUndefined()
  })
})

describe('meta.properties', () => {
  test('is written and read back', () => {
    const meta = { clusterId: 'b3RoZXItY2x1c3Rlci1pZA', nodeId: 3, directoryId: 'C3YWkL-9Tly2lOiC6XbpLA' }
    expect(parseMetaProperties(formatMetaProperties(meta))).toEqual({ version: 1, ...meta })
  })

  test('is read as Kafka writes it, in both versions', () => {
    expect(parseMetaProperties('#\n#Sun Nov 29 20:15:08 UTC 2026\ncluster.id=a\\:b\\=c\ndirectory.id=C3YWkL-9Tly2lOiC6XbpLA\nnode.id=1\nversion=1\n'))
      .toEqual({ version: 1, clusterId: 'a:b=c', nodeId: 1, directoryId: 'C3YWkL-9Tly2lOiC6XbpLA' })
    expect(parseMetaProperties('broker.id=4\nversion=0\ncluster.id=x')).toEqual({ version: 0, clusterId: 'x', nodeId: 4, directoryId: undefined })
    expect(parseMetaProperties('version=2\n')).toBeUndefined()
  })
})

describe('planDirectory', () => {
  const name = (offset: number, suffix: string): string => `${String(offset).padStart(20, '0')}${suffix}`
  const plan = planDirectory

  test('segments and snapshots are listed, known files kept, unknown ones named', () => {
    expect(plan([name(0, '.log'), name(0, '.index'), name(9, '.log'), name(9, '.snapshot'), 'partition.metadata', 'leader-epoch-checkpoint', 'notes'])).toEqual({
      remove: [], segments: [0, 9], snapshots: [9], foreign: ['notes'], setAside: [], orphans: [],
    })
  })

  test('a checkpoint that a crash kept from taking its name is removed, without a word', () => {
    expect(plan([name(0, '.log'), 'leader-epoch-checkpoint', 'leader-epoch-checkpoint.tmp', 'notes.tmp'])).toMatchObject({ remove: ['leader-epoch-checkpoint.tmp'], foreign: ['notes.tmp'] })
  })

  test('an index without its log is removed', () => {
    expect(plan([name(0, '.log'), name(5, '.index'), name(5, '.timeindex')]).remove).toEqual([name(5, '.index'), name(5, '.timeindex')])
  })

  test('deleted and cleaned files are removed, and swaps at or above a cleaned one with them; a log swap that is left is not whole, and is named', () => {
    const found = plan([name(0, '.log'), name(0, '.log.swap'), name(9, '.log.swap'), name(9, '.index.swap'), name(5, '.log.cleaned'), name(7, '.log.deleted')])
    expect(found.remove).toEqual([name(5, '.log.cleaned'), name(7, '.log.deleted'), name(9, '.log.swap'), name(9, '.index.swap')])
    expect([found.foreign, found.segments]).toEqual([[name(0, '.log.swap')], [0]])
  })

  test('index swaps without a log swap are of no use', () => {
    const found = plan([name(0, '.log'), name(0, '.timeindex.swap')])
    expect([found.remove, found.segments]).toEqual([[name(0, '.timeindex.swap')], [0]])
  })
})

describe('BufferPool', () => {
  test('buffers come back and are lent again, of powers of two', () => {
    const pool = new BufferPool(1 << 20)
    const first = pool.lend(5000)
    expect(first.bytes.length).toBe(8192)
    first.release()
    expect(pool.lend(8192)).toBe(first)
    expect(pool.lend(8192)).not.toBe(first)
    expect(pool.lend(1).bytes.length).toBe(4096)
  })

  test('no more is kept than allowed, and a second release is a bug', () => {
    const pool = new BufferPool(8192)
    const [first, second] = [pool.lend(8192), pool.lend(8192)]
    first.release()
    second.release()
    expect(pool.lend(8192)).toBe(first)
    expect(pool.lend(8192)).not.toBe(second)
    expect(() => second.release()).toThrow('invariant')
  })
})
