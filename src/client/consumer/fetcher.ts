import { zeroUuid } from '../../base/uuid.ts'
import { isMillraceError, MillraceError } from '../../kernel/errors/index.ts'
import { fetchApi, type FetchResponse } from '../../wire/index.ts'
import { type Channel } from '../channel/channel.ts'
import { isRetriable } from '../client-error.ts'
import { type ClientSettings } from '../client-options.ts'
import { type ClientWorld } from '../client-world.ts'
import { type BrokerPool, type Lane } from '../cluster/broker-pool.ts'
import { type Metadata } from '../cluster/metadata.ts'
import { Lookout } from '../lookout.ts'
import { type AssignedPartition } from './assigned-partition.ts'
import { type ConsumerSettings } from './consumer-settings.ts'
import { type FetchOutcomes } from './fetch-outcomes.ts'
import { fetchRequest, forEachAnswer, hasTopicIds, newestByName, type FetchPart } from './fetch-request.ts'
import { type PositionLookup } from './position-lookup.ts'

/** What is fetched ahead of one partition before it is left out of the next request: enough for the application while that one is under way. */
const chunksAheadMax = 2
/** Pauses between requests on the side that bring nothing. */
const sidePauseMs = { first: 10, max: 100 } as const

/**
 * The two ways to a broker. A request on the main one waits at the broker for data, for all partitions that had room when it was sent. A partition that is
 * wanted meanwhile (it was polled, resumed or sought) would have to wait with it: so it is asked for on the side, without waiting.
 */
interface NodeState {
  readonly main: Way
  readonly side: Way
  sideQuietUntilMs: number
  sidePauseMs: number
  /** Who was asked for on the side last. */
  sideGroup: ReadonlySet<AssignedPartition>
}

interface Way {
  readonly lane: Lane
  isBusy: boolean
  isOpening: boolean
}

export interface FetcherParts {
  readonly world: ClientWorld
  readonly client: ClientSettings
  readonly settings: ConsumerSettings
  readonly pool: BrokerPool
  readonly metadata: Metadata
  readonly partitions: ReadonlyMap<string, AssignedPartition>
  readonly outcomes: FetchOutcomes
  readonly lookup: PositionLookup
  /** Something came that `poll` may want to see. */
  readonly onNews: () => void
}

/**
 * Fetches ahead. Each broker has one request that waits there for data, for all partitions that it leads and that have room for more; the next is sent when
 * the answer is there, before anybody looks into it. `run` is called after each event that could change what may be asked for.
 */
export class Fetcher {
  private readonly parts: FetcherParts
  private readonly nodes = new Map<number, NodeState>()
  private readonly lookout: Lookout

  constructor(parts: FetcherParts) {
    this.parts = parts
    this.lookout = new Lookout(parts.world.timers, () => { this.look() })
  }

  runSoon(): void {
    this.lookout.runSoon()
  }

  run(): void {
    this.lookout.run()
  }

  close(): void {
    this.lookout.close()
  }

  private look(): void {
    const { world, partitions, lookup } = this.parts
    const nowMs = world.clock.monotonicMs()
    let nextMs = Infinity
    let bufferedBytes = 0
    for (const partition of partitions.values()) bufferedBytes += partition.chunkBytes
    const roomBytes = this.parts.settings.prefetchBytesMax - bufferedBytes
    const wanted = new Map<number, AssignedPartition[]>()
    for (const partition of partitions.values()) {
      if (!this.isKnown(partition) || partition.phase === 'failed' || partition.isOutOfRange) continue
      if (partition.retryAtMs > nowMs) {
        nextMs = Math.min(nextMs, partition.retryAtMs)
        continue
      }
      if (partition.phase !== 'reading') {
        lookup.want(partition)
        continue
      }
      if (partition.isSilent || partition.isFetching || roomBytes <= 0 || this.hasEnough(partition)) continue
      const nodeId = this.nodeFor(partition, nowMs)
      const group = wanted.get(nodeId)
      if (group !== undefined) group.push(partition)
      else if (nodeId >= 0) wanted.set(nodeId, [partition])
    }
    lookup.run()
    for (const [nodeId, group] of wanted) nextMs = Math.min(nextMs, this.serve(nodeId, group, roomBytes, nowMs))
    this.lookout.plan(nextMs, nowMs)
  }

  private hasEnough(partition: AssignedPartition): boolean {
    return partition.chunks.length >= chunksAheadMax && partition.chunkBytes >= chunksAheadMax * this.parts.settings.partitionBytesMax
  }

  /** A topic made again is another log; a new leader may have another end of the log. False for a partition that a younger picture has to show. */
  private isKnown(partition: AssignedPartition): boolean {
    const info = this.parts.metadata.topic(partition.topic)
    if (info !== undefined && partition.partition >= info.partitions.length && this.parts.metadata.pictureMs < partition.assignedMs) {
      // It may have come to the topic since, and a coordinator that shares it out knows that first.
      this.parts.metadata.refresh()
      return false
    }
    this.compareWithMetadata(partition)
    return true
  }

  private compareWithMetadata(partition: AssignedPartition): void {
    const info = this.parts.metadata.topic(partition.topic)
    if (info === undefined) {
      const error = this.parts.metadata.topicError(partition.topic) ?? this.parts.metadata.lastFailure
      if (isMillraceError(error) && !error.row.retriable && partition.phase !== 'failed') {
        partition.fail(error)
        this.parts.onNews()
      }
      return
    }
    if (partition.partition >= info.partitions.length) {
      if (partition.phase === 'failed') return
      partition.fail(new MillraceError('MR_CLIENT_PARTITION_UNKNOWN', {
        topic: partition.topic, partition: partition.partition, count: info.partitions.length,
      }))
      this.parts.onNews()
      return
    }
    if (info.id !== zeroUuid) {
      if (partition.topicId !== undefined && partition.topicId !== info.id && partition.phase === 'reading') {
        partition.isOutOfRange = true
        partition.fetchedEpoch = -1
        partition.leaderEpoch = -1
        this.parts.onNews()
      }
      partition.topicId = info.id
    }
    const { leaderEpoch } = info.partitions[partition.partition]!
    if (leaderEpoch <= partition.leaderEpoch) return
    if (partition.phase === 'reading' && partition.fetchedEpoch >= 0 && partition.fetchedEpoch < leaderEpoch) partition.phase = 'checking'
    partition.leaderEpoch = leaderEpoch
  }

  private nodeFor(partition: AssignedPartition, nowMs: number): number {
    const { metadata, pool } = this.parts
    const info = metadata.topic(partition.topic)
    if (info !== undefined && partition.preferredReplica >= 0) {
      if (nowMs < partition.preferredUntilMs && pool.channel(partition.preferredReplica, 'fetch') !== undefined) return partition.preferredReplica
      partition.preferredReplica = -1
    }
    const leaderId = info?.partitions[partition.partition]?.leaderId ?? -1
    if (leaderId < 0) metadata.refresh()
    return leaderId
  }

  /** When to look again though nothing has happened. */
  private serve(nodeId: number, group: readonly AssignedPartition[], roomBytes: number, nowMs: number): number {
    const node = this.node(nodeId)
    const way = node.main.isBusy ? node.side : node.main
    if (way.isBusy) return Infinity
    if (way === node.side) {
      if (group.some(partition => !node.sideGroup.has(partition))) {
        node.sideQuietUntilMs = 0
        node.sidePauseMs = sidePauseMs.first
      }
      if (nowMs < node.sideQuietUntilMs) return node.sideQuietUntilMs
    }
    const channel = this.parts.pool.channel(nodeId, way.lane)
    if (channel === undefined) this.parts.metadata.refresh()
    else if (channel.isOpen) this.send(channel, node, way, group, roomBytes)
    else this.openChannel(channel, way, group)
    return Infinity
  }

  private send(channel: Channel, node: NodeState, way: Way, group: readonly AssignedPartition[], roomBytes: number): void {
    const { settings, client, metadata } = this.parts
    const parts = group.map((partition): FetchPart => ({
      partition, topicId: metadata.topic(partition.topic)!.id, round: partition.round, fetchOffset: partition.fetchOffset,
      leaderEpoch: partition.leaderEpoch,
    }))
    const version = channel.version(fetchApi, hasTopicIds(parts) ? undefined : newestByName)
    if (version === undefined) {
      const error = new MillraceError('MR_CLIENT_UNSUPPORTED', { what: 'Fetch', reason: 'the broker serves no version of it that this client knows' })
      for (const partition of group) partition.fail(error)
      this.parts.onNews()
      return
    }
    const waits = way === node.main
    const maxWaitMs = waits ? settings.fetchWaitMsMax : 0
    const request = fetchRequest(parts, {
      maxWaitMs, minBytes: waits ? settings.fetchBytesMin : 0, maxBytes: Math.min(settings.fetchBytesMax, roomBytes),
      partitionBytesMax: settings.partitionBytesMax, isolationLevel: settings.isolationLevel, rack: client.rack,
    })
    if (!waits) node.sideGroup = new Set(group)
    way.isBusy = true
    for (const partition of group) partition.fetchingRound = partition.round
    channel.send(fetchApi, version, request, { timeoutMs: client.requestTimeoutMs + maxWaitMs, keepBytes: true }, (error, response) => {
      way.isBusy = false
      for (const { partition, round } of parts) if (partition.fetchingRound === round) partition.fetchingRound = -1
      if (this.lookout.isClosed) return
      if (response === undefined) {
        metadata.refresh()
        for (const part of parts) this.parts.outcomes.lost(part, error)
      } else this.take(node, way, parts, response, version)
      // First ask for more, then look into what came.
      this.run()
      this.parts.onNews()
    })
  }

  private take(node: NodeState, way: Way, parts: readonly FetchPart[], response: FetchResponse, version: number): void {
    const nowMs = this.parts.world.clock.monotonicMs()
    const bytes = this.parts.outcomes.answered(parts, response, version > newestByName, forEachAnswer)
    if (way === node.side) {
      node.sidePauseMs = bytes > 0 ? sidePauseMs.first : Math.min(sidePauseMs.max, node.sidePauseMs * 2)
      node.sideQuietUntilMs = bytes > 0 ? 0 : nowMs + node.sidePauseMs
    }
    if (response.throttleTimeMs <= 0) return
    for (const { partition } of parts) partition.retryAtMs = Math.max(partition.retryAtMs, nowMs + response.throttleTimeMs)
  }

  private openChannel(channel: Channel, way: Way, group: readonly AssignedPartition[]): void {
    if (way.isOpening) return
    way.isOpening = true
    channel.open(error => {
      way.isOpening = false
      if (this.lookout.isClosed) return
      if (error !== undefined) {
        this.parts.metadata.refresh()
        for (const partition of group) {
          partition.preferredReplica = -1
          if (!isRetriable(error) && isMillraceError(error) && partition.phase === 'reading') partition.fail(error)
        }
        this.parts.onNews()
      }
      this.runSoon()
    })
  }

  private node(nodeId: number): NodeState {
    let node = this.nodes.get(nodeId)
    if (node === undefined) {
      node = {
        main: { lane: 'fetch', isBusy: false, isOpening: false }, side: { lane: 'side fetch', isBusy: false, isOpening: false },
        sideQuietUntilMs: 0, sidePauseMs: sidePauseMs.first, sideGroup: new Set(),
      }
      this.nodes.set(nodeId, node)
    }
    return node
  }
}
