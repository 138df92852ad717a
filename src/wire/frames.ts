import { type BytesWriter } from '../base/bytes-writer.ts'
import { beginFrame, endFrame } from './framing.ts'
import { writeRequestHeader } from './request-header.ts'
import { writeResponseHeader } from './response-header.ts'
import { codecFor } from './schema/compile-codec.ts'
import { type DraftOfFields, type Fields } from './schema/definition.ts'
import { type Api } from './schema/message.ts'

export interface RequestEnvelope {
  readonly version: number
  readonly correlationId: number
  readonly clientId: string | null
}

/** Writes a whole request: size, header, body. For errors, and who may touch record batches until when, see `MessageCodec.write`. */
export function writeRequestFrame<Q extends Fields, S extends Fields>(
  writer: BytesWriter, api: Api<Q, S>, envelope: RequestEnvelope, request: DraftOfFields<Q>,
): void {
  const frame = beginFrame(writer)
  writeRequestHeader(writer, {
    apiKey: api.key, apiVersion: envelope.version, correlationId: envelope.correlationId, clientId: envelope.clientId,
  })
  codecFor(api.request, envelope.version).write(writer, request)
  endFrame(writer, frame)
}

export interface ResponseEnvelope {
  /** That of the request, but for ApiVersions of a version too new, which is answered in version 0 (quirk 1). */
  readonly version: number
  readonly correlationId: number
}

/** Writes a whole response: size, header, body. */
export function writeResponseFrame<Q extends Fields, S extends Fields>(
  writer: BytesWriter, api: Api<Q, S>, envelope: ResponseEnvelope, response: DraftOfFields<S>,
): void {
  const frame = beginFrame(writer)
  writeResponseHeader(writer, api.key, envelope.version, envelope.correlationId)
  codecFor(api.response, envelope.version).write(writer, response)
  endFrame(writer, frame)
}
