import { type Prng } from '../../../src/base/prng.ts'
import { uuidBytes } from './uuid-bytes.ts'
import { type FieldLayout, layOut, scalarBytesMin, type StructLayout } from '../../../src/wire/schema/layout.ts'
import { type MessageDefinition } from '../../../src/wire/schema/message.ts'
import { type BatchSizes, makeBatches } from './batch-grammar.ts'
import { type Specimen, SpecimenWriter } from './specimen.ts'

/** What requests may name, so that they get past the first look-up. */
export interface World {
  readonly topics: readonly string[]
  readonly topicIds: readonly string[]
}

const texts = ['', 'a', 'orders', 'grüße', '日本語', '💥', 'x'.repeat(42), 'y'.repeat(249), 'z'.repeat(300), '..', '__consumer_offsets', 'retention.ms', 'cleanup.policy']
const numbersByName: Readonly<Record<string, readonly number[]>> = {
  acks: [-1, -1, 0, 1], timeoutMs: [0, 1, 5000], maxWaitMs: [0, 0, 1, 20], minBytes: [0, 1, 1, 1e6], maxBytes: [1, 1e6, 50e6], partitionMaxBytes: [0, 1000, 1e6],
  partition: [0, 0, 0, 1, 2], partitionIndex: [0, 0, 0, 1, 2], index: [0, 0, 0, 1, 2], replicaId: [-1, -1, -1, 1], isolationLevel: [0, 1],
  fetchOffset: [0, 0, 1, 5, 1000], currentLeaderEpoch: [-1, -1, 0, 1], leaderEpoch: [-1, 0, 1], lastFetchedEpoch: [-1, -1, 0], timestamp: [-1, -2, -3, -4, 0, 1.7e12],
  numPartitions: [1, 1, 2, 3, -1], replicationFactor: [1, 1, -1], resourceType: [2, 2, 4, 3], sessionId: [0], sessionEpoch: [-1, 0], producerId: [-1, -1, 0, 1000],
  producerEpoch: [-1, 0, 1], transactionTimeoutMs: [1000, 60_000], keyType: [0, 1, 2], endpointType: [1, 2],
}
const textsByName: Readonly<Record<string, readonly string[]>> = { key: ['group', ''], clientSoftwareName: ['fuzz'], clientSoftwareVersion: ['1.0'] }
const bits: Readonly<Record<string, 1 | 2 | 4 | 8>> = { bool: 1, int8: 1, int16: 2, uint16: 2, int32: 4, int64: 8 }
const encoder = new TextEncoder()

/** As long as a length of 16 bits can say, or longer: what is added to it has no room. Not always UTF-8. */
function longestText(prng: Prng, flexible: boolean): Uint8Array {
  return new Uint8Array(flexible ? prng.pick([32_767, 32_768, 100_000]) : prng.pick([32_767, 32_766, 32_700, 11_000])).fill(prng.pick([0x78, 0x78, 0xff]))
}

/** How large the bodies may be that `makeMessage` makes on rare occasions. */
export interface Sizes {
  /** Chance of one array with very many elements, which are really there. */
  readonly hugeChance: number
  readonly hugeBytes: number
  readonly batch?: BatchSizes
}

const layouts = new Map<MessageDefinition, StructLayout[]>()

function layoutOf(definition: MessageDefinition, version: number): StructLayout {
  let known = layouts.get(definition)
  if (known === undefined) layouts.set(definition, known = [])
  return known[version] ??= layOut(definition, version)
}

/** A message that this version may carry, as bytes with marks. Independent of the codecs' writers. */
export function makeMessage(definition: MessageDefinition, version: number, prng: Prng, world: World, sizes: Sizes): Specimen {
  const writer = new SpecimenWriter()
  new MessageMaker(writer, prng, world, sizes).struct(layoutOf(definition, version))
  return writer.finish(`${definition.name} v${version}`)
}

class MessageMaker {
  private readonly writer: SpecimenWriter
  private readonly prng: Prng
  private readonly world: World
  /** Bytes that one array may be filled up to; 0 for none, or when it was. */
  private huge: number
  private readonly batch: BatchSizes | undefined

  constructor(writer: SpecimenWriter, prng: Prng, world: World, sizes: Sizes) {
    this.writer = writer
    this.prng = prng
    this.world = world
    this.batch = sizes.batch
    this.huge = prng.chance(sizes.hugeChance) ? sizes.hugeBytes : 0
  }

  struct(layout: StructLayout): void {
    const { writer, prng } = this
    for (const field of layout.inline) this.field(field, layout.flexible)
    if (!layout.flexible) return
    const start = writer.length
    const tagged = layout.tagged.filter(() => prng.chance(0.4))
    const unknown = prng.chance(0.03) ? 1 : 0
    writer.uvarint(tagged.length + unknown, true)
    for (const field of tagged) {
      const inner = new SpecimenWriter()
      new MessageMaker(inner, prng, this.world, { hugeChance: 0, hugeBytes: 0 }).field(field, true)
      writer.uvarint(field.tag!)
      writer.uvarint(inner.length, true)
      writer.nest(inner.finish(''))
    }
    if (unknown > 0) {
      writer.uvarint(prng.pick([9, 77, 2 ** 31]))
      writer.uvarint(5, true)
      writer.raw(prng.bytes(5))
    }
    writer.mark('tags', start, writer.length - start)
  }

  field(field: FieldLayout, flexible: boolean): void {
    const { writer, prng } = this
    const absent = field.nullable && prng.chance(0.2)
    if (field.kind === 'struct') {
      if (field.nullable) writer.int(1, absent ? -1 : 1)
      if (!absent) this.struct(field.struct!)
    } else if (field.kind === 'array') {
      this.array(field, flexible, absent)
    } else {
      this.scalar(field.kind, field.name, flexible, absent)
    }
  }

  private array(field: FieldLayout, flexible: boolean, absent: boolean): void {
    const { writer, prng } = this
    if (absent) {
      this.count(-1, flexible, 4)
      return
    }
    const element = field.element!
    const one = (): void => {
      const start = writer.length
      if (typeof element === 'string') this.scalar(element, field.name, flexible, false)
      else this.struct(element)
      writer.mark('element', start, writer.length - start)
    }
    if (this.huge > 0 && prng.chance(0.5)) {
      this.fill(element, field.name, flexible)
      return
    }
    const count = prng.pick([0, 1, 1, 1, 1, 2, 3])
    this.count(count, flexible, 4)
    for (let index = 0; index < count; index++) one()
  }

  /** As many of one element as there is room for: what a count may truly be. */
  private fill(element: NonNullable<FieldLayout['element']>, name: string, flexible: boolean): void {
    const inner = new SpecimenWriter()
    const maker = new MessageMaker(inner, this.prng, this.world, { hugeChance: 0, hugeBytes: 0 })
    if (typeof element === 'string') maker.scalar(element, name, flexible, false)
    else if (this.prng.chance(0.5)) maker.smallest(element)
    else maker.struct(element)
    const { bytes } = inner.finish('')
    const count = Math.max(1, Math.floor(this.prng.between(1, this.huge) / bytes.length))
    this.huge = 0
    this.count(count, flexible, 4)
    const all = new Uint8Array(count * bytes.length)
    for (let index = 0; index < count; index++) all.set(bytes, index * bytes.length)
    this.writer.raw(all)
  }

  /** The shortest that the struct can be: zeroes, empty texts and arrays, no tags. */
  private smallest(layout: StructLayout): void {
    for (const { kind, struct, nullable } of layout.inline) {
      if (kind === 'struct' && !nullable) this.smallest(struct!)
      else if (kind === 'struct') this.writer.int(1, -1)
      else this.writer.raw(new Uint8Array(scalarBytesMin(kind, layout.flexible)).fill(layout.flexible && /^(array|string|bytes|records)$/.test(kind) ? 1 : 0))
    }
    if (layout.flexible) this.writer.uvarint(0)
  }

  private count(count: number, flexible: boolean, size: 2 | 4): void {
    if (flexible) this.writer.uvarint(count + 1, true)
    else this.writer.int(size, count, true)
  }

  private scalar(kind: string, name: string, flexible: boolean, absent: boolean): void {
    const { writer, prng } = this
    if (kind === 'string' || kind === 'bytes' || kind === 'records') {
      if (absent) this.count(-1, flexible, kind === 'string' ? 2 : 4)
      else this.bytes(kind, kind === 'string' ? encoder.encode(this.text(name)) : undefined, flexible)
    } else if (kind === 'uuid') {
      writer.raw(uuidBytes(name === 'topicId' && prng.chance(0.8) && this.world.topicIds.length > 0 ? prng.pick(this.world.topicIds) : undefined, prng))
    } else if (kind === 'float64') {
      writer.raw(prng.bytes(8))
    } else {
      writer.int(bits[kind]!, this.number(kind, name))
    }
  }

  private bytes(kind: string, given: Uint8Array | undefined, flexible: boolean): void {
    const { writer, prng } = this
    const longest = kind === 'string' && prng.chance(0.004)
    const content = longest ? longestText(prng, flexible) : given ?? (kind === 'records' ? makeBatches(prng, this.batch) : { bytes: prng.bytes(prng.pick([0, 1, 16, 200])), marks: [] })
    const bytes = content instanceof Uint8Array ? content : content.bytes
    this.count(bytes.length, flexible, kind === 'string' ? 2 : 4)
    if (content instanceof Uint8Array) writer.raw(content)
    else writer.nest(content)
    writer.mark(kind === 'string' ? 'text' : 'bytes', writer.length - bytes.length, bytes.length)
  }

  private text(name: string): string {
    const { prng, world } = this
    const known = textsByName[name]
    if (known !== undefined && prng.chance(0.7)) return prng.pick(known)
    if (/topic|name/i.test(name) && prng.chance(0.85)) return prng.pick(world.topics)
    return prng.pick(texts)
  }

  private number(kind: string, name: string): bigint {
    const { prng } = this
    const known = numbersByName[name]
    if (known !== undefined && prng.chance(0.9)) return BigInt(prng.pick(known))
    const size = BigInt(bits[kind]! * 8)
    if (kind === 'bool') return BigInt(prng.below(2))
    const low = kind === 'int64' ? -(2n ** 53n - 1n) : kind === 'uint16' ? 0n : -(2n ** (size - 1n))
    const high = kind === 'int64' ? 2n ** 53n - 1n : kind === 'uint16' ? 65_535n : 2n ** (size - 1n) - 1n
    return prng.pick([0n, 0n, 1n, 1n, 2n, low, high, BigInt(prng.below(1000)), low < 0n ? -1n : 0n])
  }
}
