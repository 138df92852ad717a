import { optionalPackage } from '../optional-package.ts'

/** A field of a message of protobufjs, by the parts that are used here. */
export interface ProtobufField {
  readonly name: string
  /** A scalar's name, or how the schema calls a message or an enum. */
  readonly type: string
  readonly repeated: boolean
  readonly required: boolean
  readonly map: boolean
  readonly resolvedType: (Partial<ProtobufType> & { readonly values?: Readonly<Record<string, number>> }) | null
  resolve(): unknown
}

/** A message type of protobufjs. */
export interface ProtobufType {
  readonly name: string
  /** With a dot at its front. */
  readonly fullName: string
  readonly fields: Readonly<Record<string, ProtobufField>>
  readonly fieldsArray: readonly ProtobufField[]
  readonly oneofsArray: readonly { readonly name: string, readonly oneof: readonly string[] }[]
  readonly nestedArray: readonly object[]
  fromObject(value: object): unknown
  toObject(message: unknown, options: object): unknown
  encode(message: unknown): { finish(): Uint8Array }
  decode(bytes: Uint8Array): unknown
}

export interface ProtobufRoot {
  readonly nestedArray: readonly object[]
  lookup(path: string): unknown
  resolveAll(): unknown
  addJSON(nested: unknown): unknown
}

export interface Protobufjs {
  readonly parse: (proto: string, options?: object) => { readonly package?: string, readonly imports?: readonly string[], readonly weakImports?: readonly string[], readonly root: ProtobufRoot }
  readonly common: { get(file: string): { readonly nested?: unknown } | null }
}

/** Throws MR_CLIENT_PACKAGE_MISSING. */
export function loadProtobufjs(): Protobufjs {
  return optionalPackage<Protobufjs>('protobufjs', 'protobuf()', ({ parse, common }) => typeof parse === 'function' && typeof common === 'function')
}

export function isProtobufType(given: unknown): given is ProtobufType {
  const { fieldsArray, fromObject, toObject } = (given ?? {}) as Partial<ProtobufType>
  return Array.isArray(fieldsArray) && typeof fromObject === 'function' && typeof toObject === 'function'
}
