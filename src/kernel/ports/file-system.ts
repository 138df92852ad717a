import { token } from '../plugin/token.ts'

/** What lies under a name. Times are wall time, milliseconds since 1970-01-01 UTC. */
export interface FileStat {
  /** `other` is what is neither: a pipe, a device, a socket. A link counts as what it leads to. */
  readonly kind: 'file' | 'directory' | 'other'
  /** Size of a file. What a directory or something else has here means nothing. */
  readonly bytes: number
  /** When the contents last changed, a whole number. */
  readonly modifiedMs: number
}

/** Of the device that a path is on, in bytes. */
export interface DeviceSpace {
  /** Free for this user; 0 or more. */
  readonly freeBytes: number
  /** Of the whole device, what is used and what is kept for others included: no less than `freeBytes`. */
  readonly totalBytes: number
}

/**
 * Files of one machine. Paths are absolute or relative to the process, with `/`.
 * Calls are synchronous where a page cache answers in microseconds, and take a callback where a disk may be waited for.
 * Every call may throw MR_FILE_NOT_FOUND, MR_FILE_EXISTS, MR_FILE_DENIED, MR_FILE_NO_SPACE or MR_FILE_FAILED.
 *
 * Durability: what was written survives a crash of the process at once, and a power cut only after `File.sync` (contents) and
 * `syncDirectory` (names: new files, renames, removals).
 */
export interface FileSystem {
  /** `read`: must exist. `update`: read and write, must exist. `create`: read and write, must not exist. `ensure`: either. */
  open(path: string, mode: 'read' | 'update' | 'create' | 'ensure'): File
  /** Names in a directory, sorted. */
  list(path: string): string[]
  /** Undefined when there is nothing of that name. */
  stat(path: string): FileStat | undefined
  /** With parents; fine if it exists. */
  makeDirectory(path: string): void
  /** Replaces a file of the target name in one step. Directories may be renamed too, to a name that is free. */
  rename(from: string, to: string): void
  /** A file, or a directory with all that is in it. Nothing there is fine. */
  remove(path: string): void
  /** Makes the names in a directory durable. */
  syncDirectory(path: string): void
  /** Of the device of `path`, which has to exist, now. */
  space(path: string): DeviceSpace
}
export const FileSystem = token<FileSystem>('FileSystem', { open: true, list: true, stat: true, makeDirectory: true, rename: true, remove: true, syncDirectory: true, space: true })

/**
 * An open file. Not to be used after `close`. Reads and writes name their position; there is no cursor. Calls throw, or tell their callback, MR_FILE_FAILED, or
 * MR_FILE_NO_SPACE where they need room.
 */
export interface File {
  /** As it was opened; a rename since then does not change it. */
  readonly path: string
  /** Size in bytes. */
  size(): number
  /** Reads up to `length` bytes into `target` at `at`; returns how many there were. Less than `length` only at the end of the file. */
  read(target: Uint8Array, at: number, length: number, position: number): number
  /** The same off the event loop, for bytes that may have to come from the disk. `target` is the file's until `done`. */
  readLater(target: Uint8Array, at: number, length: number, position: number, done: (error: unknown, bytes: number) => void): void
  /**
   * Writes all pieces one after another from `position`, or throws; the pieces are the caller's again when it returns.
   * After a throw any prefix may have been written.
   */
  write(pieces: readonly Uint8Array[], position: number): void
  /**
   * Makes all that was written before the call durable, off the event loop. An error is final, and MR_FILE_FAILED whatever its reason: what was
   * not synced may be lost although a second sync succeeds, so the caller must take the directory offline, not retry.
   */
  sync(done: (error: unknown) => void): void
  /** The same, blocking the loop: for small files at start and stop. */
  syncNow(): void
  /** Cuts the file to so many bytes, or fills it up with zeros. Durable after a sync, as what is written. */
  truncate(bytes: number): void
  /** Gives the descriptor back; syncs nothing. Once. */
  close(): void
}
