/** What a stretch of bytes is, so that a mutator may spoil it on purpose. */
export type MarkKind = 'int' | 'uvarint' | 'varint' | 'text' | 'bytes' | 'element' | 'tags'

export interface Mark {
  readonly kind: MarkKind
  at: number
  length: number
  /** It tells how long something is, or of how many. */
  readonly counts: boolean
}

/** Bytes made by a grammar, and where their parts lie. */
export interface Specimen {
  /** What the bytes are, e.g. `ProduceRequest v9`: with the bytes, all that is needed to run them again. */
  readonly kind: string
  readonly bytes: Uint8Array
  readonly marks: readonly Mark[]
}

/** Puts specimens together. */
export class SpecimenWriter {
  readonly marks: Mark[] = []
  private bytes = new Uint8Array(1024)
  length = 0

  int(size: 1 | 2 | 4 | 8, value: number | bigint, counts = false): void {
    this.mark('int', this.length, size, counts)
    let rest = BigInt.asUintN(64, BigInt(value))
    this.room(size)
    for (let index = size - 1; index >= 0; index--) {
      this.bytes[this.length + index] = Number(rest & 0xffn)
      rest >>= 8n
    }
    this.length += size
  }

  /** Unsigned, as lengths of flexible messages are. */
  uvarint(value: number, counts = false): void {
    const start = this.length
    this.raw(varintBytes(BigInt(value)))
    this.mark('uvarint', start, this.length - start, counts)
  }

  /** Zigzag, as in records. */
  varint(value: number | bigint, counts = false): void {
    const start = this.length
    const signed = BigInt(value)
    this.raw(varintBytes(signed < 0n ? (-signed << 1n) - 1n : signed << 1n))
    this.mark('varint', start, this.length - start, counts)
  }

  raw(bytes: Uint8Array): void {
    this.room(bytes.length)
    this.bytes.set(bytes, this.length)
    this.length += bytes.length
  }

  /** Takes over another specimen, marks included. */
  nest({ bytes, marks }: Pick<Specimen, 'bytes' | 'marks'>): void {
    const start = this.length
    this.raw(bytes)
    for (const mark of marks) this.marks.push({ ...mark, at: mark.at + start })
  }

  mark(kind: MarkKind, at: number, length: number, counts = false): void {
    this.marks.push({ kind, at, length, counts })
  }

  finish(kind: string): Specimen {
    return { kind, bytes: this.bytes.slice(0, this.length), marks: this.marks }
  }

  private room(size: number): void {
    if (this.length + size <= this.bytes.length) return
    const larger = new Uint8Array(Math.max(this.bytes.length * 2, this.length + size))
    larger.set(this.bytes.subarray(0, this.length))
    this.bytes = larger
  }
}

/** 7 bits a byte, the lowest first. */
export function varintBytes(value: bigint): Uint8Array {
  const bytes: number[] = []
  let rest = value
  while (rest > 127n) {
    bytes.push(Number(rest & 127n) | 128)
    rest >>= 7n
  }
  bytes.push(Number(rest))
  return Uint8Array.from(bytes)
}

/** `bytes` with `removed` bytes at `at` replaced; marks behind move along, marks within are dropped. */
export function edited(specimen: Specimen, at: number, removed: number, inserted: Uint8Array): Specimen {
  const { bytes } = specimen
  const result = new Uint8Array(bytes.length - removed + inserted.length)
  result.set(bytes.subarray(0, at))
  result.set(inserted, at)
  result.set(bytes.subarray(at + removed), at + inserted.length)
  const shift = inserted.length - removed
  const marks: Mark[] = []
  for (const mark of specimen.marks) {
    if (mark.at + mark.length <= at) marks.push(mark)
    else if (mark.at >= at + removed) marks.push(shift === 0 ? mark : { ...mark, at: mark.at + shift })
    else if (mark.at === at && mark.length === removed) marks.push({ ...mark, length: inserted.length })
    else if (mark.at <= at && mark.at + mark.length >= at + removed) marks.push({ ...mark, length: mark.length + shift })
  }
  return { kind: specimen.kind, bytes: result, marks }
}
