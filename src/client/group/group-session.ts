import { backoffMs } from '../../base/backoff.ts'
import { assert } from '../../base/assert.ts'
import { isMillraceError, MillraceError, reasonOf } from '../../kernel/errors/index.ts'
import { consumerGroupHeartbeatApi, heartbeatApi, joinGroupApi, leaveGroupApi, syncGroupApi } from '../../wire/index.ts'
import { call, type CallOptions } from '../channel/call.ts'
import { type Lane } from '../cluster/broker-pool.ts'
import { type Coordinator } from '../cluster/coordinator.ts'
import { type LookupParts } from '../cluster/offset-lookup.ts'
import { Lookout } from '../lookout.ts'
import { pause } from '../pause.ts'
import { type StandIn } from './stand-in.ts'
import { type GroupAnswer, type GroupRequest, type GroupWork, type MemberEffect, type MemberEvent, type MemberMachine, type TopicsKnown } from './core/member-machine.ts'

/** What the session asks of the consumer that it works for. */
export interface GroupApplication {
  /** Never rejects: what goes wrong there is the application's to hear from `poll`. What has to happen at once happens before it returns. */
  perform(work: GroupWork): Promise<void>
  learn(topics: readonly string[]): void
  learnIds(topicIds: readonly string[]): void
  /** `poll` rejects with it, once. */
  told(error: unknown): void
  /** The membership is over. */
  failed(error: unknown): void
}

export interface SessionParts extends LookupParts {
  readonly machine: MemberMachine
  readonly coordinator: Coordinator
  readonly application: GroupApplication
  /** Who heartbeats while this event loop is blocked. */
  readonly standIn?: StandIn | undefined
  /** How long others may be waited for in a rebalance. */
  readonly rebalanceTimeoutMs: number
}

/** Beyond what the coordinator itself waits for. */
const joinGraceMs = 5000
/** A message from another thread is here in less. */
const catchUpMs = 20
const catchUpsMax = 50

/** Lets a member machine live: gives it what happens, and does what it says, with a network and a clock. */
export class GroupSession {
  private readonly parts: SessionParts
  private readonly events: MemberEvent[] = []
  private readonly lookout: Lookout
  private readonly abort = new AbortController()
  private readonly joinLane: Lane
  private isStepping = false
  private worker: Promise<void> | undefined
  private onLeft: (() => void) | undefined

  constructor(parts: SessionParts) {
    this.parts = parts
    this.joinLane = parts.pool.newGroupLane()
    this.lookout = new Lookout(parts.world.timers, () => { this.tick() })
  }

  get machine(): MemberMachine {
    return this.parts.machine
  }

  /** Pending while the application is at a piece of work. */
  get work(): Promise<void> | undefined {
    return this.worker
  }

  /** See `StandIn.isWatching`. */
  get isStoodInFor(): boolean {
    return this.parts.standIn?.isWatching === true
  }

  tell(event: MemberEvent): void {
    if (this.abort.signal.aborted) return
    const { standIn, coordinator, metadata } = this.parts
    if (event.type === 'polling' || event.type === 'polled') standIn?.polling(event.type === 'polling')
    this.events.push(event)
    if (this.isStepping) return
    this.isStepping = true
    const { machine, world } = this.parts
    try {
      for (let next = this.events.shift(); next !== undefined; next = this.events.shift()) {
        for (const effect of machine.step(next, world.clock.monotonicMs())) this.perform(effect)
      }
    } finally {
      this.isStepping = false
    }
    standIn?.watch(machine.identity, coordinator.knownNodeId, metadata.nodes.get(coordinator.knownNodeId))
    this.lookout.plan(machine.dueMs, world.clock.monotonicMs())
  }

  /** After a block, what the stand-in was answered comes first: it is newer than what is known here. */
  private tick(): void {
    const { standIn, world } = this.parts
    const nowMs = world.clock.monotonicMs()
    if (standIn?.isCaughtUp === false) this.lookout.plan(nowMs + catchUpMs, nowMs)
    else this.tell({ type: 'tick' })
  }

  topics(topics: TopicsKnown, isLearned: boolean): void {
    this.tell({ type: 'topics', topics, isLearned })
  }

  /** Leaves in order; resolves when the coordinator has been told, or cannot be. */
  leave(tells: boolean): Promise<void> {
    return new Promise(resolve => {
      const before = this.onLeft
      this.onLeft = () => {
        before?.()
        resolve()
      }
      this.tell({ type: 'leave', tells })
    })
  }

  /** Ends it as it is. */
  close(): void {
    this.abort.abort(new MillraceError('MR_CLIENT_CLOSED', { what: 'consumer' }))
    this.lookout.close()
    this.parts.pool.closeLane(this.joinLane)
    this.parts.standIn?.close()
    this.onLeft?.()
    this.onLeft = undefined
  }

  private perform(effect: MemberEffect): void {
    const { application, coordinator, world } = this.parts
    switch (effect.type) {
      case 'send':
        void this.send(effect.id, effect.request, effect.attempt)
        break
      case 'forgetCoordinator':
        coordinator.forget()
        break
      case 'work':
        this.begin(effect.work)
        break
      case 'learn':
        application.learn(effect.topics)
        break
      case 'learnIds':
        application.learnIds(effect.topicIds)
        break
      case 'tell':
        world.logger?.warn(effect.error.message, { error: effect.error })
        application.told(effect.error)
        break
      case 'fail':
        application.failed(effect.error)
        break
      case 'warn':
        world.logger?.warn(effect.message, effect.error === undefined ? {} : { error: effect.error })
        break
      case 'left': {
        const { onLeft } = this
        this.onLeft = undefined
        onLeft?.()
      }
    }
  }

  private begin(work: GroupWork): void {
    assert(this.worker === undefined, 'work comes one piece at a time')
    const worker = this.parts.application.perform(work).then(() => {
      this.worker = undefined
      this.tell({ type: 'worked' })
    })
    this.worker = worker
  }

  /** Never rejects. */
  private async send(id: number, request: GroupRequest, attempt: number): Promise<void> {
    const { world, client } = this.parts
    const { signal } = this.abort
    try {
      if (attempt > 0) await pause(world.timers, backoffMs(attempt, client.backoff, () => world.random.fraction()), signal)
      if (request.kind === 'consumerHeartbeat') await this.caughtUp(request.draft.memberEpoch ?? -1)
      const answer = await this.ask(request)
      this.tell({ type: 'answered', id, answer })
    } catch (error) {
      if (signal.aborted) return
      if (!isMillraceError(error)) world.logger?.error('a request of a group could not be made', { error })
      this.tell({ type: 'unanswered', id, error: isMillraceError(error) ? error : new MillraceError('MR_CLIENT_BROKER_REFUSED', { what: request.kind, error: reasonOf(error), message: '' }, error) })
    }
  }

  /** Waits for what the stand-in has to say. Rejects where the heartbeat is of an epoch that is over by then: the machine makes another. */
  private async caughtUp(memberEpoch: number): Promise<void> {
    const { standIn, world, machine } = this.parts
    if (standIn === undefined || standIn.isCaughtUp || memberEpoch <= 0) return
    for (let waits = 0; !standIn.isCaughtUp && waits < catchUpsMax; waits++) await pause(world.timers, catchUpMs, this.abort.signal)
    if (machine.identity.generation !== memberEpoch) throw new MillraceError('MR_CLIENT_BROKER_BUSY', { what: 'a heartbeat', error: 'STALE_MEMBER_EPOCH', message: '' })
  }

  private async ask(request: GroupRequest): Promise<GroupAnswer> {
    const { client, coordinator, rebalanceTimeoutMs } = this.parts
    const { signal } = this.abort
    // These two wait for other members, and would hold up heartbeats and commits that come behind them.
    const lane = request.kind === 'join' || request.kind === 'sync' ? this.joinLane : 'control'
    const channel = await coordinator.channel(lane, { timeoutMs: client.requestTimeoutMs })
    const options: CallOptions = { timeoutMs: client.requestTimeoutMs, signal }
    switch (request.kind) {
      case 'join':
        return { kind: 'join', response: await call(channel, joinGroupApi, () => request.draft, { ...options, timeoutMs: Math.max(client.requestTimeoutMs, rebalanceTimeoutMs + joinGraceMs) }) }
      case 'sync':
        return { kind: 'sync', response: await call(channel, syncGroupApi, () => request.draft, { ...options, timeoutMs: Math.max(client.requestTimeoutMs, rebalanceTimeoutMs + joinGraceMs) }) }
      case 'heartbeat':
        return { kind: 'heartbeat', response: await call(channel, heartbeatApi, () => request.draft, options) }
      case 'leave': {
        const { groupId, memberId, members } = request.draft
        return { kind: 'leave', response: await call(channel, leaveGroupApi, version => version >= 3 ? { groupId, members: members ?? [] } : { groupId, memberId: memberId ?? '' }, options) }
      }
      case 'consumerHeartbeat':
        return { kind: 'consumerHeartbeat', response: await call(channel, consumerGroupHeartbeatApi, () => request.draft, { ...options, oldest: (request.draft.subscribedTopicRegex ?? '') === '' ? 0 : 1 }) }
    }
  }
}
