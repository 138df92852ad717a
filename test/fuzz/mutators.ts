import { type Prng } from '../../src/base/prng.ts'
import { edited, type Mark, type Specimen, varintBytes } from './grammar/specimen.ts'

/** Above it a mutant is cut off: what is larger is made by the grammars on purpose. */
const mutantBytesMax = 1 << 20

const boundaries: readonly bigint[] = [
  0n, 1n, -1n, 2n, -2n, 127n, 128n, -128n, 255n, 256n, 32_767n, 32_768n, -32_768n, 65_535n, 65_536n, (1n << 31n) - 1n, 1n << 31n, -(1n << 31n),
  (1n << 32n) - 1n, 1n << 32n, (1n << 53n) - 1n, 1n << 53n, -(1n << 53n), (1n << 63n) - 1n, -(1n << 63n),
]

/** Text that is none: cut sequences, overlong forms, surrogates, beyond U+10FFFF, NUL; and such as is dangerous as a path or a key. */
const badTexts: readonly Uint8Array[] = [
  [0xc3], [0xe2, 0x82], [0xf0, 0x9f, 0x92], [0xc0, 0xaf], [0xe0, 0x80, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xff, 0xfe], [0x80], [0],
  [0xef, 0xbb, 0xbf], ...['..', '../..', '/', '.', '__proto__', 'constructor', 'a\0b', '%s%n', '\r\n', '💥'].map(text => [...new TextEncoder().encode(text)]),
].map(bytes => Uint8Array.from(bytes))

type Mutate = (specimen: Specimen, prng: Prng, other: () => Specimen) => Specimen

/** Spoils a specimen in one to four ways. Of many that are kept as they were made, one is left sound. */
export function mutate(specimen: Specimen, prng: Prng, other: () => Specimen): Specimen {
  let mutant = specimen
  for (let rounds = prng.pick([1, 1, 1, 2, 2, 3, 4]); rounds > 0; rounds--) {
    if (mutant.bytes.length === 0) break
    mutant = prng.pick(mutators)(mutant, prng, other)
    if (mutant.bytes.length > mutantBytesMax && specimen.bytes.length <= mutantBytesMax) mutant = cut(mutant, mutantBytesMax)
  }
  return mutant
}

const flipBits: Mutate = (specimen, prng) => {
  const bytes = specimen.bytes.slice()
  for (let flips = prng.between(1, 8); flips > 0; flips--) bytes[prng.below(bytes.length)]! ^= 1 << prng.below(8)
  return { ...specimen, bytes }
}

const randomBytes: Mutate = (specimen, prng) => {
  const at = prng.below(specimen.bytes.length)
  const bytes = specimen.bytes.slice()
  bytes.set(prng.bytes(Math.min(prng.between(1, 16), bytes.length - at)), at)
  return { ...specimen, bytes }
}

/** A number of the grammar becomes one at a boundary, or one beside what it was. */
const boundaryNumber: Mutate = (specimen, prng) => {
  const mark = pickMark(specimen, prng, ({ kind }) => kind === 'int' || kind === 'uvarint' || kind === 'varint')
  return mark === undefined ? flipBits(specimen, prng, () => specimen) : putNumber(specimen, mark, wanted(specimen, mark, prng), prng)
}

/** The same, of a length or count: these decide what is allocated. */
const boundaryCount: Mutate = (specimen, prng, other) => {
  const mark = pickMark(specimen, prng, ({ counts }) => counts)
  return mark === undefined ? boundaryNumber(specimen, prng, other) : putNumber(specimen, mark, wanted(specimen, mark, prng), prng)
}

/** Varints too long, with needless bytes, or without an end. */
const varintExtreme: Mutate = (specimen, prng) => {
  const mark = pickMark(specimen, prng, ({ kind }) => kind === 'uvarint' || kind === 'varint')
  const [at, length] = mark === undefined ? [prng.below(specimen.bytes.length), 1] : [mark.at, mark.length]
  const kinds: readonly (() => Uint8Array)[] = [
    () => new Uint8Array(prng.between(1, 12)).fill(0xff),
    () => Uint8Array.from([...new Array<number>(prng.between(1, 9)).fill(0x80), 0]),
    () => Uint8Array.from([...new Array<number>(4).fill(0xff), prng.below(256)]),
    () => Uint8Array.from([...new Array<number>(9).fill(0xff), prng.below(4)]),
    () => Uint8Array.from([0x80 | prng.below(128), 0x80, 0x80, 0x80, 0]),
  ]
  return edited(specimen, at, length, prng.pick(kinds)())
}

const truncate: Mutate = (specimen, prng) => cut(specimen, prng.below(specimen.bytes.length))

const appendBytes: Mutate = (specimen, prng) => edited(specimen, specimen.bytes.length, 0, prng.bytes(prng.between(1, 40)))

/** A part of the grammar twice or many times: elements, tag buffers, texts. */
const duplicate: Mutate = (specimen, prng) => {
  const { at, length } = pickMark(specimen, prng, () => true) ?? anyRange(specimen, prng)
  const part = specimen.bytes.slice(at, at + length)
  const times = Math.min(prng.pick([1, 1, 2, 3, 10, 1000]), Math.floor(65_536 / Math.max(1, length)))
  const repeated = new Uint8Array(part.length * times)
  for (let index = 0; index < times; index++) repeated.set(part, index * part.length)
  return edited(specimen, at + length, 0, repeated)
}

const remove: Mutate = (specimen, prng) => {
  const { at, length } = pickMark(specimen, prng, () => true) ?? anyRange(specimen, prng)
  return edited(specimen, at, length, new Uint8Array(0))
}

/** A part of another specimen in the place of a part of this one. */
const splice: Mutate = (specimen, prng, other) => {
  const from = other()
  if (from.bytes.length === 0) return specimen
  const taken = pickMark(from, prng, () => true) ?? anyRange(from, prng)
  const place = pickMark(specimen, prng, () => true) ?? anyRange(specimen, prng)
  return edited(specimen, place.at, prng.chance(0.7) ? place.length : 0, from.bytes.slice(taken.at, taken.at + Math.min(taken.length, 65_536)))
}

const badText: Mutate = (specimen, prng) => {
  const mark = pickMark(specimen, prng, ({ kind }) => kind === 'text')
  if (mark === undefined) return flipBits(specimen, prng, () => specimen)
  const text = prng.pick(badTexts)
  if (prng.chance(0.5) || mark.length === 0) return edited(specimen, mark.at, mark.length, text)
  // Of the same length, so that all else stays readable.
  const bytes = specimen.bytes.slice()
  for (let index = 0; index < mark.length; index++) bytes[mark.at + index] = text[index % text.length]!
  return { ...specimen, bytes }
}

/** A tag buffer of so many fields, known and unknown ones, repeated, out of order. */
const repeatTags: Mutate = (specimen, prng, other) => {
  const mark = pickMark(specimen, prng, ({ kind }) => kind === 'tags')
  if (mark === undefined) return boundaryCount(specimen, prng, other)
  const count = prng.pick([1, 2, 2, 3, 300])
  const [tag, size] = [prng.pick([0, 0, 1, 2, 3, 77, 2 ** 31]), prng.pick([0, 1, 1, 4, 8, 20])]
  const field = Uint8Array.from([...varintBytes(BigInt(tag)), ...varintBytes(BigInt(size)), ...prng.bytes(size)])
  const fields = new Uint8Array(field.length * count)
  for (let index = 0; index < count; index++) fields.set(field, index * field.length)
  return edited(specimen, mark.at, mark.length, Uint8Array.from([...varintBytes(BigInt(count)), ...fields]))
}

const zeroes: Mutate = (specimen, prng) => {
  const { at, length } = anyRange(specimen, prng)
  const bytes = specimen.bytes.slice()
  bytes.fill(prng.pick([0, 0, 0xff]), at, at + length)
  return { ...specimen, bytes }
}

const mutators: readonly Mutate[] = [
  flipBits, flipBits, randomBytes, boundaryNumber, boundaryNumber, boundaryCount, boundaryCount, boundaryCount, varintExtreme, truncate, appendBytes,
  duplicate, remove, splice, splice, badText, repeatTags, zeroes,
]

function pickMark(specimen: Specimen, prng: Prng, wants: (mark: Mark) => boolean): Mark | undefined {
  const { marks } = specimen
  // Most have the kind that is looked for; a few tries are cheaper than a list of all.
  for (let tries = 0; tries < 12 && marks.length > 0; tries++) {
    const mark = marks[prng.below(marks.length)]!
    if (wants(mark) && mark.at + mark.length <= specimen.bytes.length) return mark
  }
  const fitting = marks.filter(mark => wants(mark) && mark.at + mark.length <= specimen.bytes.length)
  return fitting.length === 0 ? undefined : prng.pick(fitting)
}

function anyRange({ bytes }: Specimen, prng: Prng): { readonly at: number, readonly length: number } {
  const at = prng.below(bytes.length)
  return { at, length: Math.min(bytes.length - at, prng.pick([1, 2, 4, 8, 16, 61, prng.between(1, 512), prng.between(1, bytes.length)])) }
}

function cut(specimen: Specimen, length: number): Specimen {
  return { ...specimen, bytes: specimen.bytes.slice(0, length), marks: specimen.marks.filter(mark => mark.at + mark.length <= length) }
}

function wanted({ bytes }: Specimen, mark: Mark, prng: Prng): bigint {
  if (prng.chance(0.5)) return prng.pick(boundaries)
  // As many as there are bytes left, one more or less, and what it was, one more or less.
  const left = BigInt(bytes.length - mark.at - mark.length)
  return prng.pick([left, left + 1n, left - 1n, left / 2n, left * 2n, BigInt(bytes[mark.at + mark.length - 1] ?? 0) + BigInt(prng.between(-2, 2)), BigInt(prng.uint32())])
}

function putNumber(specimen: Specimen, mark: Mark, value: bigint, prng: Prng): Specimen {
  if (mark.kind === 'uvarint') return edited(specimen, mark.at, mark.length, varintBytes(BigInt.asUintN(prng.chance(0.9) ? 32 : 64, value)))
  if (mark.kind === 'varint') return edited(specimen, mark.at, mark.length, varintBytes(value < 0n ? (-value << 1n) - 1n : value << 1n))
  const bytes = specimen.bytes.slice()
  let rest = BigInt.asUintN(mark.length * 8, value)
  for (let index = mark.length - 1; index >= 0; index--) {
    bytes[mark.at + index] = Number(rest & 0xffn)
    rest >>= 8n
  }
  return { ...specimen, bytes }
}
