import { type Decision, type MachineTime } from '../../../../kernel/model/replay-machine.ts'
import { type ConsumerGroupRecordKey } from '../../../../wire/consumer-group-records.ts'
import { kafkaErrors } from '../../../../wire/kafka-error-codes.ts'
import { noBytes, type ClassicGroup } from '../classic-group.ts'
import { type GroupReply, type GroupRules } from '../group-commands.ts'
import { type GroupChange } from '../group-change.ts'
import { refusedJoin } from '../group-turn.ts'
import { type ConsumerHeartbeatCommand, type PatternResolvedCommand } from './consumer-commands.ts'
import { ConsumerGroup, deadlineOf, type ConsumerMember } from './consumer-group.ts'
import { takeRecord } from './consumer-records.ts'
import { ConsumerTurn, sessionTimeoutMs, type TurnParts } from './consumer-turn.ts'
import { consumerHeartbeat, refusedHeartbeat, steadyHeartbeat } from './heartbeat.ts'
import { consumerFrom, upgradeFault } from './migration.ts'
import { fence } from './removal.ts'
import { assign, follow } from './target.ts'
import { type TopicDirectory } from './topic-directory.ts'

type GroupDecision = Decision<GroupChange, GroupReply>

/** The groups of the consumer protocol in one partition of `__consumer_offsets`. */
export class ConsumerGroups {
  readonly groups = new Map<string, ConsumerGroup>()
  private readonly rules: GroupRules
  private readonly topics: TopicDirectory

  constructor(rules: GroupRules, topics: TopicDirectory) {
    this.rules = rules
    this.topics = topics
  }

  /** `classic`: the group, where it is of the classic protocol yet. */
  heartbeat(command: ConsumerHeartbeatCommand, asker: number, now: MachineTime, classic: ClassicGroup | undefined): GroupDecision {
    const group = this.groups.get(command.groupId)
    const parts = this.parts(now)
    if (group !== undefined) {
      const steady = steadyHeartbeat(group, command, parts)
      if (steady === undefined) return this.inGroup(group, now, (turn) => { consumerHeartbeat(turn, command, asker) })
      const sessionDeadlineMs = now.judgedMs + sessionTimeoutMs(group.members.get(command.memberId)!, this.rules)
      return { records: [], changes: [{ type: 'consumerHeard', groupId: group.groupId, memberId: command.memberId, sessionDeadlineMs }], answers: [{ asker, reply: steady }] }
    }
    const refused = (why: string): GroupDecision => ({
      records: [], changes: [], answers: [{ asker, reply: refusedHeartbeat({ errorCode: kafkaErrors.GROUP_ID_NOT_FOUND, errorMessage: `group ${command.groupId} ${why}` }) }],
    })
    if (command.epoch !== 0) return refused('is not there, or is none of the consumer protocol')
    const fault = classic === undefined || classic.members.size === 0 ? undefined : upgradeFault(classic, this.rules)
    if (fault !== undefined) return refused(`is of the classic protocol, and stays so: ${fault}`)
    const turn = new ConsumerTurn(classic === undefined ? new ConsumerGroup(command.groupId) : consumerFrom(classic, this.topics, now.judgedMs), true, parts)
    turn.formerClassic = classic
    consumerHeartbeat(turn, command, asker)
    if (!turn.group.members.has(command.memberId)) return { records: [], changes: [], answers: turn.answers }
    if (classic !== undefined) sendAway(turn, classic)
    return decisionOf(turn)
  }

  patternResolved({ groupId, pattern, topics, version }: PatternResolvedCommand, asker: number, now: MachineTime): GroupDecision {
    const group = this.groups.get(groupId)
    const used = group !== undefined && [...group.members.values()].some(({ about }) => about.pattern === pattern)
    if (!used) return { records: [], changes: [], answers: [{ asker, reply: { used } }] }
    return this.inGroup(group, now, (turn) => {
      const known = turn.group.patterns.get(pattern)
      turn.group.patterns.set(pattern, { topics, version, atMs: now.wallMs })
      follow(turn, known?.topics.join('\n') === topics.join('\n') ? undefined : `pattern ${pattern} stands for other topics`)
      turn.answer<'patternResolved'>(asker, { used })
    })
  }

  inGroup(group: ConsumerGroup, now: MachineTime, work: (turn: ConsumerTurn) => void): GroupDecision {
    const turn = new ConsumerTurn(group, false, this.parts(now))
    work(turn)
    return decisionOf(turn)
  }

  /** Acts on everything in a group whose time has passed. */
  due(group: ConsumerGroup, now: MachineTime): GroupDecision {
    return this.inGroup(group, now, (turn) => {
      const late = [...turn.group.members.values()].filter((member) => deadlineOf(member) <= now.judgedMs)
      if (late.length > 0) fence(turn, late.map(({ about }) => about.memberId), late.map(reasonOf(now.judgedMs)).join('; '))
      if (turn.classic === undefined && turn.group.assignDeadlineMs <= now.judgedMs) assign(turn)
    })
  }

  /** Members have their whole time again from a load on. */
  loaded(now: MachineTime): GroupDecision[] {
    return Array.from(this.groups.values()).filter(({ members }) => members.size > 0).map((group) => this.inGroup(group, now, (turn) => {
      for (const { about: { memberId, rebalanceTimeoutMs, classic }, current } of group.members.values()) {
        turn.heard(memberId)
        if (current.state === 'unrevoked' && classic === null) turn.group.update(memberId, { revokeDeadlineMs: now.judgedMs + rebalanceTimeoutMs })
      }
    }))
  }

  /** A group that is taken back is gone. */
  replay(key: ConsumerGroupRecordKey, value: Uint8Array | null): void {
    if (key.type === 'consumerGroup' && value === null) {
      this.groups.delete(key.group)
      return
    }
    let group = this.groups.get(key.group)
    if (group === undefined) {
      if (value === null) return
      this.groups.set(key.group, group = new ConsumerGroup(key.group))
    }
    takeRecord(group, key, value)
  }

  private parts(now: MachineTime): TurnParts {
    return { now, rules: this.rules, topics: this.topics }
  }
}

export function decisionOf(turn: ConsumerTurn): GroupDecision {
  const { records, answers, group, before, classic, reason } = turn
  if (classic !== undefined) return { records, answers, changes: [{ type: 'group', group: classic.group, reason: classic.reason, event: undefined }] }
  const event = group.state === (before?.state ?? 'Empty') ? undefined : group.state === 'Stable' ? 'stable' : group.state === 'Empty' ? 'emptied' : undefined
  return { records, answers, changes: [{ type: 'consumer', group, reason, event }] }
}

/** Whoever waits for a rebalance of the classic group learns first that there is another one. */
function sendAway(turn: ConsumerTurn, classic: ClassicGroup): void {
  const joined = turn.answers.splice(0)
  for (const { memberId, joinAsker, syncAsker } of classic.members.values()) {
    if (joinAsker !== undefined) turn.answer<'join'>(joinAsker, refusedJoin(memberId, kafkaErrors.REBALANCE_IN_PROGRESS))
    if (syncAsker !== undefined) turn.answer<'sync'>(syncAsker, { errorCode: kafkaErrors.REBALANCE_IN_PROGRESS, assignment: noBytes })
  }
  turn.answers.push(...joined)
}

const reasonOf = (nowMs: number) => ({ about: { memberId }, sessionDeadlineMs }: ConsumerMember): string =>
  sessionDeadlineMs <= nowMs ? `member ${memberId} was not heard from` : `member ${memberId} has not done what the rebalance asks of it within its timeout`
