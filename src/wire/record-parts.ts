import { BytesReader } from '../base/bytes-reader.ts'
import { BytesWriter } from '../base/bytes-writer.ts'
import { isBytesError } from '../base/bytes-error.ts'
import { MillraceError } from '../kernel/errors/index.ts'
import { codecFor } from './schema/compile-codec.ts'
import { type DraftOfFields, type Fields, type ValueOf } from './schema/definition.ts'
import { type MessageDefinition } from './schema/message.ts'

/** Keys and values of the records of coordinators: a key begins with the type of the record, a value with its version. */

/** One for all keys: a commit has thousands, and a buffer for each costs more than what is written. */
const writer = new BytesWriter()

export function encodeKey<F extends Fields>(type: number, definition: MessageDefinition<F>, key: DraftOfFields<F>): Uint8Array {
  writer.reset()
  writer.int16(type)
  codecFor(definition, 0).write(writer, key)
  return writer.finish()
}

/** Throws MR_PROTOCOL_MALFORMED, for a version that is not known too. Bytes fields are views of `data`. */
export function decodeValue<F extends Fields>(definition: MessageDefinition<F>, data: Uint8Array): ValueOf<F> {
  const reader = new BytesReader(data)
  const version = readInt16(reader, `the version of ${definition.name}`)
  const { min, max } = definition.versions
  if (version < min || version > max) {
    throw new MillraceError('MR_PROTOCOL_MALFORMED', { what: definition.name, position: 0, reason: `its version is ${version}, and ${min} to ${max} are known` })
  }
  return codecFor(definition, version).read(reader)
}

export function readInt16(reader: BytesReader, what: string): number {
  try {
    return reader.int16()
  } catch (error) {
    throw isBytesError(error) ? new MillraceError('MR_PROTOCOL_MALFORMED', { what, position: 0, reason: error.reason }) : error
  }
}
