import { type ProcessSample } from '../../../kernel/ports/process-stats.ts'

/** A look costs a listing of all files that are open. */
const lookEveryMs = 1000
/** Kept for the logs: a roll, a checkpoint or an index is opened while connections come. */
const keptMost = 64
const keptShare = 0.125

/**
 * Whether a connection leaves the process descriptors enough to write its logs: where it may have few files open, clients that connect and say nothing would take all of them,
 * and the next checkpoint would find none. Pure: time comes with each question, and what is open is asked of `read` once a second at most.
 */
export class DescriptorRoom {
  private readonly read: () => Pick<ProcessSample, 'openFiles' | 'openFilesMax'>
  private lookedMs = -Infinity
  /** How many connections there may be until the next look. */
  private connectionsMax = Infinity

  constructor(read: () => Pick<ProcessSample, 'openFiles' | 'openFilesMax'>) {
    this.read = read
  }

  /** For one more beside `connections` of them. Always, where the system tells nothing. */
  has(connections: number, nowMs: number): boolean {
    if (nowMs - this.lookedMs >= lookEveryMs) this.look(connections, nowMs)
    return connections < this.connectionsMax
  }

  private look(connections: number, nowMs: number): void {
    this.lookedMs = nowMs
    const { openFiles, openFilesMax } = this.read()
    if (openFiles === undefined || openFilesMax === undefined) return
    // The one that asks is open already.
    const others = openFiles - connections - 1
    this.connectionsMax = openFilesMax - Math.min(keptMost, Math.floor(openFilesMax * keptShare)) - others
  }
}
