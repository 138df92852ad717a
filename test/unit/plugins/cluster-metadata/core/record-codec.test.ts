import { describe, expect, it } from 'vitest'
import { isMillraceError } from '../../../../../src/kernel/errors/index.ts'
import { decodeRecords, encodeRecords } from '../../../../../src/plugins/cluster-metadata/core/record-codec.ts'
import { type MetadataRecord } from '../../../../../src/plugins/cluster-metadata/core/metadata-records.ts'
import { clusterId, incarnation } from './metadata-fixtures.ts'

const topicId = incarnation(1, 1)
const records: readonly MetadataRecord[] = [
  { type: 'cluster', clusterId },
  { type: 'featureLevel', name: 'metadata.version', level: 1 },
  { type: 'brokerRegistered', nodeId: 1, epoch: 2 ** 40, incarnationId: topicId, endpoints: [{ listener: 'PLAINTEXT', host: '::1', port: 65_535 }], rack: undefined, fenced: false, directoryIds: [clusterId] },
  { type: 'brokerRegistered', nodeId: 2 ** 31 - 1, epoch: 1, incarnationId: topicId, endpoints: [], rack: '', fenced: true, directoryIds: [] },
  { type: 'topicCreated', topicId, name: 'a' },
  { type: 'partitionCreated', topicId, partition: 0, leader: -1, leaderEpoch: 0, partitionEpoch: 300, replicas: [1, 2, 3], isr: [] },
  { type: 'topicConfigSet', topicId, name: 'retention.ms', value: '' },
  { type: 'topicConfigSet', topicId, name: 'retention.ms', value: undefined },
  { type: 'topicDeleted', topicId },
  { type: 'topicRemoval', topicId, nodeIds: [1, 2 ** 31 - 1] },
  { type: 'topicRemoval', topicId, nodeIds: [] },
  { type: 'producerIdsAllocated', nodeId: 1, brokerEpoch: 1, next: 2 ** 53 - 1 },
]

describe('metadata records', () => {
  it('come back as they were written', () => {
    expect(decodeRecords(encodeRecords(records))).toEqual(records)
    expect(decodeRecords(encodeRecords([]))).toEqual([])
  })

  it('keep the bytes of this release for ever', () => {
    const hex = Array.from(encodeRecords(records.slice(0, 2)), (byte) => byte.toString(16).padStart(2, '0')).join('')
    expect(hex).toBe('0102' + '010110' + '000102030405460788090a0b0c0d0e0f' + '020112' + '10' + '6d657461646174612e76657273696f6e' + '02')
  })

  it.each([
    ['an unknown type', [1, 1, 99, 1, 0]],
    ['a newer version of a known type', [1, 1, 7, 2, 0]],
    ['a newer list', [2, 0]],
  ])('%s is refused with the advice to start the newer release', (_title, bytes) => {
    let thrown: unknown
    try {
      decodeRecords(Uint8Array.from(bytes))
    } catch (error) {
      thrown = error
    }
    expect(isMillraceError(thrown, 'MR_CLUSTER_METADATA_NEWER')).toBe(true)
    expect(String(thrown)).toContain('newer release')
  })

  it('cut short anywhere, or with bytes left over, are no records', () => {
    const bytes = encodeRecords(records)
    for (let length = 0; length < bytes.length; length++) expect(() => decodeRecords(bytes.subarray(0, length))).toThrow()
    expect(() => decodeRecords(Uint8Array.of(...bytes, 0))).toThrow(/follow the last/)
  })
})
