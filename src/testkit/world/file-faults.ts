import { MillraceError, type ErrorCode } from '../../kernel/errors/index.ts'

export type FileOperationKind =
  | 'open' | 'create' | 'list' | 'stat' | 'make directory' | 'rename' | 'remove' | 'sync directory'
  | 'size' | 'read' | 'write' | 'sync' | 'truncate'

/** One call on a file system or file, before it is carried out. */
export interface FileOperation {
  readonly kind: FileOperationKind
  readonly path: string
  /** Of a write or a read. */
  readonly bytes?: number
  readonly position?: number
}

export interface FileFault {
  readonly operation: FileOperationKind
  /** An exact path or a pattern; every path without it. */
  readonly path?: string | RegExp
  readonly error: 'ENOSPC' | 'EIO' | 'EACCES'
  /** So many matching calls go well first. Default 0. */
  readonly skip?: number
  /** So many calls fail. Default: all from then on. */
  readonly times?: number
  /** Of a failing write: so many of its bytes are written all the same. Default 0. */
  readonly keptBytes?: number
}

const codeOf: Readonly<Record<FileFault['error'], ErrorCode>> = {
  ENOSPC: 'MR_FILE_NO_SPACE', EIO: 'MR_FILE_FAILED', EACCES: 'MR_FILE_DENIED',
}

export interface FailingCall {
  readonly error: MillraceError
  readonly keptBytes: number
}

/** Which calls fail. A fault is active from `add` until the function that `add` returned is called. */
export class FileFaults {
  private readonly active: { readonly fault: FileFault, seen: number, failed: number }[] = []
  /** Calls that were made to fail, for a test that must know its fault was reached. */
  failures = 0

  add(fault: FileFault): () => void {
    const entry = { fault, seen: 0, failed: 0 }
    this.active.push(entry)
    return () => {
      const index = this.active.indexOf(entry)
      if (index >= 0) this.active.splice(index, 1)
    }
  }

  clear(): void {
    this.active.length = 0
  }

  /** The fault that hits this call, if any. Every active fault that matches counts the call. */
  check(operation: FileOperation): FailingCall | undefined {
    let hit: FileFault | undefined
    for (const entry of this.active) {
      if (!matches(entry.fault, operation) || entry.seen++ < (entry.fault.skip ?? 0)) continue
      if (hit !== undefined || entry.failed >= (entry.fault.times ?? Infinity)) continue
      entry.failed++
      hit = entry.fault
    }
    if (hit === undefined) return undefined
    this.failures++
    return { error: fileFailure(hit.error, operation), keptBytes: hit.keptBytes ?? 0 }
  }
}

export function fileFailure(errno: FileFault['error'], operation: FileOperation): MillraceError {
  return new MillraceError(codeOf[errno], { operation: operation.kind, path: operation.path, reason: errno })
}

function matches(fault: FileFault, operation: FileOperation): boolean {
  if (fault.operation !== operation.kind) return false
  if (fault.path === undefined) return true
  return typeof fault.path === 'string' ? fault.path === operation.path : fault.path.test(operation.path)
}
