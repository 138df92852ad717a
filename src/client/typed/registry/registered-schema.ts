import { LruCache } from '../../../base/lru-cache.ts'
import { settingError } from '../../client-options.ts'
import { isPromise, SerdeFault, type SerdePlace } from '../serde.ts'
import { type Schema, type SchemaRegistry, type SchemaType, type SubjectVersion } from './schema-registry.ts'

/**
 * What a schema is registered as. `topic`: `orders-value`; `record`: the schema's own full name; `topic-record`: `orders-` and that name. Or a function of the place and that
 * name, which is empty where the schema has none.
 */
export type SubjectNames = 'topic' | 'record' | 'topic-record' | ((place: SerdePlace, recordName: string) => string)

/** How a serde uses a registry. */
export interface RegistryUse {
  /** Where schemas are found and registered. Several serdes may share one, and its memory. */
  readonly registry: SchemaRegistry
  /** Default `topic`. */
  readonly subject?: SubjectNames
  /** Registers the schema when it is first written with. Default false: it has to be there, and is found. */
  readonly autoRegister?: boolean
  /** Writes with the newest version under the subject, whatever it is, in place of the serde's own schema. Default false. */
  readonly useLatest?: boolean
}

/** Puts a value behind the id of its schema: at once where both are there. What cannot be encoded asks no registry. */
export function framedWith<W extends WriterSchema>(
  value: Uint8Array | PromiseLike<Uint8Array>, writerFor: () => W | Promise<W>, put: (writer: W, value: Uint8Array) => Uint8Array,
): Uint8Array | PromiseLike<Uint8Array> {
  if (isPromise(value)) return value.then(async late => put(await writerFor(), late))
  const writer = writerFor()
  return isPromise(writer) ? writer.then(late => put(late, value)) : put(writer, value)
}

export const registryUseNames: readonly (keyof RegistryUse)[] = ['registry', 'subject', 'autoRegister', 'useLatest']

/** What a value is written with. */
export interface WriterSchema {
  readonly id: number
  /** Unless it is the serde's own. */
  readonly latest?: SubjectVersion
}

export interface OwnSchema {
  readonly schemaType: SchemaType
  /** Undefined where only the latest is written with. */
  readonly schema: Schema | undefined
  /** Its full name; empty where it has none. */
  readonly recordName: string
}

const subjectsMax = 1000

/** The schema that a serde writes with, as its registry knows it. */
export class RegisteredSchema {
  private readonly use: RegistryUse
  private readonly own: OwnSchema
  private readonly bySubject = new LruCache<string, WriterSchema>({ weightMax: subjectsMax })
  /** By topic, for keys and for values: making a name for each record costs more than the format. */
  private readonly subjects = { key: new LruCache<string, string>({ weightMax: subjectsMax }), value: new LruCache<string, string>({ weightMax: subjectsMax }) }

  /** Throws MR_CLIENT_SETTING. `serde` is whose options these are. */
  constructor(serde: string, use: RegistryUse, own: OwnSchema) {
    const { registry, subject = 'topic', autoRegister = false, useLatest = false } = use
    if (typeof registry?.byId !== 'function') throw settingError(`${serde}.registry`, 'it is none; schemaRegistry({ url }) makes one')
    if (typeof subject !== 'function' && !['topic', 'record', 'topic-record'].includes(subject)) throw settingError(`${serde}.subject`, 'it is topic, record, topic-record or a function')
    if (autoRegister && useLatest) throw settingError(`${serde}.useLatest`, 'it cannot be together with autoRegister: one writes with the newest schema there is, the other makes its own the newest')
    this.use = use
    this.own = own
  }

  /** At once when it is known. */
  writer(place: SerdePlace): WriterSchema | Promise<WriterSchema> {
    const { registry, useLatest = false } = this.use
    const subject = this.subjectFor(place)
    if (!useLatest) return this.bySubject.get(subject) ?? this.lookUp(subject)
    const known = registry.knownLatest(subject)
    return known === undefined ? registry.latest(subject).then(latest => this.latestWriter(latest)) : this.latestWriter(known)
  }

  private latestWriter(latest: SubjectVersion): WriterSchema {
    const { schemaType } = this.own
    if (latest.schemaType === schemaType) return { id: latest.id, latest }
    throw settingError('useLatest', `the latest schema under ${latest.subject} is of the type ${latest.schemaType}, and this serde writes ${schemaType}`)
  }

  private async lookUp(subject: string): Promise<WriterSchema> {
    const { registry, autoRegister = false } = this.use
    const schema = this.own.schema!
    const writer = { id: autoRegister ? await registry.register(subject, schema) : await registry.find(subject, schema) }
    this.bySubject.set(subject, writer)
    return writer
  }

  private subjectFor(place: SerdePlace): string {
    const known = this.subjects[place.part].get(place.topic)
    if (known !== undefined) return known
    const name = subjectName(this.use.subject ?? 'topic', place, this.own.recordName)
    this.subjects[place.part].set(place.topic, name)
    return name
  }
}

function subjectName(names: SubjectNames, place: SerdePlace, recordName: string): string {
  if (typeof names === 'function') return names(place, recordName)
  if (names === 'topic') return `${place.topic}-${place.part}`
  if (recordName === '') throw new SerdeFault(`the subject is to be named after the record (${names}), and the schema has no name`)
  return names === 'record' ? recordName : `${place.topic}-${recordName}`
}
