import { Prng } from '../../src/base/prng.ts'
import { isMillraceError } from '../../src/kernel/errors/index.ts'
import { type PartitionLog } from '../../src/kernel/ports/partition-log.ts'
import { type SegmentedLogStore } from '../../src/plugins/storage-local/segmented-log-store.ts'
import { makeBatch } from '../../src/testkit/conformance/log-store-subject.ts'
import { ManualTimers } from '../../src/testkit/world/manual-clock.ts'
import { makeStore, type LinesLogger } from '../unit/plugins/storage-local/store-subjects.ts'
import { type Damage } from './damages.ts'
import { cleanerOff, firstSince, isFromLog, lastOf, storeConfig, type Library, type WrittenBatch, type WrittenLog } from './library.ts'

/** `intact`: everything that was written is served. `fenced`: some is refused, with an error that says so. `refused`: the store did not start. */
export type CaseEnd = 'intact' | 'fenced' | 'refused'

export interface CaseResult {
  readonly end: CaseEnd
  /** Batches that were not served, and logs of which nothing was. */
  readonly rotten: number
  readonly logsOut: number
}

/** What must not be. */
export class Violation extends Error {}

/** Damages a copy of the library's disk, starts a store on it, and asks it for everything. Throws a Violation when a wrong byte is served, or one is missing without a word. */
export async function runCase(library: Library, damage: Damage, seed: number): Promise<CaseResult> {
  const files = library.files.afterCrash({ keepUnsynced: 'all' })
  damage.apply(files)
  const { store, logger } = makeStore({ files, timers: new ManualTimers(), config: storeConfig, settings: cleanerOff })
  try {
    await store.start()
  } catch (error) {
    if (!isMillraceError(error)) throw error
    await store.stop()
    return { end: 'refused', rotten: 0, logsOut: library.logs.length }
  }
  const prng = new Prng(seed)
  const check = new StoreCheck(store, logger, library, damage, prng)
  for (const log of library.logs) await check.log(log)
  await store.stop()
  return { end: check.rotten + check.logsOut > 0 ? 'fenced' : 'intact', rotten: check.rotten, logsOut: check.logsOut }
}

const outOfService = new Set(['MR_LOG_CORRUPT', 'MR_LOG_MISSING', 'MR_LOG_DIRECTORY_OFFLINE', 'MR_RECORD_CORRUPT'])

class StoreCheck {
  rotten = 0
  logsOut = 0
  private readonly store: SegmentedLogStore
  private readonly logger: LinesLogger
  private readonly library: Library
  private readonly damage: Damage
  private readonly prng: Prng

  constructor(store: SegmentedLogStore, logger: LinesLogger, library: Library, damage: Damage, prng: Prng) {
    this.store = store
    this.logger = logger
    this.library = library
    this.damage = damage
    this.prng = prng
  }

  async log(written: WrittenLog): Promise<void> {
    const log = this.store.find(written.id.topicId, written.id.partition)
    if (log === undefined) return this.out(written, 'it is not there')
    try {
      log.configure(written.settings)
    } catch (error) {
      return this.out(written, error)
    }
    const end = this.endOf(written, log)
    if (log.startOffset !== written.start) this.claim(this.told(written), `the log ${name(written)} begins at ${log.startOffset}, not ${written.start}, without a word`)
    const lost = await this.readAll(written, log, end)
    if (lost === 'out') return
    await this.lookUps(written, log, end, lost)
    if (end === written.end) await this.goOn(written, log)
  }

  /** A log ends where it ended; after a crash what was not flushed may be set aside, which is told. */
  private endOf(written: WrittenLog, log: PartitionLog): number {
    const { endOffset } = log
    if (endOffset === written.end) return endOffset
    const mayBeShorter = this.library.ended === 'killed' && endOffset < written.end && endOffset >= written.start && this.told(written)
    this.claim(mayBeShorter, `the log ${name(written)} ends at ${endOffset}, not ${written.end}`)
    if (written.settings.durability === 'fsync') this.claim(endOffset >= written.flushed || this.touches(/redo/), `the log ${name(written)} ends at ${endOffset}, and was flushed up to ${written.flushed}`)
    this.rotten++
    return endOffset
  }

  /** Reads from the start to the end, past what is refused. Gives the batches that are. */
  private async readAll(written: WrittenLog, log: PartitionLog, end: number): Promise<Set<WrittenBatch> | 'out'> {
    const lost = new Set<WrittenBatch>()
    for (let offset = Math.max(log.startOffset, written.start); offset < end;) {
      const answer = await read(log, offset, end, this.prng.pick([1, 300, 100_000]))
      if (answer instanceof Uint8Array) {
        this.claim(answer.length > 0, `a read at ${offset} of ${name(written)}, which ends at ${end}, gives nothing`)
        const wrong = isFromLog(written, offset, answer)
        this.claim(wrong === undefined, `a read at ${offset} of ${name(written)}: ${wrong}`)
        offset = lastOf(answer) + 1
        continue
      }
      if (!isMillraceError(answer, 'MR_LOG_ROTTEN')) {
        this.out(written, answer)
        return 'out'
      }
      const next = Number(answer.details.next)
      // Where compaction has taken what was there, the batch that is asked for begins behind.
      const base = written.batches.find(each => each.last >= offset)?.base ?? offset
      this.claim(next > offset && Number(answer.details.first) <= Math.max(offset, base), `a read at ${offset} of ${name(written)} is told to go on at ${next}`)
      for (const batch of written.batches) if (batch.last >= offset && batch.base < next && batch.base < end) lost.add(batch)
      offset = next
    }
    for (const batch of lost) {
      this.rotten++
      this.claim(!this.isSafe(written, batch), `the batch at ${batch.base} of ${name(written)} is refused, and nothing is wrong with it`)
    }
    return lost
  }

  private async lookUps(written: WrittenLog, log: PartitionLog, end: number, lost: ReadonlySet<WrittenBatch>): Promise<void> {
    for (let count = 0; count < 6; count++) {
      const offset = this.prng.between(written.start, end - 1)
      const answer = await read(log, offset, end, 1)
      const batch = written.batches.find(each => each.last >= offset)!
      if (answer instanceof Uint8Array) {
        const wrong = isFromLog(written, offset, answer)
        this.claim(answer.length > 0 && wrong === undefined, `a read at ${offset} of ${name(written)} afterwards: ${wrong ?? 'nothing'}`)
      } else this.claim(lost.has(batch), `a read at ${offset} of ${name(written)} fails afterwards: ${String(answer)}`)
      if (end === written.end) this.time(written, log, this.prng.pick(written.batches.filter(({ timestamps }) => timestamps.length > 0)).timestamps[0]! + this.prng.between(-1, 1))
    }
    for (const [epoch, expected] of written.epochEnds) {
      // Made anew from its batches, an epoch of a compacted log begins where its first record is that is left.
      if (end !== written.end || (written.settings.compact && this.touches(`/data/${name(written)}/leader-epoch-checkpoint`))) continue
      const found = log.epochEnd(epoch)
      this.claim(found?.leaderEpoch === expected?.leaderEpoch && found?.endOffset === expected?.endOffset, `epoch ${epoch} of ${name(written)} ends at ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`)
    }
  }

  private time(written: WrittenLog, log: PartitionLog, timestamp: number): void {
    try {
      const found = log.locate(timestamp, log.endOffset)
      const expected = firstSince(written, timestamp)
      this.claim(found?.offset === expected?.offset && found?.timestamp === expected?.timestamp || log.startOffset !== written.start,
        `time ${timestamp} of ${name(written)} is at ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`)
    } catch (error) {
      this.claim(isMillraceError(error, 'MR_LOG_ROTTEN'), `time ${timestamp} of ${name(written)}: ${String(error)}`)
    }
  }

  /** A batch that was there is known when it comes again; one that was not goes to the end, and is there. */
  private async goOn(written: WrittenLog, log: PartitionLog): Promise<void> {
    const origin = { role: 'leader', leaderEpoch: Math.max(0, log.lastEpoch) } as const
    if (written.retry !== undefined) {
      const bytes = written.retry.bytes.slice()
      const outcome = log.append(bytes, 0, bytes.length, origin)
      this.claim(outcome.duplicate && outcome.baseOffset === written.retry.base, `a batch of ${name(written)} that comes again is appended at ${outcome.baseOffset}`)
    }
    const fresh = makeBatch([{ timestamp: 9000, value: 'appended after the damage' }])
    const { baseOffset } = log.append(fresh, 0, fresh.length, origin)
    this.claim(baseOffset === written.end, `the next batch of ${name(written)} is at ${baseOffset}, not ${written.end}`)
    const answer = await read(log, baseOffset, log.endOffset, 1)
    this.claim(answer instanceof Uint8Array && answer.length === fresh.length && answer.every((byte, index) => byte === fresh[index]), `what is appended to ${name(written)} then cannot be read: ${String(answer)}`)
  }

  /** Nothing is served of a log: there has to be a reason, and a word. */
  private out(written: WrittenLog, why: unknown): void {
    this.logsOut++
    if (typeof why !== 'string') this.claim(isMillraceError(why) && outOfService.has(why.code), `${name(written)} fails with ${String(why)}`)
    this.claim(this.told(written), `${name(written)} is not served, without a word`)
    const harmless = /\.(sum|index|timeindex)$/
    this.claim(this.damage.paths.some(path => !harmless.test(path) && (path.includes(`/${name(written)}/`) || !path.includes('-0/') && !path.includes('-1/'))),
      `${name(written)} is not served, and its records are as they were: ${String(why)}`)
  }

  /** The bytes of the batch are as they were, and the checksums of its segment may be asked about it. */
  private isSafe(written: WrittenLog, batch: WrittenBatch): boolean {
    const stem = `/data/${name(written)}/${String(batch.segmentBase).padStart(20, '0')}`
    if (!this.touches(`${stem}.log`)) return true
    if (this.touches(`${stem}.sum`)) return false
    const files = this.library.files.afterCrash({ keepUnsynced: 'all' })
    this.damage.apply(files)
    const file = files.open(`${stem}.log`, 'read')
    const found = new Uint8Array(batch.bytes.length)
    return file.read(found, 0, found.length, batch.position) === found.length && found.every((byte, index) => byte === batch.bytes[index])
  }

  private touches(path: string | RegExp): boolean {
    return this.damage.paths.some(each => typeof path === 'string' ? each === path : path.test(each))
  }

  private told(written: WrittenLog): boolean {
    return this.logger.lines.some(({ level, message, fields }) => level !== 'info' &&
      (`${message} ${JSON.stringify(fields)}`.includes(name(written)) || /checkpoint|directory/.test(message)))
  }

  private claim(holds: boolean, what: string): void {
    if (!holds) throw new Violation(`${what}; ${this.library.ended}, ${this.damage.what}`)
  }
}

const name = ({ id }: WrittenLog): string => `${id.topic}-${id.partition}`

function read(log: PartitionLog, offset: number, endOffset: number, maxBytes: number): Promise<unknown> {
  return new Promise(resolve => {
    log.read({ offset, endOffset, maxBytes, atLeastOneBatch: true }, {
      read(bytes, release) {
        const copy = bytes.slice()
        release()
        resolve(copy)
      },
      failed: resolve,
    })
  })
}
