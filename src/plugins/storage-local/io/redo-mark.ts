import { crc32c } from '../../../base/crc32c.ts'
import { type FileSystem } from '../../../kernel/ports/file-system.ts'
import { CheckpointFile } from './checkpoint-file.ts'

const redoMarkName = '.millrace-redo-run'

/**
 * Says that the redo log of a run is needed by the next start: a redo log that was taken away with its whole directory, or replaced by that
 * of an earlier run, leaves no trace of its own. In place before the first group is promised, and gone before the redo log is.
 */
export class RedoMark {
  readonly path: string
  private readonly files: FileSystem
  private readonly directory: string
  private readonly file: CheckpointFile

  constructor(files: FileSystem, directory: string) {
    this.files = files
    this.directory = directory
    this.file = new CheckpointFile(files, directory, redoMarkName)
    this.path = this.file.path
  }

  /** Undefined when no redo log is needed. `run` is undefined in a file that is damaged: then it is not known which one is. */
  read(): { readonly run: number | undefined } | undefined {
    const text = this.file.read()
    if (text === undefined) return undefined
    const run = Number(/^version: 0\nrun: (-?\d{1,10})\n/.exec(text)?.[1] ?? NaN)
    return { run: text === textOf(run) ? run : undefined }
  }

  /** Durable when it returns. */
  write(run: number): void {
    this.file.write(textOf(run))
  }

  /** Durable when it returns. */
  remove(): void {
    if (this.files.stat(this.path) === undefined) return
    this.files.remove(this.path)
    this.files.syncDirectory(this.directory)
  }
}

function textOf(run: number): string {
  const text = `version: 0\nrun: ${run}\n`
  return `${text}crc32c: ${(crc32c(new TextEncoder().encode(text)) >>> 0).toString(16).padStart(8, '0')}\n`
}
