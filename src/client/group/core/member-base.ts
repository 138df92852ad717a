import { type MillraceError } from '../../../kernel/errors/index.ts'
import {
  type GroupAnswer, type GroupRequest, type GroupWork, type MemberEffect, type MemberEvent, type MemberIdentity, type MemberMachine, type MemberSettings, type Subscription,
  type TopicsKnown,
} from './member-machine.ts'
import { keyOf, type TopicPartition, without } from './topic-partitions.ts'

interface UnderWay {
  readonly work: GroupWork
  then: () => void
}

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
  /** What this member has is others' now, or will be soon; it is told to `lose`. */
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
        if (this.isActive && this.leaving === undefined) this.expire()
        break
      case 'leave':
        this.leaving ??= { tells: event.tells }
        break
      default:
        this.handle(event)
    }
    this.lookAtTime()
    if (this.underWay === undefined) this.advance()
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
    this.effects.push({ type: 'work', work })
  }

  /** Tells the application, after what it is at, that nothing is its own any more. What was to come after that work does not. */
  protected loseOwned(then: () => void): void {
    const lose = (): void => {
      this.work('lost', this.ownedNow, () => {
        this.ownedNow = []
        then()
      })
    }
    const earlier = this.underWay
    if (earlier === undefined) lose()
    else earlier.then = () => {
      if (earlier.work.kind !== 'assign') this.giveUp(earlier.work.partitions)
      lose()
    }
  }

  protected giveUp(partitions: readonly TopicPartition[]): void {
    this.ownedNow = without(this.ownedNow, partitions)
  }

  /** What the application is being given counts as owned: it is lost with the rest. */
  protected own(partitions: readonly TopicPartition[]): void {
    const keys = new Set(this.ownedNow.map(keyOf))
    this.ownedNow = [...this.ownedNow, ...partitions.filter(each => !keys.has(keyOf(each)))]
  }

  private get pollDueMs(): number {
    return this.isActive && !this.isInPoll && this.leaving === undefined ? this.lastPollMs + this.settings.pollIntervalMsMax : Infinity
  }

  private lookAtTime(): void {
    if (this.pollDueMs <= this.nowMs) this.expire()
    if (this.heartbeatDueMs <= this.nowMs) {
      this.heartbeatDueMs = Infinity
      this.beat()
    }
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
