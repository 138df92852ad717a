import { uuidFromBytes } from '../../base/uuid.ts'
import { MillraceError } from '../../kernel/errors/index.ts'
import { crcValid } from '../../kernel/record/batch-header.ts'
import { type File, type FileSystem } from '../../kernel/ports/file-system.ts'
import { type Logger } from '../../kernel/ports/telemetry.ts'
import { groupsIn, type RedoEntry, type RedoGroup } from './core/redo-group.ts'
import { cutOffFile, entriesByLog, holdsBatch, missingFile, orderGroups, planKey, planLog, RedoHole, type LogPoints, type RedoPlan } from './core/redo-history.ts'
import { markedDirectory, segmentFileName } from './core/segment-name.ts'
import { readWhole } from './io/index-file.ts'
import { KeptRedo } from './io/kept-redo.ts'
import { redoDirectoryName } from './io/redo-files.ts'
import { RedoMark } from './io/redo-mark.ts'

/**
 * What the redo log of a directory holds when it is taken into use. `read`, then a plan for each log that is there, `quarantine` for what
 * belongs to none, and, when all that was kept is on the disk and the recovery points say so, `retire`. A crash before that does no harm:
 * all of it is done again, with the same outcome.
 */
export class RedoRecovery {
  private readonly files: FileSystem
  private readonly logger: Logger
  private readonly directory: string
  private readonly mark: RedoMark
  private readonly kept: KeptRedo
  private directoryId = new Uint8Array(0)
  private entries = new Map<string, RedoEntry[]>()
  /** Of logs that are there. */
  private readonly taken = new Set<string>()
  /** Of logs that could not be brought into service. */
  private readonly refused = new Set<string>()
  /** Of logs for which a start before has kept them: how many. */
  private readonly keptEntries = new Map<string, number>()

  constructor(files: FileSystem, logger: Logger, directory: string) {
    this.files = files
    this.logger = logger
    this.directory = directory
    this.mark = new RedoMark(files, directory)
    this.kept = new KeptRedo(files, directory)
  }

  private get path(): string { return `${this.directory}/${redoDirectoryName}` }

  /** Throws MR_LOG_REDO_CORRUPT or MR_LOG_REDO_MISSING when something that was on the disk is there no more. */
  read(directoryId: Uint8Array): void {
    this.directoryId = Uint8Array.from(directoryId)
    this.entries = entriesByLog(this.groups())
    for (const [key, entries] of this.orRefuse(() => this.kept.read())) {
      this.keptEntries.set(key, entries.length)
      this.entries.set(key, [...entries, ...this.entries.get(key) ?? []])
    }
  }

  private orRefuse<T>(run: () => T): T {
    try {
      return run()
    } catch (error) {
      if (!(error instanceof RedoHole)) throw error
      throw this.corrupt(error.message, error)
    }
  }

  private groups(): RedoGroup[] {
    const there = this.files.stat(this.path)
    const needed = this.mark.read()
    if (there === undefined) {
      if (needed !== undefined) throw this.missing('there is none')
      return []
    }
    if (there.kind !== 'directory') throw this.corrupt('it is no directory')
    const found: RedoGroup[] = []
    let foreign = false
    const names = this.files.list(this.path).filter(name => name.endsWith('.redo'))
    const sizes = new Map<string, number>()
    for (const name of names) {
      if (this.files.stat(`${this.path}/${name}`)?.kind !== 'file') throw this.corrupt(`${name} is no file`)
      const bytes = readWhole(this.files, `${this.path}/${name}`) ?? new Uint8Array(0)
      sizes.set(name, bytes.length)
      for (const group of groupsIn(bytes, this.directoryId)) found.push(group)
      foreign ||= found.length === 0 && groupsIn(bytes).next().done === false
    }
    if (found.length === 0 && foreign) {
      // Nothing else is ever left here: what was acknowledged last may be in there alone.
      throw this.corrupt('what is in it was written under another directory.id than meta.properties has')
    }
    const missing = missingFile(names)
    if (found.length > 0 && missing !== undefined) throw this.corrupt(`the file ${missing} is missing`)
    if (needed !== undefined && names.length === 0) throw this.missing('it has no files')
    const cutOff = cutOffFile(sizes)
    if (found.length > 0 && cutOff !== undefined) throw this.corrupt(`the file ${cutOff} was cut off`)
    const groups = this.orRefuse(() => orderGroups(found))
    // All are of one run.
    const run = found[0]?.run
    if (run !== undefined && needed?.run !== undefined && run !== needed.run) throw this.missing(`what is there was written by another run of the broker: ${run}, not ${needed.run}`)
    return groups
  }

  private corrupt(reason: string, cause?: unknown): MillraceError {
    return new MillraceError('MR_LOG_REDO_CORRUPT', { path: this.path, reason }, cause)
  }

  private missing(reason: string): MillraceError {
    return new MillraceError('MR_LOG_REDO_MISSING', { path: this.path, mark: this.mark.path, reason })
  }

  /** For a log that is there. Undefined when it says nothing of it. */
  take(topicId: string, partition: number, points: LogPoints): RedoPlan | undefined {
    const key = planKey(topicId, partition)
    const entries = this.entries.get(key)
    this.taken.add(key)
    return entries === undefined ? undefined : planLog(entries, points)
  }

  /** It could not be put back. */
  giveBack(topicId: string, partition: number): void {
    this.taken.delete(planKey(topicId, partition))
    this.refused.add(planKey(topicId, partition))
  }

  /** Whether there are batches of a partition with this number that is not there, nor was removed. All logs that are there are taken. */
  hasOrphansOf(partition: number): boolean {
    for (const [key, plan] of this.orphans()) if (plan.partition === partition && !this.refused.has(key)) return true
    return false
  }

  /** Whether there are batches of a log that nothing says of that it was removed. */
  has(topicId: string, partition: number): boolean {
    return this.planOf(planKey(topicId, partition)) !== undefined
  }

  private* orphans(): Generator<readonly [string, RedoPlan]> {
    for (const key of this.entries.keys()) {
      const plan = this.taken.has(key) ? undefined : this.planOf(key)
      if (plan !== undefined) yield [key, plan]
    }
  }

  private planOf(key: string): RedoPlan | undefined {
    const entries = this.entries.get(key)
    const plan = entries === undefined ? undefined : planLog(entries, { recoveryPoint: 0, startOffset: 0 })
    return plan === undefined || plan.removed || plan.batches.length === 0 ? undefined : plan
  }

  /**
   * Batches of logs that are not there, or not in service, and were not removed. Those that may be of a partition whose directory does not say for sure of which topic it
   * is, `isAwaited` by its number, are kept for it: see `KeptRedo`. Others are put where somebody may look at them. `drawHex` gives 32 digits.
   */
  quarantine(drawHex: () => string, isAwaited: (partition: number) => boolean): void {
    for (const [key, plan] of this.orphans()) {
      const entries = this.entries.get(key)!
      if (isAwaited(plan.partition) && !this.refused.has(key)) {
        if (this.keptEntries.get(key) !== entries.length) this.kept.keep(key, entries, this.directoryId)
        this.keptEntries.delete(key)
        continue
      }
      const topicId = uuidFromBytes(entries[0]!.topicId)
      const path = `${this.directory}/${markedDirectory(`redo-${topicId}`, plan.partition, drawHex(), 'stray')}`
      this.files.makeDirectory(path)
      putBatches(this.files, path, oneBehindTheOther(plan.batches))
      this.files.syncDirectory(this.directory)
      this.logger.error('the redo log has records of a partition that is not there, or not served: they were put aside', { topicId, partition: plan.partition, path, batches: plan.batches.length })
    }
    this.entries.clear()
    this.taken.clear()
    this.refused.clear()
  }

  /** Takes the files out of sight in one step: what they hold counts no more. */
  retire(): void {
    const { files } = this
    for (const name of files.list(this.directory)) if (name.startsWith(`${redoDirectoryName}.`)) files.remove(`${this.directory}/${name}`)
    this.mark.remove()
    this.kept.drop([...this.keptEntries.keys()])
    this.keptEntries.clear()
    if (files.stat(this.path) === undefined) return
    const retired = `${this.path}.deleted`
    files.rename(this.path, retired)
    files.syncDirectory(this.directory)
    files.remove(retired)
  }
}

function oneBehindTheOther(batches: readonly RedoEntry[]): RedoEntry[] {
  let position = 0
  return batches.map(batch => {
    const placed = { ...batch, segmentBase: batches[0]!.offset, position }
    position += batch.bytes.length
    return placed
  })
}

/** Puts batches where they were in their segments, as far as they are not there; durably. Gives the bytes that were written. */
export function putBatches(files: FileSystem, directory: string, batches: readonly RedoEntry[]): number {
  const open = new Map<number, { readonly file: File, changed: boolean }>()
  let written = 0
  try {
    for (const batch of batches) {
      if (!holdsBatch(batch) || !crcValid(batch.bytes, 0)) continue
      let segment = open.get(batch.segmentBase)
      if (segment === undefined) open.set(batch.segmentBase, segment = { file: files.open(`${directory}/${segmentFileName(batch.segmentBase, '.log')}`, 'ensure'), changed: false })
      if (isThere(segment.file, batch)) continue
      segment.file.write([batch.bytes], batch.position)
      segment.changed = true
      written += batch.bytes.length
    }
    for (const { file, changed } of open.values()) if (changed) file.syncNow()
  } finally {
    for (const { file } of open.values()) file.close()
  }
  if (written > 0) files.syncDirectory(directory)
  return written
}

function isThere(file: File, { bytes, position }: RedoEntry): boolean {
  const there = new Uint8Array(bytes.length)
  if (file.read(there, 0, bytes.length, position) < bytes.length) return false
  for (let index = 0; index < bytes.length; index++) if (there[index] !== bytes[index]) return false
  return true
}
