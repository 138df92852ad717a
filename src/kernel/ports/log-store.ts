import { type PartitionId, type Uuid } from '../model/ids.ts'
import { type TopicSettings } from '../model/topic-settings.ts'
import { token } from '../plugin/token.ts'
import { type DeviceSpace } from './file-system.ts'
import { type PartitionLog } from './partition-log.ts'

/** A data directory of a store, as it is now. */
export interface DirectoryStatus {
  /** Empty for a store that has no directories. */
  readonly path: string
  /** As in `meta.properties`: the same for as long as the directory is there, wherever it is mounted. Empty for one that could not be read. */
  readonly id: Uuid
  /** Why it is offline, or undefined while it serves. */
  readonly offline: string | undefined
  /** Logs in it, those out of service too. */
  readonly partitions: number
  /** Of the segments of these logs: what else lies in the directory is left out. */
  readonly usedBytes: number
  /** Its logs that are in service, in no order that counts. Not to be walked over a change. */
  readonly logs: () => Iterable<PartitionLog>
  /** Asks its disk, each time. Undefined where the directory is out of service, or the disk does not say; not there in a store without disks. */
  readonly space?: () => DeviceSpace | undefined
}

/** What one call of `sweep` did. */
export interface SweepReport {
  /** Segments that are gone from their logs; their files are freed later. */
  readonly segmentsDeleted: number
  /** Of these segments. */
  readonly bytesDeleted: number
  /** Segments that were closed for their age, so that they can be deleted or compacted. */
  readonly segmentsRolled: number
  /** Steps that this round has not done yet: while it is above 0, the next call goes on with it. */
  readonly left: number
}

/**
 * All partition logs of one broker. When its start has resolved, every log that was there is recovered and listed. Such a log has the
 * broker's default settings until it is configured, and is left alone by retention until then: its topic may want to keep more.
 * One that was found damaged is listed too; every call on it fails with MR_LOG_CORRUPT. A method throws, or rejects with, what its comment names and nothing else.
 * Capabilities of a plugin that provides it: `durable` (what is flushed survives a restart and a power cut), `compaction`, `transactionIndex`. One
 * that is not declared is not there: over a store that is not `durable`, settings that promise it are said to have no effect, where they are
 * set and where they are described.
 */
export interface LogStore {
  /** Those in service, in no order that counts. Not to be walked over a change. From memory: throws nothing. */
  logs(): Iterable<PartitionLog>
  /** Undefined for a log that is not here, or not in service. The same object until it is removed. From memory: throws nothing. */
  find(topicId: Uuid, partition: number): PartitionLog | undefined
  /**
   * A new empty log, beginning at offset 0. Its identity is durable when it returns. Asking for one that exists returns it. After a throw there is none:
   * MR_FILE_NO_SPACE (may be tried again), MR_LOG_DIRECTORY_OFFLINE (no directory is in service, or the one that it was being made in failed), MR_LOG_MISSING
   * (the store knows that it had this log, and its files are gone: it is not made anew over what was lost).
   */
  create(id: PartitionId, settings: TopicSettings): PartitionLog
  /**
   * Gone from the store, and from the next start, when it returns; its space is freed later (`file.delete.delay.ms`). Of a log that is not there it does nothing.
   * Throws MR_LOG_DIRECTORY_OFFLINE, or MR_FILE_NO_SPACE: then it is still found, and may be removed again.
   */
  remove(topicId: Uuid, partition: number): void
  /** Takes a log out of service and keeps all of its bytes, for an operator to look at: it belongs to no topic that is known. Of a log that is not there it does nothing. Throws as `remove` does. */
  setAside(topicId: Uuid, partition: number): void
  /**
   * Applies retention by time and size and rolls by time: a round over all logs, in slices of a few milliseconds. A call does one slice; whoever wants a round calls
   * until nothing is left, with turns of the event loop in between. The plugin `retention` asks for it, at its times: a store has no schedule.
   */
  sweep(): SweepReport
  /**
   * Makes everything appended before the call durable, whatever the topics' durability. Rejects with MR_LOG_DIRECTORY_OFFLINE when a directory fails, or is out of service: of
   * its logs nothing more is promised, of those elsewhere it holds. MR_FILE_NO_SPACE leaves all in service.
   */
  flush(): Promise<void>
  /** In the order of the settings, those out of service too. From memory: throws nothing. */
  directories(): readonly DirectoryStatus[]
}
export const LogStore = token<LogStore>('LogStore', { logs: true, find: true, create: true, remove: true, setAside: true, sweep: true, flush: true, directories: true })
