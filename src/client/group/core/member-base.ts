import { MillraceError } from '../../../kernel/errors/index.ts'
import {
  type GroupAnswer, type GroupRequest, type GroupWork, type MemberEffect, type MemberEvent, type MemberIdentity, type MemberMachine, type MemberSettings, type Subscription,
  type TopicsKnown,
} from './member-machine.ts'
import { keyOf, type TopicPartition, without } from './topic-partitions.ts'

interface UnderWay {
  readonly work: GroupWork
  then: () => void
}

const listeners: Readonly<Record<GroupWork['kind'], string>> = { assign: 'onAssigned', revoke: 'onRevoked', lost: 'onLost' }

/**
 * What both protocols have in common: the application comes to `poll` and goes, is given one piece of work at a time, and is out when it stays away for too
 * long; requests are numbered, and answers to those that are not waited for any more are dropped.
 */
export abstract class MemberBase implements MemberMachine {
  protected readonly settings: MemberSettings
  protected effects: MemberEffect[] = []
  protected nowMs = 0
  protected subscription: Subscription | undefined
  protected topics: TopicsKnown = new Map()
  protected memberId: string
  protected generation = -1
  protected isInPoll = false
  protected ownedNow: TopicPartition[] = []
  protected heartbeatDueMs = Infinity
  /** Ids of the requests whose answers are wanted, by what they are. */
  private readonly wanted = new Map<GroupRequest['kind'], number>()
  private readonly attempts = new Map<GroupRequest['kind'], number>()
  private underWay: UnderWay | undefined
  private workSinceMs = 0
  /** What comes after the application has been told that nothing is its own any more. It is told when it polls, or leaves. */
  private afterLoss: (() => void) | undefined
  private lastPollMs = 0
  private nextId = 1
  protected leaving: { readonly tells: boolean } | undefined

  constructor(settings: MemberSettings, memberId: string) {
    this.settings = settings
    this.memberId = memberId
  }

  abstract readonly phase: string
  abstract readonly waitsForPoll: boolean
  /** Whether the coordinator counts on this member, or is being asked to. */
  protected abstract readonly isActive: boolean
  /** Does what can be done now. Called at the end of each step in which no work is under way. */
  protected abstract advance(): void
  protected abstract take(answer: GroupAnswer): void
  protected abstract failed(kind: GroupRequest['kind'], error: MillraceError): void
  protected abstract beat(): void
  /** Leaves the group, as the application is away: what this member has is others'. */
  protected abstract expire(): void
  protected abstract handle(event: MemberEvent): void

  get identity(): MemberIdentity {
    return { memberId: this.memberId, generation: this.generation, instanceId: this.settings.instanceId }
  }

  get owned(): readonly TopicPartition[] {
    return this.ownedNow
  }

  get dueMs(): number {
    return Math.min(this.heartbeatDueMs, this.pollDueMs)
  }

  step(event: MemberEvent, nowMs: number): readonly MemberEffect[] {
    this.nowMs = nowMs
    this.effects = []
    switch (event.type) {
      case 'polling':
        this.isInPoll = true
        this.lastPollMs = nowMs
        break
      case 'polled':
        this.isInPoll = false
        this.lastPollMs = nowMs
        break
      case 'worked':
        this.finishWork()
        break
      case 'answered':
        if (this.isWanted(event.answer.kind, event.id)) this.take(event.answer)
        break
      case 'unanswered':
        this.unanswered(event.id, event.error)
        break
      case 'tick':
        break
      case 'expired':
        if (this.isActive && this.leaving === undefined) this.overdue()
        break
      case 'leave':
        this.leaving ??= { tells: event.tells }
        break
      default:
        this.handle(event)
    }
    this.lookAtTime()
    if (this.underWay === undefined) this.tellLoss()
    if (this.underWay === undefined && !this.isLosing) this.advance()
    return this.effects
  }

  protected send(request: GroupRequest, attempt = 0): void {
    const id = this.nextId++
    this.wanted.set(request.kind, id)
    this.effects.push({ type: 'send', id, request, attempt })
  }

  /** Sends what was not answered, or not well, again: later each time. */
  protected sendAgain(request: GroupRequest): void {
    const attempt = (this.attempts.get(request.kind) ?? 0) + 1
    this.attempts.set(request.kind, attempt)
    this.send(request, attempt)
  }

  /** The next failure is a first one. */
  protected succeeded(kind: GroupRequest['kind']): void {
    this.attempts.delete(kind)
  }

  protected isUnderWay(kind: GroupRequest['kind']): boolean {
    return this.wanted.has(kind)
  }

  protected ignore(kind: GroupRequest['kind']): void {
    this.wanted.delete(kind)
  }

  /** `then` is called when the application has done it. Nothing is asked of it where there is nothing to do. */
  protected work(kind: GroupWork['kind'], partitions: readonly TopicPartition[], then: () => void): void {
    if (partitions.length === 0) {
      then()
      return
    }
    const work = { kind, partitions }
    this.underWay = { work, then }
    this.workSinceMs = this.nowMs
    this.effects.push({ type: 'work', work })
  }

  /** Tells the application, after what it is at and when it polls, that nothing is its own any more. What was to come after that work does not. */
  protected loseOwned(then: () => void): void {
    const earlier = this.underWay
    if (earlier === undefined) this.afterLoss = then
    else earlier.then = () => {
      if (earlier.work.kind !== 'assign') this.giveUp(earlier.work.partitions)
      this.afterLoss = then
    }
  }

  /** Whether the application is to be told of a loss before anything else. */
  protected get isLosing(): boolean {
    return this.afterLoss !== undefined
  }

  /** Listeners never run beside a handler. */
  private tellLoss(): void {
    const then = this.afterLoss
    if (then === undefined || (this.ownedNow.length > 0 && !this.isInPoll && this.leaving === undefined)) return
    this.afterLoss = undefined
    this.work('lost', this.ownedNow, () => {
      this.ownedNow = []
      then()
    })
  }

  protected giveUp(partitions: readonly TopicPartition[]): void {
    this.ownedNow = without(this.ownedNow, partitions)
  }

  /** What the application is being given counts as owned: it is lost with the rest. */
  protected own(partitions: readonly TopicPartition[]): void {
    const keys = new Set(this.ownedNow.map(keyOf))
    this.ownedNow = [...this.ownedNow, ...partitions.filter(each => !keys.has(keyOf(each)))]
  }

  /** A listener that does not end is no better than an application that does not poll. */
  private get pollDueMs(): number {
    if (!this.isActive || this.leaving !== undefined) return Infinity
    return Math.min(this.isInPoll ? Infinity : this.lastPollMs, this.underWay === undefined ? Infinity : this.workSinceMs) + this.settings.pollIntervalMsMax
  }

  private lookAtTime(): void {
    if (this.pollDueMs <= this.nowMs) this.overdue()
    if (this.heartbeatDueMs <= this.nowMs) {
      this.heartbeatDueMs = Infinity
      this.beat()
    }
  }

  private overdue(): void {
    const { groupId, pollIntervalMsMax: timeoutMs } = this.settings
    const { underWay } = this
    if (underWay !== undefined && this.workSinceMs + timeoutMs <= this.nowMs) {
      this.effects.push({ type: 'tell', error: new MillraceError('MR_CLIENT_GROUP_LISTENER_STUCK', { group: groupId, listener: listeners[underWay.work.kind], timeoutMs }) })
    } else {
      this.effects.push({ type: 'warn', message: `nobody has polled for ${timeoutMs} ms: this member has left its group, and joins again with the next poll; poll more often, with less each time, or raise pollIntervalMsMax` })
    }
    this.expire()
  }

  private finishWork(): void {
    const done = this.underWay
    this.underWay = undefined
    done?.then()
  }

  private isWanted(kind: GroupRequest['kind'], id: number): boolean {
    if (this.wanted.get(kind) !== id) return false
    this.wanted.delete(kind)
    return true
  }

  private unanswered(id: number, error: MillraceError): void {
    for (const [kind, wanted] of this.wanted) {
      if (wanted !== id) continue
      this.wanted.delete(kind)
      this.failed(kind, error)
      return
    }
  }
}
