import { type FileSystem } from '../../kernel/ports/file-system.ts'
import { type Logger } from '../../kernel/ports/telemetry.ts'
import { parseSegmentFileName, type PartitionDirectoryName } from './core/segment-name.ts'
import { type KnownOfLog } from './log-known.ts'
import { hadRecords, type LostLogs } from './lost-logs.ts'

interface UnnamedPartition {
  /** Of the directory. */
  readonly name: string
  readonly parsed: PartitionDirectoryName
  readonly known: KnownOfLog
  /** Why its `partition.metadata` is not believed; undefined where that says nothing. */
  readonly doubt: string | undefined
}

/**
 * Partition directories of one data directory that do not say, or not for sure, of which topic they are. What becomes of them is known when all others are loaded: those that may have
 * records are not served, nor begun anew, and what the redo log may have of them is kept; the rest is set aside.
 */
export class UnnamedPartitions {
  private readonly world: { readonly files: FileSystem, readonly logger: Logger }
  private readonly path: string
  private readonly lost: LostLogs
  private readonly found: UnnamedPartition[] = []
  private readonly awaited = new Set<number>()

  constructor(world: { readonly files: FileSystem, readonly logger: Logger }, path: string, lost: LostLogs) {
    this.world = world
    this.path = path
    this.lost = lost
  }

  add(found: UnnamedPartition): void {
    this.found.push(found)
  }

  /** `hasOrphansOf`: whether the redo log has records of a partition with this number that nobody has claimed. Where this throws it may be called once more. */
  settle(hasOrphansOf: (partition: number) => boolean, setAside: (parsed: PartitionDirectoryName) => void): void {
    for (let next = this.found[0]; next !== undefined; next = this.found[0]) {
      const { name, parsed, known, doubt } = next
      const path = `${this.path}/${name}`
      if (doubt !== undefined || hadRecords(known) || (this.hasSegment(path) && hasOrphansOf(parsed.partition))) {
        this.lost.add(name, known, undefined)
        this.awaited.add(parsed.partition)
        this.world.logger.error('it is not known of which topic a partition is: it is not served, and not begun anew', {
          path, reason: doubt ?? 'its partition.metadata is missing, or cannot be read',
          remedy: 'restore its partition.metadata, which has the topic id, from a copy, or the whole directory; until then what the redo log has of it is kept',
        })
      } else {
        setAside(parsed)
        this.world.logger.warn('a partition without its topic id was set aside', { path })
      }
      this.found.shift()
    }
  }

  /** Whether a partition with this number may be one of those that are not served. */
  isAwaited(partition: number): boolean {
    return this.awaited.has(partition)
  }

  get areAwaited(): boolean { return this.awaited.size > 0 }

  private hasSegment(path: string): boolean {
    return this.world.files.list(path).some(name => {
      const parsed = parseSegmentFileName(name)
      return parsed?.suffix === '.log' && parsed.stage === undefined
    })
  }
}
