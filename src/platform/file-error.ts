import { isMillraceError, MillraceError, type ErrorCode } from '../kernel/errors/index.ts'

const codeOfErrno: Readonly<Record<string, ErrorCode>> = {
  ENOENT: 'MR_FILE_NOT_FOUND',
  ENOTDIR: 'MR_FILE_NOT_FOUND',
  EEXIST: 'MR_FILE_EXISTS',
  ENOTEMPTY: 'MR_FILE_EXISTS',
  EACCES: 'MR_FILE_DENIED',
  EPERM: 'MR_FILE_DENIED',
  EROFS: 'MR_FILE_DENIED',
  ENOSPC: 'MR_FILE_NO_SPACE',
  EDQUOT: 'MR_FILE_NO_SPACE',
}

/** What the system calls by a name that few know, with what to do. */
const words: Readonly<Record<string, string>> = {
  ELOOP: 'its links lead in a circle (ELOOP); correct them, or name another path',
  EMFILE: 'this process has as many files open as it may (EMFILE); raise the limit of open files (ulimit -n)',
  ENFILE: 'this machine has as many files open as it may (ENFILE); raise the limit of the system (fs.file-max)',
  EFBIG: 'the file would be larger than this user, or the file system, allows (EFBIG); raise the limit (ulimit -f), or take another file system',
  ENAMETOOLONG: 'a name in it is too long (ENAMETOOLONG); choose a shorter one',
}

/** The error of the table for what the operating system said about a path; its own error is the cause. */
export function fileError(error: unknown, operation: string, path: string): MillraceError {
  if (isMillraceError(error)) return error
  const errno = errnoOf(error)
  const code = (errno === undefined || isFailedSync(operation, errno) ? undefined : codeOfErrno[errno]) ?? 'MR_FILE_FAILED'
  const said = errno === undefined ? undefined : words[errno]
  return new MillraceError(code, { operation, path, reason: errno ?? String(error) }, error, said === undefined ? undefined : `${operation} ${path}: ${said}`)
}

/**
 * A sync that finds no space (delayed allocation) has failed like any other, of a file or of a directory: what it should have written is not there to be written
 * again. A directory that is not there was not synced at all.
 */
function isFailedSync(operation: string, errno: string): boolean {
  return operation === 'sync' || (operation === 'sync directory' && codeOfErrno[errno] === 'MR_FILE_NO_SPACE')
}

/** `ENOENT` and the like, if the error carries one. */
export function errnoOf(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : undefined
}
