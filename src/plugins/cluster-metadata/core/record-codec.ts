import { isBytesError } from '../../../base/bytes-error.ts'
import { BytesReader } from '../../../base/bytes-reader.ts'
import { BytesWriter, utf8Length } from '../../../base/bytes-writer.ts'
import { MillraceError } from '../../../kernel/errors/millrace-error.ts'
import { type MetadataRecord } from './metadata-records.ts'

/*
 * A command of the log, and a snapshot, is a list of records:
 *   list    = format(uint8) count(uvarint) record*
 *   record  = type id(uvarint) version(uvarint) length(uvarint) content
 *   text    = length(uvarint) UTF-8; a nullable text has its length plus one, 0 for none
 * A record of a known type in an unknown version, and an unknown type, are refused: skipping a fact would make nodes differ.
 */
const listFormat = 1

type RecordOf<T extends MetadataRecord['type']> = Extract<MetadataRecord, { readonly type: T }>

interface RecordCodec<T extends MetadataRecord['type']> {
  /** For ever; never given to another type. */
  readonly id: number
  /** Written, and the highest read. */
  readonly version: number
  readonly write: (writer: BytesWriter, record: RecordOf<T>) => void
  readonly read: (reader: BytesReader, version: number) => Omit<RecordOf<T>, 'type'>
}

const codecs: { readonly [T in MetadataRecord['type']]: RecordCodec<T> } = {
  cluster: {
    id: 1, version: 1,
    write: (writer, record) => writer.uuid(record.clusterId),
    read: (reader) => ({ clusterId: reader.uuid() }),
  },
  featureLevel: {
    id: 2, version: 1,
    write: (writer, record) => {
      writeText(writer, record.name)
      writer.varlong(record.level)
    },
    read: (reader) => ({ name: readText(reader), level: reader.varlong() }),
  },
  brokerRegistered: {
    id: 3, version: 1,
    write: (writer, record) => {
      writer.varlong(record.nodeId)
      writer.varlong(record.epoch)
      writer.uuid(record.incarnationId)
      writeNullableText(writer, record.rack)
      writer.uint8(record.fenced ? 1 : 0)
      writeList(writer, record.endpoints, (endpoint) => {
        writeText(writer, endpoint.listener)
        writeText(writer, endpoint.host)
        writer.uint16(endpoint.port)
      })
      writeList(writer, record.directoryIds, (id) => writer.uuid(id))
    },
    read: (reader) => ({
      nodeId: reader.varlong(), epoch: reader.varlong(), incarnationId: reader.uuid(), rack: readNullableText(reader), fenced: reader.uint8() !== 0,
      endpoints: readList(reader, () => ({ listener: readText(reader), host: readText(reader), port: reader.uint16() })),
      directoryIds: readList(reader, () => reader.uuid()),
    }),
  },
  topicCreated: {
    id: 4, version: 1,
    write: (writer, record) => {
      writer.uuid(record.topicId)
      writeText(writer, record.name)
    },
    read: (reader) => ({ topicId: reader.uuid(), name: readText(reader) }),
  },
  partitionCreated: {
    id: 5, version: 1,
    write: (writer, record) => {
      writer.uuid(record.topicId)
      writer.uvarint(record.partition)
      writer.varlong(record.leader)
      writer.varlong(record.leaderEpoch)
      writer.varlong(record.partitionEpoch)
      writeList(writer, record.replicas, (id) => writer.varlong(id))
      writeList(writer, record.isr, (id) => writer.varlong(id))
    },
    read: (reader) => ({
      topicId: reader.uuid(), partition: reader.uvarint(), leader: reader.varlong(), leaderEpoch: reader.varlong(), partitionEpoch: reader.varlong(),
      replicas: readList(reader, () => reader.varlong()), isr: readList(reader, () => reader.varlong()),
    }),
  },
  topicConfigSet: {
    id: 6, version: 1,
    write: (writer, record) => {
      writer.uuid(record.topicId)
      writeText(writer, record.name)
      writeNullableText(writer, record.value)
    },
    read: (reader) => ({ topicId: reader.uuid(), name: readText(reader), value: readNullableText(reader) }),
  },
  topicDeleted: {
    id: 7, version: 1,
    write: (writer, record) => writer.uuid(record.topicId),
    read: (reader) => ({ topicId: reader.uuid() }),
  },
  topicRemoval: {
    id: 9, version: 1,
    write: (writer, record) => {
      writer.uuid(record.topicId)
      writeList(writer, record.nodeIds, (id) => writer.varlong(id))
    },
    read: (reader) => ({ topicId: reader.uuid(), nodeIds: readList(reader, () => reader.varlong()) }),
  },
  producerIdsAllocated: {
    id: 8, version: 1,
    write: (writer, record) => {
      writer.varlong(record.nodeId)
      writer.varlong(record.brokerEpoch)
      writer.varlong(record.next)
    },
    read: (reader) => ({ nodeId: reader.varlong(), brokerEpoch: reader.varlong(), next: reader.varlong() }),
  },
}

const typesById = new Map<number, MetadataRecord['type']>(
  (Object.keys(codecs) as MetadataRecord['type'][]).map((type) => [codecs[type].id, type]),
)

const content = new BytesWriter(1024)

/** The records as one command. The caller owns the result. */
export function encodeRecords(records: readonly MetadataRecord[]): Uint8Array {
  const writer = new BytesWriter(16 + records.length * 48)
  writer.uint8(listFormat)
  writer.uvarint(records.length)
  for (const record of records) {
    const codec = codecs[record.type] as RecordCodec<MetadataRecord['type']>
    content.reset()
    codec.write(content, record)
    writer.uvarint(codec.id)
    writer.uvarint(codec.version)
    writer.uvarint(content.position)
    writer.raw(content.bytes, 0, content.position)
  }
  return writer.finish()
}

/**
 * The records of a command or snapshot, which holds nothing else. Throws MR_CLUSTER_METADATA_NEWER for what this release does not know;
 * RangeError for bytes that no release writes, which the log's checksums rule out.
 */
export function decodeRecords(bytes: Uint8Array): readonly MetadataRecord[] {
  const reader = new BytesReader(bytes)
  try {
    const format = reader.uint8()
    if (format !== listFormat) throw newer(`a list of records has format ${format}, this release reads ${listFormat}`)
    const count = reader.uvarint()
    const records: MetadataRecord[] = []
    for (let index = 0; index < count; index++) records.push(decodeRecord(reader))
    if (reader.remaining > 0) throw new RangeError(`${reader.remaining} bytes follow the last record`)
    return records
  } catch (error) {
    if (isBytesError(error)) throw new RangeError(`metadata records are unreadable: ${error.message}`, { cause: error })
    throw error
  }
}

function decodeRecord(reader: BytesReader): MetadataRecord {
  const id = reader.uvarint()
  const version = reader.uvarint()
  const length = reader.uvarint()
  const type = typesById.get(id)
  if (type === undefined) throw newer(`it holds records of type ${id}`)
  const codec = codecs[type] as RecordCodec<MetadataRecord['type']>
  if (version < 1 || version > codec.version) throw newer(`${type} records have version ${version}, this release reads 1 to ${codec.version}`)
  const end = reader.position + length
  const record = { type, ...codec.read(reader, version) } as MetadataRecord
  if (reader.position !== end) throw new RangeError(`a ${type} record of ${length} bytes ends ${end - reader.position} bytes early`)
  return record
}

const newer = (what: string): MillraceError => new MillraceError('MR_CLUSTER_METADATA_NEWER', { what })

function writeText(writer: BytesWriter, text: string): void {
  writer.uvarint(utf8Length(text))
  writer.utf8(text)
}

const readText = (reader: BytesReader): string => reader.utf8(reader.uvarint())

function writeNullableText(writer: BytesWriter, text: string | undefined): void {
  if (text === undefined) {
    writer.uvarint(0)
    return
  }
  writer.uvarint(utf8Length(text) + 1)
  writer.utf8(text)
}

function readNullableText(reader: BytesReader): string | undefined {
  const length = reader.uvarint()
  return length === 0 ? undefined : reader.utf8(length - 1)
}

function writeList<T>(writer: BytesWriter, items: readonly T[], write: (item: T) => void): void {
  writer.uvarint(items.length)
  for (const item of items) write(item)
}

function readList<T>(reader: BytesReader, read: () => T): T[] {
  const count = reader.uvarint()
  const items: T[] = []
  for (let index = 0; index < count; index++) items.push(read())
  return items
}
