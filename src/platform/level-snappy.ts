/** More than any block of a LevelDB is. */
const lengthMax = 1 << 28

/**
 * Decompresses one raw Snappy block (google/snappy format_description.txt). For blocks that are read now and then, without a native
 * module; throws RangeError for what is none.
 */
export function snappyUncompress(input: Uint8Array): Uint8Array {
  let at = 0
  const next = (): number => {
    if (at >= input.length) throw new RangeError('the block ends too early')
    return input[at++]!
  }
  const fixed = (bytes: number): number => {
    let value = 0
    for (let index = 0; index < bytes; index++) value += next() * 256 ** index
    return value
  }
  let length = 0
  for (let factor = 1, byte = 0x80; byte >= 0x80; factor *= 128) {
    byte = next()
    length += (byte & 0x7f) * factor
    if (length > lengthMax) throw new RangeError('the block is too long')
  }
  const output = new Uint8Array(length)
  let end = 0
  while (at < input.length) {
    const tag = next()
    const kind = tag & 3
    let count = (tag >>> 2) + 1
    let offset = 0
    if (kind === 0) {
      if (count > 60) count = fixed(count - 60) + 1
    } else if (kind === 1) {
      count = ((tag >>> 2) & 7) + 4
      offset = ((tag >>> 5) << 8) | next()
    } else offset = fixed(kind === 2 ? 2 : 4)
    if (end + count > length || (kind === 0 ? at + count > input.length : offset === 0 || offset > end)) throw new RangeError('the block is damaged')
    if (kind === 0) {
      output.set(input.subarray(at, at + count), end)
      at += count
    } else {
      // A copy may overlap what it makes.
      for (let index = 0; index < count; index++) output[end + index] = output[end + index - offset]!
    }
    end += count
  }
  if (end !== length) throw new RangeError('the block ends too early')
  return output
}
