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

/** The error of the table for what the operating system said about a path; its own error is the cause. */
export function fileError(error: unknown, operation: string, path: string): MillraceError {
  if (isMillraceError(error)) return error
  const errno = errnoOf(error)
  // A sync that finds no space (delayed allocation) has failed like any other: what it should have written is not there to be written again.
  const code = (errno === undefined || operation === 'sync' ? undefined : codeOfErrno[errno]) ?? 'MR_FILE_FAILED'
  return new MillraceError(code, { operation, path, reason: errno ?? String(error) }, error)
}

/** `ENOENT` and the like, if the error carries one. */
export function errnoOf(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : undefined
}
