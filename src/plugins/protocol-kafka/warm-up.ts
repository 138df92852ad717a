import { BytesWriter } from '../../base/bytes-writer.ts'
import { zeroUuid } from '../../kernel/model/ids.ts'
import { type ClusterMetadata, type TopicImage } from '../../kernel/ports/cluster-metadata.ts'
import { type FatalErrors } from '../../kernel/ports/lifecycle.ts'
import { type Timer } from '../../kernel/ports/clock.ts'
import { type Compression } from '../../kernel/ports/compression.ts'
import { type Socket, type SocketHandler } from '../../kernel/ports/network.ts'
import { type PartitionLog } from '../../kernel/ports/partition-log.ts'
import { type Replica, type Replicator } from '../../kernel/ports/replicator.ts'
import { type Logger, type Metrics } from '../../kernel/ports/telemetry.ts'
import { BatchBuilder } from '../../kernel/record/batch-builder.ts'
import { writeRequestFrame } from '../../wire/frames.ts'
import { fetchApi } from '../../wire/messages/01-fetch.ts'
import { produceApi } from '../../wire/messages/00-produce.ts'
import { ProduceHandler } from './handlers/00-produce.ts'
import { FetchHandler } from './handlers/01-fetch.ts'
import { type ConnectionSetting } from './io/connection-setting.ts'
import { KafkaConnection } from './io/kafka-connection.ts'
import { ProtocolMetrics } from './metrics.ts'
import { RequestRouter } from './request-router.ts'
import { ServingTools } from './serving-tools.ts'
import { TopicLookup } from './topic-lookup.ts'

/** So many requests make V8 compile the path for good; more than so much time is not taken, and not in one piece. */
const requestsMax = 20_000
const totalMsMax = 250
const sliceMs = 3
const pauseMs = 2
/** A clock that does not move by itself must not make a slice endless. */
const chunksPerSliceMax = 100
const requestsPerChunk = 16

/** Versions that clients of today choose. */
const produceVersions = [7, 9, 10, 11]
const fetchVersions = [11, 12, 13, 16]

const topicName = 'warm-up'

export interface WarmUpParts {
  readonly setting: ConnectionSetting
  readonly tools: ServingTools
  readonly compression: Compression
  readonly settings: TopicImage['settings']
  readonly metrics: Metrics
  readonly logger: Logger
  readonly fatal: FatalErrors
}

/**
 * Runs made-up Produce and Fetch requests through a connection of its own, the codecs, the checks and the handlers, against a topic that is
 * nowhere: without it the first thousands of requests of real clients take ten times as long, because nothing is compiled yet. It works in
 * slices of a few milliseconds after the start, so that a client which is early waits no longer than one of them.
 */
export class WarmUp {
  private readonly parts: WarmUpParts
  private readonly socket = new NowhereSocket()
  private readonly chunks: Uint8Array[] = []
  private requests = 0
  private spentMs = 0
  private sliceFromMs = 0
  private chunksLeft = 0
  private timer: Timer | undefined

  constructor(parts: WarmUpParts) {
    this.parts = parts
  }

  start(): void {
    const { tools } = this.parts
    this.timer = tools.timers.after(0, () => {
      this.connect()
      this.slice()
    })
  }

  stop(): void {
    this.timer?.cancel()
    this.timer = undefined
    this.socket.destroy()
  }

  private slice(): void {
    this.sliceFromMs = this.parts.tools.clock.monotonicMs()
    this.chunksLeft = chunksPerSliceMax
    this.chunk()
  }

  /** One chunk of requests; the next one in a microtask, so that answers leave in between as they do in life. */
  private readonly chunk = (): void => {
    if (this.timer === undefined) return
    const bytes = this.chunks[(this.requests / requestsPerChunk) % this.chunks.length]!.slice()
    this.socket.handler?.data(bytes, 0, bytes.length)
    this.requests += requestsPerChunk
    const sliceSpentMs = this.parts.tools.clock.monotonicMs() - this.sliceFromMs
    if (--this.chunksLeft > 0 && sliceSpentMs < sliceMs) queueMicrotask(this.chunk)
    else this.endSlice(sliceSpentMs)
  }

  private endSlice(sliceSpentMs: number): void {
    this.spentMs += sliceSpentMs
    if (this.requests < requestsMax && this.spentMs < totalMsMax) this.timer = this.parts.tools.timers.after(pauseMs, () => { this.slice() })
    else this.finish()
  }

  private finish(): void {
    this.parts.logger.debug('warmed up', { requests: this.requests, ms: Math.round(this.spentMs) })
    this.stop()
  }

  private connect(): void {
    const { setting, tools: real, compression, metrics, logger, fatal } = this.parts
    const counted = new ProtocolMetrics(uncounted(metrics))
    const nowhere = new NowhereTopic(this.parts.settings)
    const topics = new TopicLookup(nowhere, nowhere, -2, counted)
    topics.start()
    const tools = new ServingTools({ clock: real.clock, timers: real.timers, deadlines: real.deadlines, metrics: counted, topics })
    const router = new RequestRouter([
      new ProduceHandler({ tools, metadata: nowhere, compression, logger, decompressedBytesMax: 1 << 20 }),
      new FetchHandler({ tools, metadata: nowhere, logger, fetchBytesMax: 1 << 20, outstandingBytesMax: 1 << 30 }),
    ], logger, counted, fatal)
    const peer = { connectionId: -1, listener: '', host: topicName, principal: '' }
    this.socket.open(new KafkaConnection(this.socket, peer, { ...setting, router, metrics: counted }, () => { topics.stop() }))
    for (const version of produceVersions) this.chunks.push(produceChunk(version, nowhere.batch))
    for (const version of fetchVersions) this.chunks.push(fetchChunk(version))
  }
}

function chunkOf(write: (writer: BytesWriter, index: number) => void): Uint8Array {
  const writer = new BytesWriter()
  for (let index = 0; index < requestsPerChunk; index++) write(writer, index)
  return writer.finish()
}

function produceChunk(version: number, records: Uint8Array): Uint8Array {
  return chunkOf((writer, index) => {
    writeRequestFrame(writer, produceApi, { version, correlationId: index, clientId: topicName }, {
      transactionalId: null, acks: index % 2 === 0 ? 1 : -1, timeoutMs: 1000, topicData: [{ name: topicName, partitionData: [{ index: 0, records }] }],
    })
  })
}

function fetchChunk(version: number): Uint8Array {
  return chunkOf((writer, index) => {
    writeRequestFrame(writer, fetchApi, { version, correlationId: index, clientId: topicName }, {
      maxWaitMs: 500, minBytes: 1, maxBytes: 1 << 20, isolationLevel: 0, forgottenTopicsData: [],
      topics: [{
        ...(version < 13 ? { topic: topicName } : { topicId: zeroUuid }),
        partitions: [{ partition: 0, fetchOffset: 0, partitionMaxBytes: 1 << 20 }],
      }],
    })
  })
}

/** The instruments of the real metrics, so that the compiled code fits them, under a name of their own. */
function uncounted(metrics: Metrics): Metrics {
  const counter = metrics.counter('millrace_protocol_warm_up_total', 'What the warm-up counted: no client was served.')
  const histogram = metrics.histogram('millrace_protocol_warm_up_seconds', 'Times of requests of the warm-up.', [0.001])
  return { counter: () => counter, histogram: () => histogram, forget: () => undefined, gauge: () => undefined, counted: () => undefined }
}

class NowhereSocket implements Socket {
  readonly local = { host: topicName, port: 0 }
  readonly remote = { host: topicName, port: 0 }
  readonly pendingBytes = 0
  handler: SocketHandler | undefined

  open(handler: SocketHandler): void {
    this.handler = handler
  }

  write(_pieces: readonly Uint8Array[], written?: () => void): boolean {
    written?.()
    return true
  }

  pause(): void {}
  resume(): void {}

  end(): void {
    this.destroy()
  }

  destroy(): void {
    const { handler } = this
    this.handler = undefined
    handler?.closed()
  }
}

/** A topic with one partition that takes everything and gives one batch. */
class NowhereTopic implements ClusterMetadata, Replicator {
  readonly batch: Uint8Array
  private readonly topic: TopicImage
  private readonly only: Replica

  constructor(settings: TopicImage['settings']) {
    const builder = new BatchBuilder()
    for (let index = 0; index < 3; index++) builder.append(0, null, new Uint8Array(100))
    this.batch = builder.finish()
    this.topic = {
      name: topicName, id: zeroUuid, internal: false, overrides: new Map(),
      settings: { ...settings, compact: false, timestampType: 'CreateTime', timestampBeforeMaxMs: Infinity, timestampAfterMaxMs: Infinity, minInsyncReplicas: 1, compressionType: 'producer' },
      partitions: [{ partition: 0, leader: 0, leaderEpoch: 0, replicas: [0], isr: [0], partitionEpoch: 0 }],
    }
    this.only = this.makeReplica()
  }

  image(): ReturnType<ClusterMetadata['image']> {
    return {
      index: 0, clusterId: zeroUuid, controllerId: -1, brokers: new Map(), topics: new Map([[topicName, this.topic]]), topicsById: new Map([[zeroUuid, this.topic]]),
      removals: new Map(),
    }
  }

  subscribe(): () => void {
    return () => undefined
  }

  replica(): Replica {
    return this.only
  }

  replicas(): Iterable<Replica> {
    return [this.only]
  }

  isMaking(): boolean {
    return false
  }

  made(): Promise<void> {
    return Promise.resolve()
  }

  private makeReplica(): Replica {
    const { batch } = this
    const release = (): void => undefined
    const log = {
      startOffset: 0, endOffset: 3, sizeBytes: batch.length,
      read: (_request, sink) => {
        sink.read(batch, release)
        return undefined
      },
    } as Partial<PartitionLog> as PartitionLog
    return {
      log, settings: this.topic.settings, leader: true, leaderEpoch: 0, highWatermark: 3, lastStableOffset: 3,
      append: () => ({ baseOffset: 3, lastOffset: 5, duplicate: false }),
      wait: (waiter) => { queueMicrotask(() => { waiter.reached() }) },
      cancel: () => undefined,
    }
  }
}
