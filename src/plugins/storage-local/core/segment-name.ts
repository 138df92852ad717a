import { wholeNumber } from '../../../kernel/log/checkpoint-text.ts'

/** The kinds of files that share the base offset of a segment in their names; `.snapshot` carries the offset that it covers up to. */
export const segmentSuffixes = ['.log', '.index', '.timeindex', '.txnindex', '.sum', '.snapshot'] as const
export type SegmentSuffix = (typeof segmentSuffixes)[number]

/** What is appended behind the kind while a file comes or goes. */
const stages = ['.deleted', '.cleaned', '.swap'] as const
export type SegmentStage = (typeof stages)[number]

export interface SegmentFileName {
  readonly offset: number
  readonly suffix: SegmentSuffix
  readonly stage: SegmentStage | undefined
}

/** Twenty digits, so that names sort like offsets. */
export function segmentFileName(offset: number, suffix: SegmentSuffix): string {
  return `${String(offset).padStart(20, '0')}${suffix}`
}

export function parseSegmentFileName(name: string): SegmentFileName | undefined {
  const match = /^(\d{20})(\.[a-z]+)(\.[a-z]+)?$/.exec(name)
  if (match === null) return undefined
  const offset = wholeNumber(match[1]!.replace(/^0{1,19}/, ''))
  const suffix = segmentSuffixes.find(known => known === match[2])
  const stage = stages.find(known => known === match[3])
  if (offset === undefined || suffix === undefined || (match[3] !== undefined && stage === undefined)) return undefined
  return { offset, suffix, stage }
}

/** The name of what recovery took out of a log and kept. Kafka goes by the ends of names, and does not know this one. */
export function setAsideName(name: string, number: number): string {
  return `${name}.set-aside-${number}`
}

/** `unfinished`: of a copy that a crash cut off; what it was to be a copy of is where it was. */
export function parseSetAsideName(name: string): 'kept' | 'unfinished' | undefined {
  const match = /\.set-aside-\d+(\.tmp)?$/.exec(name)
  return match === null ? undefined : match[1] === undefined ? 'kept' : 'unfinished'
}

const nameLengthMax = 255

export type DirectoryState = 'delete' | 'stray' | 'future'

export interface PartitionDirectoryName {
  readonly topic: string
  readonly partition: number
  /** Undefined for a partition in service. */
  readonly state: DirectoryState | undefined
}

/** `<topic>-<partition>`, split at the last dash; with `.<32 hex digits>-<state>` when it is out of service. */
export function parsePartitionDirectory(name: string): PartitionDirectoryName | undefined {
  const marked = /^(\S+)\.([0-9a-f]{32})-(delete|stray|future)$/.exec(name)
  const plain = marked === null ? name : marked[1]!
  const match = /^(\S+)-(\d+)$/.exec(plain)
  const partition = wholeNumber(match?.[2] ?? '')
  const state = marked?.[3] as DirectoryState | undefined
  // The name of a marked directory may have been cut, so that nothing can be said of it but that it is one.
  if (match === null || partition === undefined) return state === undefined ? undefined : { topic: plain, partition: -1, state }
  if (state === undefined && match[2] !== String(partition)) return undefined
  return { topic: match[1]!, partition, state }
}

/** The name of a directory that leaves service; the topic is cut where a file system would refuse the length. */
export function markedDirectory(topic: string, partition: number, hexDigits: string, state: DirectoryState): string {
  const tail = `-${partition}.${hexDigits}-${state}`
  return `${topic.slice(0, nameLengthMax - tail.length)}${tail}`
}
