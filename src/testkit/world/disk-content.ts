import { TraceHash } from './trace-hash.ts'

const chunkBytes = 4096

/** A piece of a content. Only its owner may change it; whoever else holds it makes a copy first. */
interface Chunk {
  readonly owner: object
  readonly bytes: Uint8Array
}

/**
 * Bytes that grow when written past their end; a gap reads as zeros and takes no room. A copy costs nothing until one of the two is
 * changed, and then only the changed chunks: a crash is tried on thousands of copies.
 */
export class DiskContent {
  private length = 0
  private chunks: (Chunk | undefined)[] = []
  private chunksAreShared = false
  /** The owner of the chunks that this content may change. */
  private owner: object = {}

  constructor(content?: Uint8Array) {
    if (content !== undefined) this.write(content, 0)
  }

  get size(): number {
    return this.length
  }

  /** One with the same bytes. Changes of either are not seen in the other. */
  copy(): DiskContent {
    const copied = new DiskContent()
    copied.length = this.length
    copied.chunks = this.chunks
    copied.chunksAreShared = this.chunksAreShared = true
    // From here on the chunks belong to neither.
    this.owner = {}
    return copied
  }

  /** The bytes that there are in the range; says how many. */
  read(target: Uint8Array, at: number, length: number, position: number): number {
    const end = Math.min(this.length, position + length)
    if (end <= position) return 0
    for (let from = position; from < end;) {
      const index = Math.floor(from / chunkBytes)
      const inChunk = from - index * chunkBytes
      const count = Math.min(chunkBytes - inChunk, end - from)
      const bytes = this.chunks[index]?.bytes
      const found = Math.max(0, Math.min(count, (bytes?.length ?? 0) - inChunk))
      const to = at + from - position
      if (found > 0) target.set(bytes!.subarray(inChunk, inChunk + found), to)
      if (found < count) target.fill(0, to + found, to + count)
      from += count
    }
    return end - position
  }

  /** The bytes of a range; what lies past the end reads as zeros. */
  slice(position: number, length: number): Uint8Array {
    const result = new Uint8Array(length)
    this.read(result, 0, length, position)
    return result
  }

  /** With `kept` nobody changes the bytes any more: whole chunks of them need no copy. */
  write(bytes: Uint8Array, position: number, kept = false): void {
    const end = position + bytes.length
    for (let from = position; from < end;) {
      const index = Math.floor(from / chunkBytes)
      const inChunk = from - index * chunkBytes
      const count = Math.min(chunkBytes - inChunk, end - from)
      const piece = bytes.subarray(from - position, from - position + count)
      if (kept && count === chunkBytes) this.replace(index, piece)
      else this.own(index, inChunk + count).set(piece, inChunk)
      from += count
    }
    if (bytes.length > 0 && end > this.length) this.length = end
  }

  /** Adds size and bytes. Chunks are looked at once in their life: call it of a copy, of which nobody may change any. */
  addTo(hash: TraceHash): void {
    hash.addNumber(this.length)
    for (const [index, chunk] of this.chunks.entries()) {
      const digest = chunk === undefined ? '' : digestOf(chunk.bytes)
      if (digest === '') continue
      hash.addNumber(index)
      hash.addText(digest)
    }
  }

  /** Cuts off, or lengthens with zeros. */
  truncate(size: number): void {
    if (size < this.length) {
      const kept = Math.ceil(size / chunkBytes)
      const inLast = size % chunkBytes
      if (this.chunksAreShared) this.chunks = this.chunks.slice(0, kept)
      else this.chunks.length = Math.min(this.chunks.length, kept)
      this.chunksAreShared = false
      const last = this.chunks[kept - 1]
      if (inLast > 0 && last !== undefined && last.bytes.length > inLast) this.own(kept - 1, inLast).fill(0, inLast)
    }
    this.length = size
  }

  /** The bytes of a whole chunk, which stay whose they are. */
  private replace(index: number, bytes: Uint8Array): void {
    this.ownChunks(index)
    this.chunks[index] = { owner: nobody, bytes }
  }

  private ownChunks(index: number): void {
    if (this.chunksAreShared) {
      this.chunks = this.chunks.slice()
      this.chunksAreShared = false
    }
    while (this.chunks.length < index) this.chunks.push(undefined)
  }

  /** A chunk that may be changed, of this many bytes or more. */
  private own(index: number, bytes: number): Uint8Array {
    this.ownChunks(index)
    const found = this.chunks[index]
    if (found !== undefined && found.owner === this.owner && found.bytes.length >= bytes) return found.bytes
    const had = found?.bytes ?? noBytes
    const made = bytes <= had.length ? had.slice() : new Uint8Array(Math.min(chunkBytes, Math.max(bytes, had.length * 2, 64)))
    if (bytes > had.length) made.set(had)
    this.chunks[index] = { owner: this.owner, bytes: made }
    return made
  }
}

const noBytes = new Uint8Array(0)
const nobody = {}

const digests = new WeakMap<Uint8Array, string>()

/** Of bytes that never change, without the zeros at their end; empty when there is nothing else. */
function digestOf(bytes: Uint8Array): string {
  let digest = digests.get(bytes)
  if (digest !== undefined) return digest
  let length = bytes.length
  while (length > 0 && bytes[length - 1] === 0) length--
  const hash = new TraceHash()
  hash.addBytes(bytes, 0, length)
  digest = length === 0 ? '' : hash.digest()
  digests.set(bytes, digest)
  return digest
}
