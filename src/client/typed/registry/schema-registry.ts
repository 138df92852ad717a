/** The languages of schemas that registries know. */
export type SchemaType = 'AVRO' | 'JSON' | 'PROTOBUF'

/** Another schema that a schema names. */
export interface SchemaReference {
  /** What it is called in the schema: a full name in Avro, an import in Protobuf, a $ref in JSON Schema. */
  readonly name: string
  /** Under which the other schema is registered. */
  readonly subject: string
  /** Of that subject, from 1. */
  readonly version: number
}

/** A schema as a registry has it. */
export interface Schema {
  /** What `schema` is written in. */
  readonly schemaType: SchemaType
  /** Its text: JSON for AVRO and JSON, a .proto file for PROTOBUF. */
  readonly schema: string
  /** What it names of other subjects. Default: nothing. */
  readonly references?: readonly SchemaReference[]
}

/** A schema as one version of a subject. */
export interface SubjectVersion extends Schema {
  /** As it was asked for. */
  readonly subject: string
  /** From 1. */
  readonly version: number
  /** Of the schema; the same wherever the registry has that schema. */
  readonly id: number
}

/** What a registry says of a schema beside those of a subject. */
export interface Compatibility {
  /** By the compatibility level of the subject; always true where that is NONE. */
  readonly isCompatible: boolean
  /** Why not, in the registry's words; empty where it says nothing. */
  readonly reasons: readonly string[]
}

/**
 * Knows schemas by ids and by subjects. All calls may be repeated: what is registered already is found. Each rejects with MR_REGISTRY_UNAVAILABLE when no answer
 * can be had, MR_REGISTRY_UNAUTHORIZED, and MR_REGISTRY_REFUSED for an answer that helps nobody.
 */
export interface SchemaRegistry {
  /** The id of the schema, which is registered under the subject if it is not. MR_REGISTRY_INCOMPATIBLE. */
  register(subject: string, schema: Schema): Promise<number>
  /** The id of the schema under the subject. MR_REGISTRY_NOT_FOUND. */
  find(subject: string, schema: Schema): Promise<number>
  /** The schema with the id, which never changes. MR_REGISTRY_NOT_FOUND. */
  byId(id: number): Promise<Schema>
  /** One version of a subject, from 1, which never changes. MR_REGISTRY_NOT_FOUND. */
  version(subject: string, version: number): Promise<SubjectVersion>
  /** The newest version; it may be as old as the registry's client keeps it. MR_REGISTRY_NOT_FOUND. */
  latest(subject: string): Promise<SubjectVersion>
  /** What `latest` would give without asking anybody; undefined when it would have to. */
  knownLatest(subject: string): SubjectVersion | undefined
  /** Whether the schema may become the next version of the subject, by its compatibility level. MR_REGISTRY_NOT_FOUND for a version that there is not. */
  checkCompatibility(subject: string, schema: Schema, version?: number | 'latest'): Promise<Compatibility>
}
