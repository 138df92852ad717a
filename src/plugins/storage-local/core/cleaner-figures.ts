/** What the rounds of the cleaner came to since the start. */
export class CleanerFigures {
  count = 0
  bytesRead = 0
  bytesWritten = 0
  recordsRead = 0
  recordsKept = 0
  /** Of the last round: share of what was read that was written again, how full its map got (0 to 1), and how long it took. */
  recopyRatio = 0
  mapUtilization = 0
  lastMs = 0
  /** When it ended (monotonic); -1 before the first. */
  lastEndMs = -1

  /** A round that took `tookMs` has ended. */
  rounds(report: Pick<CleanerFigures, 'bytesRead' | 'bytesWritten' | 'recordsRead' | 'recordsKept' | 'mapUtilization'>, tookMs: number, nowMs: number): void {
    this.count++
    this.bytesRead += report.bytesRead
    this.bytesWritten += report.bytesWritten
    this.recordsRead += report.recordsRead
    this.recordsKept += report.recordsKept
    this.recopyRatio = report.bytesRead === 0 ? 0 : report.bytesWritten / report.bytesRead
    this.mapUtilization = report.mapUtilization
    this.lastMs = tookMs
    this.lastEndMs = nowMs
  }
}
