import { z } from 'zod'
import { isUuid } from '../../base/uuid.ts'

const mebibyte = 1024 * 1024

export const storageLocalConfig = z.object({
  syncsInFlightMax: z.int().min(1).max(64).default(3)
    .describe('Most syncs of segments under way at a time in one data directory. The thread pool has four threads, and reads need one.'),
  redoBytesMax: z.int().min(0).refine(bytes => bytes === 0 || bytes >= mebibyte, 'is 0, or at least 1048576').default(128 * mebibyte)
    .describe('Bytes of the redo log in each data directory: what is appended with durability fsync is synced there, once for all partitions. 0 turns it off; then each partition is synced on its own. Else 1048576 at least. Its files, a sixteenth of it each, are made while at least as much as all of them stays free.'),
  redoSync: z.enum(['adaptive', 'inline', 'pooled']).default('adaptive')
    .describe('Where a sync of the redo log is waited for: on the event loop (inline), in the thread pool (pooled), or by how long the last ones took.'),
  residentBytes: z.int().min(0).default(64 * mebibyte)
    .describe('Bytes before the end of a log that are taken to be in the page cache, if this process wrote them, and read on the event loop.'),
  readBufferBytes: z.int().min(mebibyte).default(64 * mebibyte)
    .describe('Bytes of read buffers that are kept for reuse. More are made when more reads are under way.'),
  indexCacheBytes: z.int().min(mebibyte).default(64 * mebibyte)
    .describe('Memory for the indexes of closed segments; a segment of 1 GiB has about 5 MiB of them.'),
  reserveBytes: z.int().min(0).default(mebibyte)
    .describe('Bytes that each data directory keeps back, so that a full disk can be freed: deleting needs checkpoints first. Twice as much has to be free before a directory that was full is appended to again.'),
  scrubBytesPerSecond: z.int().min(0).default(4 * mebibyte)
    .describe('How fast closed segments are read and checked in the background, over all data directories. 0 turns that off: then damage is found when it is read.'),
  scrubIntervalMs: z.int().min(1000).default(86_400_000)
    .describe('From the beginning of one such pass over all segments to that of the next, at least. The first begins ten minutes after the start, or after this time if it is less.'),
  lostDirectories: z.array(z.string().refine(isUuid, 'is the id of a data directory, 22 characters, as the refused start names it')).default([])
    .describe('Ids of data directories that are gone for good, as a start that is refused for them names them: what was in them counts as gone, and their partitions begin anew, empty.'),
  idleFilesMax: z.int().min(0).default(512)
    .describe('Closed segments that are kept open after a read. Each partition has one open file beside them.'),
})

export type StorageLocalConfig = z.output<typeof storageLocalConfig>
