import { type File, type FileSystem } from '../../../kernel/ports/file-system.ts'
import { setAsideName } from '../core/segment-name.ts'

const pieceBytes = 1 << 20

/**
 * Bytes that recovery takes out of a log stay in the partition's directory under names that neither this store nor Kafka reads: whoever
 * looks after the broker decides what becomes of them. Nothing is replaced; an attempt that a crash cut off leaves the log as it was.
 */
export function setAsideFile(files: FileSystem, directory: string, name: string): string {
  const path = freePath(files, directory, name)
  files.rename(`${directory}/${name}`, path)
  files.syncDirectory(directory)
  return path
}

/** Copies the bytes of a segment from `position` on, before they are cut. Durable when it returns. What an earlier attempt copied is not copied again. */
export function setAsideTail(files: FileSystem, directory: string, name: string, source: File, position: number, end: number): string {
  const tail = `${name}.from-${position}`
  for (let number = 1; ; number++) {
    const path = `${directory}/${setAsideName(tail, number)}`
    const there = files.stat(path)
    if (there === undefined) copy(files, source, position, end, path)
    else if (there.kind !== 'file' || there.bytes !== end - position || !holds(files, path, source, position)) continue
    // Also of a copy that is there: whoever made it may have ended before its name was on the disk.
    files.syncDirectory(directory)
    return path
  }
}

function freePath(files: FileSystem, directory: string, name: string): string {
  for (let number = 1; ; number++) {
    const path = `${directory}/${setAsideName(name, number)}`
    if (files.stat(path) === undefined) return path
  }
}

function copy(files: FileSystem, source: File, position: number, end: number, path: string): void {
  const making = `${path}.tmp`
  files.remove(making)
  const target = files.open(making, 'create')
  try {
    const piece = new Uint8Array(Math.min(pieceBytes, end - position))
    for (let at = position; at < end;) {
      const length = source.read(piece, 0, Math.min(piece.length, end - at), at)
      if (length === 0) break
      target.write([piece.subarray(0, length)], at - position)
      at += length
    }
    target.syncNow()
  } finally {
    target.close()
  }
  files.rename(making, path)
}

/** Whether the whole of the file is what the source has from `position` on. */
function holds(files: FileSystem, path: string, source: File, position: number): boolean {
  const file = files.open(path, 'read')
  try {
    const size = file.size()
    const [left, right] = [new Uint8Array(Math.min(pieceBytes, size)), new Uint8Array(Math.min(pieceBytes, size))]
    for (let at = 0; at < size;) {
      const length = file.read(left, 0, left.length, at)
      if (length === 0 || source.read(right, 0, length, position + at) < length) return false
      for (let index = 0; index < length; index++) if (left[index] !== right[index]) return false
      at += length
    }
    return true
  } finally {
    file.close()
  }
}
