const multiplier = 0x5bd1_e995

/**
 * MurmurHash2 with the seed of Kafka's default partitioner, signed 32 bits. Kafka places a key in partition
 * `(murmur2(key) & 0x7fffffff) % partitionCount`.
 */
export function murmur2(bytes: Uint8Array): number {
  const length = bytes.length
  let hash = 0x9747_b28c ^ length
  let at = 0
  for (; at + 4 <= length; at += 4) {
    let word = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
    word = Math.imul(word, multiplier)
    word ^= word >>> 24
    hash = Math.imul(hash, multiplier) ^ Math.imul(word, multiplier)
  }
  const rest = length - at
  if (rest >= 3) hash ^= bytes[at + 2]! << 16
  if (rest >= 2) hash ^= bytes[at + 1]! << 8
  if (rest >= 1) hash = Math.imul(hash ^ bytes[at]!, multiplier)
  hash ^= hash >>> 13
  hash = Math.imul(hash, multiplier)
  return hash ^ (hash >>> 15)
}
