import { type Prng } from '../../../src/base/prng.ts'
import { isMillraceError } from '../../../src/kernel/errors/index.ts'
import { type PartitionLog } from '../../../src/kernel/ports/partition-log.ts'
import { batchesIn, type RecordBatch } from '../../../src/kernel/record/record-batch.ts'
import { append, makeBatch, readBytes } from '../../../src/testkit/conformance/log-store-subject.ts'
import { ManualTimers } from '../../../src/testkit/world/manual-clock.ts'
import { type MemoryFileSystem } from '../../../src/testkit/world/memory-file-system.ts'
import { makeStore, type TestStore } from '../../unit/plugins/storage-local/store-subjects.ts'
import { isRedo, makeFile } from '../grammar/file-grammar.ts'
import { type Specimen } from '../grammar/specimen.ts'
import { type ImageName, logSettings, makeStoreImage, putContent, storeConfig, type StoredBatch, type StoreImage } from '../grammar/store-images.ts'
import { Finding, type FuzzInput, type Target } from '../target.ts'

/** A batch up to its magic: base offset, length and leader epoch, which its checksum leaves out and the broker writes. */
const checksumStart = 16

/**
 * A data directory of which one file was changed. The store is started on it, read through, written to, stopped and started again. It may
 * refuse to start or fence a log, with an error of the table; a batch that it gives away is the one that was written, or its checksum
 * says that it is not, or nothing in Kafka's layout could have told.
 */
export class FilesTarget implements Target {
  readonly name = 'files'
  /** Two lives of a store, each with its buffers for reading and recovering. */
  readonly limitBytes = 256 * 1024 * 1024
  private readonly images: ReadonlyMap<string, StoreImage>

  private constructor(images: readonly StoreImage[]) {
    this.images = new Map(images.map(image => [image.name, image]))
  }

  static async open(): Promise<FilesTarget> {
    return new FilesTarget(await Promise.all((['stopped', 'killed'] as ImageName[]).map(makeStoreImage)))
  }

  make(prng: Prng): Specimen {
    return makeFile(prng.pick([...this.images.values()]), prng)
  }

  async run({ kind, bytes }: FuzzInput): Promise<string> {
    const [name, path] = kind.split(' ') as [string, string]
    const image = this.images.get(name)!
    const files = image.files.afterCrash({ keepUnsynced: 'all' })
    putContent(files, path, isRedo(path) ? filledUp(bytes, files.stat(path)!.bytes) : bytes)
    const first = await this.life(files, image)
    // What the first start has mended, the second finds sound: it says the same or less.
    const second = await this.life(files, image)
    return `${name} ${/[^/]*$/.exec(path)![0].replace(/\d+/g, '#')} ${first} | ${second}`
  }

  /** Start, read, append, stop. */
  private async life(files: MemoryFileSystem, image: StoreImage): Promise<string> {
    const timers = new ManualTimers(image.timers.clock)
    const life = makeStore({ files, timers, config: storeConfig })
    const words = new Set<string>()
    try {
      await life.store.start()
    } catch (error) {
      return `start ${codeOf(error)}`
    }
    for (const log of life.store.logs()) {
      const words1 = await this.readThrough(log, image)
      words.add(words1)
      if (words1 === 'whole') await this.appendTo(log)
    }
    await stop(life)
    return [...words].sort().join()
  }

  private async readThrough(log: PartitionLog, image: StoreImage): Promise<string> {
    const stored = image.logs.get(log.id.topic)
    if (stored === undefined) throw new Finding(`a log of ${log.id.topic} was never written`)
    const words = new Set<string>()
    try {
      log.configure(logSettings)
      let next = log.startOffset
      for (let reads = 0; next < log.endOffset; reads++) {
        if (reads > 1000) throw new Finding(`a log from ${log.startOffset} to ${log.endOffset} is read without an end`)
        const bytes = await readBytes({ settle: promise => promise }, log, { offset: next, maxBytes: 1000 })
        const before = next
        for (const batch of batchesIn(bytes)) {
          words.add(judge(batch, stored))
          next = Math.max(next, batch.nextOffset)
        }
        if (next === before) return `${[...words].sort().join('+')} ends`
      }
      log.locate(1000, log.endOffset)
      log.locate('max', log.endOffset)
      log.epochEnd(1)
    } catch (error) {
      if (error instanceof Finding) throw error
      words.add(codeOf(error))
    }
    return words.size === 0 || (words.size === 1 && words.has('original')) ? 'whole' : [...words].sort().join('+')
  }

  /** A log that seems sound takes a record and gives it back. */
  private async appendTo(log: PartitionLog): Promise<void> {
    try {
      const { baseOffset } = append(log, makeBatch(1), Math.max(0, log.lastEpoch))
      const bytes = await readBytes({ settle: promise => promise }, log, { offset: baseOffset })
      const [batch] = batchesIn(bytes)
      if (batch === undefined || batch.baseOffset !== baseOffset || !batch.crcValid()) throw new Finding('a record that was appended can not be read')
      log.truncateTo(baseOffset)
    } catch (error) {
      if (error instanceof Finding) throw error
      codeOf(error)
    }
  }
}

function filledUp(bytes: Uint8Array, size: number): Uint8Array {
  const filled = new Uint8Array(size)
  filled.set(bytes.subarray(0, size))
  return filled
}

/** What a reader makes of a batch. */
function judge(batch: RecordBatch, stored: readonly StoredBatch[]): string {
  if (!batch.crcValid()) return 'checksum'
  const bytes = batch.bytes.subarray(batch.at, batch.at + batch.sizeBytes)
  const original = stored.find(({ baseOffset }) => baseOffset === batch.baseOffset)
  if (original !== undefined && sameContent(original.bytes, bytes)) return 'original'
  // The checksum is right and the place is wrong: the batch was moved, or its base offset changed. Kafka's layout can not tell.
  if (stored.some(one => sameContent(one.bytes, bytes))) return 'misplaced'
  throw new Finding(`the batch at offset ${batch.baseOffset} was never written, and its checksum is right`)
}

function sameContent(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && Buffer.compare(left.subarray(checksumStart), right.subarray(checksumStart)) === 0
}

/** Of an error of the table; everything else was not foreseen. */
function codeOf(error: unknown): string {
  if (!isMillraceError(error)) throw error
  return error.code
}

async function stop({ store, fatalErrors, logger }: TestStore): Promise<void> {
  await store.stop()
  for (const error of fatalErrors) codeOf(error)
  for (const { level, fields } of logger.lines) if (level === 'error' && fields['error'] !== undefined) codeOf(fields['error'])
}
