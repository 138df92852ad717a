import { LruCache } from '../../../base/lru-cache.ts'
import { isMillraceError, reasonOf } from '../../../kernel/errors/index.ts'
import { unknownName } from '../../arguments.ts'
import { settingError } from '../../client-options.ts'
import { frame, schemaIdOf } from '../confluent-frame.ts'
import { framedWith, RegisteredSchema, registryUseNames, type RegistryUse, type WriterSchema } from '../registry/registered-schema.ts'
import { SerdeFault, type Serde } from '../serde.ts'
import { checkMessage } from './message-check.ts'
import { indexOf, messageAt, messageIndexBytes, readMessageIndex, type MessageIndex } from './message-index.ts'
import { isProtobufType, loadProtobufjs, type Protobufjs, type ProtobufRoot, type ProtobufType } from './protobufjs-package.ts'

/** A .proto file and a message in it. */
export interface ProtoMessage {
  /** The text of the file. It may import Google's well-known types; for other imports give a type of a root that you have loaded. */
  readonly proto: string
  /** The full name, such as `shop.Order`. */
  readonly message: string
}

/** How Protobuf is read. */
export interface ProtobufOptions {
  /** What protobufjs's `toObject` is told, over `{ longs: BigInt, enums: String, defaults: true }`. */
  readonly conversion?: object
  /** Leaves names of fields as the file has them. Default false: `unit_price` is `unitPrice`. */
  readonly keepCase?: boolean
}

/** Protobuf in the Confluent wire format. */
export interface RegisteredProtobufOptions extends ProtobufOptions, RegistryUse {}

const optionNames: readonly (keyof RegisteredProtobufOptions)[] = ['conversion', 'keepCase', ...registryUseNames]
const messagesMax = 1000

/**
 * Protobuf, by the package protobufjs, which the application installs. Given a file and a message of it, or a message type of protobufjs; `T` is what you say it is.
 * With `registry`, which needs the file, it is in the Confluent wire format. Throws MR_CLIENT_PACKAGE_MISSING and MR_CLIENT_SETTING.
 */
export function protobuf<T extends object = Record<string, unknown>>(message: ProtoMessage, options?: ProtobufOptions | RegisteredProtobufOptions): Serde<T>
export function protobuf<T extends object = Record<string, unknown>>(type: object, options?: ProtobufOptions): Serde<T>
export function protobuf(given: object, options: ProtobufOptions & Partial<RegisteredProtobufOptions> = {}): Serde<object> {
  const unknown = unknownName(options, optionNames)
  if (unknown !== undefined) throw settingError('protobuf', unknown)
  const { registry, conversion } = options
  const alone = registry === undefined ? registryUseNames.find(name => options[name] !== undefined) : undefined
  if (alone !== undefined) throw settingError('protobuf', `${alone} says something only together with registry`)
  if (isProtobufType(given)) {
    if (registry === undefined) return plainProtobuf(given, conversion)
    throw settingError('protobuf', 'a registry needs the text of the file: give { proto, message }')
  }
  const { proto, message } = (given ?? {}) as Partial<ProtoMessage>
  if (typeof proto !== 'string' || typeof message !== 'string') throw settingError('protobuf', 'it takes { proto, message }, or a message type of protobufjs')
  const package_ = loadProtobufjs()
  const file = fileOf(package_, proto, options.keepCase ?? false)
  const type = file.root.lookup(message)
  const index = indexOf(file.messages, message)
  if (!isProtobufType(type) || index === undefined) throw settingError('protobuf', `the file has no message ${message}`)
  const plain = plainProtobuf(type, conversion)
  return registry === undefined ? plain : registeredProtobuf(plain, package_, { proto, message }, index, { ...options, registry })
}

function plainProtobuf(type: ProtobufType, conversion: object | undefined): Serde<object> {
  const toObject = { longs: BigInt, enums: String, defaults: true, ...conversion }
  return {
    encode(value) {
      try {
        checkMessage(type, value)
        return type.encode(type.fromObject(value)).finish()
      } catch (error) {
        throw faultOf(error, '')
      }
    },
    decode(bytes) {
      try {
        return type.toObject(type.decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)), toObject) as object
      } catch (error) {
        throw faultOf(error, `its Protobuf is not of ${type.name}: `)
      }
    },
  }
}

function registeredProtobuf(plain: Serde<object>, package_: Protobufjs, { proto, message }: ProtoMessage, index: MessageIndex, options: RegisteredProtobufOptions): Serde<object> {
  const registered = new RegisteredSchema('protobuf', options, { schemaType: 'PROTOBUF', schema: { schemaType: 'PROTOBUF', schema: proto }, recordName: message })
  const ownIndex = messageIndexBytes(index)
  /** Of latest schemas, by id. */
  const indexes = new LruCache<number, Uint8Array>({ weightMax: messagesMax })
  const indexFor = ({ id, latest }: WriterSchema): Uint8Array => {
    if (latest === undefined) return ownIndex
    const known = indexes.get(id)
    if (known !== undefined) return known
    const found = indexOf(messagesOf(package_, latest.schema) ?? [], message)
    if (found === undefined) throw settingError('useLatest', `the latest schema under ${latest.subject} has no message ${message}`)
    const bytes = messageIndexBytes(found)
    indexes.set(id, bytes)
    return bytes
  }
  /** Schemas and indexes in them that are known to be this message. */
  const known = new LruCache<string, true>({ weightMax: messagesMax })
  const check = async (id: number, given: MessageIndex, key: string): Promise<void> => {
    const { schema, schemaType } = await options.registry.byId(id)
    if (schemaType !== 'PROTOBUF') throw new SerdeFault(`it was written with schema ${id}, which is of the type ${schemaType} and not PROTOBUF`)
    const messages = messagesOf(package_, schema)
    // A schema that cannot be read here (a descriptor, an edition) is believed to be this one where the index is this one's.
    const name = messages === undefined ? (given.join() === index.join() ? message : `message ${given.join('.')} of a schema that cannot be read`) : messageAt(messages, given) ?? 'a message that the schema does not have'
    if (name !== message) throw new SerdeFault(`it is ${name}, of schema ${id}, and not ${message}`)
    known.set(key, true)
  }
  return {
    encode: (value, place) => framedWith(plain.encode(value, place), () => registered.writer(place), (writer, bytes) => frame(writer.id, bytes, indexFor(writer))),
    decode(bytes, place) {
      const id = schemaIdOf(bytes)
      const { index: given, valueAt } = readMessageIndex(bytes)
      const key = `${id}/${given.join()}`
      const value = bytes.subarray(valueAt)
      return known.has(key) ? plain.decode(value, place) : check(id, given, key).then(() => plain.decode(value, place))
    },
  }
}

/** What a file says. Throws MR_CLIENT_SETTING. */
function fileOf({ parse, common }: Protobufjs, proto: string, keepCase: boolean): { readonly root: ProtobufRoot, readonly messages: readonly object[] } {
  try {
    const { root, package: name, imports = [], weakImports = [] } = parse(proto, { keepCase })
    const messages = nestedIn(root, name)
    for (const file of [...imports, ...weakImports]) {
      const known = common.get(file)
      if (known === null) throw settingError('protobuf', `the file imports ${file}, which is not at hand: load it with protobufjs and give the message type`)
      root.addJSON(known.nested)
    }
    root.resolveAll()
    return { root, messages }
  } catch (error) {
    throw isMillraceError(error) ? error : settingError('protobuf', `the file is no Protobuf: ${reasonOf(error)}`)
  }
}

/** The messages of a file, whose imports nobody looks at; undefined for what cannot be read. */
function messagesOf({ parse }: Protobufjs, proto: string): readonly object[] | undefined {
  try {
    const { root, package: name } = parse(proto)
    return nestedIn(root, name)
  } catch {
    return undefined
  }
}

/** As they are now: what is imported later is not among them. */
function nestedIn(root: ProtobufRoot, name: string | undefined): readonly object[] {
  const home = name === undefined ? root : root.lookup(name)
  return [...(home as { readonly nestedArray: readonly object[] } | null)?.nestedArray ?? []]
}

function faultOf(error: unknown, before: string): unknown {
  if (error instanceof SerdeFault) return error
  return new SerdeFault(error instanceof RangeError && /call stack/.test(error.message) ? 'it is nested too deeply' : `${before}${reasonOf(error)}`, '', error)
}
