/** Java's hash of a text, over its UTF-16 units, as a signed 32-bit number. */
export function javaHash(text: string): number {
  let hash = 0
  for (let index = 0; index < text.length; index++) hash = (Math.imul(hash, 31) + text.charCodeAt(index)) | 0
  return hash
}

/** The partition of `__consumer_offsets` that holds a group, as Kafka finds it. */
export function groupPartition(groupId: string, partitions: number): number {
  const hash = javaHash(groupId)
  // -2^31 has no positive counterpart among Java's ints, and counts as 0.
  return (hash === -0x8000_0000 ? 0 : Math.abs(hash)) % partitions
}
