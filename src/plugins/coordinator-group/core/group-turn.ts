import { type Answer, type MachineTime, type RecordDraft } from '../../../kernel/model/replay-machine.ts'
import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { noBytes, type ClassicGroup, type Member } from './classic-group.ts'
import { type GroupReplies, type GroupReply, type GroupRules } from './group-commands.ts'

/** One decision about one group: works on a copy of it, and gathers what comes of it. */
export class GroupTurn {
  /** The copy. */
  readonly group: ClassicGroup
  readonly before: ClassicGroup
  readonly now: MachineTime
  readonly rules: GroupRules
  readonly records: RecordDraft[] = []
  readonly answers: Answer<GroupReply>[] = []
  /** For the log. */
  reason = ''

  constructor(group: ClassicGroup, now: MachineTime, rules: GroupRules) {
    this.before = group
    this.group = group.copy()
    this.now = now
    this.rules = rules
  }

  answer<T extends keyof GroupReplies>(asker: number, reply: GroupReplies[T]): void {
    this.answers.push({ asker, reply })
  }

  refuseJoin(asker: number, memberId: string, errorCode: number): void {
    this.answer<'join'>(asker, refusedJoin(memberId, errorCode))
  }

  refuseSync(asker: number, errorCode: number): void {
    this.answer<'sync'>(asker, { errorCode, assignment: noBytes })
  }

  /** The member was heard: its session begins anew. */
  heard(memberId: string): void {
    const member = this.group.members.get(memberId)!
    this.group.update(memberId, { deadlineMs: this.now.judgedMs + member.sessionTimeoutMs })
  }

  /** Answers whoever waits for this member, who will not get what it waits for. */
  fail(member: Member, errorCode: number, memberId = member.memberId): void {
    if (member.joinAsker !== undefined) this.refuseJoin(member.joinAsker, memberId, errorCode)
    if (member.syncAsker !== undefined) this.refuseSync(member.syncAsker, errorCode)
  }

  /** Whoever waits for it is told that it is not known, and joins again if it lives. */
  removeMember(memberId: string): void {
    const member = this.group.members.get(memberId)
    if (member !== undefined) this.fail(member, kafkaErrors.UNKNOWN_MEMBER_ID, '')
    this.group.remove(memberId)
  }
}

export function refusedJoin(memberId: string, errorCode: number): GroupReplies['join'] {
  return { errorCode, generationId: -1, protocolName: null, leader: '', memberId, members: [] }
}
