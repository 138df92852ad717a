import { type Answer, type MachineTime, type RecordDraft } from '../../../../kernel/model/replay-machine.ts'
import { type ClassicGroup } from '../classic-group.ts'
import { type GroupReplies, type GroupReply, type GroupRules } from '../group-commands.ts'
import { groupRecord, groupTombstone } from '../group-writer.ts'
import { type ConsumerGroup, type ConsumerMember } from './consumer-group.ts'
import { groupTombstones, recordsBetween } from './consumer-records.ts'
import { type TopicDirectory } from './topic-directory.ts'

/** What a decision about a group goes by. */
export interface TurnParts {
  readonly now: MachineTime
  readonly rules: GroupRules
  readonly topics: TopicDirectory
}

/** One decision about one group of the consumer protocol: works on a copy of it, and gathers what comes of it. What is written follows from the two. */
export class ConsumerTurn implements TurnParts {
  /** The copy. */
  readonly group: ConsumerGroup
  /** Undefined where there was no such group. */
  readonly before: ConsumerGroup | undefined
  readonly now: MachineTime
  readonly rules: GroupRules
  readonly topics: TopicDirectory
  readonly answers: Answer<GroupReply>[] = []
  /** For the log. */
  reason = ''
  /** What it was until now, where it was of the classic protocol. */
  formerClassic: ClassicGroup | undefined
  /** What has become of it, where it is of the classic protocol from now on; with what is to be written besides. */
  classic: { readonly group: ClassicGroup, readonly records: readonly RecordDraft[], readonly reason: string } | undefined

  constructor(group: ConsumerGroup, isNew: boolean, { now, rules, topics }: TurnParts) {
    this.before = isNew ? undefined : group
    this.group = isNew ? group : group.copy()
    this.now = now
    this.rules = rules
    this.topics = topics
  }

  answer<T extends keyof GroupReplies>(asker: number, reply: GroupReplies[T]): void {
    this.answers.push({ asker, reply })
  }

  /** Another epoch begins. */
  bump(reason: string): void {
    this.group.epoch++
    this.reason = reason
  }

  /** The member was heard: its session begins anew. */
  heard(memberId: string): void {
    const member = this.group.members.get(memberId)!
    this.group.update(memberId, { sessionDeadlineMs: this.now.judgedMs + sessionTimeoutMs(member, this.rules) })
  }

  get records(): RecordDraft[] {
    const { before, group, formerClassic, classic } = this
    // A group that only has offsets has no record of its own.
    const former = formerClassic === undefined || formerClassic.isBlank ? [] : [groupTombstone(group.groupId)]
    if (classic === undefined) return [...former, ...recordsBetween(before, group)]
    return [...former, ...before === undefined ? [] : groupTombstones(before), groupRecord(classic.group), ...classic.records]
  }
}

export const sessionTimeoutMs = ({ about: { classic } }: ConsumerMember, rules: GroupRules): number => classic?.sessionTimeoutMs ?? rules.consumer.sessionTimeoutMs
