import { uuidBytes, type Uuid } from '../../base/uuid.ts'
import { type PartitionId } from '../../kernel/model/ids.ts'
import { type LogPoints, type RedoPlan } from './core/redo-history.ts'
import { type SyncMode } from './core/sync-pace.ts'
import { flushAll } from './log-sync.ts'
import { type RecoveryPoints } from './recovery-points.ts'
import { type SegmentedLog } from './segmented-log.ts'
import { type RedoFigures } from './metrics.ts'
import { RedoLog, type RedoMember, type RedoWorld } from './redo-log.ts'
import { RedoRecovery } from './redo-recovery.ts'

const mebibyte = 1024 * 1024
/** Beyond it what a group has is better synced where it belongs. */
const groupBytesMax = mebibyte
const filesMax = 16

export interface DirectoryRedoOptions {
  /** 0: there is none. */
  readonly bytesMax: number
  readonly syncMode: SyncMode
  readonly failed: (error: unknown) => void
  readonly settle: (logs: readonly RedoMember[], done: (error: unknown) => void) => void
}

/** The redo log of one data directory, from what the last process left to the one that is written. */
export class DirectoryRedo {
  /** Takes what is appended; from `open` on. */
  log: RedoLog | undefined
  private readonly world: RedoWorld
  private readonly directory: string
  private readonly options: DirectoryRedoOptions
  private readonly recovery: RedoRecovery

  constructor(world: RedoWorld, directory: string, options: DirectoryRedoOptions) {
    this.world = world
    this.directory = directory
    this.options = options
    this.recovery = new RedoRecovery(world.files, world.logger, directory)
  }

  /** Reads what is there, if it counts: after a clean stop everything is where it belongs. Throws MR_LOG_REDO_CORRUPT or MR_LOG_REDO_MISSING. */
  open(directoryId: Uuid, clean: boolean, run: number): void {
    const id = Uint8Array.from(uuidBytes(directoryId))
    if (!clean) this.recovery.read(id)
    const { bytesMax, syncMode, failed, settle } = this.options
    if (bytesMax === 0) return
    const fileBytes = Math.max(mebibyte / 4, Math.ceil(bytesMax / filesMax / 4096) * 4096)
    this.log = new RedoLog(this.world, this.directory, { directoryId: id, run, fileBytes, bytesMax, groupBytesMax: Math.min(groupBytesMax, fileBytes / 4), syncMode, failed, settle })
  }

  /** What is to be done for a log that is there. */
  take(topicId: Uuid, partition: number, points: LogPoints): RedoPlan | undefined {
    return this.recovery.take(topicId, partition, points)
  }

  /** The log could not be brought into service: what there is of it is kept beside, see `begin`. */
  giveBack({ topicId, partition }: PartitionId): void {
    this.recovery.giveBack(topicId, partition)
  }

  /** Whether there are batches of a log that nothing says of that it was removed. */
  has(topicId: Uuid, partition: number): boolean {
    return this.recovery.has(topicId, partition)
  }

  hasOrphansOf(partition: number): boolean {
    return this.recovery.hasOrphansOf(partition)
  }

  /** All logs are loaded, on the disk, and the recovery points say so: what was left counts no more, but for a partition that is awaited. */
  begin(drawHex: () => string, isAwaited: (partition: number) => boolean): void {
    this.recovery.quarantine(drawHex, isAwaited)
    this.recovery.retire()
  }

  /** Everything is on the disk where it belongs, and the recovery points say so. */
  end(): void {
    this.close()
    this.recovery.retire()
  }

  /** A log is to be made. See `RedoLog.anew`. */
  anew({ topicId, partition }: PartitionId): void {
    this.log?.anew({ topicIdBytes: Uint8Array.from(uuidBytes(topicId)), partition })
  }

  figures(): readonly RedoFigures[] {
    const { log } = this
    return log === undefined ? [] : [{ path: this.directory, ...log.counts, bytesInUse: log.ring.bytesInUse }]
  }

  /** Nothing is written any more. */
  close(): void {
    this.log?.close()
  }
}

/** Brings the logs so far that recovery needs nothing of the redo log below what they have now. */
export function settleLogs(logs: readonly SegmentedLog[], points: RecoveryPoints, writePoints: () => void, done: (error: unknown) => void): void {
  flushAll(logs, error => {
    if (error !== undefined) return done(error)
    points.advance(logs.map(log => log.state), failure => {
      if (failure !== undefined) return done(failure)
      try {
        // The round may have left the file's name to the next sync of the directory, and the text to a later round.
        writePoints()
      } catch (thrown) {
        return done(thrown)
      }
      done(undefined)
    })
  })
}
