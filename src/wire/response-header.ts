import { isBytesError } from '../base/bytes-error.ts'
import { type BytesReader } from '../base/bytes-reader.ts'
import { type BytesWriter } from '../base/bytes-writer.ts'
import { MillraceError } from '../kernel/errors/index.ts'
import { apiKeys, isFlexibleVersion } from './api-keys.ts'
import { skipTags } from './schema/read-primitives.ts'

/**
 * Whether a response has header v1, which adds a tag buffer to the correlation id. ApiVersions never has (quirk 2): a client that asks
 * with a version too new gets its answer in v0, and must be able to read it before it knows.
 */
export function hasFlexibleResponseHeader(apiKey: number, apiVersion: number): boolean {
  return apiKey !== apiKeys.ApiVersions && isFlexibleVersion(apiKey, apiVersion)
}

/** The correlation id of a response: the first four bytes in every version, so a client can learn to which request it belongs. */
export function readCorrelationId(reader: BytesReader): number {
  const start = reader.position
  try {
    return reader.int32()
  } catch (error) {
    throw malformed(error, start)
  }
}

/** Reads what the header has after the correlation id, and leaves the reader at the body. Throws MR_PROTOCOL_MALFORMED. */
export function readResponseHeaderRest(reader: BytesReader, apiKey: number, apiVersion: number): void {
  if (!hasFlexibleResponseHeader(apiKey, apiVersion)) return
  const start = reader.position - 4
  try {
    skipTags(reader)
  } catch (error) {
    throw malformed(error, start)
  }
}

export function writeResponseHeader(writer: BytesWriter, apiKey: number, apiVersion: number, correlationId: number): void {
  writer.int32(correlationId)
  if (hasFlexibleResponseHeader(apiKey, apiVersion)) writer.uvarint(0)
}

function malformed(error: unknown, start: number): unknown {
  if (!isBytesError(error)) return error
  return new MillraceError('MR_PROTOCOL_MALFORMED', { what: 'a response header', position: error.position - start, reason: error.reason }, error)
}
