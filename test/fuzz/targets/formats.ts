import { crc32c } from '../../../src/base/crc32c.ts'
import { type Prng } from '../../../src/base/prng.ts'
import { isMillraceError } from '../../../src/kernel/errors/index.ts'
import { CheckpointTextError, parsePartitionOffsets } from '../../../src/kernel/log/checkpoint-text.ts'
import { EpochHistory } from '../../../src/kernel/log/epoch-history.ts'
import { decodeProducerSnapshot, encodeProducerSnapshot } from '../../../src/kernel/log/producer-snapshot.ts'
import { decodeEntry, emptyLog, encodeEntry, nextEntry } from '../../../src/kernel/consensus-log/log-entry.ts'
import {
  decodeFirstHardState, decodeHardState, decodePointer, decodePosition, encodeFirstHardState, encodeHardState, encodePointer, encodePosition,
} from '../../../src/kernel/consensus-log/store-layout.ts'
import { encodeWitness, readWitness } from '../../../src/kernel/consensus-log/witness.ts'
import { type MetadataRecord } from '../../../src/plugins/cluster-metadata/core/metadata-records.ts'
import { decodeRecords, encodeRecords } from '../../../src/plugins/cluster-metadata/core/record-codec.ts'
import { parseMetaProperties } from '../../../src/plugins/storage-local/core/meta-properties.ts'
import { OffsetIndex } from '../../../src/plugins/storage-local/core/offset-index.ts'
import { parsePartitionMetadata } from '../../../src/plugins/storage-local/core/partition-metadata.ts'
import { TimeIndex } from '../../../src/plugins/storage-local/core/time-index.ts'
import { type Mark, type Specimen } from '../grammar/specimen.ts'
import { Finding, type FuzzInput, type Target } from '../target.ts'

interface Format {
  readonly samples: readonly Uint8Array[]
  /** Where a CRC-32C lies, counted from the beginning or, below 0, from the end, and where begins what it covers. */
  readonly checksum?: { readonly at: number, readonly from: number, readonly to?: number }
  /** What came of it; throws what the format says that it throws. */
  read(bytes: Uint8Array): string
  readonly mayThrow?: (error: unknown) => boolean
}

const id = 'mKYwH6x0QDuRL3bZ1OyCmA'
const producer = { producerId: 7, epoch: 1, lastSequence: 9, lastOffset: 42, offsetDelta: 3, timestamp: 1.7e12, coordinatorEpoch: -1, transactionStart: -1 }
const records: readonly MetadataRecord[] = [
  { type: 'cluster', clusterId: id }, { type: 'featureLevel', name: 'metadata', level: 3 },
  { type: 'brokerRegistered', nodeId: 1, epoch: 5, incarnationId: id, rack: 'a', fenced: false, endpoints: [{ listener: 'PLAINTEXT', host: 'localhost', port: 9092 }], directoryIds: [id] },
  { type: 'topicCreated', topicId: id, name: 'orders' },
  { type: 'partitionCreated', topicId: id, partition: 0, leader: 1, leaderEpoch: 2, partitionEpoch: 3, replicas: [1, 2, 3], isr: [1] },
  { type: 'topicConfigSet', topicId: id, name: 'retention.ms', value: undefined }, { type: 'topicDeleted', topicId: id },
  { type: 'topicRemoval', topicId: id, nodeIds: [1] }, { type: 'producerIdsAllocated', nodeId: 1, brokerEpoch: 5, next: 2000 },
]
const position = { index: 300, term: 2, chain: 0xdead_beef }
const hardState = { nodeId: 1, clusterId: id, directoryId: id, sequence: 7, term: 3, vote: 1, last: position }
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8')
const bytesOf = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'utf8'))
const orReason = (result: object | string): string => typeof result === 'string' ? result.replace(/\d+/g, '#') : 'read'

const formats: Readonly<Record<string, Format>> = {
  'metadata records': {
    samples: [encodeRecords(records), ...records.map(record => encodeRecords([record]))],
    read(bytes) {
      const read = decodeRecords(bytes)
      if (bytes.length > 4096) return 'many'
      const written = encodeRecords(read)
      if (JSON.stringify(decodeRecords(written)) !== JSON.stringify(read)) throw new Finding('records that were read are written as others')
      return read.map(({ type }) => type).slice(0, 4).join()
    },
    // Said of the codec: the log's checksums rule such bytes out.
    mayThrow: error => error instanceof RangeError,
  },
  'log entry': {
    samples: [encodeEntry(nextEntry(emptyLog, 1, encodeRecords(records))), encodeEntry(nextEntry(emptyLog, 2 ** 40, new Uint8Array(0)))],
    read: bytes => orReason(decodeEntry(emptyLog, 1, bytes)),
  },
  'hard state': { samples: [encodeHardState(hardState)], checksum: { at: -4, from: 0, to: -4 }, read: bytes => orReason(decodeHardState(bytes)) },
  'witness': {
    samples: [encodeWitness(hardState)],
    read(bytes) {
      const { newest, damage, newerFormat } = readWitness(bytes)
      return orReason(newest === undefined ? `${damage} ${newerFormat === undefined}` : damage ?? newest)
    },
  },
  'hard state of format 1': { samples: [encodeFirstHardState({ nodeId: 1, term: 3 })], checksum: { at: -4, from: 0, to: -4 }, read: bytes => orReason(decodeFirstHardState(bytes)) },
  'witness of format 1': { samples: [encodePosition(position)], checksum: { at: -4, from: 0, to: -4 }, read: bytes => orReason(decodePosition(bytes)) },
  'snapshot pointer': {
    samples: [encodePointer({ ...position, bytes: 100_000, crc: 1 })], checksum: { at: -4, from: 0, to: -4 }, read: bytes => orReason(decodePointer(bytes)),
  },
  'producer snapshot': {
    samples: [encodeProducerSnapshot([]), encodeProducerSnapshot([producer, { ...producer, producerId: 8 }])], checksum: { at: 2, from: 6 },
    read: bytes => decodeProducerSnapshot(bytes) === undefined ? 'none' : 'read',
  },
  'offset checkpoint': {
    samples: [bytesOf('0\n2\norders 0 42\npayments 11 0\n'), bytesOf('0\n0\n')],
    read: bytes => `${Math.min(3, parsePartitionOffsets(textOf(bytes)).size)} offsets`,
    mayThrow: error => error instanceof CheckpointTextError,
  },
  'leader epochs': {
    samples: [bytesOf('0\n3\n0 0\n1 12\n4 90\n')],
    read(bytes) {
      const history = new EpochHistory()
      history.load(textOf(bytes))
      const { all } = history
      if (all.some(({ epoch, startOffset }, index) => index > 0 && (epoch <= all[index - 1]!.epoch || startOffset <= all[index - 1]!.startOffset))) throw new Finding('epochs do not ascend')
      return `${Math.min(4, all.length)} epochs`
    },
    mayThrow: error => error instanceof CheckpointTextError,
  },
  'meta.properties': {
    samples: [bytesOf(`#\n#Mon\nversion=1\ncluster.id=${id}\nnode.id=1\ndirectory.id=${id}\n`), bytesOf('version=0\nbroker.id=1\n')],
    read: bytes => Object.entries(parseMetaProperties(textOf(bytes)) ?? {}).map(([name, value]) => `${name} ${value === undefined ? 'none' : 'there'}`).join(),
  },
  'partition.metadata': { samples: [bytesOf(`version: 0\ntopic_id: ${id}`)], read: bytes => parsePartitionMetadata(textOf(bytes)) === undefined ? 'none' : 'read' },
  'offset index': {
    samples: [Uint8Array.of(0, 0, 0, 5, 0, 0, 1, 0, 0, 0, 0, 9, 0, 0, 2, 0)],
    read: bytes => `${OffsetIndex.decode(100, bytes, 10_000)?.count ?? 'no'} entries`,
  },
  'time index': {
    samples: [Uint8Array.of(0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 1, 0, 0, 0, 0, 9, 0, 0, 0, 9)],
    read: bytes => `${TimeIndex.decode(100, bytes, 10_000)?.count ?? 'no'} entries`,
  },
}

/** What is kept on disk beside records, by the readers of each format alone: also the values of the metadata's LevelDB. */
export class FormatsTarget implements Target {
  readonly name = 'formats'
  readonly limitBytes = 1024 * 1024

  make(prng: Prng): Specimen {
    const kind = prng.pick(Object.keys(formats))
    const bytes = prng.pick(formats[kind]!.samples)
    return { kind, bytes, marks: marksOf(bytes, prng) }
  }

  repair(specimen: Specimen, prng: Prng): Specimen {
    const { checksum } = formats[specimen.kind]!
    const { length } = specimen.bytes
    if (checksum === undefined || length < 10 || prng.chance(0.1)) return specimen
    const bytes = specimen.bytes.slice()
    const end = checksum.to === undefined ? length : length + checksum.to
    new DataView(bytes.buffer).setUint32(checksum.at < 0 ? length + checksum.at : checksum.at, crc32c(bytes, checksum.from, end))
    return { ...specimen, bytes }
  }

  run({ kind, bytes }: FuzzInput): string {
    const format = formats[kind]!
    try {
      return `${kind} ${format.read(bytes)}`
    } catch (error) {
      if (error instanceof Finding || !(isMillraceError(error) || format.mayThrow?.(error) === true)) throw error
      return `${kind} ${String(error).replace(/\d+/g, '#').slice(0, 40)}`
    }
  }
}

/** These are short: every place may be a number of any width, or a text. */
function marksOf(bytes: Uint8Array, prng: Prng): Mark[] {
  return Array.from({ length: 12 }, (): Mark => {
    const at = prng.below(Math.max(1, bytes.length))
    return { kind: prng.pick(['int', 'int', 'uvarint', 'varint', 'text', 'element']), at, length: Math.min(prng.pick([1, 2, 4, 8]), bytes.length - at), counts: prng.chance(0.5) }
  }).filter(({ kind, length }) => length > 0 && (kind !== 'int' || [1, 2, 4, 8].includes(length)))
}
