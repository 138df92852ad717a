import { isBytesError } from '../base/bytes-error.ts'
import { BytesReader } from '../base/bytes-reader.ts'
import { BytesWriter } from '../base/bytes-writer.ts'
import { MillraceError } from '../kernel/errors/index.ts'
import { codecFor } from './schema/compile-codec.ts'
import { type DraftOfFields, type Fields, type ValueOf } from './schema/definition.ts'
import { type MessageDefinition } from './schema/message.ts'

/**
 * Data that carries its version, as a 16-bit number in front of its fields: how Kafka keeps the consumer protocol inside of other messages,
 * and the records of its internal topics.
 */

/** One for all of them: see record-parts. */
const writer = new BytesWriter()

/** The bytes, in an array that the caller owns. */
export function encodeVersioned<F extends Fields>(definition: MessageDefinition<F>, version: number, message: DraftOfFields<F>): Uint8Array {
  writer.reset()
  writer.int16(version)
  codecFor(definition, version).write(writer, message)
  return writer.finish()
}

/**
 * A version newer than the newest that is known is read as that one, and what is behind it is ignored: only for data whose versions do
 * nothing but append fields. Bytes fields are views of `data`. Throws MR_PROTOCOL_MALFORMED.
 */
export function decodeVersioned<F extends Fields>(definition: MessageDefinition<F>, data: Uint8Array): ValueOf<F> {
  const reader = new BytesReader(data)
  const version = readVersion(reader, definition)
  return codecFor(definition, Math.min(version, definition.versions.max)).read(reader)
}

function readVersion(reader: BytesReader, definition: MessageDefinition): number {
  const refuse = (reason: string): MillraceError =>
    new MillraceError('MR_PROTOCOL_MALFORMED', { what: `the version of ${definition.name}`, position: 0, reason })
  try {
    const version = reader.int16()
    if (version < definition.versions.min) throw refuse(`it is ${version}`)
    return version
  } catch (error) {
    throw isBytesError(error) ? refuse(error.reason) : error
  }
}
