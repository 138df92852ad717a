import { type BytesReader } from '../../base/bytes-reader.ts'

/**
 * The same few topic names, client ids and host names come with every request. This cache gives the string that was made the last time:
 * comparing bytes is cheaper than decoding them, nothing is allocated, and a map finds an old string faster than a new one, since its hash
 * is known. A slot holds one text; another text with the same slot just replaces it, so nobody can make this grow.
 */
const slots = 1024
const textBytesMax = 64
const texts = new Array<string>(slots).fill('')
const lengths = new Uint8Array(slots)
const keptBytes = new Uint8Array(slots * textBytesMax)

/** Reads `length` bytes of UTF-8. Bytes that are not UTF-8 become U+FFFD. */
export function readText(reader: BytesReader, length: number): string {
  if (length > textBytesMax || length > reader.end - reader.position) return reader.utf8(length)
  const { bytes, position } = reader
  let hash = length
  for (let index = 0; index < length; index++) hash = Math.imul(hash ^ bytes[position + index]!, 0x0100_0193)
  const slot = (hash ^ (hash >>> 15)) & (slots - 1)
  const kept = slot * textBytesMax
  if (lengths[slot] === length) {
    let index = 0
    while (index < length && keptBytes[kept + index] === bytes[position + index]) index++
    if (index === length) {
      reader.position = position + length
      return texts[slot]!
    }
  }
  const text = reader.utf8(length)
  texts[slot] = text
  lengths[slot] = length
  for (let index = 0; index < length; index++) keptBytes[kept + index] = bytes[position + index]!
  return text
}
