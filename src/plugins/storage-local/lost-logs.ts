import { MillraceError } from '../../kernel/errors/index.ts'
import { partitionName } from '../../kernel/log/checkpoint-text.ts'
import { type PartitionId, type Uuid } from '../../kernel/model/ids.ts'
import { isUuid, zeroUuid } from '../../base/uuid.ts'
import { type KnownOfLog } from './log-known.ts'

/** What is still known of a log that is not here. */
export type LostLog = Pick<KnownOfLog, 'startOffset' | 'startSure' | 'highWatermark' | 'cleanedTo' | 'nextHorizonMs' | 'named'> & {
  readonly recoveryPoint: number
  /** Undefined: of whatever topic has the name. Its directory is there, but does not say. `ofAnyTopic`: nor is its directory there. */
  readonly topicId: Uuid | undefined
}

/** The topic of a log of which the offsets are known, and neither its directory nor the ids of topics are there. */
export const ofAnyTopic: Uuid = zeroUuid

/** Whether the checkpoints say that there were records. */
export function hadRecords(known: KnownOfLog): boolean {
  return Math.max(known.recoveryPoint ?? 0, known.highWatermark) > known.startOffset
}

/**
 * Logs of one data directory that the checkpoints know and a start did not find. They must not begin anew, empty, as if nothing had been
 * acknowledged. The checkpoints go by names, and a topic that was deleted may be made again under its name: so the ids of the topics
 * are kept beside them.
 */
export class LostLogs {
  private readonly path: string
  private readonly idsPath: string
  private readonly lost = new Map<string, LostLog>()

  constructor(path: string, idsPath: string) {
    this.path = path
    this.idsPath = idsPath
  }

  add(name: string, known: KnownOfLog, topicId: Uuid | undefined): void {
    // Of one that is there, and served when its topic is known, the redo log may have what is below the high watermark: it is above the recovery point.
    this.lost.set(name, { ...known, recoveryPoint: known.recoveryPoint ?? (topicId === undefined ? known.cleanedTo : known.highWatermark), topicId })
  }

  /** Throws MR_LOG_MISSING when the log was here once. Forgets one of another topic; then its name stands in the checkpoints still, and this is true. */
  check(id: PartitionId): boolean {
    const name = partitionName(id)
    const lost = this.lost.get(name)
    if (lost === undefined) return false
    if (lost.topicId !== undefined && lost.topicId !== ofAnyTopic && lost.topicId !== id.topicId) return this.lost.delete(name)
    const { topic, partition } = id
    const end = Math.max(lost.recoveryPoint, lost.highWatermark)
    throw new MillraceError('MR_LOG_MISSING', lost.topicId === undefined ? {
      topic, partition, path: `${this.path}/${name}`, end, what: 'its partition.metadata',
      remedy: `restore that file (two lines: "version: 0" and "topic_id: ${id.topicId}"), or, to begin without those records, move the directory away`,
    } : {
      topic, partition, path: `${this.path}/${name}`, end, what: 'the directory',
      remedy: `restore it from a copy, or, to begin without those records, take its line out of ${this.idsPath}`,
    })
  }

  [Symbol.iterator](): IterableIterator<[string, LostLog]> {
    return this.lost.entries()
  }
}

const doubtMark = 'doubtful'

/** A line for each partition: the name of its directory, and the id of its topic. Of one of which the topic is in doubt, which topic it was, and that it is. */
export function formatTopicIds(ids: Iterable<readonly [string, Uuid]>, doubtful: Iterable<readonly [string, Uuid]> = []): string {
  let text = ''
  for (const [name, topicId] of ids) text += `${name} ${topicId}\n`
  for (const [name, topicId] of doubtful) text += `${name} ${topicId} ${doubtMark}\n`
  return text
}

/** Whether a line is none: what it said is not known. */
export function hasBadLine(text: string): boolean {
  return text.split('\n').filter(line => line.trim() !== '').length > linesOf(text).length
}

/** Lines that are none are left out: somebody may have edited the file. */
export function parseTopicIds(text: string): Map<string, Uuid> {
  return new Map(linesOf(text).map(({ name, topicId }) => [name, topicId]))
}

/** The names of directories of which the topic is in doubt. One that was moved away is not wanted any more. */
export function parseDoubtful(text: string): Set<string> {
  return new Set(linesOf(text).filter(({ mark }) => mark === doubtMark).map(({ name }) => name))
}

function linesOf(text: string): { readonly name: string, readonly topicId: Uuid, readonly mark: string | undefined }[] {
  return text.split('\n').flatMap(line => {
    const [name, topicId, mark] = line.trim().split(/\s+/)
    return name !== undefined && topicId !== undefined && isUuid(topicId) ? [{ name, topicId, mark }] : []
  })
}
