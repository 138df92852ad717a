import { type File, type FileSystem } from '../../kernel/ports/file-system.ts'
import { type Logger } from '../../kernel/ports/telemetry.ts'
import { type HeaderCheck } from './io/batch-scan.ts'
import { SegmentSums } from './io/segment-sums.ts'
import { type ReadSegment } from './segment-source.ts'

/** What a thread has to know of a closed segment, to read it through. */
export interface SegmentAsideFacts {
  readonly path: string
  readonly sumPath: string
  readonly sumHeader: Uint8Array
  readonly baseOffset: number
  readonly endOffset: number
  readonly sizeBytes: number
  /** Bytes from here on were written or checked by this process: the checksums of those before are looked at. */
  readonly trustedFrom: number
}

/** The segment is not as it was written, by one read of a thread: those who have the log see what is true of it. */
export class Suspicion extends Error {
  override readonly name = 'Suspicion'
  readonly baseOffset: number
  readonly position: number
  readonly reason: string

  constructor({ baseOffset }: { readonly baseOffset: number }, position: number, reason: string) {
    super(reason)
    this.baseOffset = baseOffset
    this.position = position
    this.reason = reason
  }
}

/** A segment that a thread reads through by its file. It stays open until `close`: so the bytes of one that was replaced are freed there and not where the broker has its event loop. */
export class SegmentAside implements ReadSegment {
  readonly baseOffset: number
  readonly endOffset: number
  readonly sizeBytes: number
  readonly isThere = true
  readonly check: HeaderCheck
  private readonly path: string
  private readonly files: FileSystem
  private file: File | undefined

  constructor(files: FileSystem, facts: SegmentAsideFacts) {
    this.baseOffset = facts.baseOffset
    this.endOffset = facts.endOffset
    this.sizeBytes = facts.sizeBytes
    this.path = facts.path
    this.files = files
    // Where they turn out to be wrong it is not the thread that gives them up.
    const doubting: Pick<Logger, 'warn'> = { warn: message => { throw new Suspicion(facts, 0, message) } }
    const sums = new SegmentSums({ files, logger: doubting }, facts.sumPath, facts.sumHeader, facts.baseOffset)
    this.check = (bytes, at, position) => position >= facts.trustedFrom ? undefined : sums.headerProblem(bytes, at, position)
  }

  use(): File { return this.file ??= this.files.open(this.path, 'read') }
  done(): void {}
  right(): void {}

  wrong(position: number, reason: string): void { throw new Suspicion(this, position, reason) }

  close(): void {
    this.file?.close()
    this.file = undefined
  }
}
