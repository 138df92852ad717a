import { randomUuid, type Uuid } from '../../../base/uuid.ts'
import { MillraceError, isMillraceError } from '../../../kernel/errors/index.ts'
import { parsePartitionOffsets, type PartitionOffsets } from '../../../kernel/log/checkpoint-text.ts'
import { type BrokerIdentity } from '../../../kernel/ports/broker-identity.ts'
import { type Random } from '../../../kernel/ports/clock.ts'
import { type FileSystem } from '../../../kernel/ports/file-system.ts'
import { type KeyValueEngine, type KeyValueStore } from '../../../kernel/ports/key-value-store.ts'
import { type PageCache } from '../../../kernel/ports/page-cache.ts'
import { type Logger } from '../../../kernel/ports/telemetry.ts'
import { parsePartitionDirectory } from '../core/segment-name.ts'
import { formatDirectoryList, type ListedDirectory } from '../core/directory-list.ts'
import { formatMetaProperties } from '../core/meta-properties.ts'
import { type FoundDirectory } from '../core/missing-directories.ts'
import { CacheLife, type FoundCache } from './cache-life.ts'
import { CheckpointFile } from './checkpoint-file.ts'
import { directoryListName, findDirectory } from './found-directory.ts'
import { readWhole } from './index-file.ts'

export interface DataDirectoryWorld {
  readonly files: FileSystem
  readonly pageCache: PageCache
  readonly engine: KeyValueEngine
  readonly random: Random
  readonly logger: Logger
  readonly identity: BrokerIdentity
}

const cleanMarkerName = '.kafka_cleanshutdown'

/**
 * One of `log.dirs`: whose it is, that nobody else has it, how it was left, and its checkpoints. What a broker finds here belongs to the
 * cluster and node of `meta.properties`; the lock is a small key-value store at `.lock`, since Node has no file locks.
 */
export class DataDirectory {
  readonly path: string
  readonly recoveryPoints: CheckpointFile
  readonly logStarts: CheckpointFile
  readonly watermarks: CheckpointFile
  readonly cleanOffsets: CheckpointFile
  readonly deleteHorizons: CheckpointFile
  /** Of the logs that the others name. */
  readonly topicIds: CheckpointFile
  /** Drawn when the directory was first used. */
  id: Uuid = ''
  /** What it said of itself when it was locked. */
  found: FoundDirectory | undefined
  /** The last stop was clean. */
  clean = false
  cache: FoundCache = 'doubtful'
  private readonly world: DataDirectoryWorld
  private readonly meta: CheckpointFile
  private readonly list: CheckpointFile
  private readonly cleanMarker: CheckpointFile
  private readonly life: CacheLife
  private lock: KeyValueStore | undefined
  private made = false

  constructor(path: string, world: DataDirectoryWorld) {
    this.path = path
    this.world = world
    const file = (name: string): CheckpointFile => new CheckpointFile(world.files, path, name)
    this.meta = file('meta.properties')
    this.list = file(directoryListName)
    this.cleanMarker = file(cleanMarkerName)
    this.life = new CacheLife(world.files, world.pageCache, path)
    this.recoveryPoints = new CheckpointFile(world.files, path, 'recovery-point-offset-checkpoint', 'recovery points')
    this.logStarts = new CheckpointFile(world.files, path, 'log-start-offset-checkpoint', 'log starts')
    this.watermarks = file('replication-offset-checkpoint')
    this.cleanOffsets = file('cleaner-offset-checkpoint')
    this.deleteHorizons = file('.millrace-delete-horizons')
    this.topicIds = file('.millrace-topic-ids')
  }

  /**
   * Takes the directory into use, making it if it is not there; `writeList` and `writeMeta` are the end of that. Rejects with MR_LOG_DIRECTORY_LOCKED, MR_CLUSTER_ID_MISMATCH,
   * MR_CLUSTER_NODE_MISMATCH, or MR_FILE_… when it cannot be written.
   */
  async open(): Promise<void> {
    const { files, engine } = this.world
    if (files.stat(this.path)?.kind === 'file') {
      throw new MillraceError('MR_FILE_FAILED', { operation: 'make directory', path: this.path, reason: 'a file is in its place; name another data directory' })
    }
    files.makeDirectory(this.path)
    files.syncDirectory(parentOf(this.path))
    this.checkWritable()
    if (files.stat(`${this.path}/.lock`)?.kind === 'file') {
      throw new MillraceError('MR_FILE_EXISTS', {
        operation: 'lock: Apache Kafka has made a file of this name; when it does not run, remove', path: `${this.path}/.lock`,
      })
    }
    this.lock = await engine.open(`${this.path}/.lock`).catch((error: unknown) => {
      // Who is told to choose another directory should read which one, and not a file in it that is best left alone.
      if (isMillraceError(error, 'MR_LOG_DIRECTORY_LOCKED')) throw new MillraceError('MR_LOG_DIRECTORY_LOCKED', { path: this.path }, error)
      throw isMillraceError(error, 'MR_FILE_FAILED') ? badLock(error) : error
    })
    this.readMeta()
    this.cache = this.life.find()
    this.takeCleanMarker()
  }

  /**
   * All that is here has been checked, and is `sound` if so: what is written from now on is there for the next process, unless the system goes
   * down or `doubt` is called.
   */
  trust(sound: boolean): void {
    if (sound) this.life.trust()
    else this.life.doubt()
  }

  /** The disk failed: what was written may not be there any more, although the system has not gone down. Never throws. */
  doubt(): void {
    try {
      this.life.doubt()
    } catch (error) {
      this.world.logger.error('the next start will take what it finds for what was written: remove the file before it', { path: this.path, reason: String(error) })
    }
  }

  /** The directory itself says its id, so that a list may. */
  get isNamed(): boolean { return this.found?.id !== undefined }

  /** Its list was of another id, which somebody has changed since. */
  get isRenamed(): boolean { return this.found?.list !== undefined && this.found.list.self !== this.id }

  /** No log was ever made here. */
  get isNew(): boolean { return this.made }

  /** Says which directories the broker has. One that is there already was made durable, or is when the checkpoints are written at the end of the start. */
  writeList(all: readonly ListedDirectory[]): void {
    const text = formatDirectoryList({ self: this.id, all })
    if (text !== this.found?.listText) this.list.write(text)
  }

  /** Says whose the directory is, from when on it may have logs. */
  writeMeta(): void {
    const { identity: { clusterId, nodeId } } = this.world
    const meta = this.found?.meta
    if (this.id !== meta?.directoryId || meta.clusterId === undefined) this.meta.write(formatMetaProperties({ clusterId, nodeId, directoryId: this.id }))
  }

  /** Says that everything here was synced. The last thing before `close`. */
  markClean(): void {
    this.cleanMarker.write('{"version":0,"brokerEpoch":-1}')
  }

  async close(): Promise<void> {
    const lock = this.lock
    this.lock = undefined
    await lock?.close()
  }

  /** Whether a checkpoint was never written. */
  isUnwritten(file: CheckpointFile): boolean {
    return this.world.files.stat(file.path) === undefined
  }

  /** What a checkpoint of offsets holds; undefined when it is lost. Empty for a directory that is new. */
  readOffsets(file: CheckpointFile): PartitionOffsets | undefined {
    const text = file.read()
    if (text === undefined) return this.made ? new Map() : undefined
    try {
      return parsePartitionOffsets(text)
    } catch (error) {
      this.world.logger.warn('a checkpoint cannot be read', { path: file.path, reason: String(error) })
      return undefined
    }
  }

  private checkWritable(): void {
    const { files } = this.world
    const path = `${this.path}/writable.tmp`
    files.open(path, 'ensure').close()
    files.remove(path)
  }

  private readMeta(): void {
    const { files, identity, random, logger } = this.world
    this.found = findDirectory(files, this.path)
    const { meta: found } = this.found
    if (found === undefined && this.found.hasMeta) {
      throw new MillraceError('MR_FILE_FAILED', { operation: 'read', path: this.meta.path, reason: 'it is of a version that this release does not know' })
    }
    if (found?.clusterId !== undefined && found.clusterId !== identity.clusterId) {
      throw new MillraceError('MR_CLUSTER_ID_MISMATCH', { path: this.path, found: found.clusterId, expected: identity.clusterId })
    }
    if (found?.nodeId !== undefined && found.nodeId !== identity.nodeId) {
      throw new MillraceError('MR_CLUSTER_NODE_MISMATCH', { path: this.path, found: found.nodeId, expected: identity.nodeId })
    }
    this.made = found === undefined && !files.list(this.path).some(name => parsePartitionDirectory(name) !== undefined)
    if (found === undefined && !this.made) logger.warn('the directory has partitions and no meta.properties; it is taken to be this node\'s', { path: this.path })
    this.id = this.found.id ?? drawDirectoryId(random)
  }

  /** From here on a crash counts as unclean, also while logs are loaded. */
  private takeCleanMarker(): void {
    const { files } = this.world
    this.clean = readWhole(files, this.cleanMarker.path) !== undefined
    if (!this.clean) return
    files.remove(this.cleanMarker.path)
    files.syncDirectory(this.path)
  }
}

/** Nothing is kept in it. */
function badLock(error: MillraceError): MillraceError {
  const { path, reason } = error.details
  return new MillraceError('MR_FILE_FAILED', { operation: 'lock', path, reason: `${String(reason)}; when no broker runs on the directory, remove this one, which is made anew` }, error)
}

function parentOf(path: string): string {
  const slash = path.replace(/\/+$/, '').lastIndexOf('/')
  return slash < 0 ? '.' : path.slice(0, Math.max(1, slash))
}

function drawDirectoryId(random: Random): Uuid {
  return randomUuid(() => Math.floor(random.fraction() * 0x1_0000_0000))
}
