import { LruCache } from '../../../base/lru-cache.ts'
import { isMillraceError, reasonOf } from '../../../kernel/errors/index.ts'
import { kindOf, unknownName } from '../../arguments.ts'
import { settingError } from '../../client-options.ts'
import { frame, framePrefixBytes, schemaIdOf } from '../confluent-frame.ts'
import { framedWith, RegisteredSchema, registryUseNames, type RegistryUse, type WriterSchema } from '../registry/registered-schema.ts'
import { type Schema, type SchemaRegistry } from '../registry/schema-registry.ts'
import { deeper, SerdeFault, type Serde } from '../serde.ts'
import { avroSkim } from './avro-skim.ts'
import { exactLong, isAvroType, loadAvsc, type AvroType, type Avsc } from './avsc-package.ts'

/** How Avro is read and written. */
export interface AvroOptions {
  /** What avsc's `Type.forSchema` is given with every schema, the writers' too: `logicalTypes`, `wrapUnions`, `registry` (for longs of your own), `typeHook` and so on. */
  readonly avsc?: object
}

/** Avro in the Confluent wire format. */
export interface RegisteredAvroOptions extends AvroOptions, RegistryUse {}

const optionNames: readonly (keyof RegisteredAvroOptions)[] = ['avsc', ...registryUseNames]

/** Readers of so many schemas of writers are kept. */
const readersMax = 1000
/** So many schemas may one schema name, directly and through others. */
const referencesMax = 100

/**
 * Avro, by the package avsc, which the application installs. `schema` is Avro's JSON, as an object or as text, or a type that avsc has made. `T` is what you say it
 * is. With `registry` it is in the Confluent wire format: values are read by the schema that they were written with, resolved to this one. Without a schema, which needs a registry, they
 * are given as they were written. Throws MR_CLIENT_PACKAGE_MISSING and MR_CLIENT_SETTING.
 */
export function avro<T = unknown>(schema: object | string, options?: AvroOptions | RegisteredAvroOptions): Serde<T>
export function avro<T = unknown>(schema: undefined, options: RegisteredAvroOptions): Serde<T>
export function avro(schema: object | string | undefined, options: AvroOptions & Partial<RegisteredAvroOptions> = {}): Serde<unknown> {
  const unknown = unknownName(options, optionNames)
  if (unknown !== undefined) throw settingError('avro', unknown)
  const { registry } = options
  const alone = registry === undefined ? registryUseNames.find(name => options[name] !== undefined) : undefined
  if (alone !== undefined) throw settingError('avro', `${alone} says something only together with registry`)
  const types = new AvroTypes(options.avsc)
  const type = schema === undefined ? undefined : types.own(schema)
  if (registry !== undefined) return registeredAvro(types, type, schema, { ...options, registry })
  if (type === undefined) throw settingError('avro', 'it was given neither a schema nor a registry')
  const read = readerOf(type)
  return { encode: value => encodeAs(type, value), decode: read }
}

function registeredAvro(types: AvroTypes, own: AvroType | undefined, given: object | string | undefined, options: RegisteredAvroOptions): Serde<unknown> {
  if (own === undefined && options.useLatest !== true) throw settingError('avro', 'without a schema of its own it writes with the latest: say useLatest: true')
  const registered = new RegisteredSchema('avro', options, {
    schemaType: 'AVRO', schema: own === undefined ? undefined : { schemaType: 'AVRO', schema: schemaText(own, given) }, recordName: own?.name ?? '',
  })
  const writers = new LruCache<number, AvroType>({ weightMax: readersMax })
  const readers = new LruCache<number, (bytes: Uint8Array) => unknown>({ weightMax: readersMax })
  const typeOf = async (schema: Schema, id: number): Promise<AvroType> => {
    const type = writers.get(id) ?? await types.ofRegistry(options.registry, schema, id)
    writers.set(id, type)
    return type
  }
  const writerFor = (writer: WriterSchema): TypedWriter | Promise<TypedWriter> => {
    if (writer.latest === undefined) return { ...writer, type: own! }
    const type = writers.get(writer.id)
    return type === undefined ? typeOf(writer.latest, writer.id).then(late => ({ ...writer, type: late })) : { ...writer, type }
  }
  const readerFor = async (id: number): Promise<(bytes: Uint8Array) => unknown> => {
    const read = readerOf(await typeOf(await options.registry.byId(id), id), own, id)
    readers.set(id, read)
    return read
  }
  return {
    encode(value, place) {
      // With a schema of its own the value is looked at before anybody is asked.
      if (options.useLatest !== true) return framedWith(encodeAs(own!, value), () => registered.writer(place), ({ id }, encoded) => frame(id, encoded))
      const writer = registered.writer(place)
      return writer instanceof Promise ? writer.then(async late => encodeFor(await writerFor(late), value)) : then(writerFor(writer), typed => encodeFor(typed, value))
    },
    decode(bytes) {
      const id = schemaIdOf(bytes)
      const value = bytes.subarray(framePrefixBytes)
      const read = readers.get(id)
      return read === undefined ? readerFor(id).then(late => late(value)) : read(value)
    },
  }
}

interface TypedWriter extends WriterSchema {
  readonly type: AvroType
}

const encodeFor = ({ id, type }: TypedWriter, value: unknown): Uint8Array => frame(id, encodeAs(type, value))

function then<A, B>(value: A | Promise<A>, next: (value: A) => B): B | Promise<B> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/** Types of avsc, made with the application's options. */
class AvroTypes {
  private readonly given: { readonly registry?: object }
  private avsc: Avsc | undefined
  private long: AvroType | undefined

  constructor(given: object | undefined) {
    this.given = given ?? {}
  }

  own(schema: object | string): AvroType {
    if (typeof schema === 'object' && schema !== null && isAvroType(schema)) return schema
    if ((typeof schema !== 'object' && typeof schema !== 'string') || schema === null) throw settingError('avro', `the schema is ${kindOf(schema)}; it is Avro's JSON, or a type of avsc`)
    try {
      return this.parse(typeof schema === 'string' ? schemaJson(schema) : schema, {})
    } catch (error) {
      throw isMillraceError(error) ? error : settingError('avro', `the schema is no Avro: ${reasonOf(error)}`)
    }
  }

  /** Asks for the schemas that it names first. Rejects with a SerdeFault for what is no Avro: it is the record that has the id. */
  async ofRegistry(registry: SchemaRegistry, schema: Schema, id: number): Promise<AvroType> {
    if (schema.schemaType !== 'AVRO') throw new SerdeFault(`it was written with schema ${id}, which is of the type ${schema.schemaType} and not AVRO`)
    const named: Record<string, unknown> = {}
    const seen = new Set<string>()
    const takeIn = async ({ references = [] }: Schema): Promise<void> => {
      for (const { subject, version } of references) {
        const key = `${version}\n${subject}`
        if (seen.has(key)) continue
        seen.add(key)
        if (seen.size > referencesMax) throw new SerdeFault(`schema ${id} names more than ${referencesMax} others`)
        const other = await registry.version(subject, version)
        await takeIn(other)
        this.parsed(other, named, id)
      }
    }
    await takeIn(schema)
    return this.parsed(schema, named, id)
  }

  private parsed({ schema }: Schema, named: Record<string, unknown>, id: number): AvroType {
    try {
      return this.parse(schemaJson(schema), named)
    } catch (error) {
      if (isMillraceError(error)) throw error
      throw new SerdeFault(`schema ${id} is no Avro: ${reasonOf(error)}`, '', error)
    }
  }

  /** `named` comes to have the types that the schema names. */
  private parse(schema: unknown, named: Record<string, unknown>): AvroType {
    this.avsc ??= loadAvsc()
    for (const [name, type] of Object.entries(this.given.registry ?? {})) named[name] ??= type
    named['long'] ??= this.long ??= exactLong(this.avsc)
    return this.avsc.Type.forSchema(schema, { ...this.given, registry: named })
  }
}

/** The JSON of a schema's text. The name of a primitive type may stand there without quotes. */
function schemaJson(text: string): unknown {
  return /^[a-z]+$/.test(text) ? text : JSON.parse(text)
}

function schemaText(type: AvroType, given: object | string | undefined): string {
  return typeof given === 'string' ? (/^[a-z]+$/.test(given) ? `"${given}"` : given) : JSON.stringify(given !== undefined && !isAvroType(given) ? given : type.schema({ exportAttrs: true }))
}

function encodeAs(type: AvroType, value: unknown): Uint8Array {
  try {
    return type.toBuffer(value)
  } catch (error) {
    throw wrongValue(type, value) ?? new SerdeFault(error instanceof RangeError ? 'it is nested too deeply' : reasonOf(error), '', error)
  }
}

/** Where a value is not of a type, without the value. */
function wrongValue(type: AvroType, value: unknown): SerdeFault | undefined {
  let fault: SerdeFault | undefined
  try {
    type.isValid(value, { errorHook: (path, part, wanted) => { fault ??= new SerdeFault(`it is ${kindOf(part)}, and the schema says ${wanted.name ?? wanted.typeName}`, path.reduce(deeper, '')) } })
  } catch {
    // It says nothing more than what was thrown before.
  }
  return fault
}

/** What reads bytes of a type, as `own` where there is one. Throws a SerdeFault where the one cannot be read as the other. */
function readerOf(type: AvroType, own?: AvroType, id?: number): (bytes: Uint8Array) => unknown {
  const skim = avroSkim(type)
  const isOwn = own === undefined || own.equals(type)
  const target = own ?? type
  let resolver: unknown
  try {
    resolver = isOwn ? undefined : target.createResolver(type)
  } catch (error) {
    throw new SerdeFault(`it was written with schema ${id}, which cannot be read as this one: ${reasonOf(error)}`, '', error)
  }
  return bytes => {
    try {
      skim?.(bytes)
      return target.fromBuffer(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), resolver)
    } catch (error) {
      if (error instanceof SerdeFault) throw error
      throw new SerdeFault(error instanceof RangeError ? 'it is nested too deeply' : `its Avro is not of the schema: ${reasonOf(error)}`, '', error)
    }
  }
}
