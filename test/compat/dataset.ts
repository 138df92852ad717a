import { createHash } from 'node:crypto'

import { decodeContent, encodeContent, type ReceivedRecord, type StreamRecord } from './record-stream.ts'

/**
 * What a client is given to write. The same name and count give the same bytes on every run.
 *
 *   text     key, value and 1 to 3 headers of UTF-8 text, no tab, newline, comma or colon: every tool can carry it
 *   tagged   as text, but the same two headers on every record, for tools that cannot vary them
 *   binary   null, empty and arbitrary bytes as key, value and header value, no header at all, repeated header names
 *   counted  0, 1, 2, … as text: no key, no header
 */
export type DatasetKind = 'text' | 'tagged' | 'binary' | 'counted'

export interface Dataset {
  readonly kind: DatasetKind
  readonly contents: readonly Buffer[]
}

const words = ['SEA', 'LAX', 'Zürich', '東京', 'delayed', 'on time', 'gate', 'Ω-route', 'flight', '🛫', 'cancelled', 'über']

/** 32-bit generator (xorshift), enough to vary sizes and bytes. */
function generator (seed: number): (below: number) => number {
  let state = seed >>> 0 || 1
  return below => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
}

function sentence (random: (below: number) => number, wordsMax: number): string {
  const picked: string[] = []
  for (let i = random(wordsMax + 1); i > 0; i--) picked.push(words[random(words.length)]!)
  return picked.join(' ')
}

function randomBytes (random: (below: number) => number, lengthMax: number): Buffer {
  return Buffer.from(Array.from({ length: random(lengthMax + 1) }, () => random(256)))
}

function textRecord (i: number, random: (below: number) => number, headers: StreamRecord['headers']): StreamRecord {
  const value = `${String(i).padStart(8, '0')} ${sentence(random, 24)}`
  return { key: Buffer.from(`key-${random(997)}`), value: Buffer.from(value), headers }
}

function textHeaders (random: (below: number) => number): [string, Buffer][] {
  return Array.from({ length: 1 + random(3) }, (_, n) =>
    [`header-${n}`, Buffer.from(sentence(random, 3))])
}

const tags: StreamRecord['headers'] = [['source', Buffer.from('compat')], ['tag', Buffer.from('ü-1')]]

function binaryRecord (i: number, random: (below: number) => number): StreamRecord {
  const some = (lengthMax: number): Buffer | null =>
    [null, Buffer.alloc(0), randomBytes(random, lengthMax)][random(3)]!
  const headers: [string, Uint8Array | null][] = [['i', Buffer.from(String(i))]]
  for (let n = random(4); n > 0; n--) headers.push([['again', 'é', ''][random(3)]!, some(20)])
  // Every 50th value is larger than a producer's usual batch, and does not compress
  const value = i % 50 === 49 ? Buffer.concat([Buffer.from([i & 255]), randomBytes(random, 40_000)]) : some(300)
  return { key: some(40), value, headers }
}

export function makeDataset (kind: DatasetKind, count: number): Dataset {
  const random = generator(0x5eed + count)
  const contents = Array.from({ length: count }, (_, i) => {
    if (kind === 'binary') return encodeContent(binaryRecord(i, random))
    if (kind === 'counted') return encodeContent({ key: null, value: Buffer.from(String(i)), headers: [] })
    return encodeContent(textRecord(i, random, kind === 'text' ? textHeaders(random) : tags))
  })
  return { kind, contents }
}

function indexOf (record: StreamRecord, kind: DatasetKind): number {
  const text = kind === 'binary' ? record.headers[0]?.[1] : record.value?.subarray(0, 8) // as padded by textRecord
  return text ? Number(Buffer.from(text).toString('latin1')) : NaN
}

function shown (content: Buffer): string {
  const { key, value, headers } = decodeContent(content)
  const text = (bytes: Uint8Array | null): string =>
    bytes === null ? 'null' : JSON.stringify(Buffer.from(bytes).toString('latin1').slice(0, 60))
  return `key ${text(key)} value ${text(value)} headers ${headers.map(([n, v]) => `${n}=${text(v)}`).join(' ')}`
}

export interface Verified {
  /** SHA-256 over the contents in offset order, a partition after the other: equal for any two readers of a topic. */
  readonly sha256: string
}

/**
 * Proves that what was read is what was written: each partition's offsets and records strictly in order, each record
 * byte for byte the one that was written, none twice, and, where all partitions were read, none missing.
 * Throws an error that shows the first difference.
 */
export function verify (dataset: Dataset, received: readonly ReceivedRecord[], all: boolean): Verified {
  const last = new Map<number, { offset: number; index: number; sha: ReturnType<typeof createHash> }>()
  for (const { partition, offset, content } of received) {
    const at = `partition ${partition} offset ${offset}`
    const index = indexOf(decodeContent(content), dataset.kind)
    const expected = dataset.contents[index]
    if (!expected?.equals(content)) {
      throw new Error(`${at}: not what was written:\n  read    ${shown(content)}\n  written ` +
        (expected ? shown(expected) : 'nothing like it'))
    }
    const before = last.get(partition) ?? { offset: -1, index: -1, sha: createHash('sha256') }
    if (offset !== before.offset + 1) throw new Error(`${at} follows offset ${before.offset}`)
    if (index <= before.index) throw new Error(`${at}: record ${index} follows record ${before.index}`)
    last.set(partition, { offset, index, sha: before.sha.update(content) })
  }
  if (all && received.length !== dataset.contents.length) {
    throw new Error(`${received.length} records read, ${dataset.contents.length} written`)
  }
  const shas = [...last].sort(([a], [b]) => a - b).map(([, { sha }]) => sha.digest())
  return { sha256: createHash('sha256').update(Buffer.concat(shas)).digest('hex') }
}
