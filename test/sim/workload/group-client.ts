import { type Prng } from '../../../src/base/prng.ts'
import { type GroupCommand, type ReplyTo } from '../../../src/plugins/coordinator-group/core/group-commands.ts'
import { type FakeTopics } from '../../unit/plugins/coordinator-group/fake-topics.ts'
import { type GroupStep, type SimCoordinator, type VirtualTime } from './group-coordinator.ts'

export const groupId = 'g'
export const sessionMs = 6000
export const rebalanceMs = 4000
const beatMs = 1000
const requestTimeoutMs = 2500

/** What can go wrong between clients and coordinator, as probabilities; nothing at the end of a run. */
export interface Weather {
  loss: number
  repeat: number
  pause: number
}

export interface ClientParts {
  readonly time: VirtualTime
  readonly prng: Prng
  readonly coordinator: SimCoordinator
  readonly topics: FakeTopics
  readonly weather: Weather
}

/** A partition that a client reads. */
export interface Reading {
  /** Undefined until it knows what is committed. */
  position: number | undefined
}

/**
 * What clients of both protocols share: one connection on which requests go in order, may be lost, repeated, or answered into the void; records that are
 * read from the committed offset on, and commits of what was read.
 */
export abstract class GroupClient {
  memberId: string
  readonly instanceId: string | null
  readonly reads = new Map<string, Reading>()
  epoch = 0
  stopped = false
  commits = 0
  protected readonly parts: ClientParts
  protected topicNames: readonly string[] = ['t1', 't2']
  private lastArrivalMs = 0
  private pausedUntilMs = 0

  constructor(parts: ClientParts, memberId: string, instanceId: string | null) {
    this.parts = parts
    this.memberId = memberId
    this.instanceId = instanceId
  }

  start(): void {
    this.parts.coordinator.note({ type: 'started', member: this.memberId, sessionMs, rebalanceMs, isStaticClassic: false })
    this.later(0, () => { this.begin() })
    this.work()
  }

  /** Ends at once, without a word. */
  kill(): void {
    this.stopped = true
    this.drop()
  }

  protected drop(): void {
    this.parts.coordinator.note({ type: 'dropped', member: this.memberId })
    this.reads.clear()
  }

  abstract leave(): void
  protected abstract begin(): void
  /** The member is not what it takes itself for. */
  protected abstract fenced(): void

  protected later(delayMs: number, work: () => void): void {
    this.parts.time.after(delayMs, () => { this.whenAwake(work) })
  }

  private whenAwake(work: () => void): void {
    const { time } = this.parts
    if (this.stopped) return
    if (time.nowMs < this.pausedUntilMs) time.after(this.pausedUntilMs - time.nowMs, () => { this.whenAwake(work) })
    else work()
  }

  /** `done` gets undefined where no answer comes in time. */
  protected send<C extends GroupCommand>(command: C, told: (reply: ReplyTo<C>) => readonly GroupStep[], done: (reply: ReplyTo<C> | undefined) => void, timeoutMs = requestTimeoutMs): void {
    const { time, prng, coordinator, weather } = this.parts
    let isOpen = true
    const finish = (reply: ReplyTo<C> | undefined): void => {
      if (!isOpen) return
      isOpen = false
      this.whenAwake(() => { done(reply) })
    }
    time.after(timeoutMs, () => { finish(undefined) })
    if (prng.chance(weather.loss)) return
    this.lastArrivalMs = Math.max(this.lastArrivalMs, time.nowMs + prng.between(0, 20))
    time.after(this.lastArrivalMs - time.nowMs, () => {
      const times = prng.chance(weather.repeat) ? 2 : 1
      for (let count = 0; count < times; count++) {
        coordinator.submit(command, told, (reply) => {
          // Who asks again because it does not know the answer says everything; here the first answer is the one.
          if (count === 0 && !prng.chance(weather.loss)) time.after(prng.between(0, 20), () => { finish(reply) })
        })
      }
    })
  }

  /** New partitions are read, after a look at what is committed. */
  protected take(partition: string): void {
    if (this.reads.has(partition)) return
    const reading: Reading = { position: undefined }
    this.reads.set(partition, reading)
    this.look(partition, reading)
  }

  private look(partition: string, reading: Reading): void {
    if (this.reads.get(partition) !== reading || this.stopped) return
    const { topic, number } = split(partition)
    this.send({ type: 'fetch', groupId, ...this.fetchClaim(), wanted: [{ topic, partitions: [number] }] }, ({ errorCode, offsets }) => errorCode === 0 ? [{ type: 'fetched', partition, offset: offsets[0]!.offset }] : [], (reply) => {
      if (reply?.errorCode === 0) reading.position = Math.max(0, reply.offsets[0]!.offset)
      else this.later(300, () => { this.look(partition, reading) })
    })
  }

  protected fetchClaim(): { readonly memberId: string | null, readonly epoch: number } {
    return { memberId: this.memberId, epoch: this.epoch }
  }

  /** Reads on, and commits now and then; sometimes it stands still for long. */
  private work(): void {
    const { prng, weather, time } = this.parts
    this.later(prng.between(100, 500), () => {
      for (const reading of this.reads.values()) if (reading.position !== undefined && prng.chance(0.7)) reading.position += prng.between(1, 5)
      if (prng.chance(0.5)) this.commitAll()
      if (prng.chance(weather.pause)) this.pausedUntilMs = time.nowMs + prng.between(500, 12_000)
      this.work()
    })
  }

  protected commitAll(): void {
    for (const partition of this.reads.keys()) this.commit(partition)
  }

  protected commit(partition: string): void {
    const offset = this.reads.get(partition)?.position
    if (offset === undefined) return
    const { topic, number } = split(partition)
    const { epoch, memberId } = this
    this.send({
      type: 'commit', groupId, memberId, instanceId: this.instanceId, generation: epoch, retentionMs: -1, knowsEpochs: true,
      offsets: [{ topic, topicId: this.parts.topics.byName(topic)!.id, partition: number, offset, leaderEpoch: -1, metadata: '' }],
    }, ([code]) => [{ type: 'commit', member: memberId, epoch, partition, offset, accepted: code === 0 }], (codes) => {
      if (codes === undefined) return
      if (codes[0] === 0) {
        this.commits++
        this.parts.coordinator.note({ type: 'acknowledged', partition, offset })
      } else if (codes[0] === 25 || codes[0] === 82) this.fenced()
    })
  }

  protected get beatDelayMs(): number {
    return beatMs + this.parts.prng.between(-200, 200)
  }
}

export function split(partition: string): { readonly topic: string, readonly number: number } {
  const dash = partition.lastIndexOf('-')
  return { topic: partition.slice(0, dash), number: Number(partition.slice(dash + 1)) }
}
