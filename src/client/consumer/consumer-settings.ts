import { durationMs, integer, settingError } from '../client-options.ts'

/** Where to go on when the place to read is not in the log: its beginning, its end, or nowhere. */
export type OffsetReset = 'earliest' | 'latest' | 'error'

/**
 * How partitions are read. Sizes are whole numbers of bytes from 1 to 2147483647, `fetchWaitMsMax` is from 1 to 2147483647 milliseconds; what is out of its
 * range is refused with MR_CLIENT_SETTING, which names the option.
 */
export interface ConsumerOptions {
  /** What to do when the position is not in the log any more, or not yet: go to its beginning, to its end, or let `poll` reject. Default `error`. */
  readonly onOffsetOutOfRange?: OffsetReset
  /** `read_committed` skips records of aborted transactions and does not read past open ones. Default `read_uncommitted`. */
  readonly isolation?: 'read_committed' | 'read_uncommitted'
  /** Whether the checksum of each batch is checked. Default true. */
  readonly checkCrcs?: boolean
  /** How long a broker waits for data before it answers with none, in milliseconds. Default 500. */
  readonly fetchWaitMsMax?: number
  /** A broker waits until it has so many bytes, or the time is up; 0 is allowed, and never waits. Default 1. */
  readonly fetchBytesMin?: number
  /** Of one answer. Batches come whole, so one that is larger comes too. Default 52428800. */
  readonly fetchBytesMax?: number
  /** Of one partition in one answer. Default 1048576. */
  readonly partitionBytesMax?: number
  /** Fetched and not polled yet, over all partitions; a fetch is only begun below it. Default 67108864. */
  readonly prefetchBytesMax?: number
  /** What one batch may decompress to. Default 67108864. */
  readonly decompressedBytesMax?: number
}

export interface ConsumerSettings {
  readonly onOffsetOutOfRange: OffsetReset
  readonly isolationLevel: 0 | 1
  readonly checkCrcs: boolean
  readonly fetchWaitMsMax: number
  readonly fetchBytesMin: number
  readonly fetchBytesMax: number
  readonly partitionBytesMax: number
  readonly prefetchBytesMax: number
  readonly decompressedBytesMax: number
}

/** Throws MR_CLIENT_SETTING. */
export function consumerSettings(given: ConsumerOptions): ConsumerSettings {
  const reset = given.onOffsetOutOfRange ?? 'error'
  if (!['earliest', 'latest', 'error'].includes(reset)) {
    throw settingError('onOffsetOutOfRange', `${String(reset)} is not one of earliest, latest, error`)
  }
  const isolation = given.isolation ?? 'read_uncommitted'
  if (!['read_committed', 'read_uncommitted'].includes(isolation)) {
    throw settingError('isolation', `${String(isolation)} is not one of read_committed, read_uncommitted`)
  }
  const bytes = (key: keyof ConsumerOptions, value: number | undefined, standard: number): number => integer(key, value, standard, 1, 0x7fff_ffff)
  return {
    onOffsetOutOfRange: reset,
    isolationLevel: isolation === 'read_committed' ? 1 : 0,
    checkCrcs: given.checkCrcs ?? true,
    fetchWaitMsMax: durationMs('fetchWaitMsMax', given.fetchWaitMsMax, 500),
    fetchBytesMin: integer('fetchBytesMin', given.fetchBytesMin, 1, 0, 0x7fff_ffff),
    fetchBytesMax: bytes('fetchBytesMax', given.fetchBytesMax, 52_428_800),
    partitionBytesMax: bytes('partitionBytesMax', given.partitionBytesMax, 1_048_576),
    prefetchBytesMax: bytes('prefetchBytesMax', given.prefetchBytesMax, 67_108_864),
    decompressedBytesMax: bytes('decompressedBytesMax', given.decompressedBytesMax, 67_108_864),
  }
}
