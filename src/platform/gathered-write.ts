import { errnoOf } from './file-error.ts'
import { type SystemFileCalls } from './system-file-calls.ts'

/** More pieces than this, or smaller ones than the next on average, are copied together: the kernel's price is per piece. */
const piecesMax = 64
const pieceBytesWorthIt = 512
/** Above this size even many pieces go as they are: copying would cost more than the vector. */
const pieceBytesTooDear = 16 * 1024
const scratchBytes = 256 * 1024
/** A regular file never says EAGAIN for long; one that does for ever must not hang the loop. */
const refusalsMax = 1000

/**
 * Writes pieces one after another into a file, going on after short writes and interruptions, with few system calls.
 * One scratch buffer serves all files, since a write is over when the call returns.
 */
export class GatheredWrite {
  private readonly calls: SystemFileCalls
  private scratch: Uint8Array | undefined

  constructor(calls: SystemFileCalls) {
    this.calls = calls
  }

  /** Throws the error of the system; any prefix may be in the file then. */
  write(descriptor: number, pieces: readonly Uint8Array[], position: number): void {
    if (pieces.length === 1) return this.writeOne(descriptor, pieces[0]!, 0, pieces[0]!.length, position)
    let total = 0
    for (const piece of pieces) total += piece.length
    if (total === 0) return
    const average = total / pieces.length
    if (average < pieceBytesWorthIt || (pieces.length > piecesMax && average < pieceBytesTooDear)) {
      this.writeCopied(descriptor, pieces, total, position)
    } else this.writeVectors(descriptor, pieces, position)
  }

  private writeOne(descriptor: number, bytes: Uint8Array, offset: number, length: number, position: number): void {
    let done = 0
    let refusals = 0
    while (done < length) {
      try {
        const written = this.calls.writeSync(descriptor, bytes, offset + done, length - done, position + done)
        if (written === 0) throw new NothingWritten()
        done += written
      } catch (error) {
        if (!mayGoOn(error, ++refusals)) throw error
      }
    }
  }

  private writeCopied(descriptor: number, pieces: readonly Uint8Array[], total: number, position: number): void {
    const scratch = this.scratch ??= new Uint8Array(scratchBytes)
    let filled = 0
    let at = position
    for (const piece of pieces) {
      let from = 0
      while (from < piece.length) {
        const length = Math.min(piece.length - from, scratchBytes - filled)
        scratch.set(from === 0 && length === piece.length ? piece : piece.subarray(from, from + length), filled)
        from += length
        filled += length
        if (filled < scratchBytes && at + filled < position + total) continue
        this.writeOne(descriptor, scratch, 0, filled, at)
        at += filled
        filled = 0
      }
    }
  }

  private writeVectors(descriptor: number, pieces: readonly Uint8Array[], position: number): void {
    let at = position
    for (let first = 0; first < pieces.length; first += piecesMax) {
      at = this.writeGroup(descriptor, pieces.length <= piecesMax ? pieces : pieces.slice(first, first + piecesMax), at)
    }
  }

  private writeGroup(descriptor: number, group: readonly Uint8Array[], position: number): number {
    let rest = group
    let at = position
    let refusals = 0
    while (rest.length > 0) {
      try {
        const written = this.calls.writevSync(descriptor, rest, at)
        if (written === 0 && rest.some(piece => piece.length > 0)) throw new NothingWritten()
        at += written
        rest = withoutPrefix(rest, written)
      } catch (error) {
        if (!mayGoOn(error, ++refusals)) throw error
      }
    }
    return at
  }
}

/** A call that takes nothing and reports no error counts as a refusal. */
class NothingWritten extends Error {
  readonly code = 'EAGAIN'
  override readonly message = 'the system took no byte'
}

function mayGoOn(error: unknown, refusals: number): boolean {
  const errno = errnoOf(error)
  return (errno === 'EINTR' || errno === 'EAGAIN') && refusals < refusalsMax
}

/** The pieces that are left after `bytes` of them went out. */
function withoutPrefix(pieces: readonly Uint8Array[], bytes: number): readonly Uint8Array[] {
  let skip = bytes
  for (let index = 0; index < pieces.length; index++) {
    const piece = pieces[index]!
    if (skip < piece.length) return [piece.subarray(skip), ...pieces.slice(index + 1)]
    skip -= piece.length
  }
  return []
}
