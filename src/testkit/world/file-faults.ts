import { Prng } from '../../base/prng.ts'
import { MillraceError, type ErrorCode } from '../../kernel/errors/index.ts'
import { type FailedSyncBlocks } from './disk-file.ts'
import { FaultCounts } from './fault-counts.ts'

/** Calls on files, as faults and traces name them. */
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

/** Which calls a fault hits. */
interface Aim<Kind extends FileOperationKind | 'any'> {
  readonly operation: Kind
  /** An exact path or a pattern; every path without it. */
  readonly path?: string | RegExp
  /** So many matching calls go well first. Default 0. */
  readonly skip?: number
  /** So many calls are hit. Default: all from then on. */
  readonly times?: number
  /** Each matching call is hit with this probability, by the seed of the file system. Default 1. */
  readonly chance?: number
}

/** The call fails. `any`: whatever the operation is. */
export interface ErrorFault extends Aim<FileOperationKind | 'any'> {
  readonly error: 'ENOSPC' | 'EIO' | 'EACCES' | 'EMFILE' | 'EROFS'
  /** Of a failing write: so many of its bytes are written all the same. Default 0. `by chance`: any number. */
  readonly keptBytes?: number | 'by chance'
  /** Of a failing sync: what becomes of the blocks that it should have written. Default `keep`. */
  readonly blocks?: FailedSyncBlocks
}

/** A place of `bytes` from `position`; what is left out is drawn, on a multiple of the block size. */
export interface DamagedPlace {
  readonly position?: number
  readonly bytes?: number
}

/** The read succeeds and gives other bytes than were written; what is stored stays right. */
export interface ReadDamageFault extends Aim<'read'> {
  /** `stale`: those of an earlier sync. `misdirected`: those of another place, `from` or drawn. */
  readonly damage: 'bit flipped' | 'block zeroed' | 'block stale' | 'block misdirected'
  readonly place?: DamagedPlace & { readonly bit?: number }
  readonly from?: { readonly path: string, readonly position: number }
}

/** The write is reported as done, and its bytes go elsewhere, `to` or drawn, or nowhere. Readers see what the disk has. */
export interface WriteDamageFault extends Aim<'write'> {
  readonly damage: 'misdirected' | 'lost'
  readonly to?: { readonly path: string, readonly position: number }
}

/** The sync is reported as done, and nothing was made durable; the next honest one does it. */
export interface LyingSyncFault extends Aim<'sync' | 'sync directory'> {
  readonly damage: 'lie'
}

/** What waits for the disk, `sync` and `readLater`, takes so much longer. */
export interface DelayFault extends Aim<'sync' | 'read'> {
  readonly delayMs: number | (() => number)
}

/** A call on files that goes wrong: it fails, damages what is read or written, lies about a sync, or takes long. */
export type FileFault = ErrorFault | ReadDamageFault | WriteDamageFault | LyingSyncFault | DelayFault

export type DamageFault = ReadDamageFault | WriteDamageFault | LyingSyncFault

type Errno = ErrorFault['error'] | 'EBADF' | 'EINVAL'

const codeOf: Readonly<Record<Errno, ErrorCode>> = {
  ENOSPC: 'MR_FILE_NO_SPACE', EIO: 'MR_FILE_FAILED', EACCES: 'MR_FILE_DENIED', EMFILE: 'MR_FILE_FAILED', EROFS: 'MR_FILE_DENIED',
  EBADF: 'MR_FILE_FAILED', EINVAL: 'MR_FILE_FAILED',
}

export interface FailingCall {
  readonly error: MillraceError
  readonly keptBytes: number
  readonly blocks: FailedSyncBlocks
}

/** What happens to one call. */
export interface Hit {
  readonly failing?: FailingCall
  readonly damage?: DamageFault
  /** To be called when the damage was done: there may be no earlier version, or no other place. Only then does it count. */
  readonly happened?: () => void
  readonly delayMs: number
}

const unhurt: Hit = { delayMs: 0 }

interface ActiveFault {
  readonly fault: FileFault
  seen: number
  hits: number
}

/** Which calls go wrong. A fault is active from `add` until the function that `add` returned is called. */
export class FileFaults {
  /** How often what happened; those of crashes too. Kinds are as `nameOfFault` has them. */
  readonly counts: FaultCounts
  /** Draws what faults leave to chance. */
  readonly prng: Prng
  private readonly active: ActiveFault[] = []
  /** Calls that were made to fail, for a test that must know its fault was reached. */
  failures = 0

  constructor(prng = new Prng(1), counts = new FaultCounts()) {
    this.prng = prng
    this.counts = counts
  }

  add(fault: FileFault): () => void {
    const entry = { fault, seen: 0, hits: 0 }
    this.active.push(entry)
    return () => {
      const index = this.active.indexOf(entry)
      if (index >= 0) this.active.splice(index, 1)
    }
  }

  clear(): void {
    this.active.length = 0
  }

  /** The faults that hit this call: one error or damage at most, and all delays. Every active fault that matches counts the call. */
  check(operation: FileOperation): Hit {
    if (this.active.length === 0) return unhurt
    let hit: ActiveFault | undefined
    let delayMs = 0
    for (const entry of this.active) {
      const { fault } = entry
      if (!matches(fault, operation) || entry.seen++ < (fault.skip ?? 0) || entry.hits >= (fault.times ?? Infinity)) continue
      const delays = 'delayMs' in fault
      if (!delays && hit !== undefined) continue
      if (fault.chance !== undefined && !this.prng.chance(fault.chance)) continue
      if (!delays) {
        hit = entry
        continue
      }
      delayMs += typeof fault.delayMs === 'number' ? fault.delayMs : fault.delayMs()
      this.count(entry)
    }
    return hit === undefined ? delayMs === 0 ? unhurt : { delayMs } : this.hitOf(hit, operation, delayMs)
  }

  private hitOf(entry: ActiveFault, operation: FileOperation, delayMs: number): Hit {
    const { fault } = entry
    if (!('error' in fault)) return { damage: fault as DamageFault, happened: () => this.count(entry), delayMs }
    this.failures++
    this.count(entry)
    const keptBytes = fault.keptBytes === 'by chance' ? this.prng.below((operation.bytes ?? 0) + 1) : fault.keptBytes ?? 0
    return { failing: { error: fileFailure(fault.error, operation), keptBytes, blocks: fault.blocks ?? 'keep' }, delayMs }
  }

  private count(entry: ActiveFault): void {
    entry.hits++
    this.counts.add(nameOfFault(entry.fault))
  }
}

/** `write: ENOSPC, some bytes written`, `read: bit flipped`, `sync: delayed` and the like. */
export function nameOfFault(fault: FileFault): string {
  if ('delayMs' in fault) return `${fault.operation}: delayed`
  if (!('error' in fault)) return `${fault.operation}: ${fault.damage}`
  const written = fault.operation === 'write' && (fault.keptBytes ?? 0) !== 0 ? ', some bytes written' : ''
  return `${fault.operation}: ${fault.error}${written}${fault.operation === 'sync' ? `, blocks ${fault.blocks ?? 'keep'}` : ''}`
}

/** A sync that finds no space has failed like any other, of a file or of a directory. */
export function fileFailure(errno: Errno, operation: FileOperation): MillraceError {
  const isFailedSync = operation.kind === 'sync' || (operation.kind === 'sync directory' && errno === 'ENOSPC')
  return new MillraceError(isFailedSync ? 'MR_FILE_FAILED' : codeOf[errno], { operation: operation.kind, path: operation.path, reason: errno })
}

function matches(fault: FileFault, operation: FileOperation): boolean {
  if (fault.operation !== operation.kind && fault.operation !== 'any') return false
  if (fault.path === undefined) return true
  return typeof fault.path === 'string' ? fault.path === operation.path : fault.path.test(operation.path)
}
