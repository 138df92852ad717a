import { type Assigned } from '../../../src/plugins/coordinator-group/core/consumer/assigned.ts'
import { assignedOf, without } from '../../../src/plugins/coordinator-group/core/consumer/assigned.ts'
import { assignRange } from '../../../src/plugins/coordinator-group/core/consumer/range-assignor.ts'
import { assignUniform, type AssignorMember } from '../../../src/plugins/coordinator-group/core/consumer/uniform-assignor.ts'
import { type GroupReplies, type SyncCommand } from '../../../src/plugins/coordinator-group/core/group-commands.ts'
import { decodeAssignment, decodeSubscription, encodeAssignment, encodeSubscription } from '../../../src/wire/consumer-protocol.ts'
import { GroupClient, groupId, rebalanceMs, sessionMs, split, type ClientParts } from './group-client.ts'

type Members = GroupReplies['join']['members']

/** A consumer of the classic protocol: eager, which gives everything up before it joins again, or cooperative, which gives up only what it is not to have any more. */
export class ClassicClient extends GroupClient {
  private readonly eager: boolean
  private readonly base: string
  private ids = 0
  private joining = false
  private isMember = false
  /** Of the topics when it assigned last, as leader. */
  private assignedVersion: number | undefined

  constructor(parts: ClientParts, memberId: string, instanceId: string | null, eager: boolean) {
    super(parts, memberId, instanceId)
    this.base = memberId
    this.eager = eager
    this.epoch = -1
  }

  override leave(): void {
    this.commitAll()
    this.reads.clear()
    const { memberId } = this
    if (this.instanceId === null && this.isMember) {
      this.send({ type: 'leave', groupId, members: [{ memberId, instanceId: null, reason: null }] },
        ({ members }) => members![0]!.errorCode === 0 ? [{ type: 'said', member: memberId, what: 'leave', epoch: -1, owned: null, accepted: true }] : [], () => undefined)
    }
    this.kill()
  }

  protected override begin(): void {
    this.join()
    this.beat()
  }

  protected override fenced(): void {
    this.lose()
    this.join()
  }

  /** Brokers check no member of a classic group when it fetches. */
  protected override fetchClaim(): { readonly memberId: string | null, readonly epoch: number } {
    return { memberId: null, epoch: -1 }
  }

  private join(): void {
    if (this.joining || this.stopped) return
    this.joining = true
    if (this.eager) {
      this.commitAll()
      this.reads.clear()
    }
    const owned = [...this.reads.keys()]
    const claimed = this.isMember ? this.memberId : ''
    const fresh = `${this.base}.${++this.ids}`
    if (claimed === '') {
      this.memberId = fresh
      this.parts.coordinator.note({ type: 'started', member: fresh, sessionMs, rebalanceMs, isStaticClassic: this.instanceId !== null })
    }
    const { memberId: member, epoch } = this
    this.send({
      type: 'join', groupId, memberId: claimed, instanceId: this.instanceId, sessionTimeoutMs: sessionMs, rebalanceTimeoutMs: rebalanceMs, protocolType: 'consumer',
      protocols: [{ name: this.eager ? 'range' : 'cooperative-sticky', metadata: this.subscription(owned) }], clientId: 'c', clientHost: '/h', freshMemberId: fresh, idFirst: true, maySkip: true, reason: null,
    }, (reply) => reply.errorCode === 27 ? [{ type: 'said', member, what: 'rejoin', epoch, owned, accepted: true }] : reply.errorCode !== 0 ? [] : [
      { type: 'said', member, what: owned.length === 0 ? 'join' : 'rejoin', epoch, owned: hasMissed(reply, epoch) ? [] : owned, accepted: true },
      { type: 'told', member, epoch: reply.generationId!, assigned: null, asked: true },
    ], (reply) => {
      this.joining = false
      this.joined(reply)
    }, sessionMs + rebalanceMs + 2000)
  }

  private joined(reply: GroupReplies['join'] | undefined): void {
    const { prng } = this.parts
    if (reply?.errorCode === 79) {
      this.isMember = true
      this.join()
    } else if (reply?.errorCode === 0) {
      this.isMember = true
      // A leader that is told to assign nothing does not know with which topics its former self has assigned.
      this.assignedVersion = reply.leader === this.memberId ? 0 : undefined
      // What it has is lost, not given up.
      if (hasMissed(reply, this.epoch)) this.reads.clear()
      this.epoch = reply.generationId!
      this.sync(reply.leader === this.memberId && reply.skipAssignment !== true ? this.assign(reply.members) : new Map())
    } else {
      if (reply !== undefined && reply.errorCode !== 27) this.lose()
      this.later(prng.between(50, 300), () => { this.join() })
    }
  }

  private lose(): void {
    this.assignedVersion = undefined
    this.drop()
    this.epoch = -1
    this.isMember = false
  }

  private sync(assignments: SyncCommand['assignments']): void {
    const { memberId: member, epoch } = this
    this.send({ type: 'sync', groupId, memberId: member, instanceId: this.instanceId, generation: epoch, protocolType: null, protocol: null, assignments }, ({ errorCode, assignment }) =>
      errorCode === 0 ? [
        { type: 'said', member, what: 'heartbeat', epoch, owned: null, accepted: true },
        { type: 'told', member, epoch, assigned: named(assignment), asked: false },
      ] : [], (reply) => {
      if (this.joining) return
      if (reply?.errorCode === 0 && epoch === this.epoch) this.obey(named(reply.assignment))
      else if (reply === undefined || reply.errorCode === 27) this.join()
      else if (epoch === this.epoch) this.fenced()
    }, rebalanceMs + 2000)
  }

  private obey(assigned: readonly string[]): void {
    const lost = [...this.reads.keys()].filter((partition) => !assigned.includes(partition))
    for (const partition of lost) {
      this.commit(partition)
      this.reads.delete(partition)
    }
    if (lost.length > 0) this.parts.coordinator.note({ type: 'dropped', member: this.memberId, partitions: lost })
    for (const partition of assigned) this.take(partition)
    if (lost.length > 0) this.join()
  }

  private beat(): void {
    this.later(this.beatDelayMs, () => { this.beat() })
    if (this.epoch < 0 || this.joining) return
    const { memberId: member, epoch } = this
    if (this.assignedVersion !== undefined && this.assignedVersion !== this.parts.topics.version) this.join()
    this.send({ type: 'heartbeat', groupId, memberId: member, instanceId: this.instanceId, generation: epoch }, ({ errorCode }) => errorCode === 0 || errorCode === 27 ? [
      { type: 'said', member, what: 'heartbeat', epoch, owned: null, accepted: true },
      { type: 'told', member, epoch, assigned: null, asked: errorCode === 27 ? true : null },
    ] : [], (reply) => {
      if (reply === undefined || epoch !== this.epoch || member !== this.memberId) return
      if (reply.errorCode === 27) this.later(this.parts.prng.between(0, 1000), () => { if (epoch === this.epoch) this.join() })
      else if (reply.errorCode !== 0) this.fenced()
    })
  }

  private subscription(owned: readonly string[]): Uint8Array {
    const byTopic = new Map<string, number[]>()
    for (const partition of owned) {
      const { topic, number } = split(partition)
      byTopic.set(topic, [...byTopic.get(topic) ?? [], number])
    }
    return encodeSubscription(3, {
      topics: this.topicNames, userData: null, generationId: this.epoch, ownedPartitions: Array.from(byTopic, ([topic, partitions]) => ({ topic, partitions })),
    })
  }

  /** As leader. A partition that somebody has is given to nobody else before that one has given it up, in cooperative groups. */
  private assign(members: Members): Map<string, Uint8Array> {
    const { topics } = this.parts
    this.assignedVersion = topics.version
    const counts = new Map<string, number>()
    const said = members!.map(({ memberId, metadata, groupInstanceId }) => ({ memberId, instanceId: groupInstanceId ?? null, ...decodeSubscription(metadata) }))
    const claims = new Map<string, string>()
    // Who has missed a generation has lost what it had.
    const newest = Math.max(...said.map(({ generationId }) => generationId))
    for (const { memberId, ownedPartitions, generationId } of said) {
      if (generationId < newest) continue
      for (const { topic, partitions } of ownedPartitions) for (const partition of partitions) claims.set(`${topic}-${partition}`, memberId)
    }
    const claimsOf = (test: (memberId: string) => boolean): Assigned =>
      assignedOf([...claims].filter(([, owner]) => test(owner)).map(([partition]) => ({ topicId: split(partition).topic, partitions: [split(partition).number] })))
    const each = said.map(({ memberId, instanceId, topics: names }): AssignorMember => {
      const known = names.filter((name) => topics.byName(name) !== undefined)
      for (const name of known) counts.set(name, topics.byName(name)!.partitions)
      return { memberId, instanceId, topicIds: known, last: claimsOf((owner) => owner === memberId) }
    })
    const targets = this.eager ? assignRange(each, counts) : assignUniform(each, counts)
    return new Map(Array.from(targets, ([memberId, target]) => {
      const assigned = this.eager ? target : without(target, claimsOf((owner) => owner !== memberId))
      return [memberId, encodeAssignment(3, { assignedPartitions: Array.from(assigned, ([topic, partitions]) => ({ topic, partitions })), userData: null })]
    }))
  }
}

const named = (assignment: Uint8Array): string[] => decodeAssignment(assignment).assignedPartitions.flatMap(({ topic, partitions }) => partitions.map((partition) => `${topic}-${partition}`))

/** Whether there was a generation of a classic group in between: its partitions may have been given to others there. */
const hasMissed = ({ leader, generationId }: GroupReplies['join'], epoch: number): boolean => leader !== '' && generationId! > epoch + 1
