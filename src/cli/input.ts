import { createReadStream, fstatSync, statSync } from 'node:fs'
import { type Readable } from 'node:stream'
import { MillraceError } from '../kernel/errors/index.ts'

export interface Input {
  /** For messages. */
  readonly name: string
  readonly stream: Readable
  /** 0 when it is not known. */
  readonly sizeBytes: number
  readonly isTerminal: boolean
}

/** A file, or standard input. Throws MR_FILE_NOT_FOUND and MR_FILE_FAILED. */
export function openInput(path: string | undefined): Input {
  if (path === undefined || path === '-') {
    if (standardInputIsDirectory()) throw new MillraceError('MR_FILE_FAILED', { operation: 'read', path: 'standard input', reason: 'it is a directory' })
    return { name: 'standard input', stream: process.stdin, sizeBytes: 0, isTerminal: process.stdin.isTTY }
  }
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) throw new MillraceError('MR_FILE_NOT_FOUND', { operation: 'read', path })
  if (stat.isDirectory()) throw new MillraceError('MR_FILE_FAILED', { operation: 'read', path, reason: 'it is a directory' })
  return { name: path, stream: createReadStream(path, { highWaterMark: 1 << 18 }), sizeBytes: stat.isFile() ? stat.size : 0, isTerminal: false }
}

/** Node gives an empty stream for it, as if nothing were to be read. */
function standardInputIsDirectory(): boolean {
  try {
    return fstatSync(0).isDirectory()
  } catch {
    // Closed: what reads from it says so.
    return false
  }
}
