import { MillraceError } from '../../../kernel/errors/index.ts'
import { thisMachine } from '../../machine.ts'
import { registrySettings, type RegistrySettings, type RegistryWorld, type SchemaRegistryOptions } from './registry-settings.ts'
import { RegistryCalls } from './registry-calls.ts'
import { Remembered } from './remembered.ts'
import { type Compatibility, type Schema, type SchemaReference, type SchemaRegistry, type SchemaType, type SubjectVersion } from './schema-registry.ts'

/** Ids are positive and signed on the wire of every other client. */
const idMax = 0x7fff_ffff

/**
 * A registry that speaks the HTTP API of Confluent's Schema Registry: that one, Karapace, Redpanda's, and Apicurio under its path `/apis/ccompat/v7`. What it has
 * learnt it remembers, within bounds; who asks what is being asked already shares the answer. It holds nothing that has to be closed.
 */
export class HttpSchemaRegistry implements SchemaRegistry {
  private readonly settings: RegistrySettings
  private readonly calls: RegistryCalls
  private readonly schemas: Remembered<Schema>
  private readonly ids: Remembered<number>
  private readonly versions: Remembered<SubjectVersion>
  private readonly latests: Remembered<SubjectVersion>

  constructor(world: RegistryWorld, settings: RegistrySettings) {
    this.settings = settings
    this.calls = new RegistryCalls(world, settings)
    const { cacheEntriesMax: entriesMax, latestAgeMsMax, missingAgeMsMax } = settings
    const { clock } = world
    this.schemas = new Remembered({ entriesMax, clock, ageMsMax: Infinity, missingAgeMsMax })
    this.ids = new Remembered({ entriesMax, clock, ageMsMax: Infinity, missingAgeMsMax: 0 })
    this.versions = new Remembered({ entriesMax, clock, ageMsMax: Infinity, missingAgeMsMax: 0 })
    this.latests = new Remembered({ entriesMax, clock, ageMsMax: latestAgeMsMax, missingAgeMsMax: 0 })
  }

  register(subject: string, schema: Schema): Promise<number> {
    return this.ids.get(schemaKey('register', subject, schema), () => this.idFor(`registering a schema under ${subject}`, `${subjectPath(subject)}/versions${this.query()}`, schema))
  }

  find(subject: string, schema: Schema): Promise<number> {
    return this.ids.get(schemaKey('find', subject, schema), () => this.idFor(`a schema under ${subject}`, `${subjectPath(subject)}${this.query()}`, schema))
  }

  byId(id: number): Promise<Schema> {
    if (!Number.isInteger(id) || id < 0 || id > idMax) {
      return Promise.reject(new MillraceError('MR_REGISTRY_NOT_FOUND', { what: `schema ${id}`, reason: `ids are whole numbers up to ${idMax}` }))
    }
    const what = `schema ${id}`
    return this.schemas.get(String(id), async () => this.schemaIn(what, await this.calls.ask({ what, method: 'GET', path: `/schemas/ids/${id}` })))
  }

  version(subject: string, version: number): Promise<SubjectVersion> {
    return this.versions.get(`${version}\n${subject}`, () => this.versionAt(subject, version))
  }

  latest(subject: string): Promise<SubjectVersion> {
    return this.latests.get(subject, () => this.versionAt(subject, 'latest'))
  }

  knownLatest(subject: string): SubjectVersion | undefined {
    return this.latests.known(subject)
  }

  async checkCompatibility(subject: string, schema: Schema, version: number | 'latest' = 'latest'): Promise<Compatibility> {
    const what = `the compatibility with version ${version} of ${subject}`
    const path = `/compatibility${subjectPath(subject)}/versions/${version}?verbose=true`
    const { is_compatible: isCompatible, messages } = await this.calls.ask({ what, method: 'POST', path, body: bodyOf(schema) }) as { is_compatible?: unknown, messages?: unknown }
    if (typeof isCompatible !== 'boolean') throw this.strange(what)
    return { isCompatible, reasons: Array.isArray(messages) ? messages.map(String) : [] }
  }

  private async idFor(what: string, path: string, schema: Schema): Promise<number> {
    const { id } = await this.calls.ask({ what, method: 'POST', path, body: bodyOf(schema) }) as { readonly id?: unknown }
    if (typeof id !== 'number' || !Number.isInteger(id) || id < 0 || id > idMax) throw this.strange(what)
    return id
  }

  private async versionAt(subject: string, at: number | 'latest'): Promise<SubjectVersion> {
    const what = `version ${at} of ${subject}`
    const answer = await this.calls.ask({ what, method: 'GET', path: `${subjectPath(subject)}/versions/${at}` })
    const { version, id } = answer as { readonly version?: unknown, readonly id?: unknown }
    if (typeof id !== 'number' || !Number.isInteger(id) || id < 0 || id > idMax || typeof version !== 'number') throw this.strange(what)
    return { ...this.schemaIn(what, answer), subject, version, id }
  }

  private schemaIn(what: string, answer: unknown): Schema {
    const { schema, schemaType = 'AVRO', references } = answer as { readonly schema?: unknown, readonly schemaType?: unknown, readonly references?: unknown }
    if (typeof schema !== 'string' || typeof schemaType !== 'string') throw this.strange(what)
    return { schemaType: schemaType as SchemaType, schema, ...(Array.isArray(references) && references.length > 0 ? { references: references as SchemaReference[] } : {}) }
  }

  private strange(what: string): MillraceError {
    return new MillraceError('MR_REGISTRY_REFUSED', {
      what, url: this.settings.urls.map(({ base }) => base).join(', '), status: 200, reason: 'it is not what a schema registry says; see whether that is the address of one',
    })
  }

  private query(): string {
    return this.settings.normalize ? '?normalize=true' : ''
  }
}

/** A client of a schema registry, for `json`, `avro` and `protobuf`. Nothing is asked before somebody needs it. Throws MR_CLIENT_SETTING. */
export function schemaRegistry(options: SchemaRegistryOptions): SchemaRegistry {
  const settings = registrySettings(options)
  const { clock, timers, random, http } = { ...thisMachine(), ...options.world }
  return new HttpSchemaRegistry({ clock, timers, random, http }, settings)
}

function subjectPath(subject: string): string {
  return `/subjects/${encodeURIComponent(subject)}`
}

/** Registries of before there were other types know no type, and all of them take Avro for it. */
function bodyOf({ schema, schemaType, references = [] }: Schema): object {
  return { schema, ...(schemaType === 'AVRO' ? {} : { schemaType }), ...(references.length === 0 ? {} : { references }) }
}

function schemaKey(verb: string, subject: string, { schemaType, schema, references = [] }: Schema): string {
  return JSON.stringify([verb, subject, schemaType, schema, references])
}
