import { expect } from 'vitest'
import { type Decision, type MachineTime } from '../../../../src/kernel/model/replay-machine.ts'
import { type ConsumerHeartbeatCommand } from '../../../../src/plugins/coordinator-group/core/consumer/consumer-commands.ts'
import { type GroupChange } from '../../../../src/plugins/coordinator-group/core/group-change.ts'
import { type GroupCommand, type GroupReply, type GroupRules, type JoinCommand } from '../../../../src/plugins/coordinator-group/core/group-commands.ts'
import { GroupMachine } from '../../../../src/plugins/coordinator-group/core/group-machine.ts'
import { consumerRules, FakeTopics } from './fake-topics.ts'

const longest = 0x7fff_ffff

const anyTimeouts: GroupRules = {
  initialRebalanceDelayMs: 3000, sessionTimeoutMinMs: -longest - 1, sessionTimeoutMaxMs: longest, groupSizeMax: 1000, offsetMetadataBytesMax: 4096,
  offsetsRetentionMs: 1e9, retentionCheckIntervalMs: 1e12, consumer: { ...consumerRules, groupSizeMax: 1000 },
}

/** A machine without a log: what it decides holds at once. */
export class BareMachine {
  readonly machine: GroupMachine
  readonly topics: FakeTopics
  nowMs = 0
  private asker = 0

  constructor(rules: Partial<GroupRules> = {}, topics = new FakeTopics()) {
    this.topics = topics
    this.machine = new GroupMachine({ ...anyTimeouts, ...rules }, topics)
    this.carryOut(this.machine.loaded(this.now))
  }

  /** The answers to it, and to others with it. */
  ask(command: GroupCommand): readonly GroupReply[] {
    return this.carryOut(this.machine.decide(command, ++this.asker, this.now))
  }

  /** Acts on what is due now. Each turn takes somebody out, or ends a phase: there are few of them at one moment. */
  settle(): void {
    for (let turns = 0; this.machine.nextDeadlineMs <= this.nowMs; turns++) {
      expect(turns, 'turns at one moment').toBeLessThan(40)
      this.carryOut(this.machine.due(this.now))
    }
  }

  /** Acts on the first thing that is due now; how many records it wrote. */
  settleOnce(): number {
    const decision = this.machine.due(this.now)
    this.carryOut(decision)
    return decision.records.length
  }

  private get now(): MachineTime {
    return { wallMs: this.nowMs, judgedMs: this.nowMs }
  }

  private carryOut({ records, changes, answers }: Decision<GroupChange, GroupReply>): readonly GroupReply[] {
    for (const { key, value } of records) this.machine.replay(key, value)
    for (const change of changes) this.machine.apply(change)
    return answers.map(({ reply }) => reply)
  }
}

const client = { clientId: 'c', clientHost: '/h' }

export const joinCommand = (freshMemberId: string, more: Partial<JoinCommand> = {}): JoinCommand => ({
  type: 'join', groupId: 'g', memberId: '', instanceId: null, ...client, sessionTimeoutMs: 10_000, rebalanceTimeoutMs: 30_000, protocolType: 'consumer', protocols: [],
  freshMemberId, idFirst: false, maySkip: true, reason: null, ...more,
})

export const beatCommand = (memberId: string, more: Partial<ConsumerHeartbeatCommand> = {}): ConsumerHeartbeatCommand => ({
  type: 'consumerHeartbeat', groupId: 'g', memberId, ...client, epoch: 0, instanceId: null, rackId: null, rebalanceTimeoutMs: 30_000, topics: ['orders'], pattern: null, serverAssignor: null,
  owned: new Map(), ...more,
})
