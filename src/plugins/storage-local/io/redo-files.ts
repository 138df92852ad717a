import { MillraceError, isMillraceError } from '../../../kernel/errors/index.ts'
import { type Timers } from '../../../kernel/ports/clock.ts'
import { type File, type FileSystem } from '../../../kernel/ports/file-system.ts'
import { redoFileName } from '../core/redo-history.ts'
import { redoBlockBytes, type RedoGroupBuilder } from '../core/redo-group.ts'
import { RedoMark } from './redo-mark.ts'

export const redoDirectoryName = '__millrace_redo'
const stepBytes = 256 * 1024
const zeroes = new Uint8Array(stepBytes)
/** After a look that found too little space, so many calls pass before the next look. */
const lookEvery = 1000
/** At the end of each file, for entries that cannot go another way; the last block of it for a group without any. */
const markBytes = 16_384

/** One file of the redo log: written from its beginning to its end, and again when nothing in it is needed any more. */
export interface RedoFile<Log> {
  readonly file: File
  /** Counts its uses among those of all files. */
  generation: number
  firstSequence: number
  position: number
  /** The logs that have batches here, with the end of the last one. */
  readonly logs: Map<Log, number>
  /** The logs that have a barrier here: it keeps no file needed, and yet it counts at a start for as long as the file does. */
  readonly barriers: Set<Log>
  /** Keys of logs that were removed and of which it, or an older one, has something: see `memberKey`. */
  readonly gone: Set<string>
}

export interface RedoFilesOptions {
  readonly fileBytes: number
  /** Of all files together; no more than whole files of it are used. */
  readonly bytesMax: number
  /** See `RedoGroup.run`. */
  readonly run: number
  readonly warn: (message: string, error: unknown) => void
  /** A file could not be made for another reason than a full disk. */
  readonly failed: (error: unknown) => void
}

/**
 * The files of a redo log. They are written full of zeroes before they are used, so that a sync has no size to record, and used again. Making
 * one takes turns of the event loop and a sync off it: until one is ready there is no room.
 */
export class RedoFiles<Log> {
  /** Where groups go. */
  current: RedoFile<Log> | undefined
  /** Full, and needed; the oldest first. */
  readonly full: RedoFile<Log>[] = []
  /** The number of the group that is written next. */
  nextSequence = 1
  /** All groups up to it are on the disk. */
  covered = 0
  private readonly files: FileSystem
  private readonly timers: Timers
  private readonly path: string
  private readonly options: RedoFilesOptions
  private readonly free: RedoFile<Log>[] = []
  private readonly mark: RedoMark
  /** Needed no more, as a group that is not on the disk yet says: from then on they are free. */
  private readonly leaving: { readonly file: RedoFile<Log>, readonly afterSequence: number }[] = []
  private made = 0
  private generations = 0
  private making = false
  private closed = false
  private told = false
  /** Calls that pass before a disk with too little space is looked at again. */
  private untilLook = 0

  constructor(files: FileSystem, timers: Timers, directory: string, options: RedoFilesOptions) {
    this.files = files
    this.timers = timers
    this.path = `${directory}/${redoDirectoryName}`
    this.options = options
    this.mark = new RedoMark(files, directory)
  }

  get filesMax(): number { return Math.floor(this.options.bytesMax / this.options.fileBytes) }
  get bytesInUse(): number { return (this.full.length + this.leaving.length) * this.options.fileBytes + (this.current?.position ?? 0) }
  /** Whether files are free only after the next group, and none is before. */
  get awaitsGroup(): boolean { return this.leaving.length > 0 && this.free.length === 0 }
  /** Groups with lower numbers are needed no more. */
  get firstNeeded(): number { return (this.full[0] ?? this.current)?.firstSequence ?? this.nextSequence }

  /** Sees to it that a group of so many bytes finds room. False while there is none: a file is being made, or all are full. */
  hasRoom(bytes: number, use: 'batches' | 'mark' | 'empty' = 'batches'): boolean {
    const { current, options } = this
    const capacity = options.fileBytes - markBytes
    const end = use === 'batches' ? capacity : use === 'mark' ? options.fileBytes - redoBlockBytes : options.fileBytes
    if (current !== undefined && current.position + bytes <= end) return true
    if (bytes > capacity) return false
    const next = this.free.pop()
    // One ahead, so that nobody waits for it.
    if (this.free.length === 0) this.make()
    if (next === undefined) return false
    if (current !== undefined) this.full.push(current)
    next.generation = ++this.generations
    next.firstSequence = this.nextSequence
    next.position = 0
    next.logs.clear()
    next.barriers.clear()
    next.gone.clear()
    this.current = next
    return true
  }

  /** Writes the group at hand, for which there is room. Gives its number. After a failure the next one takes its number and its place. */
  write(group: RedoGroupBuilder): number {
    const current = this.current!
    const sequence = this.nextSequence
    const bytes = group.seal({ generation: current.generation, sequence, run: this.options.run, covered: this.covered, firstNeeded: this.firstNeeded })
    current.file.write([bytes], current.position)
    current.position += bytes.length
    this.nextSequence++
    return sequence
  }

  /** The group and all before it are on the disk. */
  synced(sequence: number): void {
    this.covered = Math.max(this.covered, sequence)
    while (this.leaving.length > 0 && this.leaving[0]!.afterSequence < sequence) this.free.push(this.leaving.shift()!.file)
  }

  /** What these hold is on the disk elsewhere. They are used again when a later group, which says so, is on the disk. */
  reclaim(files: readonly RedoFile<Log>[]): void {
    for (const file of files) {
      const index = this.full.indexOf(file)
      if (index >= 0) this.full.splice(index, 1)
      this.leaving.push({ file, afterSequence: this.nextSequence - 1 })
    }
    this.untilLook = 0
  }

  /** Whether a group that a crash might find needed has a batch of the log: until a later one on the disk says otherwise, that is one in a file that leaves too. */
  holds(log: Log): boolean {
    return this.isAmongNeeded(({ logs }) => logs.has(log))
  }

  /** Whether such a group has a batch or a barrier of the log. */
  names(log: Log): boolean {
    return this.isAmongNeeded(({ logs, barriers }) => logs.has(log) || barriers.has(log))
  }

  /** Whether such a group may have something of a log of this key that was removed. */
  hasGone(key: string): boolean {
    return this.isAmongNeeded(({ gone }) => gone.has(key))
  }

  private isAmongNeeded(has: (file: RedoFile<Log>) => boolean): boolean {
    return (this.current !== undefined && has(this.current)) || this.full.some(has) || this.leaving.some(({ file }) => has(file))
  }

  /** It was removed. */
  forget(log: Log, key: string): void {
    for (const { logs, barriers } of this.all()) {
      logs.delete(log)
      barriers.delete(log)
    }
    // No older file is needed for longer.
    this.current?.gone.add(key)
  }

  /** What the log has here at and above the offset is void, as the last group says. What is below may be in that group too, and is void when the log is cut again. */
  cut(log: Log, offset: number): void {
    for (const { logs } of this.all()) if ((logs.get(log) ?? 0) > offset) logs.set(log, offset)
    if (this.current?.logs.has(log) === false) this.current.logs.set(log, offset)
  }

  close(): void {
    this.closed = true
    for (const { file } of this.all()) file.close()
  }

  private* all(): Generator<RedoFile<Log>> {
    if (this.current !== undefined) yield this.current
    yield* this.full
    yield* this.free
    for (const { file } of this.leaving) yield file
  }

  private make(): void {
    if (this.making || this.closed || this.made >= this.filesMax || this.untilLook-- > 0) return
    this.untilLook = 0
    this.making = true
    this.made++
    const path = `${this.path}/${redoFileName(this.made)}`
    try {
      if (!this.isSpace()) throw new MillraceError('MR_FILE_NO_SPACE', { operation: 'make', path })
      this.files.makeDirectory(this.path)
      this.fill(this.files.open(path, 'create'), 0)
    } catch (error) {
      this.notMade(undefined, error)
    }
  }

  /** What is appended comes first: a small disk, or one that fills up, is not filled with files of this log. */
  private isSpace(): boolean {
    return this.files.space(this.path.slice(0, this.path.lastIndexOf('/'))).freeBytes >= this.options.bytesMax + this.options.fileBytes
  }

  private fill(file: File, from: number): void {
    this.timers.soon(() => {
      if (this.closed) return file.close()
      try {
        const bytes = Math.min(stepBytes, this.options.fileBytes - from)
        file.write([zeroes.subarray(0, bytes)], from)
        if (from + bytes < this.options.fileBytes) return this.fill(file, from + bytes)
        file.sync(error => this.filled(file, error))
      } catch (error) {
        this.notMade(file, error)
      }
    })
  }

  private filled(file: File, error: unknown): void {
    if (this.closed) return file.close()
    if (error !== undefined) return this.notMade(file, error)
    try {
      this.files.syncDirectory(this.path)
      this.files.syncDirectory(this.path.slice(0, this.path.lastIndexOf('/')))
      // From here on a start needs what is written.
      if (this.made === 1) this.mark.write(this.options.run)
    } catch (failure) {
      return this.notMade(file, failure)
    }
    this.making = false
    this.free.push({ file, generation: 0, firstSequence: 0, position: 0, logs: new Map(), barriers: new Set(), gone: new Set() })
  }

  private notMade(file: File | undefined, error: unknown): void {
    this.making = false
    file?.close()
    if (!isMillraceError(error, 'MR_FILE_NO_SPACE')) return this.options.failed(error)
    this.untilLook = lookEvery
    this.made--
    try {
      if (this.made === 0) this.mark.remove()
      if (file !== undefined) this.files.remove(file.path)
    } catch (failure) {
      return this.options.failed(failure)
    }
    if (!this.told) this.options.warn('there is too little space for another file of the redo log: what finds no room in it is synced partition by partition', error)
    this.told = true
  }
}
