import { BytesWriter } from '../../../base/bytes-writer.ts'
import { framePrefixBytes } from '../confluent-frame.ts'
import { SerdeFault } from '../serde.ts'
import { isProtobufType } from './protobufjs-package.ts'

/** Which message of a schema a value is: the position among the messages of the file, then among those nested in that one, and so on. */
export type MessageIndex = readonly number[]

const depthMax = 100

/** As Confluent's format has it: a count and the positions as zigzag numbers; the first message of the file, which is most often meant, is a single zero. */
export function messageIndexBytes(index: MessageIndex): Uint8Array {
  if (index.length === 1 && index[0] === 0) return Uint8Array.of(0)
  const writer = new BytesWriter(16)
  writer.varint(index.length)
  for (const position of index) writer.varint(position)
  return writer.finish()
}

/** The message index behind the frame of the schema's id, and where the value begins. Throws a SerdeFault. */
export function readMessageIndex(bytes: Uint8Array): { readonly index: MessageIndex, readonly valueAt: number } {
  let at = framePrefixBytes
  const number = (): number => {
    let value = 0
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = bytes[at++]
      if (byte === undefined) throw new SerdeFault('it ends inside the message indexes')
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) {
        if (value % 2 !== 0) throw new SerdeFault('it has a negative number among the message indexes')
        return value / 2
      }
    }
    throw new SerdeFault('it has a number of more than 32 bits among the message indexes')
  }
  const count = number()
  if (count > depthMax) throw new SerdeFault(`it has ${count} message indexes; messages are nested ${depthMax} deep at most`)
  const index = count === 0 ? [0] : Array.from({ length: count }, number)
  return { index, valueAt: at }
}

/** Messages by index, of a namespace or a message: nothing else counts. */
export function messagesIn(nested: readonly object[]): readonly { readonly name: string, readonly fullName: string, readonly nestedArray: readonly object[] }[] {
  return nested.filter(isProtobufType)
}

/** The full name, without a dot at its front, of the message at an index; undefined where there is none. */
export function messageAt(nested: readonly object[], index: MessageIndex): string | undefined {
  let inside = nested
  let name: string | undefined
  for (const position of index) {
    const message = messagesIn(inside)[position]
    if (message === undefined) return undefined
    name = message.fullName.replace(/^\./, '')
    inside = message.nestedArray
  }
  return name
}

/** Where a message is; undefined where it is not. */
export function indexOf(nested: readonly object[], fullName: string): MessageIndex | undefined {
  for (const [position, message] of messagesIn(nested).entries()) {
    const name = message.fullName.replace(/^\./, '')
    if (name === fullName) return [position]
    const deeper = fullName.startsWith(`${name}.`) ? indexOf(message.nestedArray, fullName) : undefined
    if (deeper !== undefined) return [position, ...deeper]
  }
  return undefined
}
