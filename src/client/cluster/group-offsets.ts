import { type MillraceError } from '../../kernel/errors/index.ts'
import { kafkaError, kafkaErrors, offsetCommitApi, offsetFetchApi, type RequestDraftOf, type ResponseOf } from '../../wire/index.ts'
import { call } from '../channel/call.ts'
import { type Channel } from '../channel/channel.ts'
import { brokerError } from '../client-error.ts'

/** Versions behind it name topics by id alone. */
export const newestByName = 9
/** From here on one request asks for several groups. */
const groupsFrom = 8

/** Where a group goes on in a partition. */
export interface CommittedOffset {
  readonly topic: string
  readonly partition: number
  /** The offset to go on with; -1 where nothing is committed. */
  readonly offset: number
  /** Of the last record before it; -1 unknown. */
  readonly leaderEpoch: number
  /** What who committed it has said beside it. */
  readonly metadata: string
}

/** Where a group is to go on in a partition. */
export interface OffsetToCommit {
  readonly topic: string
  readonly partition: number
  /** Of the record to go on with, which is one more than that of the last one that is done. */
  readonly offset: number
  /** Of the last record that is done, so that a log that was cut is noticed. Default: unknown. */
  readonly leaderEpoch?: number
  /** A text to keep beside it, of `offset.metadata.max.bytes` at most (4096 by default). Default: empty. */
  readonly metadata?: string
}

export interface Committer {
  readonly groupId: string
  readonly memberId: string
  /** -1 for somebody who is no member: then the group must have none. */
  readonly generation: number
  readonly instanceId: string | null
}

export interface GroupCallOptions {
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

/** Null asks for all. Offsets that a transaction has not decided on yet are waited for. */
export function fetchRequest(version: number, groupId: string, partitions: readonly { readonly topic: string, readonly partition: number }[] | null): RequestDraftOf<typeof offsetFetchApi> {
  const topics = partitions === null ? null : [...grouped(partitions)].map(([name, list]) => ({ name, partitionIndexes: list.map(({ partition }) => partition) }))
  return version >= groupsFrom ? { groups: [{ groupId, topics }], requireStable: true } : { groupId, topics, ...(version >= 7 ? { requireStable: true } : {}) }
}

/** A partition whose committed offset the coordinator does not tell. */
export interface UntoldOffset {
  readonly topic: string
  readonly partition: number
  readonly error: MillraceError
}

/** Throws where the answer refuses the group, or says "not now" of any partition; what refuses single ones goes to `untold`. */
export function committedOrUntold(response: ResponseOf<typeof offsetFetchApi>, groupId: string, untold: UntoldOffset[]): CommittedOffset[] {
  const what = `asking for the offsets of group ${groupId}`
  const answer: Pick<ResponseOf<typeof offsetFetchApi>, 'topics' | 'errorCode'> = response.groups[0] ?? response
  // Who has never committed has no group.
  if (answer.errorCode === kafkaErrors.GROUP_ID_NOT_FOUND) return []
  if (answer.errorCode !== kafkaErrors.NONE) throw brokerError(answer.errorCode, { what })
  const found: CommittedOffset[] = []
  for (const { name, partitions: list } of answer.topics) {
    for (const { partitionIndex: partition, committedOffset, committedLeaderEpoch, metadata, errorCode } of list) {
      // A topic that is not there has no offsets either.
      if (errorCode === kafkaErrors.NONE || errorCode === kafkaErrors.UNKNOWN_TOPIC_OR_PARTITION) {
        found.push({ topic: name, partition, offset: committedOffset, leaderEpoch: committedLeaderEpoch, metadata: metadata ?? '' })
        continue
      }
      const error = brokerError(errorCode, { what: `${what} in ${name}-${partition}`, topic: name, partition })
      if (error.row.retriable) throw error
      untold.push({ topic: name, partition, error })
    }
  }
  return found
}

/** Throws the first error that the answer holds. */
export function committedIn(response: ResponseOf<typeof offsetFetchApi>, groupId: string): CommittedOffset[] {
  const untold: UntoldOffset[] = []
  const found = committedOrUntold(response, groupId, untold)
  for (const { error } of untold) throw error
  return found
}

/** Committed offsets of these partitions, or of all that have any, in one request. Without `untold` it rejects where any is refused. */
export async function fetchCommitted(
  channel: Channel, groupId: string, partitions: readonly { readonly topic: string, readonly partition: number }[] | null, options: GroupCallOptions, untold?: UntoldOffset[],
): Promise<CommittedOffset[]> {
  const build = (version: number): RequestDraftOf<typeof offsetFetchApi> => fetchRequest(version, groupId, partitions)
  const response = await call(channel, offsetFetchApi, build, { timeoutMs: options.timeoutMs, signal: options.signal, oldest: partitions === null ? 2 : 1, newest: newestByName })
  return untold === undefined ? committedIn(response, groupId) : committedOrUntold(response, groupId, untold)
}

export function commitRequest({ groupId, memberId, generation, instanceId }: Committer, offsets: readonly OffsetToCommit[]): RequestDraftOf<typeof offsetCommitApi> {
  const topics = [...grouped(offsets)].map(([name, list]) => ({
    name, partitions: list.map(({ partition, offset, leaderEpoch = -1, metadata = '' }) => ({
      partitionIndex: partition, committedOffset: offset, committedLeaderEpoch: leaderEpoch, committedMetadata: metadata,
    })),
  }))
  return { groupId, memberId, generationIdOrMemberEpoch: generation, groupInstanceId: instanceId, topics }
}

export interface RefusedOffset {
  readonly offset: OffsetToCommit
  /** Of the protocol. */
  readonly errorCode: number
}

/** None means that all is committed. */
export function refusedIn(response: ResponseOf<typeof offsetCommitApi>, offsets: readonly OffsetToCommit[]): RefusedOffset[] {
  const codes = new Map(response.topics.flatMap(({ name, partitions }) => partitions.map(({ partitionIndex, errorCode }) => [`${name}/${partitionIndex}`, errorCode] as const)))
  return offsets.map(offset => ({ offset, errorCode: codes.get(`${offset.topic}/${offset.partition}`) ?? kafkaErrors.UNKNOWN_SERVER_ERROR as number }))
    .filter(({ errorCode }) => errorCode !== kafkaErrors.NONE)
}

/** Commits. Gives those that were refused. */
export async function commitOffsets(channel: Channel, committer: Committer, offsets: readonly OffsetToCommit[], options: GroupCallOptions): Promise<RefusedOffset[]> {
  return refusedIn(await call(channel, offsetCommitApi, () => commitRequest(committer, offsets), { ...options, newest: newestByName }), offsets)
}

/** Whether a code says that another coordinator has to be asked, or the same one later. */
export function isPassing(errorCode: number): boolean {
  return kafkaError(errorCode).retriable && errorCode !== kafkaErrors.UNKNOWN_TOPIC_OR_PARTITION
}

function grouped<T extends { readonly topic: string }>(list: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const each of list) {
    const group = groups.get(each.topic)
    if (group === undefined) groups.set(each.topic, [each])
    else group.push(each)
  }
  return groups
}
