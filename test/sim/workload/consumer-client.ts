import { assignedOf, type Assigned } from '../../../src/plugins/coordinator-group/core/consumer/assigned.ts'
import { type ConsumerHeartbeatCommand, type ConsumerReplies } from '../../../src/plugins/coordinator-group/core/consumer/consumer-commands.ts'
import { GroupClient, groupId, rebalanceMs, split } from './group-client.ts'
import { type GroupStep } from './group-coordinator.ts'

type Reply = ConsumerReplies['consumerHeartbeat']

/** A consumer of the consumer protocol, as Kafka's own: heartbeats say what it has when that has changed, everything after a failure, and nothing else. */
export class ConsumerClient extends GroupClient {
  pattern: string | null = null
  private readonly giving = new Set<string>()
  private saysAll = true
  private hasChanged = false
  private beating = false

  override leave(): void {
    this.commitAll()
    this.reads.clear()
    const epoch = this.instanceId === null ? -1 : -2
    this.send(this.command({ epoch, owned: null }), ({ response }) => response.errorCode === 0 ? [{ type: 'said', member: this.memberId, what: 'leave', epoch, owned: null, accepted: true }] : [], () => undefined)
    this.kill()
  }

  protected override begin(): void {
    this.beat()
  }

  protected override fenced(): void {
    this.drop()
    this.giving.clear()
    this.epoch = 0
    this.saysAll = true
  }

  private get owned(): string[] {
    return [...this.reads.keys()]
  }

  private beat(): void {
    if (this.beating) return
    this.beating = true
    const joins = this.epoch === 0
    const owned = joins ? [] : this.saysAll || this.hasChanged ? this.owned : null
    const saysAll = joins || this.saysAll
    this.saysAll = false
    this.hasChanged = false
    const { epoch } = this
    const command = this.command({
      epoch, owned: owned === null ? null : this.assigned(owned),
      ...saysAll ? { rebalanceTimeoutMs: rebalanceMs, topics: this.pattern === null ? this.topicNames : [], pattern: this.pattern ?? '' } : {},
    })
    this.send(command, (reply) => this.told(reply, epoch, owned), (reply) => {
      this.beating = false
      if (reply === undefined) this.saysAll = true
      else if (reply.response.errorCode !== 0) this.fenced()
      else if (this.epoch === epoch) this.obey(reply)
      if (reply?.unresolved !== undefined) this.resolve(reply.unresolved)
      this.later(this.hasChanged ? 10 : this.beatDelayMs, () => { this.beat() })
    })
  }

  private told({ response }: Reply, epoch: number, owned: readonly string[] | null): readonly GroupStep[] {
    const { memberId: member } = this
    const accepted = response.errorCode === 0
    const said: GroupStep = { type: 'said', member, what: epoch === 0 ? 'join' : 'heartbeat', epoch, owned, accepted }
    const assignment = response.assignment
    return accepted ? [said, { type: 'told', member, epoch: response.memberEpoch!, assigned: assignment ? this.names(assignment.topicPartitions!) : null, asked: false }] : [said]
  }

  private obey({ response }: Reply): void {
    this.epoch = response.memberEpoch!
    if (!response.assignment) return
    const assigned = new Set(this.names(response.assignment.topicPartitions!))
    for (const partition of assigned) {
      this.giving.delete(partition)
      this.take(partition)
    }
    for (const partition of this.owned) {
      if (assigned.has(partition) || this.giving.has(partition)) continue
      this.giving.add(partition)
      this.later(this.parts.prng.between(0, 1500), () => { this.giveUp(partition) })
    }
    if (assigned.size > 0) this.hasChanged = true
  }

  private giveUp(partition: string): void {
    if (!this.giving.delete(partition)) return
    this.commit(partition)
    this.reads.delete(partition)
    this.hasChanged = true
    this.later(5, () => { this.beat() })
  }

  /** Somebody looks the pattern up, and it takes its time. */
  private resolve(pattern: string): void {
    const { coordinator, topics, prng } = this.parts
    const { version } = topics
    const names = topics.names().filter((name) => name.startsWith(pattern.slice(0, 1))).sort()
    this.later(prng.between(1, 300), () => { coordinator.submit({ type: 'patternResolved', groupId, pattern, topics: names, version }, () => [], () => undefined) })
  }

  private command(parts: Partial<ConsumerHeartbeatCommand>): ConsumerHeartbeatCommand {
    return {
      type: 'consumerHeartbeat', groupId, memberId: this.memberId, epoch: this.epoch, instanceId: this.instanceId, rackId: null, rebalanceTimeoutMs: -1, topics: null, pattern: null,
      serverAssignor: null, owned: null, clientId: 'c', clientHost: '/h', ...parts,
    }
  }

  private assigned(names: readonly string[]): Assigned {
    return assignedOf(names.map((name) => ({ topicId: this.parts.topics.byName(split(name).topic)!.id, partitions: [split(name).number] })))
  }

  private names(lists: readonly { readonly topicId?: string, readonly partitions?: readonly number[] }[]): string[] {
    return lists.flatMap(({ topicId, partitions }) => partitions!.map((partition) => `${this.parts.topics.nameOf(topicId!)}-${partition}`))
  }
}
