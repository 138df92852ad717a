import { MillraceError } from '../../kernel/errors/index.ts'
import { partitionName } from '../../kernel/log/checkpoint-text.ts'
import { type PartitionId, type Uuid } from '../../kernel/model/ids.ts'
import { isUuid } from '../../base/uuid.ts'
import { type KnownOfLog } from './log-known.ts'

/** What is still known of a log that is not here. */
export type LostLog = Pick<KnownOfLog, 'startOffset' | 'highWatermark' | 'cleanedTo' | 'nextHorizonMs'> & {
  readonly recoveryPoint: number
  /** Undefined: of whatever topic has the name. Its directory is there, but does not say. */
  readonly topicId: Uuid | undefined
}

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
    this.lost.set(name, { ...known, recoveryPoint: known.recoveryPoint ?? known.highWatermark, topicId })
  }

  /** Throws MR_LOG_MISSING when the log was here once. Forgets one of another topic; then its name stands in the checkpoints still, and this is true. */
  check(id: PartitionId): boolean {
    const name = partitionName(id)
    const lost = this.lost.get(name)
    if (lost === undefined) return false
    if (lost.topicId !== undefined && lost.topicId !== id.topicId) return this.lost.delete(name)
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

/** A line for each partition: the name of its directory, and the id of its topic. */
export function formatTopicIds(ids: Iterable<readonly [string, Uuid]>): string {
  let text = ''
  for (const [name, topicId] of ids) text += `${name} ${topicId}\n`
  return text
}

/** Lines that are none are left out: somebody may have edited the file. */
export function parseTopicIds(text: string): Map<string, Uuid> {
  const ids = new Map<string, Uuid>()
  for (const line of text.split('\n')) {
    const [name, topicId] = line.trim().split(/\s+/)
    if (name !== undefined && topicId !== undefined && isUuid(topicId)) ids.set(name, topicId)
  }
  return ids
}
