import { type MillraceError } from '../../../kernel/errors/index.ts'
import { type consumerGroupHeartbeatApi, kafkaError, kafkaErrors, type RequestDraftOf } from '../../../wire/index.ts'
import { isCoordinatorMoved, membershipError } from './group-errors.ts'
import { MemberBase } from './member-base.ts'
import { type GroupAnswer, type GroupRequest, type GroupResponse, type MemberEvent, type MemberSettings } from './member-machine.ts'
import { byTopic, fromTopics, type TopicPartition, without } from './topic-partitions.ts'

type Phase = 'idle' | 'joining' | 'stable' | 'reconciling' | 'leaving' | 'left' | 'failed'
type Draft = RequestDraftOf<typeof consumerGroupHeartbeatApi>
type AssignedIds = NonNullable<GroupResponse<'consumerHeartbeat'>['assignment']>['topicPartitions']

/** Member epochs that say something else. */
const joinEpoch = 0
const leaveEpoch = -1
const leaveToReturnEpoch = -2

export interface ConsumerMemberSettings extends MemberSettings {
  /** Null leaves it to the coordinator. */
  readonly serverAssignor: string | null
}

/**
 * A member of a group of the consumer protocol (KIP-848). The coordinator shares the partitions out; the member says in its heartbeats what it wants and
 * has, and is told what it should have. It goes there one step at a time: gives up what others get, says so, takes on what is new.
 */
export class ConsumerMember extends MemberBase {
  phase: Phase = 'idle'
  private readonly serverAssignor: string | null
  private intervalMs: number
  /** What the coordinator wants this member to have; undefined before it has said. */
  private target: AssignedIds | undefined
  /** Whether all is to be said, as if for the first time. */
  private isFull = true
  private saysTopics = false
  private saysOwned = false
  /** Whether the coordinator may still match a pattern for this member: until it has answered a heartbeat that says that there is none. */
  private mayHavePattern = false
  private saidNoPattern = false
  private isUrgent = false
  private readonly idOf = new Map<string, string>()
  /** Of the topics of the target, as far as they were ever known: a topic that metadata lacks for a while is no less this member's. */
  private readonly nameOf = new Map<string, string>()

  /** `memberId` is this member's own for good. */
  constructor(settings: ConsumerMemberSettings, memberId: string) {
    super(settings, memberId)
    this.serverAssignor = settings.serverAssignor
    this.intervalMs = settings.heartbeatIntervalMs
  }

  protected get isActive(): boolean {
    return this.phase === 'joining' || this.phase === 'stable' || this.phase === 'reconciling'
  }

  get waitsForPoll(): boolean {
    if (this.isLosing) return true
    if (this.phase === 'idle') return this.subscription !== undefined
    if (!this.isActive || this.target === undefined) return false
    const wanted = this.resolved()
    return without(this.ownedNow, wanted).length > 0 || without(wanted, this.ownedNow).length > 0
  }

  protected handle(event: MemberEvent): void {
    switch (event.type) {
      case 'subscribe':
        this.subscription = event.subscription
        if (this.phase === 'left' || this.phase === 'failed') this.phase = 'idle'
        this.leaving = undefined
        this.saysTopics = true
        if (this.isActive) this.beatSoon()
        break
      case 'topics':
        this.topics = event.topics
        break
      case 'beaten':
        if (!this.isActive || this.generation < 0 || event.response.memberEpoch < this.generation) break
        this.generation = event.response.memberEpoch
        if (event.response.assignment !== null) this.aim(event.response.assignment.topicPartitions)
        this.isFull = true
        break
      default:
    }
  }

  protected advance(): void {
    if (this.leaving !== undefined) {
      if (this.phase === 'failed') this.end()
      else if (this.phase !== 'leaving' && this.phase !== 'left') this.leave()
      return
    }
    if (!this.isInPoll || this.subscription === undefined) return
    if (this.phase === 'idle') this.join()
    else if (this.isActive && this.target !== undefined) this.reconcile()
  }

  private join(again = false): void {
    this.phase = 'joining'
    this.generation = joinEpoch
    this.isFull = true
    this.beatNow(again)
  }

  /** Gives up first, then takes on. What came in the meantime is for the next time. */
  private reconcile(): void {
    const wanted = this.resolved()
    const gone = without(this.ownedNow, wanted)
    const added = without(wanted, this.ownedNow)
    if (gone.length === 0 && added.length === 0) {
      if (this.phase === 'reconciling') {
        this.phase = 'stable'
        this.saysOwned = true
        this.beatSoon()
      }
      return
    }
    this.phase = 'reconciling'
    if (gone.length > 0) {
      this.work('revoke', gone, () => { this.giveUp(gone) })
      return
    }
    this.own(added)
    this.work('assign', added, () => undefined)
  }

  /** The target by names, as far as they are known. */
  private resolved(): TopicPartition[] {
    const names = new Map([...this.topics].map(([name, { topicId }]) => [topicId, name]))
    return fromTopics((this.target ?? []).flatMap(({ topicId, partitions }) => {
      const topic = names.get(topicId) ?? this.nameOf.get(topicId)
      if (topic === undefined) return []
      this.idOf.set(topic, topicId)
      this.nameOf.set(topicId, topic)
      return [{ topic, partitions }]
    }))
  }

  protected beat(): void {
    // Who has lost all joins again first.
    if (!this.isActive || this.generation < 0) return
    this.beatNow()
  }

  /** As soon as the heartbeat under way is answered. */
  private beatSoon(): void {
    this.isUrgent = true
    this.heartbeatDueMs = this.nowMs
    this.beat()
  }

  private beatNow(again = false): void {
    if (this.isUnderWay('consumerHeartbeat')) return
    this.heartbeatDueMs = Infinity
    this.isUrgent = false
    const request: GroupRequest = { kind: 'consumerHeartbeat', draft: this.draft() }
    const { subscribedTopicRegex: pattern } = request.draft
    this.saidNoPattern = pattern === ''
    if (typeof pattern === 'string' && pattern !== '') this.mayHavePattern = true
    this.isFull = false
    this.saysTopics = false
    this.saysOwned = false
    if (again) this.sendAgain(request)
    else this.send(request)
  }

  /** Null says that nothing has changed (quirk 55). */
  private draft(): Draft {
    const { settings, isFull, subscription } = this
    const saysTopics = isFull || this.saysTopics
    return {
      groupId: settings.groupId, memberId: this.memberId, memberEpoch: this.generation, instanceId: settings.instanceId,
      rackId: isFull ? settings.rack : null,
      rebalanceTimeoutMs: isFull ? settings.pollIntervalMsMax : -1,
      subscribedTopicNames: saysTopics ? [...subscription!.topics].sort() : null,
      subscribedTopicRegex: saysTopics ? subscription!.regex ?? (isFull && !this.mayHavePattern ? null : '') : null,
      serverAssignor: isFull ? this.serverAssignor : null,
      topicPartitions: isFull || this.saysOwned ? this.ownedById() : null,
    }
  }

  private ownedById(): NonNullable<Draft['topicPartitions']> {
    return byTopic(this.ownedNow).map(({ topic, partitions }) => ({ topicId: this.idOf.get(topic)!, partitions: [...partitions] }))
  }

  protected take(answer: GroupAnswer): void {
    if (answer.kind !== 'consumerHeartbeat') return
    const { response } = answer
    if (this.phase === 'leaving') {
      if (isCoordinatorMoved(response.errorCode)) this.effects.push({ type: 'forgetCoordinator' })
      this.end()
      return
    }
    if (!this.isActive) return
    if (response.errorCode !== kafkaErrors.NONE) {
      this.refused(response)
      return
    }
    this.succeeded('consumerHeartbeat')
    if (this.saidNoPattern) this.mayHavePattern = false
    if (this.phase === 'joining') this.phase = 'stable'
    if (response.memberId !== null && response.memberId !== '') this.memberId = response.memberId
    this.generation = response.memberEpoch
    this.intervalMs = response.heartbeatIntervalMs
    if (response.assignment !== null) this.aim(response.assignment.topicPartitions)
    this.heartbeatDueMs = this.nowMs + this.intervalMs
    if (this.isUrgent) this.beatNow()
  }

  private aim(assigned: AssignedIds): void {
    this.target = assigned
    // Also where nothing changes: the coordinator wants to hear it.
    this.phase = 'reconciling'
    const topicIds = assigned.map(({ topicId }) => topicId)
    for (const topicId of this.nameOf.keys()) if (!topicIds.includes(topicId)) this.nameOf.delete(topicId)
    // All of them: what was learned for the target before is not kept otherwise.
    this.effects.push({ type: 'learnIds', topicIds })
  }

  private refused({ errorCode, errorMessage }: GroupResponse<'consumerHeartbeat'>): void {
    switch (errorCode) {
      case kafkaErrors.UNKNOWN_MEMBER_ID:
      case kafkaErrors.FENCED_MEMBER_EPOCH:
        this.lose()
        return
      default:
    }
    if (isCoordinatorMoved(errorCode)) this.effects.push({ type: 'forgetCoordinator' })
    if (!kafkaError(errorCode).retriable) {
      this.fail(membershipError(errorCode, this.settings.groupId, errorMessage))
      return
    }
    this.isFull = true
    this.beatNow(true)
  }

  protected failed(_kind: GroupRequest['kind'], error: MillraceError): void {
    if (this.phase === 'leaving') {
      this.end()
      return
    }
    if (!this.isActive) return
    if (!error.row.retriable) {
      this.fail(error)
      return
    }
    this.effects.push({ type: 'forgetCoordinator' })
    // Nobody knows what of it was heard.
    this.isFull = true
    this.beatNow(true)
  }

  /** Everything it had is others'. Then it joins anew, under the same id. */
  private lose(): void {
    this.target = undefined
    this.generation = -1
    this.phase = 'joining'
    this.heartbeatDueMs = Infinity
    this.loseOwned(() => { if (this.phase === 'joining' && this.leaving === undefined) this.join(true) })
  }

  protected expire(): void {
    this.sendLeave()
    this.ignore('consumerHeartbeat')
    this.stop('idle')
  }

  private fail(error: MillraceError): void {
    this.effects.push({ type: 'fail', error })
    this.stop('failed')
  }

  private stop(phase: 'idle' | 'failed'): void {
    this.target = undefined
    this.effects.push({ type: 'learnIds', topicIds: [] })
    this.generation = -1
    this.heartbeatDueMs = Infinity
    this.phase = phase
    this.loseOwned(() => undefined)
  }

  private leave(): void {
    const wasMember = this.generation >= 0 && this.phase !== 'idle'
    this.phase = 'leaving'
    this.ignore('consumerHeartbeat')
    this.work(wasMember ? 'revoke' : 'lost', this.ownedNow, () => {
      this.ownedNow = []
      this.heartbeatDueMs = Infinity
      this.target = undefined
      // Without a name of its own a member that says nothing is missed after the session timeout.
      if (wasMember && (this.leaving?.tells === true || this.settings.instanceId !== null)) this.sendLeave()
      else this.end()
    })
  }

  /** A static member that comes back says so, and its partitions are kept for it. */
  private sendLeave(): void {
    const { groupId, instanceId } = this.settings
    const comesBack = instanceId !== null && this.leaving?.tells !== true
    this.send({ kind: 'consumerHeartbeat', draft: { groupId, memberId: this.memberId, memberEpoch: comesBack ? leaveToReturnEpoch : leaveEpoch, instanceId } })
  }

  private end(): void {
    this.phase = 'left'
    this.generation = -1
    this.subscription = undefined
    this.leaving = undefined
    this.effects.push({ type: 'left' })
  }
}
