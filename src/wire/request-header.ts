import { isBytesError } from '../base/bytes-error.ts'
import { type BytesReader } from '../base/bytes-reader.ts'
import { type BytesWriter } from '../base/bytes-writer.ts'
import { MillraceError } from '../kernel/errors/index.ts'
import { isFlexibleVersion } from './api-keys.ts'
import { shortTextOrNull, skipTags } from './schema/read-primitives.ts'
import { shortText } from './schema/write-primitives.ts'

/** What comes before the body of every request. */
export interface RequestHeader {
  readonly apiKey: number
  readonly apiVersion: number
  /** Chosen by the client; its response carries the same. */
  readonly correlationId: number
  readonly clientId: string | null
}

/**
 * Reads a request header and leaves the reader at the body. Flexible versions have header v2, which adds a tag buffer; others have v1.
 * The client id has a 16-bit length in both (quirk 3).
 *
 * Of a key that Kafka does not know, header v1 is assumed: the correlation id is right, what follows is not for reading.
 * Throws MR_PROTOCOL_MALFORMED.
 */
export function readRequestHeader(reader: BytesReader): RequestHeader {
  const start = reader.position
  try {
    const apiKey = reader.int16()
    const apiVersion = reader.int16()
    const correlationId = reader.int32()
    const clientId = shortTextOrNull(reader)
    if (isFlexibleVersion(apiKey, apiVersion)) skipTags(reader)
    return { apiKey, apiVersion, correlationId, clientId }
  } catch (error) {
    if (!isBytesError(error)) throw error
    throw new MillraceError('MR_PROTOCOL_MALFORMED', { what: 'a request header', position: error.position - start, reason: error.reason }, error)
  }
}

export function writeRequestHeader(writer: BytesWriter, header: RequestHeader): void {
  writer.int16(header.apiKey)
  writer.int16(header.apiVersion)
  writer.int32(header.correlationId)
  if (header.clientId === null) writer.int16(-1)
  else shortText(writer, header.clientId, 'RequestHeader.clientId')
  if (isFlexibleVersion(header.apiKey, header.apiVersion)) writer.uvarint(0)
}
