import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'

/** More than any file of settings or certificates has. */
export const smallFileBytesMax = 1 << 20

/**
 * The text of a file that somebody named. A pipe is read to its end, so that a shell can hand over secrets (`<(command)`); what is neither that nor a regular
 * file, or has more than 1 MiB, is refused: a device may have no end.
 */
export function readSmallFile(path: string): string {
  const descriptor = openSync(path, constants.O_RDONLY)
  try {
    const stat = fstatSync(descriptor)
    if (stat.isDirectory()) throw Object.assign(new Error('it is a directory'), { code: 'EISDIR' })
    if (!stat.isFile() && !stat.isFIFO()) throw new Error('it is no regular file')
    const bytes = Buffer.allocUnsafe(smallFileBytesMax + 1)
    let length = 0
    for (;;) {
      const read = readSync(descriptor, bytes, length, bytes.length - length, null)
      if (read === 0) return bytes.toString('utf8', 0, length)
      length += read
      if (length > smallFileBytesMax) throw new Error(`it has more than ${smallFileBytesMax} bytes`)
    }
  } finally {
    closeSync(descriptor)
  }
}
