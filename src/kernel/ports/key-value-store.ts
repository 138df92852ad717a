import { token } from '../plugin/token.ts'

/** One change of a write. */
export interface KeyValuePut {
  /** What it is found by; keys are in byte order. */
  readonly key: Uint8Array
  /** Undefined removes the key. */
  readonly value: Uint8Array | undefined
}

/** Which keys, in byte order, and how many of them at most: from the lower bound up, or with `reverse` from the upper bound down. */
export interface KeyRange {
  /** Inclusive lower bound. */
  readonly from: Uint8Array
  /** Exclusive upper bound. */
  readonly to: Uint8Array
  /** At most so many entries; all by default. */
  readonly limit?: number
  /** From the upper bound down; default false. */
  readonly reverse?: boolean
}

/**
 * An ordered map of bytes to bytes on disk, keys in byte order. One owner; calls may overlap and are applied in the order made. Any call rejects with MR_FILE_FAILED
 * when the disk fails or the store is closed or closing.
 */
export interface KeyValueStore {
  /** What was written last under the key, by whatever write had resolved before; undefined for none. The bytes are the caller's. Rejects with MR_FILE_FAILED. */
  get(key: Uint8Array): Promise<Uint8Array | undefined>
  /** Pairs of the range in the order of their keys, as of one moment. The bytes are the caller's. Rejects with MR_FILE_FAILED. */
  range(range: KeyRange): Promise<readonly (readonly [Uint8Array, Uint8Array])[]>
  /**
   * All or nothing. With `sync`, durable when it resolves; without, after the next write that has it. Rejects with MR_FILE_FAILED, a full disk included: whether it was
   * written is not known then, every later write rejects, too, and what is so is found by opening the store anew.
   */
  write(puts: readonly KeyValuePut[], options: { readonly sync: boolean }): Promise<void>
  /** Ends what is under way and lets the directory go, also of a store whose writes fail. What is asked afterwards rejects with MR_FILE_FAILED; a second close is fine. */
  close(): Promise<void>
}

/** Opens key-value stores: LevelDB on a disk, maps in memory. */
export interface KeyValueEngine {
  /** What is stored takes space of the FileSystem, below the path that was opened. A write that finds none left ends the store. */
  readonly takesSpace: boolean
  /**
   * Makes the store if there is none; with `create: false` it rejects with MR_FILE_NOT_FOUND then, and makes nothing. It is locked to this process while open: a
   * second open rejects with MR_LOG_DIRECTORY_LOCKED. A store that cannot be read, or of which only parts are there, rejects with MR_FILE_FAILED and
   * is not begun anew. Opening writes a little: without space for it, it rejects with MR_FILE_NO_SPACE and may be tried again.
   */
  open(path: string, options?: { readonly create?: boolean }): Promise<KeyValueStore>
}
export const KeyValueEngine = token<KeyValueEngine>('KeyValueEngine', { open: true })
