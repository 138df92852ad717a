import { assert } from '../../base/assert.ts'

/**
 * The language in which messages are defined: one definition holds every version of a message, as Kafka's protocol does. A field says in
 * which versions it exists; the TypeScript types of a message follow from its definition (`MessageOf`, `DraftOf`), and so do its readers
 * and writers (compile-codec.ts). The order of the fields is their order on the wire.
 */

/** `3+`: from 3 on. `3-7`: both included. `2`: that one alone. Always limited by the versions of the message itself. */
export type Versions = `${number}+` | `${number}-${number}` | `${number}`

/** How values look in TypeScript. Every int64 is a `number`: values outside of ±(2^53 - 1) are refused, in both directions. */
export interface ScalarValues {
  bool: boolean
  int8: number
  int16: number
  uint16: number
  int32: number
  int64: number
  float64: number
  string: string
  /** A view of the bytes that are being read, not a copy. */
  bytes: Uint8Array
  /** Record batches, opaque to this room: a view of the bytes that are being read, not a copy. */
  records: Uint8Array
  /** 22 characters of URL-safe base64, as Kafka prints topic ids. */
  uuid: string
}

export type ScalarKind = keyof ScalarValues

export interface FieldOptions {
  /** Versions in which null may be sent. */
  readonly nullable?: Versions
  /** Sent in the tag buffer at the end of its struct under this number, and left out when it holds its default. */
  readonly tag?: number
  /** What an absent field is taken to be; where it is not given: 0, false, '', no bytes, the empty array, the zero uuid, a struct of defaults. */
  readonly default?: number | boolean | string | null
  /** A writer may drop a value that the version cannot carry. Without it, writing a value other than the default fails. */
  readonly ignorable?: true
  /** An int64 of which all beyond ±(2^53 - 1) means the same, and is read as ±(2^53 - 1), not refused. */
  readonly saturating?: true
}

export type FieldType =
  | { readonly kind: ScalarKind }
  | { readonly kind: 'array'; readonly element: ScalarKind | Struct }
  | { readonly kind: 'struct'; readonly struct: Struct }

declare const carries: unique symbol

/** A field of a struct. `Value` is what a reader gives, `Draft` what a writer takes, `Optional` whether a draft may leave it out. */
export interface Field<Value = unknown, Draft = unknown, Optional = boolean> {
  readonly type: FieldType
  readonly versions: VersionRange
  readonly nullable: VersionRange | undefined
  readonly options: FieldOptions
  readonly [carries]?: { value: Value; draft: Draft; optional: Optional }
}

export type Fields = Readonly<Record<string, Field>>

export interface Struct<F extends Fields = Fields> {
  readonly name: string
  readonly fields: F
}

type ValueIn<F> = F extends Field<infer Value, unknown, unknown> ? Value : never
type DraftIn<F> = F extends Field<unknown, infer Draft, unknown> ? Draft : never
type OptionalKeys<F extends Fields> = { [K in keyof F]: F[K] extends Field<unknown, unknown, true> ? K : never }[keyof F]

/** All fields of the struct, those that a version lacks with their defaults: one shape, whatever the version. */
export type ValueOf<F extends Fields> = { readonly [K in keyof F]: ValueIn<F[K]> }

/** What a writer takes: fields that have a default, or that some versions lack, may be left out. */
export type DraftOfFields<F extends Fields> =
  & { readonly [K in Exclude<keyof F, OptionalKeys<F>>]: DraftIn<F[K]> }
  & { readonly [K in OptionalKeys<F>]?: DraftIn<F[K]> }

type Nullable<T, O extends FieldOptions> = O extends { nullable: string } ? T | null : T
type IsOptional<V extends Versions, O extends FieldOptions> =
  O extends { default: unknown } | { tag: number } ? true : V extends '0+' ? false : true
type ElementValue<E> = E extends ScalarKind ? ScalarValues[E] : E extends Struct<infer F> ? ValueOf<F> : never
type ElementDraft<E> = E extends ScalarKind ? ScalarValues[E] : E extends Struct<infer F> ? DraftOfFields<F> : never
type NoOptions = Record<never, never>

export interface VersionRange {
  readonly min: number
  /** Infinity where the range is open. */
  readonly max: number
}

export function parseVersions(text: Versions): VersionRange {
  const found = /^(\d+)(?:(\+)|-(\d+))?$/.exec(text)
  assert(found !== null, `version range ${text}`)
  const min = Number(found[1])
  return { min, max: found[2] === '+' ? Infinity : found[3] === undefined ? min : Number(found[3]) }
}

export function inRange(range: VersionRange | undefined, version: number): boolean {
  return range !== undefined && version >= range.min && version <= range.max
}

function field<Value, Draft, Optional>(type: FieldType, versions: Versions, options: FieldOptions): Field<Value, Draft, Optional> {
  return {
    type,
    versions: parseVersions(versions),
    nullable: options.nullable === undefined ? undefined : parseVersions(options.nullable),
    options,
  }
}

const scalar = <K extends ScalarKind>(kind: K) =>
  <const V extends Versions, const O extends FieldOptions = NoOptions>(versions: V, options?: O) =>
    field<Nullable<ScalarValues[K], O>, Nullable<ScalarValues[K], O>, IsOptional<V, O>>({ kind }, versions, options ?? {})

export const bool = scalar('bool')
export const int8 = scalar('int8')
export const int16 = scalar('int16')
export const uint16 = scalar('uint16')
export const int32 = scalar('int32')
export const int64 = scalar('int64')
export const float64 = scalar('float64')
export const string = scalar('string')
export const bytes = scalar('bytes')
export const records = scalar('records')
export const uuid = scalar('uuid')

/** The fields of an array's elements or of a nested struct. The name is Kafka's, for error messages. */
export function struct<const F extends Fields>(name: string, fields: F): Struct<F> {
  return { name, fields }
}

/** An array of scalars (`arrayOf('0+', 'int32')`) or of structs (`arrayOf('0+', struct('Topic', { ... }))`). */
export function arrayOf<const V extends Versions, const E extends ScalarKind | Struct, const O extends FieldOptions = NoOptions>(
  versions: V, element: E, options?: O,
) {
  return field<Nullable<readonly ElementValue<E>[], O>, Nullable<readonly ElementDraft<E>[], O>, IsOptional<V, O>>(
    { kind: 'array', element }, versions, options ?? {},
  )
}

/** A single struct inside of another. Where it may be null, an int8 goes before it: -1 is null, 1 is present. */
export function nested<const V extends Versions, const F extends Fields, const O extends FieldOptions = NoOptions>(
  versions: V, fields: Struct<F>, options?: O,
) {
  return field<Nullable<ValueOf<F>, O>, Nullable<DraftOfFields<F>, O>, IsOptional<V, O>>(
    { kind: 'struct', struct: fields }, versions, options ?? {},
  )
}
