import { type MemoryFileSystem } from '../../../src/testkit/world/memory-file-system.ts'
import { type MemoryKeyValueEngine } from '../../../src/testkit/world/memory-key-value-engine.ts'
import { type CallSite } from './call-sites.ts'

/** What the broker is at when a call fails. */
export const phases = ['first start', 'serving', 'full disk', 'stop', 'restart', 'recovery'] as const
export type Phase = typeof phases[number]

export interface Injection {
  readonly site: CallSite
  readonly phase: Phase
  readonly error: 'EIO' | 'ENOSPC'
  /** 1, or for ever: until the process ends. Of what comes after the first one, only calls in the same data directory. */
  readonly times: number
  /** A call that fails once before, without which the site is not reached. */
  readonly after?: { readonly site: CallSite, readonly error: 'EIO' | 'ENOSPC' } | undefined
}

export const directories = ['/data', '/data2']
/** The metadata is a directory of its own, wherever it lies: a sync that fails there ends the broker. */
export const directoryOf = (path: string): string => path.startsWith('/data/__millrace_metadata') ? '/data/__millrace_metadata' : /^\/data2(\/|$)/.test(path) ? '/data2' : '/data'
/** A sync that is under way when another one fails may have begun before it did. */
export const underwayMs = 5
export const diskBytes = 1 << 30
export const deletedTo = 5
export const takesSpace = new Set(['create', 'write', 'make directory'])

export const optionsWith = (redoSync: 'pooled' | 'inline') => ({
  data: directories,
  broker: {
    'log.retention.check.interval.ms': 7000, 'log.flush.offset.checkpoint.interval.ms': 3000, 'replica.high.watermark.checkpoint.interval.ms': 2500,
    'log.segment.delete.delay.ms': 100, 'log.cleaner.backoff.ms': 1500,
  },
  settings: {
    'storage-local': { redoBytesMax: 1 << 20, redoSync, residentBytes: 2000, idleFilesMax: 0, reserveBytes: 4096 },
    'coordination-single': { snapshotEntries: 4, reserveBytes: 65_536 },
  },
})

export interface Acknowledged {
  readonly topic: string
  readonly partition: number
  readonly offset: number
  readonly value: string
}

/** A disk that a process which has ended left, and what it had acknowledged. */
export interface Left {
  readonly files: MemoryFileSystem
  readonly keyValues: MemoryKeyValueEngine
  readonly acknowledged: readonly Acknowledged[]
}

/** Where a simulated machine has its disk. */
export interface Disks { files: MemoryFileSystem, keyValues: MemoryKeyValueEngine }
