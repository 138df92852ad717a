import { formatPartitionOffsets, type PartitionOffsets } from '../../kernel/log/checkpoint-text.ts'
import { type CheckpointFile } from './io/checkpoint-file.ts'
import { type DataDirectory } from './io/data-directory.ts'
import { type KnownOfLog } from './log-known.ts'
import { type CheckpointKind } from './log-world.ts'
import { formatTopicIds, type LostLogs } from './lost-logs.ts'
import { type SegmentedLog } from './segmented-log.ts'

/** What is known of a log that is out of service because it was found damaged; its checkpoints stay as they were. */
export type Fenced = Pick<KnownOfLog, 'startOffset' | 'startSure' | 'highWatermark' | 'cleanedTo' | 'nextHorizonMs'> & { readonly recoveryPoint: number }

/** The logs of a data directory, by `<topic>-<partition>`. */
export interface DirectoryLogs {
  readonly logs: ReadonlyMap<string, SegmentedLog>
  readonly fenced: ReadonlyMap<string, Fenced>
  readonly lost: LostLogs
}

/**
 * The checkpoints of a data directory: offsets by the names of the logs, and the ids of their topics, which are in place before any
 * offset of a new log is.
 */
export class DirectoryCheckpoints {
  private readonly data: DataDirectory
  private readonly found: DirectoryLogs
  private topicIdsChanged = true
  /** Where nothing was ever compacted there is nothing to say of it. */
  private readonly unsaid = new Set<CheckpointKind>(['clean offsets', 'delete horizons'])

  constructor(data: DataDirectory, found: DirectoryLogs) {
    this.data = data
    this.found = found
  }

  /** Logs have come or gone. */
  changed(): void {
    this.topicIdsChanged = true
  }

  /** Durable when it returns. */
  write(of: CheckpointKind): void {
    this.stage(of)()
  }

  /** As the logs are now. See `CheckpointFile.stage`. */
  stage(of: CheckpointKind): () => void {
    const text = this.textOf(of)
    if (this.saysNothing(of, text)) return () => {}
    const written = this.pointsIn(of)
    const place = this.fileOf(of).stage(text)
    return () => {
      place()
      written()
    }
  }

  writeTopicIds(): void {
    this.data.topicIds.write(this.topicIds())
    this.topicIdsChanged = false
  }

  /** Off the event loop. `done` is called once, later or at once. */
  writeLater(of: CheckpointKind, done: (error: unknown) => void): void {
    if (this.saysNothing(of, this.textOf(of))) return done(undefined)
    if (!this.topicIdsChanged) {
      this.pointsIn(of)
      return this.begin(() => this.fileOf(of).writeLater(this.textOf(of), done), done)
    }
    this.topicIdsChanged = false
    const failed = (error: unknown): void => {
      this.topicIdsChanged = true
      done(error)
    }
    this.begin(() => this.data.topicIds.writeLater(this.topicIds(), error => {
      if (error !== undefined) return failed(error)
      // Names of one directory reach the disk in any order. Offsets of a log whose topic is not known would not keep it from beginning anew, empty, where its directory is lost.
      this.begin(() => {
        this.data.topicIds.syncName()
        this.writeLater(of, done)
      }, failed)
    }), failed)
  }

  /** The checkpoint is written as the logs are now. To be called when that is on the disk: the logs know it then. What was cut meanwhile has written another. */
  private pointsIn(of: CheckpointKind): () => void {
    if (of !== 'recovery points') return () => {}
    const { logs, fenced } = this.found
    // One that is not served may have no segment.
    const serving = [...logs].filter(([name]) => !fenced.has(name))
    const points = serving.map(([, { state }]) => ({ state, truncations: state.truncations, point: state.recoveryPoint() }))
    // Until then, and where its name is not synced, the disk has this one or the one before.
    for (const { state, point } of points) state.pointWritten = Math.min(state.pointWritten, point)
    return () => {
      for (const { state, truncations, point } of points) if (state.truncations === truncations) state.pointWritten = point
    }
  }

  private saysNothing(of: CheckpointKind, text: string): boolean {
    if (!this.unsaid.has(of)) return false
    if (text === nothing && this.data.isUnwritten(of === 'clean offsets' ? this.data.cleanOffsets : this.data.deleteHorizons)) return true
    this.unsaid.delete(of)
    return false
  }

  private begin(run: () => void, failed: (error: unknown) => void): void {
    try {
      run()
    } catch (error) {
      failed(error)
    }
  }

  private topicIds(): string {
    const ids = Array.from(this.found.logs, ([name, log]) => [name, log.id.topicId] as const)
    const doubtful: (readonly [string, string])[] = []
    for (const [name, { topicId, named }] of this.found.lost) {
      if (topicId !== undefined) ids.push([name, topicId])
      else if (named !== undefined) doubtful.push([name, named])
    }
    return formatTopicIds(ids, doubtful)
  }

  private fileOf(of: CheckpointKind): CheckpointFile {
    switch (of) {
      case 'recovery points': return this.data.recoveryPoints
      case 'log starts': return this.data.logStarts
      case 'watermarks': return this.data.watermarks
      case 'clean offsets': return this.data.cleanOffsets
      case 'delete horizons': return this.data.deleteHorizons
    }
  }

  private textOf(of: CheckpointKind): string {
    switch (of) {
      case 'recovery points': return this.offsets(log => log.state.recoveryPoint(), known => known.recoveryPoint)
      case 'log starts': return this.offsets(log => log.startOffset, known => known.startSure ? known.startOffset : aboveZero(known.startOffset))
      case 'watermarks': return this.offsets(log => log.highWatermark, known => known.highWatermark)
      case 'clean offsets': return this.offsets(log => aboveZero(log.state.cleanedTo), known => aboveZero(known.cleanedTo))
      case 'delete horizons': return this.offsets(log => finite(log.state.nextHorizonMs), known => finite(known.nextHorizonMs))
    }
  }

  /** Of a log that is not served what the checkpoints said before. */
  private offsets(of: (log: SegmentedLog) => number | undefined, ofKnown: (known: Fenced) => number | undefined): string {
    const { logs, fenced, lost } = this.found
    const offsets: PartitionOffsets = new Map()
    for (const [name, log] of logs) {
      const known = fenced.get(name)
      const offset = known === undefined ? of(log) : ofKnown(known)
      if (offset !== undefined) offsets.set(name, offset)
    }
    for (const [name, known] of lost) {
      const offset = ofKnown(known)
      if (offset !== undefined) offsets.set(name, offset)
    }
    return formatPartitionOffsets(offsets)
  }
}

const nothing = formatPartitionOffsets(new Map())
const aboveZero = (offset: number): number | undefined => offset > 0 ? offset : undefined
const finite = (timeMs: number): number | undefined => timeMs === Infinity ? undefined : timeMs
