import { MillraceError, isMillraceError } from '../../kernel/errors/index.ts'
import { type Clock } from '../../kernel/ports/clock.ts'
import { type DeviceSpace, type FileSystem } from '../../kernel/ports/file-system.ts'
import { type Logger } from '../../kernel/ports/telemetry.ts'
import { ReserveFile } from './io/reserve-file.ts'

/** Between two looks whether a full disk has space again. */
const lookMs = 1000

/** Where no reserve is kept, a disk that was full has to have so much free. */
const freeBytesMin = 1024 * 1024

export interface SpaceWorld {
  readonly clock: Clock
  readonly files: FileSystem
  readonly logger: Logger
}

/** The directory that the space is of. */
export interface SpaceOwner {
  readonly path: string
  readonly offline: MillraceError | undefined
  fault(error: unknown): unknown
}

/**
 * Whether there is room on the disk of a data directory, and the reserve for when there is none. An episode without room begins with the
 * first write that finds none and ends when the reserve is whole again: one line in the log for each of the two, none for what is refused
 * between them.
 */
export class DirectorySpace {
  private isFull = false
  private nextLookMs = 0
  private readonly world: SpaceWorld
  private readonly owner: SpaceOwner
  private readonly reserve: ReserveFile
  private readonly reserveBytes: number

  constructor(world: SpaceWorld, owner: SpaceOwner, reserveBytes: number) {
    this.world = world
    this.owner = owner
    this.reserveBytes = reserveBytes
    this.reserve = new ReserveFile(world.files, owner.path, reserveBytes)
  }

  get full(): boolean { return this.isFull }

  /** Looks whether an earlier start left a reserve. */
  find(): void {
    this.reserve.find()
  }

  /** See `LogHome.spend`. */
  spend<T>(run: () => T): T {
    try {
      return run()
    } catch (error) {
      if (!isMillraceError(error, 'MR_FILE_NO_SPACE') || !this.filled()) throw error
      return run()
    }
  }

  /** See `LogHome.checkSpace`. */
  check(): void {
    const nowMs = this.world.clock.monotonicMs()
    if (nowMs >= this.nextLookMs) {
      this.nextLookMs = nowMs + lookMs
      this.look()
    }
    if (this.owner.offline !== undefined) throw this.owner.offline
    if (this.isFull) throw new MillraceError('MR_FILE_NO_SPACE', { operation: 'append to', path: this.owner.path })
  }

  /** Makes the reserve whole if there is room for it; looks whether the disk is full. */
  look(): void {
    if (this.owner.offline !== undefined) return
    try {
      this.reserve.restore()
      this.become(!this.reserve.whole || (this.isFull && this.reserveBytes === 0 && this.world.files.space(this.owner.path).freeBytes < freeBytesMin))
    } catch (error) {
      if (!isMillraceError(this.owner.fault(error))) throw error
    }
  }

  /** See `LogHome.filled`. */
  filled(): boolean {
    const freed = this.reserve.release()
    if (freed) this.nextLookMs = 0
    this.become(true)
    return freed
  }

  /** Runs a step of a start. */
  starting<T>(run: () => T): T {
    try {
      return run()
    } catch (error) {
      throw this.startFailed(error)
    }
  }

  /** What ended a start; a full disk is told with what is to be done about it. */
  startFailed(error: unknown): unknown {
    if (!isMillraceError(error, 'MR_FILE_NO_SPACE')) return error
    const { path } = this.owner
    return new MillraceError('MR_LOG_DIRECTORY_FULL', { path, freeBytes: this.figures()?.freeBytes ?? 0, what: `${String(error.details.operation)} ${String(error.details.path)}` }, error)
  }

  /** Of its disk, now. Undefined where the directory is out of service, or the disk does not say. */
  figures(): DeviceSpace | undefined {
    if (this.owner.offline !== undefined) return undefined
    try {
      return this.world.files.space(this.owner.path)
    } catch (error) {
      if (!isMillraceError(error)) throw error
      return undefined
    }
  }

  private become(full: boolean): void {
    if (full === this.isFull) return
    this.isFull = full
    const { path } = this.owner
    if (!full) return this.world.logger.info('there is space on the disk again: appends go on', { path })
    this.world.logger.error('the disk is full: nothing is appended until there is space', {
      path, reserveBytes: this.reserveBytes, remedy: 'free space on the disk, delete topics or records, or lower their retention',
    })
  }
}

/** Whether as many files are open as may be: nothing is wrong with the disk then, and a later try may have one. */
export function lacksFiles(error: unknown): boolean {
  return isMillraceError(error, 'MR_FILE_FAILED') && ['EMFILE', 'ENFILE'].includes(String(error.details.reason))
}
