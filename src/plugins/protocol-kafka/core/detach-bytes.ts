/**
 * Replaces every byte range within a message that lies in `memory` by a copy, so that the memory may be reused. Gives the number of bytes
 * copied. Messages are trees of plain objects and arrays, as the codecs make them.
 */
export function detachBytes(message: unknown, memory: ArrayBufferLike): number {
  if (typeof message !== 'object' || message === null || message instanceof Uint8Array) return 0
  const holder = message as Record<string, unknown>
  let copied = 0
  for (const key of Object.keys(holder)) {
    const value = holder[key]
    if (value instanceof Uint8Array) {
      if (value.buffer !== memory || value.length === 0) continue
      holder[key] = value.slice()
      copied += value.length
    } else {
      copied += detachBytes(value, memory)
    }
  }
  return copied
}
