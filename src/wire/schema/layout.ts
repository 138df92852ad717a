import { assert } from '../../base/assert.ts'
import { zeroUuid } from '../../base/uuid.ts'
import { type Field, type FieldType, inRange, type ScalarKind, type Struct } from './definition.ts'
import { isFlexible, type MessageDefinition } from './message.ts'

/**
 * A definition as one version lays it out: which fields go inline, which into the tag buffer, which are not there at all. The sources of
 * readers and writers are made from it.
 */

/** What an absent field is: a literal, or something that is made. */
export type Fallback = { readonly literal: number | boolean | string | null } | 'emptyArray' | 'emptyBytes' | 'structOfDefaults'

export interface FieldLayout {
  readonly name: string
  /** For messages: `topicData[].partitionData[].index`. */
  readonly path: string
  readonly kind: ScalarKind | 'array' | 'struct'
  readonly nullable: boolean
  readonly saturating: boolean
  readonly ignorable: boolean
  readonly tag: number | undefined
  readonly fallback: Fallback
  /** Of an array: its elements. */
  readonly element: ScalarKind | StructLayout | undefined
  readonly struct: StructLayout | undefined
}

export interface StructLayout {
  /** Names the functions generated for it; unique within a message. */
  readonly id: string
  readonly flexible: boolean
  /** In the order of the definition, which is that of the object literals too. */
  readonly fields: readonly FieldLayout[]
  readonly inline: readonly FieldLayout[]
  /** Ascending by tag number, as they must be written. */
  readonly tagged: readonly FieldLayout[]
  /** Fields of other versions: a reader gives their defaults. */
  readonly absent: readonly FieldLayout[]
  /** The fewest bytes that it can take: an array's count is checked against it before anything is allocated. */
  readonly bytesMin: number
  /** The bytes it takes when that does not depend on the values and no tagged field is sent; else undefined. */
  readonly bytesFixed: number | undefined
}

const fixedBytes: Partial<Record<FieldLayout['kind'], number>> = {
  bool: 1, int8: 1, int16: 2, uint16: 2, int32: 4, int64: 8, float64: 8, uuid: 16,
}

export function layOut(message: MessageDefinition, version: number): StructLayout {
  assert(inRange(message.versions, version), `${message.name} has a version ${version}`)
  const counter = { next: 0 }
  return layOutStruct(message.root, version, isFlexible(message, version), '', counter)
}

function layOutStruct(struct: Struct, version: number, flexible: boolean, at: string, counter: { next: number }): StructLayout {
  const id = `${struct.name}${counter.next++}`
  const fields: FieldLayout[] = []
  const inline: FieldLayout[] = []
  const tagged: FieldLayout[] = []
  const absent: FieldLayout[] = []
  for (const [name, field] of Object.entries(struct.fields)) {
    // Names become source text, so they are identifiers; and a message that lacks a field must not seem to inherit it.
    assert(/^[a-z][A-Za-z0-9]*$/.test(name) && !(name in Object.prototype), `field name ${name}`)
    const layout = layOutField(name, field, version, flexible, at, counter)
    fields.push(layout)
    if (!inRange(field.versions, version)) absent.push(layout)
    else if (layout.tag === undefined) inline.push(layout)
    else tagged.push(layout)
  }
  assert(flexible || tagged.length === 0, `${struct.name} has no tagged fields in version ${version}`)
  tagged.sort((a, b) => a.tag! - b.tag!)
  const tagBytes = flexible ? 1 : 0
  const bytesMin = inline.reduce((sum, field) => sum + minBytes(field, flexible), tagBytes)
  const fixed = inline.every(field => field.kind in fixedBytes) && tagged.length === 0
  return { id, flexible, fields, inline, tagged, absent, bytesMin, bytesFixed: fixed ? bytesMin : undefined }
}

function layOutField(name: string, field: Field, version: number, flexible: boolean, at: string, counter: { next: number }): FieldLayout {
  const { type, options } = field
  const path = at === '' ? name : `${at}.${name}`
  const inner = (struct: Struct, where: string): StructLayout => layOutStruct(struct, version, flexible, where, counter)
  return {
    name,
    path,
    kind: type.kind,
    nullable: inRange(field.nullable, version),
    saturating: options.saturating ?? false,
    ignorable: options.ignorable ?? false,
    tag: options.tag,
    fallback: options.default === undefined ? impliedDefault(type) : { literal: options.default },
    element: type.kind !== 'array' ? undefined
      : typeof type.element === 'string' ? type.element : inner(type.element, `${path}[]`),
    struct: type.kind === 'struct' ? inner(type.struct, path) : undefined,
  }
}

function impliedDefault(type: FieldType): Fallback {
  switch (type.kind) {
    case 'bool': return { literal: false }
    case 'string': return { literal: '' }
    case 'uuid': return { literal: zeroUuid }
    case 'bytes':
    case 'records': return 'emptyBytes'
    case 'array': return 'emptyArray'
    case 'struct': return 'structOfDefaults'
    default: return { literal: 0 }
  }
}

function minBytes(field: FieldLayout, flexible: boolean): number {
  if (field.kind === 'struct') return field.nullable ? 1 : field.struct!.bytesMin
  return scalarBytesMin(field.kind, flexible)
}

/** The fewest bytes that a value of this kind takes. */
export function scalarBytesMin(kind: ScalarKind | 'array', flexible: boolean): number {
  return fixedBytes[kind] ?? (flexible ? 1 : kind === 'string' ? 2 : 4)
}

/** The bytes that every value of this kind takes; undefined where that depends on the value. */
export function scalarBytesFixed(kind: FieldLayout['kind']): number | undefined {
  return fixedBytes[kind]
}
