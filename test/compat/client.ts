import { type Dataset, type DatasetKind } from './dataset.ts'
import { type ReceivedRecord } from './record-stream.ts'

export const codecs = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const
export type Codec = (typeof codecs)[number]

export interface ProduceRun {
  readonly bootstrap: string
  readonly topic: string
  readonly codec: Codec
  readonly dataset: Dataset
}

export interface ConsumeRun {
  readonly bootstrap: string
  readonly topic: string
  /** Records in each partition, all of which are wanted. */
  readonly counts: readonly number[]
}

/** A foreign client under test. One that lacks a side leaves the method out. */
export interface CompatClient {
  readonly name: string
  /** Why it cannot run on this machine; undefined where it can. */
  missing (): string | undefined
  version (): Promise<string>
  /** Codecs that it can write with. */
  readonly codecs: readonly Codec[]
  /** What it is given to write with every codec. */
  readonly writes: DatasetKind
  /** It can also write the `binary` dataset. */
  readonly writesBinary?: boolean
  produce? (run: ProduceRun): Promise<void>
  /** Kinds that it can read back to the byte. */
  readonly reads: readonly DatasetKind[]
  /** It reads only as a member of a group, so that the broker must offer groups. */
  readonly readsInGroup?: boolean
  /** It reads partition 0 alone. */
  readonly readsOnePartition?: boolean
  consume? (run: ConsumeRun): Promise<ReceivedRecord[]>
}
