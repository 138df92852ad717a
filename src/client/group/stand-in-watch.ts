import { type Timer } from '../../kernel/ports/clock.ts'
import { consumerGroupHeartbeatApi, heartbeatApi, kafkaErrors, leaveGroupApi } from '../../wire/index.ts'
import { call } from '../channel/call.ts'
import { type Channel } from '../channel/channel.ts'
import { type ClientWorld } from '../client-world.ts'
import { signs, type FromStandIn, type WatchedMember } from './stand-in-messages.ts'

/** So many looks in the time between two heartbeats. */
const looksPerInterval = 3
/** Heartbeats of the member itself may be late by half an interval before somebody stands in. */
const patience = 1.5

/**
 * Looks whether a member's own event loop still turns, from another one. While it does not, this heartbeats in its place; and when the application has been
 * stuck for too long, it says that the member has left.
 */
export class StandInWatch {
  private readonly world: Pick<ClientWorld, 'clock' | 'timers'>
  private readonly member: WatchedMember
  private readonly channel: Channel
  private readonly tell: (message: FromStandIn) => void
  private readonly timer: { current: Timer | undefined } = { current: undefined }
  private generation: number
  private alive = 0
  private aliveMs: number
  private polls = 0
  private polledMs: number
  private beatMs = -Infinity
  private isBeating = false
  private isOver = false

  constructor(world: Pick<ClientWorld, 'clock' | 'timers'>, member: WatchedMember, channel: Channel, tell: (message: FromStandIn) => void) {
    this.world = world
    this.member = member
    this.channel = channel
    this.tell = tell
    this.generation = member.generation
    this.aliveMs = world.clock.monotonicMs()
    this.polledMs = this.aliveMs
    this.alive = Atomics.load(member.signs, signs.alive)
    this.polls = Atomics.load(member.signs, signs.polls)
    Atomics.store(member.signs, signs.watching, member.generation)
    this.plan()
  }

  close(): void {
    this.isOver = true
    Atomics.store(this.member.signs, signs.watching, 0)
    this.timer.current?.cancel()
    this.channel.close()
  }

  private plan(): void {
    this.timer.current = this.world.timers.after(Math.max(1, Math.floor(this.member.intervalMs / looksPerInterval)), () => { this.look() })
  }

  private look(): void {
    if (this.isOver) return
    const { member } = this
    const nowMs = this.world.clock.monotonicMs()
    const alive = Atomics.load(member.signs, signs.alive)
    const polls = Atomics.load(member.signs, signs.polls)
    if (alive !== this.alive) this.aliveMs = nowMs
    // Who is in poll and turns is not stuck; who is in it and does not turn is.
    if (polls !== this.polls || (alive !== this.alive && Atomics.load(member.signs, signs.isInPoll) === 1)) this.polledMs = nowMs
    this.alive = alive
    this.polls = polls
    if (nowMs - this.aliveMs >= member.intervalMs * patience) {
      if (nowMs - this.polledMs >= member.pollIntervalMsMax) {
        void this.leave()
        return
      }
      if (!this.isBeating && nowMs - this.beatMs >= member.intervalMs) void this.beat(nowMs)
    }
    this.plan()
  }

  /** Never rejects: the next one may do better. */
  private async beat(nowMs: number): Promise<void> {
    this.isBeating = true
    this.beatMs = nowMs
    const { member, generation } = this
    const { groupId, memberId, instanceId } = member
    const options = { timeoutMs: member.client.requestTimeoutMs }
    try {
      if (member.protocol === 'classic') {
        await call(this.channel, heartbeatApi, () => ({ groupId, memberId, generationId: generation, groupInstanceId: instanceId }), options)
      } else {
        const response = await call(this.channel, consumerGroupHeartbeatApi, () => ({ groupId, memberId, memberEpoch: generation, instanceId }), options)
        if (!this.isOver && response.errorCode === kafkaErrors.NONE) {
          this.generation = response.memberEpoch
          this.say({ type: 'beaten', id: member.id, response })
        }
      }
    } catch {
      // The coordinator is away, or another: the member finds out when it turns again.
    }
    this.isBeating = false
  }

  private async leave(): Promise<void> {
    this.isOver = true
    const { groupId, memberId, instanceId, protocol, client, id } = this.member
    const options = { timeoutMs: client.requestTimeoutMs }
    try {
      if (protocol === 'consumer') {
        await call(this.channel, consumerGroupHeartbeatApi, () => ({ groupId, memberId, memberEpoch: instanceId === null ? -1 : -2, instanceId }), options)
      } else if (instanceId === null) {
        const reason = 'the application has not polled for too long'
        await call(this.channel, leaveGroupApi, version => version >= 3 ? { groupId, members: [{ memberId, groupInstanceId: null, reason }] } : { groupId, memberId }, options)
      }
    } catch {
      // Without heartbeats it is out after the session timeout.
    }
    this.say({ type: 'expired', id })
    this.channel.close()
  }

  private say(message: FromStandIn): void {
    Atomics.add(this.member.signs, signs.messages, 1)
    this.tell(message)
  }
}
