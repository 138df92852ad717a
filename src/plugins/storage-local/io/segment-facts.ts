import { type LruCache } from '../../../base/lru-cache.ts'
import { type FileSystem } from '../../../kernel/ports/file-system.ts'
import { type Logger } from '../../../kernel/ports/telemetry.ts'
import { type SegmentIndexes } from '../core/segment-indexes.ts'
import { type OpenFiles } from './open-files.ts'

/** What all segments of a store share. */
export interface SegmentWorld {
  readonly files: FileSystem
  readonly openFiles: OpenFiles
  /** Indexes of closed segments that were used last, weighed by their memory. */
  readonly indexCache: LruCache<object, SegmentIndexes>
  readonly logger: Logger
}

export interface SegmentFacts {
  readonly sizeBytes: number
  readonly endOffset: number
  readonly createdMs: number
  readonly jitterMs: number
  readonly intervalBytes: number
  /** What its `.sum` begins with: see `sumHeader`. */
  readonly sumHeader: Uint8Array
  /** Takes note of damage at a position of the segment. Gives the error for whoever met it. */
  readonly damaged: (position: number, reason: string) => Error
}
