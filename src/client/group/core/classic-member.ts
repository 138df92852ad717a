import { assert } from '../../../base/assert.ts'
import { isMillraceError, MillraceError } from '../../../kernel/errors/index.ts'
import { kafkaError, kafkaErrors } from '../../../wire/index.ts'
import { type Assignor, type GroupAssignment, type GroupMember, type OwnState } from './assignor.ts'
import { assignedIn, joinDraft, membersOf, syncDraft } from './classic-messages.ts'
import { isCoordinatorMoved, membershipError } from './group-errors.ts'
import { MemberBase } from './member-base.ts'
import { type GroupAnswer, type GroupRequest, type GroupResponse, type MemberEvent, type MemberSettings } from './member-machine.ts'
import { type TopicPartition, without } from './topic-partitions.ts'

/**
 * - `idle`: not in the group; joins when the application polls
 * - `preparing`: gives up what it has to before it joins
 * - `joining`, `learning` (the leader: which partitions there are), `syncing`
 * - `adopting`: gives up and takes on what the assignment says
 * - `stable`
 * - `leaving`, `left`, `failed`
 */
type Phase = 'idle' | 'preparing' | 'joining' | 'learning' | 'syncing' | 'adopting' | 'stable' | 'leaving' | 'left' | 'failed'

const outside: ReadonlySet<Phase> = new Set(['idle', 'leaving', 'left', 'failed'])
const leaveAttemptsMax = 3

/**
 * A member of a group of the classic protocol. Members join; the one that the coordinator names shares the partitions out; all are told what is theirs.
 * With a cooperative assignor they keep what stays theirs all the while; else they give up everything first.
 */
export class ClassicMember extends MemberBase {
  phase: Phase = 'idle'
  private readonly assignors: readonly Assignor[]
  private readonly isCooperative: boolean
  private joinedTopics: readonly string[] = []
  private protocolName = ''
  private isLeader = false
  private rejoinReason: string | undefined
  private last: OwnState = { owned: [], generation: -1 }
  private target: readonly TopicPartition[] = []
  /** As leader: who there is, until the partitions are known. */
  private members: readonly GroupMember[] = []
  /** As leader: how many partitions the topics had that were shared out. */
  private counts = new Map<string, number>()

  constructor(settings: MemberSettings, assignors: readonly Assignor[]) {
    super(settings, '')
    assert(assignors.length > 0, 'a member has an assignor')
    this.assignors = assignors
    this.isCooperative = assignors.every(assignor => assignor.isCooperative)
  }

  protected get isActive(): boolean {
    return !outside.has(this.phase)
  }

  get waitsForPoll(): boolean {
    if (this.isLosing) return true
    if (this.phase === 'idle') return this.subscription !== undefined
    return this.phase === 'adopting' || (this.phase === 'stable' && this.rejoinReason !== undefined)
  }

  protected handle(event: MemberEvent): void {
    switch (event.type) {
      case 'subscribe':
        this.subscription = event.subscription
        if (this.phase === 'left' || this.phase === 'failed') this.phase = 'idle'
        this.leaving = undefined
        if (this.isActive && !sameNames(this.joinedTopics, event.subscription.topics)) this.rejoinReason = 'the subscription changed'
        break
      case 'topics':
        this.topics = event.topics
        if (this.phase === 'learning' && event.isLearned === true) this.shareOut()
        else if (this.isLeader && this.isActive && this.hasOtherCounts()) this.rejoinReason = 'partitions came or went'
        break
      case 'rejoin':
        if (this.isActive) this.rejoinReason = event.reason
        break
      default:
    }
  }

  protected advance(): void {
    if (this.leaving !== undefined) {
      if (!outside.has(this.phase) || this.phase === 'idle') this.leave()
      else if (this.phase === 'failed') this.end()
    } else if (this.subscription === undefined || !this.isInPoll) return
    else if (this.phase === 'idle') this.prepare('joining')
    else if (this.phase === 'stable' && this.rejoinReason !== undefined) this.prepare(this.rejoinReason)
    else if (this.phase === 'adopting') this.adopt()
  }

  private prepare(reason: string): void {
    this.phase = 'preparing'
    this.rejoinReason = undefined
    const { topics } = this.subscription!
    const given = this.isCooperative ? this.ownedNow.filter(({ topic }) => !topics.includes(topic)) : this.ownedNow
    this.work('revoke', given, () => {
      this.giveUp(given)
      if (this.mayJoin) this.join(reason)
    })
  }

  private get mayJoin(): boolean {
    return this.phase === 'preparing' && this.leaving === undefined
  }

  private join(reason: string, again = false): void {
    this.phase = 'joining'
    this.isLeader = false
    this.stopBeating()
    this.joinedTopics = this.subscription!.topics
    const draft = joinDraft({
      settings: this.settings, assignors: this.assignors, topics: this.joinedTopics, identity: this.identity, owned: this.ownedNow, last: this.last, reason,
    })
    if (again) this.sendAgain({ kind: 'join', draft })
    else this.send({ kind: 'join', draft })
  }

  protected take(answer: GroupAnswer): void {
    switch (answer.kind) {
      case 'join': return this.joined(answer.response)
      case 'sync': return this.synced(answer.response)
      case 'heartbeat': return this.beaten(answer.response.errorCode)
      case 'leave': return this.taken(answer.response.errorCode)
      default:
    }
  }

  private joined(response: GroupResponse<'join'>): void {
    const { errorCode } = response
    if (errorCode === kafkaErrors.MEMBER_ID_REQUIRED) {
      this.memberId = response.memberId
      this.join('joining with a member id')
      return
    }
    if (errorCode !== kafkaErrors.NONE) {
      this.refused(errorCode, reason => { this.join(reason, true) })
      return
    }
    this.succeeded('join')
    this.memberId = response.memberId
    this.generation = response.generationId
    this.protocolName = response.protocolName ?? ''
    this.heartbeatDueMs = this.nowMs + this.settings.heartbeatIntervalMs
    this.isLeader = response.leader === this.memberId
    if (!this.isLeader || response.skipAssignment) {
      this.counts = this.countsOf(this.joinedTopics)
      this.sync(new Map())
      return
    }
    const unreadable: string[] = []
    this.members = membersOf(response, this.assignor, unreadable)
    if (unreadable.length > 0) this.effects.push({ type: 'warn', message: `what these members want cannot be read, and they are given nothing: ${unreadable.join(', ')}` })
    this.phase = 'learning'
    this.effects.push({ type: 'learn', topics: [...new Set(this.members.flatMap(({ topics }) => topics))] })
  }

  private get assignor(): Assignor {
    return this.assignors.find(({ name }) => name === this.protocolName) ?? this.assignors[0]!
  }

  private shareOut(): void {
    this.counts = this.countsOf(this.members.flatMap(({ topics }) => topics))
    const present = new Map([...this.counts].filter(([, count]) => count > 0))
    this.sync(this.assignor.assign(this.members, present))
  }

  private sync(assignment: GroupAssignment): void {
    this.phase = 'syncing'
    this.send({ kind: 'sync', draft: syncDraft(this.settings, this.identity, this.protocolName, assignment) })
  }

  private synced(response: GroupResponse<'sync'>): void {
    if (response.errorCode !== kafkaErrors.NONE) {
      this.refused(response.errorCode, (reason) => { this.join(reason, true) })
      return
    }
    try {
      this.target = assignedIn(response)
    } catch (error) {
      if (!isMillraceError(error)) throw error
      this.leaveWithout(error)
      return
    }
    this.last = { owned: this.target, generation: this.generation }
    this.phase = 'adopting'
  }

  /** One piece after another, each when the one before is done; the last is to be stable. */
  private adopt(): void {
    const gone = without(this.ownedNow, this.target)
    if (gone.length > 0) {
      this.work('revoke', gone, () => {
        this.giveUp(gone)
        // Who is to have it may have it now.
        this.rejoinReason ??= 'partitions were given up for others'
      })
      return
    }
    const added = without(this.target, this.ownedNow)
    this.own(added)
    this.work('assign', added, () => {
      if (this.phase !== 'adopting') return
      this.phase = 'stable'
    })
    if (this.phase === 'stable') this.advance()
  }

  protected beat(): void {
    if (this.generation < 0 || !this.isActive || this.phase === 'joining' || this.isUnderWay('heartbeat')) return
    this.send(this.heartbeat())
  }

  private heartbeat(): GroupRequest {
    const { groupId, instanceId } = this.settings
    return { kind: 'heartbeat', draft: { groupId, generationId: this.generation, memberId: this.memberId, groupInstanceId: instanceId } }
  }

  private stopBeating(): void {
    this.ignore('heartbeat')
    this.heartbeatDueMs = Infinity
  }

  private beaten(errorCode: number): void {
    this.heartbeatDueMs = this.nowMs + this.settings.heartbeatIntervalMs
    if (errorCode === kafkaErrors.NONE) {
      this.succeeded('heartbeat')
      return
    }
    if (errorCode === kafkaErrors.REBALANCE_IN_PROGRESS) {
      // While it syncs, the answer to that says it too.
      if (this.phase === 'stable' || this.phase === 'adopting') this.rejoinReason ??= 'the group rebalances'
      return
    }
    this.refused(errorCode, () => { this.heartbeatDueMs = Infinity; this.sendAgain(this.heartbeat()) })
  }

  /** An answer that is an error: what it says of this member, and whether to try again as `again` does it. */
  private refused(errorCode: number, again: (reason: string) => void): void {
    switch (errorCode) {
      case kafkaErrors.REBALANCE_IN_PROGRESS:
        this.join('the group rebalances', this.phase === 'joining')
        return
      case kafkaErrors.UNKNOWN_MEMBER_ID:
        this.memberId = ''
        this.lose('the coordinator does not know this member')
        return
      case kafkaErrors.ILLEGAL_GENERATION:
        this.lose('the group has gone on without this member')
        return
      default:
    }
    if (isCoordinatorMoved(errorCode)) this.effects.push({ type: 'forgetCoordinator' })
    if (kafkaError(errorCode).retriable) again(`after ${kafkaError(errorCode).name}`)
    else this.fail(membershipError(errorCode, this.settings.groupId))
  }

  protected failed(kind: GroupRequest['kind'], error: MillraceError): void {
    if (kind === 'leave') {
      if (this.phase !== 'leaving') return
      this.leaveAttempts++
      if (!error.row.retriable || this.leaveAttempts >= leaveAttemptsMax) this.end()
      else this.tellLeave()
      return
    }
    if (!error.row.retriable) {
      this.fail(error)
      return
    }
    this.effects.push({ type: 'forgetCoordinator' })
    if (kind === 'heartbeat') this.sendAgain(this.heartbeat())
    else this.join('an answer was lost', true)
  }

  /** Everything it had is others'. Then it joins anew. */
  private lose(reason: string): void {
    this.generation = -1
    this.stopBeating()
    this.ignore('sync')
    this.ignore('join')
    this.dropOwned(() => { if (this.mayJoin) this.join(reason, true) })
  }

  /** Tells the application, after what it is at, that nothing is its own. */
  private dropOwned(then: () => void): void {
    if (this.isActive) this.phase = 'preparing'
    this.target = []
    this.last = { owned: [], generation: -1 }
    this.loseOwned(then)
  }

  protected expire(): void {
    this.quit('the application has not polled for too long')
    this.phase = 'idle'
  }

  /** Joining again would bring the same, and a rebalance to everybody each time. */
  private leaveWithout(error: MillraceError): void {
    const { groupId } = this.settings
    const remedy = `the leader of the group has sent what is no assignment (${error.message}); see which client it is, and with which assignor, and subscribe again when it is mended`
    this.effects.push({ type: 'fail', error: new MillraceError('MR_CLIENT_GROUP_REFUSED', { group: groupId, error: error.code, kafkaCode: kafkaErrors.UNKNOWN_SERVER_ERROR, remedy }, error) })
    this.quit('the assignment cannot be read')
    this.phase = 'failed'
  }

  /** Out at once, without waiting for an answer. Who is static is expected back. */
  private quit(reason: string): void {
    if (this.memberId !== '' && this.settings.instanceId === null) this.sendLeave(reason)
    this.generation = -1
    this.memberId = ''
    this.stopBeating()
    this.ignore('join')
    this.ignore('sync')
    this.dropOwned(() => undefined)
  }

  private fail(error: MillraceError): void {
    this.generation = -1
    this.stopBeating()
    this.effects.push({ type: 'fail', error })
    this.dropOwned(() => undefined)
    this.phase = 'failed'
  }

  private leaveAttempts = 0

  private leave(): void {
    this.phase = 'leaving'
    this.ignore('join')
    this.ignore('sync')
    this.work(this.generation >= 0 ? 'revoke' : 'lost', this.ownedNow, () => {
      this.ownedNow = []
      this.stopBeating()
      this.leaveAttempts = 0
      this.tellLeave()
    })
  }

  private tellLeave(): void {
    if (this.memberId === '' || this.leaving?.tells !== true) this.end()
    else this.sendLeave('the consumer is closed')
  }

  private sendLeave(reason: string): void {
    const { groupId, instanceId } = this.settings
    this.send({ kind: 'leave', draft: { groupId, memberId: this.memberId, members: [{ memberId: this.memberId, groupInstanceId: instanceId, reason }] } }, this.leaveAttempts)
  }

  private taken(errorCode: number): void {
    if (this.phase !== 'leaving') return
    if (isCoordinatorMoved(errorCode) && ++this.leaveAttempts < leaveAttemptsMax) {
      this.effects.push({ type: 'forgetCoordinator' })
      this.tellLeave()
    } else this.end()
  }

  private end(): void {
    this.phase = 'left'
    this.generation = -1
    this.memberId = ''
    this.subscription = undefined
    this.rejoinReason = undefined
    this.leaving = undefined
    this.effects.push({ type: 'left' })
  }

  private countsOf(topics: readonly string[]): Map<string, number> {
    return new Map(topics.map(topic => [topic, this.topics.get(topic)?.partitions ?? 0]))
  }

  private hasOtherCounts(): boolean {
    for (const [topic, count] of this.counts) if ((this.topics.get(topic)?.partitions ?? 0) !== count) return true
    return false
  }
}

function sameNames(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every(name => b.includes(name))
}
