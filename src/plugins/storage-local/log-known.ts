import { type Uuid } from '../../kernel/model/ids.ts'
import { type RedoPlan } from './core/redo-history.ts'
import { type FoundCache } from './io/cache-life.ts'

/** What the checkpoints of a directory say about one log. */
export interface KnownOfLog {
  /** The directory was stopped cleanly: every byte of it was synced, and nothing is scanned. */
  readonly clean: boolean
  readonly cache: FoundCache
  /** Everything below was synced. Undefined when the checkpoint is lost: then it may be anything. */
  readonly recoveryPoint: number | undefined
  readonly startOffset: number
  /** A checkpoint of ours has it: then files of below went after it was on the disk, and no other. Else it is what is not known to be otherwise. */
  readonly startSure: boolean
  readonly highWatermark: number
  /** See `LogState`. 0 and Infinity where nothing is known. */
  readonly cleanedTo: number
  readonly nextHorizonMs: number
  /** Of which topic the name is, as the data directory says; undefined where it does not. */
  readonly named?: Uuid | undefined
  /** What the redo log has of it. */
  readonly redo?: RedoPlan | undefined
}

/** The `.sum` of a segment that begins below is on the disk as it was written: after a crash, where the recovery point has passed into the segment. */
export function sumsSyncedTo({ clean, recoveryPoint }: KnownOfLog): number {
  return clean ? Infinity : recoveryPoint ?? 0
}
