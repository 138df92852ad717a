import { type Prng } from '../../../src/base/prng.ts'
import { type LogRecord, type RecordHeader } from '../../../src/kernel/record/log-record.ts'
import { contentWithKey } from '../history.ts'
import { TraceHash } from '../../../src/testkit/world/trace-hash.ts'

export interface RandomRecord {
  readonly key: Uint8Array | null
  readonly value: Uint8Array | null
  readonly headers: readonly RecordHeader[]
  /** In the words of the history. */
  readonly content: string
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const nameHeader = 'name'

/** The content of a record that was read: its name, from the header that all records of the workload have, and a digest of all of it. */
export function contentOf(record: Pick<LogRecord, 'key' | 'value' | 'headers'>): string {
  const hash = new TraceHash()
  for (const part of [record.key, record.value]) addPart(hash, part)
  let name = 'nameless'
  for (const { key, value } of record.headers) {
    if (key === nameHeader && value !== null) name = decoder.decode(value)
    hash.addText(key)
    addPart(hash, value)
  }
  const content = `${name}#${hash.digest()}`
  return record.key === null ? content : contentWithKey(content, decoder.decode(record.key))
}

function addPart(hash: TraceHash, bytes: Uint8Array | null): void {
  hash.addNumber(bytes === null ? -1 : bytes.length)
  if (bytes !== null) hash.addBytes(bytes)
}

/** Records that are told apart by their names. */
export class RandomRecords {
  private readonly prng: Prng
  private readonly prefix: string
  private readonly manyShare: number
  private readonly bytesMin: number
  private made = 0

  /** `manyShare`: how often there are many records at once. `bytesMin`: the values are no smaller, and then there are never many. */
  constructor(prng: Prng, prefix: string, manyShare = 0.1, bytesMin = 0) {
    this.bytesMin = bytesMin
    this.prng = prng
    this.prefix = prefix
    this.manyShare = manyShare
  }

  /** How many records go at once: up to `few`, or, now and then, 50 to `many`. */
  count(few: number, many: number): number {
    return this.bytesMin === 0 && this.prng.chance(this.manyShare) ? this.prng.between(50, many) : this.prng.between(1, few)
  }

  /** `once`: for idempotent producers; it is to be stored at most once. `keyed`: for a topic that is compacted. */
  next(once: boolean, valueBytesMax: number, keyed = false): RandomRecord {
    const { prng } = this
    const name = `${once ? 'once' : 'many'}-${this.prefix}-${this.made++}`
    const headers: RecordHeader[] = [{ key: nameHeader, value: encoder.encode(name) }]
    while (prng.chance(0.2)) headers.push({ key: `h${prng.below(3)}`, value: prng.chance(0.2) ? null : prng.bytes(prng.below(12)) })
    const record = {
      key: prng.chance(0.3) && !keyed ? null : encoder.encode(`key ${prng.below(keyed ? 8 : 50)}`),
      value: prng.chance(0.03) ? null : this.value(valueBytesMax),
      headers,
    }
    return { ...record, content: contentOf(record) }
  }

  many(count: number, once: boolean, valueBytesMax: number, keyed = false): RandomRecord[] {
    return Array.from({ length: count }, () => this.next(once, valueBytesMax, keyed))
  }

  /** Half of it random, half of it not, so that codecs have something to do. */
  private value(bytesMax: number): Uint8Array {
    const length = this.bytesMin + this.prng.below(bytesMax + 1)
    const bytes = new Uint8Array(length).fill(0x61)
    bytes.set(this.prng.bytes(length >>> 1))
    return bytes
  }
}
