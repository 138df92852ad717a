import { threadModule } from '../../base/thread-module.ts'
import { type Timer, type Timers } from '../../kernel/ports/clock.ts'
import { type Endpoint } from '../../kernel/ports/network.ts'
import { type Thread, type Threads } from '../../kernel/ports/threads.ts'
import { type Logger } from '../../kernel/ports/telemetry.ts'
import { type ClientSettings } from '../client-options.ts'
import { type MemberIdentity } from './core/member-machine.ts'
import { signCount, signs, type FromStandIn, type ToStandIn, type WatchedMember } from './stand-in-messages.ts'

export interface StandInOptions {
  readonly threads: Threads
  readonly timers: Timers
  readonly client: ClientSettings
  readonly protocol: 'classic' | 'consumer'
  readonly groupId: string
  readonly intervalMs: number
  readonly pollIntervalMsMax: number
  readonly logger: Logger | undefined
  readonly onMessage: (message: FromStandIn) => void
}

/** The thread of this process, while there are members. */
interface Shared {
  readonly thread: Thread
  readonly members: Map<number, StandIn>
}

const shared: { current: Shared | undefined, nextId: number } = { current: undefined, nextId: 1 }

/**
 * Somebody in another thread who heartbeats for a member while its own event loop is blocked, and who leaves the group for it when that goes on for longer
 * than the application may do without `poll`. Nothing is sent while the loop turns.
 */
export class StandIn {
  private readonly options: StandInOptions
  private readonly id = shared.nextId++
  private readonly signs = new Int32Array(new SharedArrayBuffer(signCount * 4))
  private watched: { readonly memberId: string, readonly generation: number, readonly nodeId: number } | undefined
  private received = 0
  private pulse: Timer | undefined

  constructor(options: StandInOptions) {
    this.options = options
  }

  /** Whether all that it has said is known here: what it has heard of the coordinator is newer than what this side knows. */
  get isCaughtUp(): boolean {
    return Atomics.load(this.signs, signs.messages) === this.received
  }

  /** Whether the other thread is there, and watches this member as it is now. */
  get isWatching(): boolean {
    return this.watched !== undefined && Atomics.load(this.signs, signs.watching) === this.watched.generation
  }

  polling(isInPoll: boolean): void {
    Atomics.store(this.signs, signs.isInPoll, isInPoll ? 1 : 0)
    Atomics.add(this.signs, signs.polls, 1)
    Atomics.add(this.signs, signs.alive, 1)
  }

  /** Who the member is now, and where its coordinator; outside of the group, or without a coordinator, nobody is watched. */
  watch({ memberId, generation, instanceId }: MemberIdentity, nodeId: number, endpoint: Endpoint | undefined): void {
    const isMember = memberId !== '' && generation > 0 && endpoint !== undefined
    if (!isMember) {
      if (this.watched !== undefined) this.post({ type: 'unwatch', id: this.id })
      this.watched = undefined
      this.pulse?.cancel()
      this.pulse = undefined
      return
    }
    if (this.watched?.memberId === memberId && this.watched.generation === generation && this.watched.nodeId === nodeId) return
    this.watched = { memberId, generation, nodeId }
    const { client, protocol, groupId, intervalMs, pollIntervalMsMax } = this.options
    const member: WatchedMember = {
      id: this.id, protocol, groupId, memberId, generation, instanceId, intervalMs, pollIntervalMsMax, endpoint, signs: this.signs,
      client: { ...client, inProcess: undefined },
    }
    this.post({ type: 'watch', member })
    if (this.pulse === undefined) this.beatPulse()
  }

  /** Says that the loop turns, twice between two heartbeats. */
  private beatPulse(): void {
    Atomics.add(this.signs, signs.alive, 1)
    this.pulse = this.options.timers.after(Math.max(1, Math.floor(this.options.intervalMs / 2)), () => { this.beatPulse() })
  }

  take(message: FromStandIn): void {
    this.received++
    if (this.watched !== undefined) this.options.onMessage(message)
  }

  close(): void {
    this.watched = undefined
    this.pulse?.cancel()
    const { current } = shared
    if (current?.members.delete(this.id) !== true) return
    if (current.members.size > 0) {
      current.thread.post({ type: 'unwatch', id: this.id })
      return
    }
    shared.current = undefined
    current.thread.stop()
  }

  private post(message: ToStandIn): void {
    const { threads, logger } = this.options
    try {
      const current = shared.current ??= start(threads, logger)
      current.members.set(this.id, this)
      current.thread.post(message)
    } catch (error) {
      logger?.warn('nobody stands in for this member while its event loop is blocked', { error })
    }
  }
}

function start(threads: Threads, logger: Logger | undefined): Shared {
  const members = new Map<number, StandIn>()
  const module = threadModule(import.meta.url, 'client/group/stand-in-thread')
  const thread = threads.start(module, (message) => {
    const said = message as FromStandIn
    members.get(said.id)?.take(said)
  }, (error) => {
    if (shared.current?.thread === thread) shared.current = undefined
    if (error !== undefined) logger?.warn('the thread that stands in for members has ended', { error })
  })
  return { thread, members }
}
