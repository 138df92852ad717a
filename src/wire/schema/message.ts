import { type DraftOfFields, type Fields, inRange, parseVersions, type Struct, type ValueOf, type VersionRange, type Versions } from './definition.ts'

/** A request, a response, or data that is kept inside of other messages. */
export interface MessageDefinition<F extends Fields = Fields> {
  /** As Kafka names it, e.g. `ProduceRequest`. */
  readonly name: string
  /** The versions that can be read and written. What a broker serves is its own choice among them. */
  readonly versions: VersionRange
  /** Versions with compact lengths and tag buffers; undefined where there is none. */
  readonly flexible: VersionRange | undefined
  readonly root: Struct<F>
  /** Compiled codecs by version, filled on first use by `codecFor`. A plain array, since a lookup here is part of every request. */
  readonly compiled: unknown[]
}

/** What a reader gives: every field, those that the version lacks with their defaults. */
export type MessageOf<D> = D extends MessageDefinition<infer F> ? ValueOf<F> : never
/** What a writer takes. Every `MessageOf` is one; fields with a default may be left out. */
export type DraftOf<D> = D extends MessageDefinition<infer F> ? DraftOfFields<F> : never

export interface MessageHead {
  readonly name: string
  readonly versions: Versions
  readonly flexible?: Versions
}

export function defineMessage<const F extends Fields>(head: MessageHead, fields: F): MessageDefinition<F> {
  return {
    name: head.name,
    versions: parseVersions(head.versions),
    flexible: head.flexible === undefined ? undefined : parseVersions(head.flexible),
    root: { name: head.name, fields },
    compiled: [],
  }
}

/** A request and its response under one key. Both have the same versions, and are flexible from the same one on. */
export interface Api<Request extends Fields = Fields, Response extends Fields = Fields> {
  readonly key: number
  readonly name: string
  readonly versions: VersionRange
  readonly flexible: VersionRange | undefined
  readonly request: MessageDefinition<Request>
  readonly response: MessageDefinition<Response>
}

export interface ApiHead {
  readonly key: number
  readonly name: string
  readonly versions: Versions
  readonly flexible?: Versions
}

export function defineApi<const Q extends Fields, const S extends Fields>(
  head: ApiHead, body: { readonly request: Q; readonly response: S },
): Api<Q, S> {
  const request = defineMessage({ ...head, name: `${head.name}Request` }, body.request)
  const response = defineMessage({ ...head, name: `${head.name}Response` }, body.response)
  return { key: head.key, name: head.name, versions: request.versions, flexible: request.flexible, request, response }
}

export type RequestOf<A> = A extends Api<infer Q, Fields> ? ValueOf<Q> : never
export type ResponseOf<A> = A extends Api<Fields, infer S> ? ValueOf<S> : never
export type RequestDraftOf<A> = A extends Api<infer Q, Fields> ? DraftOfFields<Q> : never
export type ResponseDraftOf<A> = A extends Api<Fields, infer S> ? DraftOfFields<S> : never

export function isFlexible(message: MessageDefinition, version: number): boolean {
  return inRange(message.flexible, version)
}
