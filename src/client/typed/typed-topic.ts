import { isMillraceError, MillraceError, reasonOf } from '../../kernel/errors/index.ts'
import { isPlain, kindOf, shown, unknownName } from '../arguments.ts'
import { settingError } from '../client-options.ts'
import { type ConsumerRecord } from '../consumer/consumer-record.ts'
import { type HeadersToSend, type ProducerRecord } from '../producer/producer-record.ts'
import { bytes } from './plain-serdes.ts'
import { isPromise, pathOf, type Serde, type SerdePlace } from './serde.ts'
import { TypedRecord } from './typed-record.ts'
import { isOutside, UndecodableRecordError } from './undecodable-record.ts'

/** A record for a typed topic: as for an untyped one, with values in place of bytes, and without the topic. */
export interface RecordToSend<Key, Value> {
  /** Null or left out: a record without a key. */
  readonly key?: Key | null
  /** Null deletes the key in a compacted topic; no serde and no validator sees it. */
  readonly value: Value | null
  /** In the order given. Texts are sent as UTF-8. Default: none. */
  readonly headers?: HeadersToSend
  /** Milliseconds since the epoch. Default: now. */
  readonly timestamp?: number
  /** Default: what the partitioner says. */
  readonly partition?: number
}

/** What keys and values of a topic are. */
export interface TopicSerdes<Key, Value, KeyToSend, ValueToSend> {
  /** Default: `bytes()`. */
  readonly key?: Serde<KeyToSend, Key>
  /** Null values, tombstones, it never sees. */
  readonly value: Serde<ValueToSend, Value>
}

/** Some typed topic. What it gives is unknown, what it takes nobody knows. */
export type AnyTypedTopic = TypedTopic<string, unknown, unknown, never, never>

/** The records that a typed topic, or one of several, gives. */
export type RecordOf<T extends AnyTypedTopic> = T extends TypedTopic<infer Name, infer Key, infer Value, infer _KeyToSend, infer _ValueToSend> ? TypedRecord<Name, Key, Value> : never

const recordNames = Object.keys({ key: true, value: true, headers: true, timestamp: true, partition: true } satisfies Record<keyof RecordToSend<unknown, unknown>, true>)

/** The name of a topic, with what its keys and values are. It holds no connection and nothing to close: producers and consumers are given it. */
export class TypedTopic<Name extends string, Key, Value, KeyToSend = Key, ValueToSend = Value> {
  /** Of the topic in the cluster. */
  readonly name: Name
  /** What keys are; `bytes()` where nothing was said. */
  readonly key: Serde<KeyToSend, Key>
  /** What values are. */
  readonly value: Serde<ValueToSend, Value>
  private readonly keyPlace: SerdePlace
  private readonly valuePlace: SerdePlace

  constructor(name: Name, key: Serde<KeyToSend, Key>, value: Serde<ValueToSend, Value>) {
    this.name = name
    this.key = key
    this.value = value
    this.keyPlace = { topic: name, part: 'key' }
    this.valuePlace = { topic: name, part: 'value' }
  }

  /**
   * The record in bytes, for `producer.send`: at once when both serdes answer at once. Throws, or rejects with, MR_CLIENT_RECORD_INVALID that names part, path
   * and reason, and what a serde says of the world, such as MR_REGISTRY_UNAVAILABLE.
   */
  encode(record: RecordToSend<KeyToSend, ValueToSend>): ProducerRecord | Promise<ProducerRecord> {
    this.check(record)
    const key = encodePart(this.key, record.key ?? null, this.keyPlace)
    if (isPromise(key)) {
      // What is wrong with the value must not leave the key's promise to itself.
      const both = Promise.all([key, new Promise<Uint8Array | null>(resolve => { resolve(encodePart(this.value, record.value, this.valuePlace)) })])
      return both.then(([lateKey, value]) => this.inBytes(record, lateKey, value))
    }
    const value = encodePart(this.value, record.value, this.valuePlace)
    return isPromise(value) ? value.then(late => this.inBytes(record, key, late)) as Promise<ProducerRecord> : this.inBytes(record, key, value)
  }

  /**
   * What is in a record of this topic: at once when both serdes answer at once. Throws, or rejects with, MR_CLIENT_RECORD_UNDECODABLE, an UndecodableRecordError
   * that has the record, and what a serde says of the world, such as MR_REGISTRY_UNAVAILABLE.
   */
  decode(record: ConsumerRecord): TypedRecord<Name, Key, Value> | Promise<TypedRecord<Name, Key, Value>> {
    if (record.topic !== this.name) throw settingError(`topic ${this.name}`, `it was given a record of ${record.topic} to decode`)
    const key = decodePart(this.key, record.key, record, this.keyPlace)
    if (isPromise(key)) {
      const value = new Promise<Value | null>(resolve => { resolve(decodePart(this.value, record.value, record, this.valuePlace)) })
      return Promise.all([key, value]).then(([lateKey, lateValue]) => new TypedRecord(record, lateKey, lateValue))
    }
    const value = decodePart(this.value, record.value, record, this.valuePlace)
    if (!isPromise(value)) return new TypedRecord(record, key, value)
    return value.then(late => new TypedRecord<Name, Key, Value>(record, key, late)) as Promise<TypedRecord<Name, Key, Value>>
  }

  private check(record: RecordToSend<KeyToSend, ValueToSend>): void {
    if (typeof record !== 'object' || record === null) throw this.invalid(`it is ${kindOf(record)}; it is an object { key, value }`)
    const unknown = isPlain(record) ? unknownName(record, recordNames, { topic: 'producer.send(topic, { key, value })' }) : undefined
    if (unknown !== undefined) throw this.invalid(unknown)
    if (record.value === undefined) throw this.invalid('value is missing; to delete the key in a compacted topic say value: null')
  }

  private inBytes(record: RecordToSend<KeyToSend, ValueToSend>, key: Uint8Array | null, value: Uint8Array | null): ProducerRecord {
    const { headers, timestamp, partition } = record
    if (headers === undefined && timestamp === undefined && partition === undefined) return { topic: this.name, key, value }
    return {
      topic: this.name, key, value, ...(headers === undefined ? {} : { headers }), ...(timestamp === undefined ? {} : { timestamp }),
      ...(partition === undefined ? {} : { partition }),
    }
  }

  private invalid(reason: string): MillraceError {
    return new MillraceError('MR_CLIENT_RECORD_INVALID', { topic: this.name, reason })
  }
}

/**
 * A topic whose keys and values are typed: `topic('orders', { key: text(), value: json(Order) })`. Without a serde for keys they are bytes. Throws
 * MR_CLIENT_SETTING.
 */
export function topic<const Name extends string, Value, ValueToSend, Key = Uint8Array, KeyToSend = Uint8Array>(
  name: Name, serdes: TopicSerdes<Key, Value, KeyToSend, ValueToSend>,
): TypedTopic<Name, Key, Value, KeyToSend, ValueToSend> {
  if (typeof name !== 'string' || name === '') throw settingError('topic', `the name is ${shown(name)}; the name of a topic is a text, not empty`)
  if (typeof serdes !== 'object' || serdes === null) throw settingError(`topic ${name}`, `the serdes are ${kindOf(serdes)}; they are { key, value }`)
  const unknown = unknownName(serdes, ['key', 'value'])
  if (unknown !== undefined) throw settingError(`topic ${name}`, unknown)
  for (const part of ['key', 'value'] as const) if (part === 'value' || serdes.key !== undefined) checkSerde(name, part, serdes[part])
  return new TypedTopic(name, serdes.key ?? bytes() as unknown as Serde<KeyToSend, Key>, serdes.value)
}

/** By its shape, not its class: two copies of the package may be loaded. */
export function isTypedTopic(given: unknown): given is AnyTypedTopic {
  if (typeof given !== 'object' || given === null) return false
  const { name, encode, decode } = given as Partial<AnyTypedTopic>
  return typeof name === 'string' && typeof encode === 'function' && typeof decode === 'function'
}

function checkSerde(name: string, part: string, given: unknown): void {
  const serde = given as Partial<Serde<unknown>> | null | undefined
  if (typeof serde?.encode === 'function' && typeof serde.decode === 'function') return
  const hint = typeof given === 'function' ? '; is it a call that is missing, as in text()?' : ''
  throw settingError(`topic ${name}`, `${part} is ${kindOf(given)}; a serde has encode and decode, such as text(), bytes() and json() give${hint}`)
}

function encodePart<In>(serde: Serde<In, unknown>, value: In | null, place: SerdePlace): Uint8Array | null | Promise<Uint8Array | null> {
  if (value === null) return null
  let encoded: Uint8Array | PromiseLike<Uint8Array>
  try {
    encoded = serde.encode(value, place)
  } catch (error) {
    throw unsendable(place, error)
  }
  if (encoded instanceof Uint8Array) return encoded
  if (!isPromise(encoded)) throw unsendable(place, new Error(`its serde gave ${kindOf(encoded)} and no bytes`))
  return Promise.resolve(encoded).then(late => {
    if (late instanceof Uint8Array) return late
    throw unsendable(place, new Error(`its serde gave ${kindOf(late)} and no bytes`))
  }, (error: unknown) => { throw unsendable(place, error) })
}

function unsendable(place: SerdePlace, error: unknown): unknown {
  if (isOutside(error) || isOfRegistry(error)) return error
  const { topic: name, part } = place
  const path = pathOf(error)
  const reason = `${part}${path === '' ? '' : ` at ${path}`}: ${isMillraceError(error) ? error.message : reasonOf(error)}`
  return new MillraceError('MR_CLIENT_RECORD_INVALID', { topic: name, part, path, reason }, error)
}

/** A schema that is not registered is nothing that is wrong with a record that is sent. */
function isOfRegistry(error: unknown): boolean {
  return isMillraceError(error) && error.code.startsWith('MR_REGISTRY_')
}

function decodePart<Out>(serde: Serde<never, Out>, given: Uint8Array | null, record: ConsumerRecord, place: SerdePlace): Out | null | Promise<Out | null> {
  if (given === null) return null
  let decoded: Out | PromiseLike<Out>
  try {
    decoded = serde.decode(given, place)
  } catch (error) {
    throw undecodable(record, place, error)
  }
  if (!isPromise(decoded)) return decoded
  return Promise.resolve(decoded).catch((error: unknown) => { throw undecodable(record, place, error) })
}

function undecodable(record: ConsumerRecord, place: SerdePlace, error: unknown): unknown {
  return isOutside(error) ? error : new UndecodableRecordError(record, place, error)
}
