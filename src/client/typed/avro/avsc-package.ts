import { optionalPackage } from '../optional-package.ts'
import { SerdeFault } from '../serde.ts'

/** A type of avsc, by the parts of it that are used here. */
export interface AvroType {
  /** `record`, `array`, `logical:decimal` and so on. */
  readonly typeName: string
  /** Full, of types that have one. */
  readonly name?: string | undefined
  toBuffer(value: unknown): Uint8Array
  fromBuffer(bytes: Uint8Array, resolver?: unknown): unknown
  isValid(value: unknown, options?: { readonly errorHook?: (path: readonly string[], value: unknown, type: AvroType) => void }): boolean
  /** What reads bytes of the writer's type as this one. Throws where that cannot be. */
  createResolver(writer: AvroType): unknown
  equals(other: AvroType): boolean
  schema(options?: { readonly exportAttrs?: boolean }): unknown
}

/** Parts of types, as avsc names them; each has its own. */
export interface AvroTypeParts extends AvroType {
  readonly itemsType?: AvroType
  readonly valuesType?: AvroType
  readonly underlyingType?: AvroType
  readonly types?: readonly AvroType[]
  readonly fields?: readonly { readonly type: AvroType }[]
  readonly size?: number
}

export interface Avsc {
  readonly Type: { forSchema(schema: unknown, options?: object): AvroType }
  readonly types: { readonly LongType: { __with(methods: object): AvroType } }
}

const twoTo32 = 0x1_0000_0000

/**
 * Longs as numbers, exact over all safe integers, and refused beyond. avsc's own lose the sign of those below -2^52, without a word, when they are written and when
 * they are read.
 */
export function exactLong({ types }: Avsc): AvroType {
  return types.LongType.__with({
    fromBuffer(bytes: Uint8Array): number {
      const view = new DataView(bytes.buffer, bytes.byteOffset)
      const value = view.getInt32(4, true) * twoTo32 + view.getUint32(0, true)
      if (!Number.isSafeInteger(value)) throw new SerdeFault('it has a long that a number cannot hold: give avsc a long type of your own')
      return value
    },
    toBuffer(value: number): Uint8Array {
      const bytes = Buffer.alloc(8)
      bytes.writeInt32LE(Math.floor(value / twoTo32), 4)
      bytes.writeUInt32LE(value >>> 0, 0)
      return bytes
    },
    fromJSON: (value: unknown) => value,
    toJSON: (value: unknown) => value,
    isValid: (value: unknown) => Number.isSafeInteger(value),
    compare: (a: number, b: number) => a < b ? -1 : a > b ? 1 : 0,
  })
}

/** Throws MR_CLIENT_PACKAGE_MISSING. */
export function loadAvsc(): Avsc {
  return optionalPackage<Avsc>('avsc', 'avro()', ({ Type, types }) => typeof Type?.forSchema === 'function' && typeof types?.LongType?.__with === 'function')
}

export function isAvroType(given: unknown): given is AvroType {
  const { toBuffer, fromBuffer, createResolver } = given as Partial<AvroType>
  return typeof toBuffer === 'function' && typeof fromBuffer === 'function' && typeof createResolver === 'function'
}
