import { type File } from '../../kernel/ports/file-system.ts'
import { type HeaderCheck } from './io/batch-scan.ts'
import { type Segment } from './io/segment.ts'
import { type LogState } from './log-state.ts'
import { Doubt } from './second-look.ts'
import { type ReadSegment } from './segment-source.ts'

/** A segment of a log that is read through: what is wrong by two reads is told as damage and ends it with MR_LOG_ROTTEN. */
export class SegmentInLog implements ReadSegment {
  private readonly log: LogState
  private readonly segment: Segment
  private readonly truncations: number
  private doubt: Doubt | undefined

  constructor(log: LogState, segment: Segment) {
    this.log = log
    this.segment = segment
    this.truncations = segment.truncations
  }

  get baseOffset(): number { return this.segment.baseOffset }
  get endOffset(): number { return this.segment.endOffset }
  get sizeBytes(): number { return this.segment.sizeBytes }
  get isThere(): boolean { return !this.segment.released && this.segment.truncations === this.truncations }
  get check(): HeaderCheck { return this.segment.check }

  use(): File { return this.segment.handle.use() }
  done(): void { this.segment.handle.done() }

  right(position: number): void {
    if (this.doubt?.position === position) this.log.cleared(this.doubt)
  }

  wrong(position: number, reason: string, end: number): void {
    const { log, segment } = this
    if (this.doubt?.position === position || !log.suspects(segment, position)) throw log.damaged(segment, position, reason, end)
    this.doubt = new Doubt(segment, position, reason)
  }
}
