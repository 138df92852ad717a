import { MillraceError, isMillraceError } from '../../kernel/errors/index.ts'
import { type BrokerSettings } from '../../kernel/ports/broker-settings.ts'
import { DirectoryMembership, type MembershipOptions } from './directory-membership.ts'
import { type Uuid } from '../../kernel/model/ids.ts'
import { type LogDirectory } from './log-directory.ts'
import { type KnownOfLog } from './log-known.ts'
import { type LogWorld } from './log-world.ts'
import { hadRecords, hasBadLine, ofAnyTopic, parseDoubtful, parseTopicIds } from './lost-logs.ts'

/** Between two lines of progress while logs are loaded, and between two pauses for whatever else waits. */
const progressMs = 1000
const pauseMs = 50

/** `log.dirs`, or else `log.dir`. */
export function directoryPaths(settings: BrokerSettings): readonly string[] {
  const several = settings.list('log.dirs')
  return several.length > 0 ? several : settings.list('log.dir')
}

/**
 * Takes the directories into use. One whose disk fails is left out of service if another one serves; a directory that is somebody else's
 * ends the start, for whoever pointed the broker at it did not mean to; so does one that is missing. `goOn` throws when the start is to end.
 */
export async function openDirectories(directories: readonly LogDirectory[], options: MembershipOptions, goOn: () => void): Promise<void> {
  const membership = new DirectoryMembership(directories, options)
  membership.check()
  const seen = new Map<string, LogDirectory>()
  let failure: unknown
  for (const directory of directories) {
    goOn()
    if (directory.offline !== undefined) continue
    try {
      await directory.open()
    } catch (error) {
      if (!isMillraceError(error) || error.row.kind !== 'operational') throw error
      failure = error
      directory.fail(error)
      continue
    }
    const twin = seen.get(directory.data.id)
    if (twin !== undefined) throw new MillraceError('MR_LOG_DIRECTORY_COPIED', { first: twin.path, second: directory.path })
    seen.set(directory.data.id, directory)
  }
  if (seen.size > 0) membership.enter()
  if (directories.every(each => each.offline !== undefined)) throw failure ?? membership.failure
}

/** Loads every log of the directories and says how far it is. */
export class StoreLoader {
  private readonly world: LogWorld
  private readonly names = new Map<string, { readonly path: string, readonly topicId: Uuid | undefined }[]>()
  private readonly goOn: () => void
  private loaded = 0
  private scannedBytes = 0
  private redoneBytes = 0
  private cutBytes = 0
  private nextProgressMs = 0
  private nextPauseMs = 0

  /** `goOn` is asked between two logs; it throws when the start is to end. */
  constructor(world: LogWorld, goOn: () => void) {
    this.world = world
    this.goOn = goOn
  }

  async load(directory: LogDirectory): Promise<void> {
    const { logger, clock } = this.world
    const { data } = directory
    const recoveryPoints = data.readOffsets(data.recoveryPoints)
    const logStarts = data.readOffsets(data.logStarts)
    const startsSure = data.logStarts.hasChecksum
    const watermarks = data.readOffsets(data.watermarks) ?? new Map<string, number>()
    const cleanOffsets = data.readOffsets(data.cleanOffsets) ?? new Map<string, number>()
    const deleteHorizons = data.readOffsets(data.deleteHorizons) ?? new Map<string, number>()
    const topicIdText = data.topicIds.read()
    const topicIds = parseTopicIds(topicIdText ?? '')
    // Where there are neither, this is the first start here: what others have left may do without a checkpoint of log starts.
    if (logStarts === undefined && (topicIdText !== undefined || !data.isUnwritten(data.logStarts))) directory.lostStarts.lost()
    const known = (name: string): KnownOfLog => ({
      clean: data.clean,
      cache: data.cache,
      // A log that is not in the checkpoint was made after it was written: nothing of it is known to be on the disk.
      recoveryPoint: recoveryPoints === undefined ? undefined : recoveryPoints.get(name) ?? 0,
      startOffset: logStarts?.get(name) ?? 0,
      startSure: startsSure && logStarts?.get(name) !== undefined,
      highWatermark: watermarks.get(name) ?? 0,
      cleanedTo: cleanOffsets.get(name) ?? 0,
      nextHorizonMs: deleteHorizons.get(name) ?? Infinity,
      named: topicIds.get(name) === ofAnyTopic ? undefined : topicIds.get(name),
    })
    const partitions = directory.partitions()
    if (!data.clean && partitions.length > 0) {
      logger.info('the last stop was not clean: the ends of all logs are checked', {
        path: directory.path, logs: partitions.length, checks: data.cache === 'intact' ? 'structure: the system has not gone down since' : 'checksums',
      })
    }
    this.nextProgressMs = clock.monotonicMs() + progressMs
    this.nextPauseMs = clock.monotonicMs() + pauseMs
    for (const name of partitions) {
      this.goOn()
      const report = directory.load(name, known(name))
      if (report.isGone !== true) this.claim(name, directory)
      this.loaded++
      this.scannedBytes += report.scannedBytes
      this.redoneBytes += report.redoneBytes
      this.cutBytes += report.cutBytes
      await this.breathe(directory, partitions.length)
    }
    // The ids are on the disk before log starts are, which have a checksum where we have written them: others know of no such file.
    const idsLost = startsSure && (topicIdText === undefined || hasBadLine(topicIdText))
    const named = idsLost ? [...recoveryPoints?.keys() ?? [], ...watermarks.keys()].map(name => [name, ofAnyTopic] as const) : []
    const here = new Set([...partitions, ...parseDoubtful(topicIdText ?? '')])
    for (const [name, topicId] of new Map([...named, ...topicIds])) {
      if (!here.has(name) && hadRecords(known(name))) directory.lose(name, known(name), topicId)
    }
    directory.lostStarts.tell(directory.logs, logger, data.logStarts.path)
  }

  /** What was read and checked, written again from the redo log, and cut behind the last whole batch, in all directories so far. */
  get found(): { readonly checkedBytes: number, readonly redoneBytes: number, readonly cutBytes: number } {
    return { checkedBytes: this.scannedBytes, redoneBytes: this.redoneBytes, cutBytes: this.cutBytes }
  }

  /**
   * Two of one name may be there: a topic was deleted while the directory of its log was out of service, and made again in another. Whoever knows the topics says which is none any more. Two of one topic, or
   * of one that cannot be told, are refused.
   */
  private claim(name: string, { path, logs }: LogDirectory): void {
    const topicId = logs.get(name)?.id.topicId
    const before = this.names.get(name) ?? []
    const same = before.find(other => topicId === undefined || other.topicId === undefined || other.topicId === topicId)
    if (same !== undefined) throw new MillraceError('MR_LOG_PARTITION_TWICE', { partition: name, first: same.path, second: path })
    this.names.set(name, [...before, { path, topicId }])
  }

  private async breathe(directory: LogDirectory, total: number): Promise<void> {
    const nowMs = this.world.clock.monotonicMs()
    if (nowMs >= this.nextProgressMs) {
      this.nextProgressMs = nowMs + progressMs
      this.world.logger.info('loading logs', { path: directory.path, loaded: this.loaded, of: total, checkedBytes: this.scannedBytes })
    }
    if (nowMs < this.nextPauseMs) return
    this.nextPauseMs = nowMs + pauseMs
    await new Promise<void>(resolve => this.world.timers.soon(resolve))
  }
}
