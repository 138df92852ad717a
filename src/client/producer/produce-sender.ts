import { zeroUuid } from '../../base/uuid.ts'
import { MillraceError } from '../../kernel/errors/index.ts'
import { produceApi } from '../../wire/index.ts'
import { type Channel, type SendDone } from '../channel/channel.ts'
import { isRetriable } from '../client-error.ts'
import { type ClientSettings } from '../client-options.ts'
import { type ClientWorld } from '../client-world.ts'
import { type BrokerPool } from '../cluster/broker-pool.ts'
import { type Metadata } from '../cluster/metadata.ts'
import { Lookout } from '../lookout.ts'
import { type Accumulator } from './accumulator.ts'
import { type BatchOutcomes } from './batch-outcomes.ts'
import { answersOf, newestByName, produceRequest } from './produce-request.ts'
import { type PartitionBatches, type ProducerBatch } from './producer-batch.ts'
import { type ProducerIdentity } from './producer-identity.ts'
import { type ProducerSettings } from './producer-settings.ts'

interface NodeState {
  inFlight: number
  opening: boolean
}

export interface SenderParts {
  readonly world: ClientWorld
  readonly client: ClientSettings
  readonly settings: ProducerSettings
  readonly pool: BrokerPool
  readonly metadata: Metadata
  readonly accumulator: Accumulator
  readonly identity: ProducerIdentity
  readonly outcomes: BatchOutcomes
  /** How many flushes are under way: then no batch waits for more records. */
  readonly isFlushing: () => boolean
}

/** A broker that throttles answers at once, and says for how long it would rather hear nothing (KIP-219). */
const throttleMsMax = 60_000

/**
 * Takes batches to the leaders of their partitions. `run` looks at everything that may go now; it is called after each event that could change the answer,
 * and sets a timer for the next moment at which time alone will.
 */
export class ProduceSender {
  private readonly parts: SenderParts
  private readonly nodes = new Map<number, NodeState>()
  private readonly lookout: Lookout

  constructor(parts: SenderParts) {
    this.parts = parts
    this.lookout = new Lookout(parts.world.timers, () => { this.look() })
  }

  /** Runs at the end of this turn, once however often it is asked. */
  runSoon(): void {
    this.lookout.runSoon()
  }

  /** Sends what may be sent. Never calls back in this turn. */
  run(): void {
    this.lookout.run()
  }

  /** Nothing is sent any more. */
  close(): void {
    this.lookout.close()
  }

  private look(): void {
    const { world, accumulator, identity, outcomes } = this.parts
    accumulator.forgetTime()
    const nowMs = world.clock.monotonicMs()
    let nextMs = Infinity
    const ready = new Map<number, PartitionBatches[]>()
    for (const partition of accumulator.active) {
      nextMs = Math.min(nextMs, outcomes.expire(partition, nowMs))
      const dueMs = this.dueMs(partition)
      if (dueMs > nowMs) {
        nextMs = Math.min(nextMs, dueMs)
        continue
      }
      const leaderId = partition.topic.info?.partitions[partition.index]?.leaderId ?? -1
      if (leaderId < 0) {
        this.parts.metadata.refresh()
        continue
      }
      const others = ready.get(leaderId)
      if (others === undefined) ready.set(leaderId, [partition])
      else others.push(partition)
    }
    if (identity.failure !== undefined) outcomes.failAll(identity.failure)
    else if (ready.size > 0 && identity.isReady) {
      for (const [nodeId, partitions] of ready) this.serve(nodeId, partitions, nowMs)
    }
    this.lookout.plan(nextMs, nowMs)
  }

  /** When a batch of the partition may go: in the past for now, Infinity for "an event will tell". */
  private dueMs(partition: PartitionBatches): number {
    const { settings } = this.parts
    if (partition.needsEpoch && !this.renew(partition)) return Infinity
    const batch = partition.next(settings.inFlightMax)
    if (batch === undefined) return Infinity
    const lingers = batch === partition.open && !this.parts.isFlushing() && this.parts.accumulator.hasRoom
    return Math.max(partition.retryAtMs, lingers ? batch.createdMs + settings.lingerMs : 0)
  }

  /** Whether the partition can go on: under another epoch, or with what has to be finished under the present one. */
  private renew(partition: PartitionBatches): boolean {
    const { identity } = this.parts
    if (!partition.mayBegin) return true
    const epoch = identity.isReady ? identity.epochAfter(partition.producerId, partition.producerEpoch) : undefined
    // An id is being asked for; when it comes, or never will, `run` is called.
    if (epoch === undefined) return false
    partition.begin(identity.id, epoch)
    return true
  }

  private serve(nodeId: number, partitions: readonly PartitionBatches[], nowMs: number): void {
    const { pool, metadata, settings } = this.parts
    const channel = pool.channel(nodeId, 'produce')
    if (channel === undefined) {
      metadata.refresh()
      return
    }
    const node = this.node(nodeId)
    if (!channel.isOpen) {
      this.openChannel(channel, node, nodeId)
      return
    }
    // A request takes one batch a partition; those that have more come up again while the broker may be sent more.
    let rest = partitions
    while (rest.length > 0 && node.inFlight < settings.inFlightMax) {
      const served = this.sendRound(channel, node, rest)
      // Who was served goes to the end, so that a busy partition does not keep others waiting.
      for (const partition of served) {
        if (this.parts.accumulator.active.delete(partition)) this.parts.accumulator.active.add(partition)
      }
      rest = served.length < rest.length ? [] : rest.filter(partition => this.dueMs(partition) <= nowMs)
    }
  }

  /** Sends one batch of each partition, as far as the broker may be sent more. Gives the partitions it came to. */
  private sendRound(channel: Channel, node: NodeState, partitions: readonly PartitionBatches[]): readonly PartitionBatches[] {
    const { settings } = this.parts
    let from = 0
    while (from < partitions.length && node.inFlight < settings.inFlightMax) {
      const batches: ProducerBatch[] = []
      let bytes = 0
      for (; from < partitions.length; from++) {
        const batch = partitions[from]!.next(settings.inFlightMax)
        if (batch === undefined) continue
        if (batches.length > 0 && bytes + batch.bufferedBytes > settings.requestBytesMax) break
        bytes += batch.bufferedBytes
        if (this.take(batch)) batches.push(batch)
      }
      if (batches.length > 0) this.send(channel, node, batches)
    }
    return partitions.slice(0, from)
  }

  /** Moves a batch from the waiting ones to those under way and fixes its bytes. False when that failed and the batch with it. */
  private take(batch: ProducerBatch): boolean {
    const { settings, identity, outcomes } = this.parts
    const { partition } = batch
    if (batch === partition.open) partition.close()
    partition.waiting.splice(partition.waiting.indexOf(batch), 1)
    partition.inFlight.push(batch)
    batch.attempts++
    if (identity.isUsed) {
      if (partition.producerId < 0) partition.begin(identity.id, identity.epoch)
      partition.assign(batch)
    }
    try {
      batch.seal(settings.codec, settings.compressionLevel)
      return true
    } catch (error) {
      outcomes.giveUp(batch, error as Error)
      return false
    }
  }

  private send(channel: Channel, node: NodeState, batches: readonly ProducerBatch[]): void {
    const { settings, client, outcomes } = this.parts
    const topicIds = new Map(batches.map(({ partition: { topic } }) => [topic.name, topic.info!.id]))
    const hasIds = ![...topicIds.values()].includes(zeroUuid)
    const version = channel.version(produceApi, hasIds ? undefined : newestByName)
    if (version === undefined) {
      const error = new MillraceError('MR_CLIENT_UNSUPPORTED', { what: 'Produce', reason: 'the broker serves no version of it that this client knows' })
      for (const batch of batches) outcomes.giveUp(batch, error)
      return
    }
    node.inFlight++
    const request = produceRequest(batches, settings, client.requestTimeoutMs)
    const answered = settings.acks !== 0
    const done: SendDone<typeof produceApi> = (error, response) => {
      node.inFlight--
      if (this.lookout.isClosed) return
      if (error !== undefined) outcomes.lost(batches, error as Error)
      else if (response === undefined) outcomes.sent(batches)
      else {
        outcomes.answered(answersOf(batches, response, version > newestByName, topicIds), response.nodeEndpoints)
        if (response.throttleTimeMs > 0) this.throttle(batches, Math.min(throttleMsMax, response.throttleTimeMs))
      }
      this.runSoon()
    }
    try {
      channel.send(produceApi, version, request, { timeoutMs: client.requestTimeoutMs, answered }, done)
    } catch (error) {
      // It cannot be written, today or later.
      node.inFlight--
      for (const batch of batches) outcomes.giveUp(batch, error as Error)
    }
  }

  private throttle(batches: readonly ProducerBatch[], throttleMs: number): void {
    const untilMs = this.parts.world.clock.monotonicMs() + throttleMs
    for (const { partition } of batches) partition.retryAtMs = Math.max(partition.retryAtMs, untilMs)
  }

  private openChannel(channel: Channel, node: NodeState, nodeId: number): void {
    if (node.opening) return
    node.opening = true
    channel.open(error => {
      node.opening = false
      if (this.lookout.isClosed) return
      if (error !== undefined) {
        // The leader may be another by now. An error that will not pass fails what waits for this broker.
        this.parts.metadata.refresh()
        if (!isRetriable(error)) this.failNode(nodeId, error as Error)
      }
      this.runSoon()
    })
  }

  private failNode(nodeId: number, error: Error): void {
    for (const partition of [...this.parts.accumulator.active]) {
      if (partition.topic.info?.partitions[partition.index]?.leaderId === nodeId) this.parts.outcomes.failPartition(partition, error)
    }
  }

  private node(nodeId: number): NodeState {
    let node = this.nodes.get(nodeId)
    if (node === undefined) {
      node = { inFlight: 0, opening: false }
      this.nodes.set(nodeId, node)
    }
    return node
  }
}
