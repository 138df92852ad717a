import { crc32c } from '../../../base/crc32c.ts'
import { type File, type FileSystem } from '../../../kernel/ports/file-system.ts'
import { type Logger } from '../../../kernel/ports/telemetry.ts'
import { batchBytesOf } from '../../../kernel/record/batch-header.ts'
import { SegmentIndexes } from '../core/segment-indexes.ts'
import { segmentFileName, type SegmentSuffix } from '../core/segment-name.ts'
import { SegmentSums } from './segment-sums.ts'

export interface CleanedFacts {
  /** Of the partition. */
  readonly directory: string
  readonly baseOffset: number
  /** Where the next segment begins. */
  readonly endOffset: number
  readonly intervalBytes: number
  /** What its `.sum` begins with. */
  readonly sumHeader: Uint8Array
}

/** So much is written between two syncs: one of a whole segment would hold up those that producers wait for. */
const syncEveryBytes = 8 * 1024 * 1024



/** Where a file of it is: until all of it is durable, and then, but for the `.log`, until that has taken its name. */
export function cleanedPath({ directory, baseOffset }: Pick<CleanedFacts, 'directory' | 'baseOffset'>, suffix: SegmentSuffix, stage: '.cleaned' | '.swap' = '.cleaned'): string {
  return `${directory}/${segmentFileName(baseOffset, suffix)}${stage}`
}

/** The kinds of files beside it. The `.sum` comes first, for it says what the others are worth. */
export const besideCleaned = ['.sum', '.index', '.timeindex'] as const

/** It is not wanted. */
export function discardCleaned(files: FileSystem, facts: CleanedFacts): void {
  for (const suffix of ['.log', ...besideCleaned] as const) files.remove(cleanedPath(facts, suffix))
  for (const suffix of [...besideCleaned].reverse()) files.remove(cleanedPath(facts, suffix, '.swap'))
}

/** The files of a segment that is to take the place of others, under names that a start removes: written, then made durable by `finish`. */
export class CleanedSegment {
  sizeBytes = 0
  private readonly files: FileSystem
  private readonly facts: CleanedFacts
  private readonly file: File
  private readonly indexes: SegmentIndexes
  private readonly sums: SegmentSums
  private readonly pieces: Uint8Array[] = []
  private gathered = 0
  private unsynced = 0
  private isOpen = true

  constructor(world: { readonly files: FileSystem, readonly logger: Pick<Logger, 'warn'> }, facts: CleanedFacts) {
    this.files = world.files
    this.facts = facts
    this.indexes = SegmentIndexes.empty(facts.baseOffset)
    this.sums = new SegmentSums(world, cleanedPath(facts, '.sum'), facts.sumHeader, facts.baseOffset)
    this.file = this.files.open(cleanedPath(facts, '.log'), 'ensure')
    try {
      this.file.truncate(0)
      this.sums.begin()
    } catch (error) {
      this.close()
      throw error
    }
  }

  /** Adds a whole batch, behind all others. The bytes must not change until the next `write`. */
  append(batch: Uint8Array): void {
    const length = batchBytesOf(batch, 0)
    const position = this.sizeBytes + this.gathered
    this.indexes.count(batch, 0, length, position, this.facts.intervalBytes)
    this.sums.append(batch, 0, position)
    this.pieces.push(batch)
    this.gathered += length
  }

  write(): void {
    if (this.gathered === 0) return
    this.file.write(this.pieces, this.sizeBytes)
    this.sizeBytes += this.gathered
    this.unsynced += this.gathered
    this.gathered = 0
    this.pieces.length = 0
  }

  /** Whether so much was written that it is to be synced. */
  get isDue(): boolean { return this.unsynced >= syncEveryBytes }

  /** Makes the batches durable, off the event loop. */
  sync(): Promise<void> {
    this.unsynced = 0
    return synced(this.file)
  }

  /** All batches are there: writes what is beside them and makes everything durable, also that what is beside them is to take the place of others, once they do. */
  async finish(): Promise<void> {
    this.write()
    this.indexes.close()
    const [offsets, times] = [this.indexes.offsets.encode(), this.indexes.times.encode()]
    const { endOffset } = this.facts
    this.sums.close({ kind: 'closed', sizeBytes: this.sizeBytes, endOffset, indexCrc: crc32c(offsets), timeIndexCrc: crc32c(times) })
    await this.sync()
    await this.writeBeside('.index', offsets)
    await this.writeBeside('.timeindex', times)
    await new Promise<void>((resolve, reject) => {
      this.sums.sync(error => {
        if (error === undefined) resolve()
        else reject(error as Error)
      })
    })
    this.close()
    this.nameBeside()
  }

  /** Without the `.sum.swap` nobody could tell whether the others are of the segment that is there. */
  private nameBeside(): void {
    const { files, facts } = this
    for (const suffix of besideCleaned) {
      files.rename(cleanedPath(facts, suffix), cleanedPath(facts, suffix, '.swap'))
      if (suffix === '.sum') files.syncDirectory(facts.directory)
    }
    files.syncDirectory(facts.directory)
  }

  /** Nothing more is written; the files are left for `discard`. */
  close(): void {
    if (this.isOpen) this.file.close()
    this.isOpen = false
  }

  private async writeBeside(suffix: SegmentSuffix, bytes: Uint8Array): Promise<void> {
    const file = this.files.open(cleanedPath(this.facts, suffix), 'ensure')
    try {
      file.truncate(0)
      file.write([bytes], 0)
      await synced(file)
    } finally {
      file.close()
    }
  }
}

function synced(file: File): Promise<void> {
  return new Promise((resolve, reject) => {
    file.sync(error => {
      if (error === undefined) resolve()
      else reject(error as Error)
    })
  })
}
