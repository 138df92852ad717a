import { utf8Length } from '../../../base/bytes-writer.ts'
import { zeroUuid } from '../../../kernel/model/ids.ts'
import { type MachineTime, type RecordDraft } from '../../../kernel/model/replay-machine.ts'
import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { type ClassicGroup } from './classic-group.ts'
import { type CommitCommand, type DeleteOffsetsCommand, type FetchCommand, type FetchedOffset, type GroupReplies, type GroupRules } from './group-commands.ts'
import { type GroupOffsets } from './group-offsets.ts'
import { type GroupTurn } from './group-turn.ts'
import { offsetRecord, offsetTombstone } from './group-writer.ts'
import { generationFault } from './member-commands.ts'
import { subscribedTopics } from './subscribed-topics.ts'

/** Why an offset commit is refused as a whole (quirk 50); undefined when it is not. */
function commitFault(group: ClassicGroup, command: CommitCommand): number | undefined {
  // An operator, or a consumer that reads partitions of its own choice.
  if (command.generation < 0 && group.state === 'Empty') return undefined
  const isMember = command.generation >= 0 || command.memberId !== '' || command.instanceId !== null
  if (!isMember) return kafkaErrors.UNKNOWN_MEMBER_ID
  const fault = generationFault(group, command)
  if (fault !== undefined) return fault
  // It has been told of the generation, and not yet what it is assigned there.
  return group.state === 'CompletingRebalance' ? kafkaErrors.REBALANCE_IN_PROGRESS : undefined
}

/** OffsetCommit. All offsets that are not too large go into one batch. It counts as a sign of life (as in Kafka). */
export function commit(turn: GroupTurn, command: CommitCommand, asker: number): void {
  const { group, now, rules } = turn
  const fault = commitFault(group, command)
  if (fault === undefined && group.isIn('Stable', 'PreparingRebalance')) turn.heard(command.memberId)
  const { codes, records } = committed(command, fault, now, rules)
  turn.records.push(...records)
  turn.answer<'commit'>(asker, codes)
}

/** What is written of a commit, and the code of each of its offsets. */
export function committed(command: CommitCommand, fault: number | undefined, now: MachineTime, rules: GroupRules): { readonly codes: readonly number[], readonly records: readonly RecordDraft[] } {
  const records: RecordDraft[] = []
  const expiresAtMs = command.retentionMs < 0 ? -1 : now.wallMs + command.retentionMs
  const codes = command.offsets.map((offset) => {
    if (fault !== undefined) return fault
    if (utf8Length(offset.metadata) > rules.offsetMetadataBytesMax) return kafkaErrors.OFFSET_METADATA_TOO_LARGE
    records.push(offsetRecord(command.groupId, offset, now.wallMs, expiresAtMs))
    return kafkaErrors.NONE
  })
  return { codes, records }
}

/** OffsetFetch: what is committed, or -1 for each that is asked for and is not (quirk 51). */
export function fetched(offsets: GroupOffsets, { groupId, wanted }: FetchCommand): readonly FetchedOffset[] {
  if (wanted === undefined) return Array.from(offsets.of(groupId), ([topic, partition, offset]) => ({ topic, partition, ...offset }))
  return wanted.flatMap(({ topic, partitions }) => partitions.map((partition) => ({ topic, partition, ...offsets.get(groupId, topic, partition) ?? noOffset })))
}

export const noOffset = { topicId: zeroUuid, offset: -1, leaderEpoch: -1, metadata: '' } as const

/** OffsetDelete: of a group that lives, only what it is not subscribed to. */
export function deleteOffsets(turn: GroupTurn, offsets: GroupOffsets, command: DeleteOffsetsCommand, asker: number): void {
  const { group } = turn
  if (group.state !== 'Empty' && group.protocolType !== 'consumer') {
    turn.answer<'deleteOffsets'>(asker, { errorCode: kafkaErrors.NON_EMPTY_GROUP, throttleTimeMs: 0, topics: [] })
    return
  }
  const { reply, records } = deletedOffsets(offsets, command, group.state === 'Empty' ? new Set<string>() : subscribedTopics(group))
  turn.records.push(...records)
  turn.answer<'deleteOffsets'>(asker, reply)
}

/** `subscribed`: what the group reads; undefined where that is not known, and all of it may be read. */
export function deletedOffsets(offsets: GroupOffsets, { groupId, topics }: DeleteOffsetsCommand, subscribed: ReadonlySet<string> | undefined): {
  readonly reply: GroupReplies['deleteOffsets'], readonly records: readonly RecordDraft[]
} {
  const records: RecordDraft[] = []
  const reply: GroupReplies['deleteOffsets'] = {
    errorCode: kafkaErrors.NONE,
    throttleTimeMs: 0,
    topics: topics.map(({ name, partitions }) => ({
      name,
      partitions: partitions.map((partitionIndex) => {
        if (subscribed?.has(name) ?? true) return { partitionIndex, errorCode: kafkaErrors.GROUP_SUBSCRIBED_TO_TOPIC }
        if (offsets.get(groupId, name, partitionIndex) !== undefined) records.push(offsetTombstone(groupId, name, partitionIndex))
        return { partitionIndex, errorCode: kafkaErrors.NONE }
      }),
    })),
  }
  return { reply, records }
}
