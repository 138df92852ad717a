import { type HardState } from '../../../kernel/consensus-log/store-layout.ts'
import { encodeWitness, encodeWitnessSlot, readWitness, witnessSlotAt, type WitnessReading } from '../../../kernel/consensus-log/witness.ts'
import { type File, type FileSystem } from '../../../kernel/ports/file-system.ts'

const witnessName = 'witness.dat'

/** The witness of the store in a directory (kernel/consensus-log/witness). One call at a time. */
export class WitnessFile {
  readonly path: string
  private readonly files: FileSystem
  private readonly directory: string
  private file: File | undefined

  constructor(files: FileSystem, directory: string) {
    this.files = files
    this.directory = directory
    this.path = `${directory}/${witnessName}`
  }

  /** Undefined when there is no such file. */
  read(): WitnessReading | undefined {
    if (this.files.stat(this.path) === undefined) return undefined
    const file = this.files.open(this.path, 'read')
    try {
      const bytes = new Uint8Array(file.size())
      return readWitness(bytes.subarray(0, file.read(bytes, 0, bytes.length, 0)))
    } finally {
      file.close()
    }
  }

  /** Durable when it returns; a crash leaves the whole file or none. */
  create(state: HardState): void {
    const file = this.files.open(`${this.path}.tmp`, 'ensure')
    try {
      file.truncate(0)
      file.write([encodeWitness(state)], 0)
      file.syncNow()
    } finally {
      file.close()
    }
    this.files.rename(`${this.path}.tmp`, this.path)
    this.files.syncDirectory(this.directory)
  }

  /** Durable when it resolves. The sequence of `state` follows that of the write before. A rejection is final: the file is not to be used again. */
  write(state: HardState): Promise<void> {
    const file = this.file ??= this.files.open(this.path, 'update')
    file.write([encodeWitnessSlot(state)], witnessSlotAt(state.sequence))
    return new Promise((resolve, reject) => {
      file.sync((error) => { if (error === undefined) resolve(); else reject(error as Error) })
    })
  }

  close(): void {
    this.file?.close()
    this.file = undefined
  }
}
