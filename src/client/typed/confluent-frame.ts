import { SerdeFault } from './serde.ts'

/** Confluent's wire format: a zero, the schema's id as four bytes big-endian, what the format puts next, the value. */
export const framePrefixBytes = 5

/** The bytes of a value behind the id of its schema. `between`: what goes in the middle, the message indexes of Protobuf. */
export function frame(schemaId: number, value: Uint8Array, between?: Uint8Array): Uint8Array {
  const middle = between?.length ?? 0
  const framed = new Uint8Array(framePrefixBytes + middle + value.length)
  new DataView(framed.buffer).setUint32(1, schemaId)
  if (between !== undefined) framed.set(between, framePrefixBytes)
  framed.set(value, framePrefixBytes + middle)
  return framed
}

/** The id of the schema, 0 to 2^32 - 1, in bytes that have one. Throws a SerdeFault. */
export function schemaIdOf(bytes: Uint8Array): number {
  if (bytes.length < framePrefixBytes) throw new SerdeFault(`it has ${bytes.length} bytes, and the frame of the Confluent wire format alone has ${framePrefixBytes}`)
  if (bytes[0] !== 0) throw new SerdeFault(`it begins with the byte ${bytes[0]!} and not with the zero of the Confluent wire format`)
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(1)
}
