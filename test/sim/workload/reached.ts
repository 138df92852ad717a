import { LogStore } from '../../../src/kernel/ports/log-store.ts'
import { type SimBroker } from '../../../src/harness/index.ts'

/** What a run has come to of what brokers do now and then: each has to be met, or nothing is shown of it. */
export interface Reached {
  /** Files of redo logs that were freed, to be used again. */
  redoFilesReused: number
  /** Rounds of compaction, and records that they have left out. */
  compactions: number
  recordsCompacted: number
  recordsDeleted: number
  /** Most at once. */
  directories: number
}

/** Of the store on local disk. */
interface Figures {
  readonly redoFigures: () => readonly { readonly reclaimed: number }[]
  readonly cleaner: { readonly figures: { readonly count: number, readonly recordsRead: number, readonly recordsKept: number } }
}

/** Adds what the broker that runs has come to since its start. Before its end: then nobody can say. */
export function addReached(reached: Reached, { isRunning, broker }: Pick<SimBroker, 'isRunning' | 'broker'>): void {
  if (!isRunning) return
  const store = broker.port(LogStore)
  const { redoFigures, cleaner: { figures } } = store as unknown as Figures
  reached.redoFilesReused += redoFigures.call(store).reduce((sum, { reclaimed }) => sum + reclaimed, 0)
  reached.compactions += figures.count
  reached.recordsCompacted += figures.recordsRead - figures.recordsKept
  reached.directories = Math.max(reached.directories, store.directories().length)
}
