import { MillraceError } from '../../../kernel/errors/index.ts'
import { type File, type FileSystem } from '../../../kernel/ports/file-system.ts'
import { checkedText, withChecksum } from '../core/checked-text.ts'
import { readWhole } from './index-file.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

const damagedText = 'its checksum is wrong'

/** A small text file that is only ever replaced as a whole: written beside, synced, renamed over. A reader finds one version or the other. */
export class CheckpointFile {
  readonly name: string
  readonly path: string
  private readonly files: FileSystem
  private readonly directory: string
  private readonly checkedAs: string | undefined
  /** The text that is known to be in the file, to leave out writes that change nothing. */
  private current: string | undefined
  /** The rename that put `current` in place was followed by a sync of the directory. */
  private currentDurable = false
  private writes = 0
  /** What was read last carried its checksum: nobody else has written it. */
  hasChecksum = false

  /** `checkedAs`: the text carries a checksum, of this file and no other; see `withChecksum`. */
  constructor(files: FileSystem, directory: string, name: string, checkedAs?: string) {
    this.files = files
    this.directory = directory
    this.name = name
    this.path = `${directory}/${name}`
    this.checkedAs = checkedAs
  }

  /** Undefined when there is no such file. One whose checksum is wrong has no text: it reads as `damagedText`, which is no checkpoint. */
  read(): string | undefined {
    const bytes = readWhole(this.files, this.path)
    if (bytes === undefined) return undefined
    const text = decoder.decode(bytes)
    if (this.checkedAs === undefined) return text
    // An empty file stands for no entries where Kafka made it; here none is ever written.
    const plain = text === '' ? undefined : checkedText(text, this.checkedAs)
    this.hasChecksum = plain !== undefined && plain !== text
    return plain ?? damagedText
  }

  /** Durable when it returns. */
  write(text: string): void {
    this.stage(text)()
  }

  /** Writes the text beside, durably: what takes space. What it gives puts it in place, durable when that returns; without it the file stays as it is. */
  stage(text: string): () => void {
    const turn = ++this.writes
    if (text === this.current) return () => this.syncName()
    let file: File
    try {
      file = this.files.open(`${this.path}.tmp`, 'ensure')
    } catch (error) {
      throw this.besideError(error)
    }
    try {
      replaceContent(file, this.stored(text))
      file.syncNow()
    } finally {
      file.close()
    }
    return () => {
      if (turn !== this.writes) this.write(text)
      else this.place(text)
    }
  }

  private place(text: string): void {
    this.files.rename(`${this.path}.tmp`, this.path)
    this.files.syncDirectory(this.directory)
    this.current = text
    this.currentDurable = true
  }

  /**
   * The same off the event loop, for what is a bound and no promise: after a power cut the file may be the one before, until
   * `syncName` or a `write` of the same. A `write` in the meantime wins. `done` is called once, later or at once when there is nothing to do.
   */
  writeLater(text: string, done: (error: unknown) => void): void {
    if (text === this.current) return done(undefined)
    const turn = ++this.writes
    let file: File
    try {
      file = this.files.open(`${this.path}.tmp`, 'ensure')
    } catch (error) {
      throw this.besideError(error)
    }
    replaceContent(file, this.stored(text))
    file.sync(error => {
      file.close()
      if (error !== undefined || turn !== this.writes) return done(error)
      try {
        this.files.rename(`${this.path}.tmp`, this.path)
        this.current = text
        this.currentDurable = false
      } catch (failure) {
        return done(failure)
      }
      done(undefined)
    })
  }

  /** Makes durable what `writeLater` has put in place. */
  syncName(): void {
    if (this.currentDurable || this.current === undefined) return
    this.files.syncDirectory(this.directory)
    this.currentDurable = true
  }

  /** What is said where the file beside cannot be opened. */
  private besideError(error: unknown): unknown {
    const path = `${this.path}.tmp`
    if (this.files.stat(path)?.kind !== 'directory') return error
    return new MillraceError('MR_FILE_FAILED', { operation: 'write', path, reason: 'a directory is in the place of this file, which the broker writes and renames; remove the directory' }, error)
  }

  private stored(text: string): string {
    return this.checkedAs === undefined ? text : withChecksum(text, this.checkedAs)
  }
}

function replaceContent(file: { truncate(bytes: number): void, write(pieces: readonly Uint8Array[], position: number): void }, text: string): void {
  file.truncate(0)
  file.write([encoder.encode(text)], 0)
}
