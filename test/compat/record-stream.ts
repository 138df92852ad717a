/**
 * The stream that our record programs read on stdin and write on stdout, all integers big-endian:
 *
 *   record  = partition int32, offset int64, content        (-1 and -1 on the way to a producer: the broker's to choose)
 *   content = key bytes, value bytes, header count int32, headers
 *   header  = name bytes, value bytes
 *   bytes   = length int32 (-1 is null), that many bytes
 *
 * The content alone is what must survive a broker unchanged, so two records are equal if their contents are.
 */
export interface StreamRecord {
  readonly key: Uint8Array | null
  readonly value: Uint8Array | null
  readonly headers: readonly (readonly [name: string, value: Uint8Array | null])[]
}

export interface ReceivedRecord {
  readonly partition: number
  readonly offset: number
  /** Encoded as above; a view of the stream's buffer. */
  readonly content: Buffer
}

const PREFIX_BYTES = 12

function bytesLength (bytes: Uint8Array | null): number {
  return 4 + (bytes?.length ?? 0)
}

function writeBytes (to: Buffer, at: number, bytes: Uint8Array | null): number {
  to.writeInt32BE(bytes ? bytes.length : -1, at)
  if (bytes) to.set(bytes, at + 4)
  return at + bytesLength(bytes)
}

export function encodeContent (record: StreamRecord): Buffer {
  const names = record.headers.map(([name]) => Buffer.from(name))
  let length = bytesLength(record.key) + bytesLength(record.value) + 4
  record.headers.forEach(([, value], i) => { length += bytesLength(names[i]!) + bytesLength(value) })
  const content = Buffer.allocUnsafe(length)
  let at = writeBytes(content, writeBytes(content, 0, record.key), record.value)
  at = content.writeInt32BE(record.headers.length, at)
  record.headers.forEach(([, value], i) => { at = writeBytes(content, writeBytes(content, at, names[i]!), value) })
  return content
}

export function decodeContent (content: Buffer): StreamRecord {
  let at = 0
  const readBytes = (): Buffer | null => {
    const length = content.readInt32BE(at)
    at += 4
    if (length < 0) return null
    at += length
    return content.subarray(at - length, at)
  }
  const key = readBytes()
  const value = readBytes()
  const headers: [string, Uint8Array | null][] = []
  const count = content.readInt32BE(at)
  at += 4
  for (let i = 0; i < count; i++) headers.push([readBytes()!.toString(), readBytes()])
  return { key, value, headers }
}

/** A stream for a producer: the contents one after the other, each behind an empty place. */
export function encodeStream (contents: readonly Buffer[]): Buffer {
  const nowhere = Buffer.alloc(PREFIX_BYTES, 0xff)
  return Buffer.concat(contents.flatMap(content => [nowhere, content]))
}

export function encodeReceived (partition: number, offset: number, content: Buffer): Buffer {
  const place = Buffer.allocUnsafe(PREFIX_BYTES)
  place.writeInt32BE(partition, 0)
  place.writeBigInt64BE(BigInt(offset), 4)
  return Buffer.concat([place, content])
}

function contentEnd (stream: Buffer, from: number): number {
  let at = from
  const skip = (): void => { at += 4 + Math.max(0, stream.readInt32BE(at)) }
  skip()
  skip()
  const headers = stream.readInt32BE(at)
  at += 4
  for (let i = 0; i < headers * 2; i++) skip()
  return at
}

/** Records of a consumer's stream, in its order. Throws where the stream ends inside a record. */
export function decodeStream (stream: Buffer): ReceivedRecord[] {
  const records: ReceivedRecord[] = []
  for (let at = 0; at < stream.length;) {
    const end = contentEnd(stream, at + PREFIX_BYTES)
    if (end > stream.length) throw new Error('the stream ends inside a record')
    records.push({
      partition: stream.readInt32BE(at),
      offset: Number(stream.readBigInt64BE(at + 4)),
      content: stream.subarray(at + PREFIX_BYTES, end),
    })
    at = end
  }
  return records
}
