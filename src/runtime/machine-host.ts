import { MillraceError } from '../kernel/errors/index.ts'
import { type Uuid } from '../kernel/model/ids.ts'
import { type BrokerIdentity } from '../kernel/ports/broker-identity.ts'
import { type Clock, type Timers } from '../kernel/ports/clock.ts'
import { type ClusterImage, type ClusterMetadata, type TopicImage } from '../kernel/ports/cluster-metadata.ts'
import { type Compression } from '../kernel/ports/compression.ts'
import { type Replicator } from '../kernel/ports/replicator.ts'
import { type Logger } from '../kernel/ports/telemetry.ts'
import { LoadTurns } from './load-turns.ts'
import { MachinePartition } from './machine-partition.ts'
import { MachineTicker } from './machine-ticker.ts'
import { type Done, type ReplayMachine } from '../kernel/model/replay-machine.ts'

/** What a host of machines needs of the broker. */
export interface MachineHostParts<Command, Change, Reply> {
  /** Its partitions hold the records of one machine each. It need not exist yet. */
  readonly topic: string
  readonly identity: BrokerIdentity
  readonly metadata: ClusterMetadata
  readonly replicator: Replicator
  readonly compression: Compression
  readonly clock: Clock
  readonly timers: Timers
  readonly logger: Logger
  readonly makeMachine: (partition: number) => ReplayMachine<Command, Change, Reply>
  /** A number of `compression-codec`. */
  readonly codec: number
  readonly loadChunkBytes: number
  /** So long an answer waits for the watermark, then it is MR_COORDINATOR_UNAVAILABLE. */
  readonly replyTimeoutMs: number
}

/**
 * Machines over the partitions of a topic that this broker leads: each is loaded when the broker becomes the leader, and let go when it is not any more,
 * or leads under another epoch. A leadership from before this start of the broker counts once the broker has registered.
 */
export class MachineHost<Command, Change, Reply> {
  private readonly parts: MachineHostParts<Command, Change, Reply>
  private readonly ticker: MachineTicker
  private readonly loadTurns: LoadTurns
  private readonly machines = new Map<number, MachinePartition<Command, Change, Reply>>()
  private topicId: Uuid | undefined
  private stopping = false
  private unsubscribe: (() => void) | undefined

  constructor(parts: MachineHostParts<Command, Change, Reply>) {
    this.parts = parts
    this.loadTurns = new LoadTurns(parts.timers)
    this.ticker = new MachineTicker({
      clock: parts.clock, timers: parts.timers,
      nextDeadlineMs: () => Math.min(Infinity, ...Array.from(this.machines.values(), (machine) => machine.nextDeadlineMs)),
      tick: () => { for (const machine of this.machines.values()) machine.tick() },
    })
  }

  start(): void {
    this.unsubscribe = this.parts.metadata.subscribe((image) => { this.follow(image) })
  }

  /** Answers all who wait for something that may never come, and takes no more commands. */
  stopWaiting(): void {
    this.stopping = true
    for (const machine of this.machines.values()) machine.stopWaiting()
  }

  stop(): void {
    this.unsubscribe?.()
    this.unsubscribe = undefined
    this.stopping = true
    this.ticker.stop()
    for (const machine of this.machines.values()) machine.end()
    this.machines.clear()
  }

  /** See MachinePartition.submit. MR_COORDINATOR_NOT_HERE where this broker does not lead the partition. */
  submit(partition: number, command: Command, done: Done<Reply>): void {
    const machine = this.stopping ? undefined : this.machines.get(partition)
    if (machine === undefined) done(new MillraceError('MR_COORDINATOR_NOT_HERE', { topic: this.parts.topic, partition }), undefined)
    else machine.submit(command, done)
  }

  /** See MachinePartition.onceLoaded; now where this broker does not lead the partition. */
  onceLoaded(partition: number, done: () => void): void {
    const machine = this.machines.get(partition)
    if (machine === undefined) done()
    else machine.onceLoaded(done)
  }

  /** The partitions that this broker leads, by number. */
  partitions(): ReadonlyMap<number, MachinePartition<Command, Change, Reply>> {
    return this.machines
  }

  private follow(image: ClusterImage): void {
    if (this.stopping) return
    const { identity, topic: name } = this.parts
    const isRegistered = image.brokers.get(identity.nodeId)?.incarnationId === identity.incarnationId
    const topic = isRegistered ? image.topics.get(name) : undefined
    if (topic?.id !== this.topicId) for (const partition of [...this.machines.keys()]) this.letGo(partition)
    this.topicId = topic?.id
    if (topic !== undefined) for (const { partition, leader, leaderEpoch } of topic.partitions) this.lead(topic, partition, leader === identity.nodeId ? leaderEpoch : undefined)
  }

  /** `leaderEpoch`: undefined where somebody else leads. */
  private lead(topic: TopicImage, partition: number, leaderEpoch: number | undefined): void {
    if (this.machines.get(partition)?.leaderEpoch === leaderEpoch) return
    this.letGo(partition)
    if (leaderEpoch === undefined) return
    const { replicator, makeMachine, topic: name, ...parts } = this.parts
    const machine = new MachinePartition<Command, Change, Reply>({
      ...parts, topic: name, partition, leaderEpoch, loadTurns: this.loadTurns,
      replica: () => replicator.replica(topic.id, partition),
      makeMachine: () => makeMachine(partition),
      now: this.ticker.now, deadlineMoved: this.ticker.deadlineMoved,
    })
    this.machines.set(partition, machine)
    if (replicator.isMaking(topic.id, partition)) this.startLater(machine, topic.id, partition)
    else machine.start()
  }

  /** Its log comes shortly: until then it is loading, which is no failure. At a stop it never starts. */
  private startLater(machine: MachinePartition<Command, Change, Reply>, topicId: Uuid, partition: number): void {
    this.parts.replicator.made(topicId).then(() => {
      if (!this.stopping && this.machines.get(partition) === machine) machine.start()
    }, () => undefined)
  }

  private letGo(partition: number): void {
    this.machines.get(partition)?.end()
    this.machines.delete(partition)
  }
}
