import { BytesReader } from '../../../../src/base/bytes-reader.ts'
import { BytesWriter } from '../../../../src/base/bytes-writer.ts'
import { type Timers } from '../../../../src/kernel/ports/clock.ts'
import { type Listener, type Network, type Socket, type SocketHandler } from '../../../../src/kernel/ports/network.ts'
import * as wire from '../../../../src/wire/index.ts'
import { type FakeCluster } from './fake-cluster.ts'

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- scripts look into requests of any kind
export interface Call<R = any> {
  readonly node: FakeNode
  readonly connection: FakeConnection
  readonly api: wire.Api
  readonly version: number
  readonly clientId: string | null
  readonly request: R
}

export const servedApis: ReadonlyMap<number, wire.Api> = new Map([
  wire.produceApi, wire.fetchApi, wire.listOffsetsApi, wire.metadataApi, wire.apiVersionsApi, wire.createTopicsApi, wire.deleteTopicsApi,
  wire.initProducerIdApi, wire.offsetForLeaderEpochApi, wire.describeConfigsApi, wire.describeClusterApi, wire.saslHandshakeApi,
  wire.saslAuthenticateApi, wire.deleteRecordsApi, wire.createPartitionsApi, wire.incrementalAlterConfigsApi,
].map(api => [api.key, api as unknown as wire.Api]))

/** One broker: speaks the protocol on port 9092 of its machine. */
export class FakeNode {
  readonly id: number
  readonly port = 9092
  readonly cluster: FakeCluster
  readonly timers: Timers
  readonly connections = new Set<FakeConnection>()
  /** Counts connections accepted. */
  accepted = 0
  private listener: Listener | undefined

  constructor(id: number, cluster: FakeCluster, timers: Timers) {
    this.id = id
    this.cluster = cluster
    this.timers = timers
  }

  async listen(network: Network): Promise<void> {
    this.listener = await network.listen({ host: `b${this.id}`, port: this.port }, socket => {
      this.accepted++
      this.connections.add(new FakeConnection(this, socket))
    })
  }

  async stop(): Promise<void> {
    await this.listener?.close()
    for (const connection of [...this.connections]) connection.close()
  }

  answer(call: Call, reply: (response: object, version?: number) => void): void {
    const { cluster } = this
    const { request } = call
    switch (call.api.key) {
      case 0: reply(cluster.produce(call)); return
      case 1: cluster.fetch(call, reply); return
      case 2: reply(listOffsets(cluster, request as wire.ListOffsetsRequest)); return
      case 3: reply(cluster.metadata((request as wire.MetadataRequest).topics?.map(topic => topic.name) ?? null, (request as wire.MetadataRequest).allowAutoTopicCreation)); return
      case 18: this.answerVersions(call, reply); return
      case 22: reply({ errorCode: 0, producerId: cluster.nextProducerId++, producerEpoch: 0 }); return
      case 23: reply(offsetsForEpochs(cluster, request as wire.OffsetForLeaderEpochRequest)); return
      default: throw new Error(`${call.api.name} needs a script`)
    }
  }

  private answerVersions(call: Call, reply: (response: object, version?: number) => void): void {
    const span = this.cluster.versions.get(18)!
    const apiKeys = [...this.cluster.versions].map(([apiKey, { min, max }]) => ({ apiKey, minVersion: min, maxVersion: max }))
    if (call.version <= span.max) reply({ errorCode: 0, apiKeys })
    // Quirk 1: in version 0, with the range of this API alone.
    else reply({ errorCode: 35, apiKeys: [{ apiKey: 18, minVersion: span.min, maxVersion: span.max }] }, 0)
  }
}

/** One connection: answers in the order of the requests. */
export class FakeConnection implements SocketHandler {
  private readonly node: FakeNode
  private readonly socket: Socket
  private readonly frames = new wire.FrameSplitter({ frameBytesMax: 104_857_600 })
  private readonly waiting: { bytes: Uint8Array | undefined | null }[] = []
  isClosed = false

  constructor(node: FakeNode, socket: Socket) {
    this.node = node
    this.socket = socket
    socket.open(this)
  }

  data(bytes: Uint8Array, offset: number, length: number): void {
    this.frames.feed(bytes, offset, offset + length)
    while (!this.isClosed && this.frames.next()) this.take(this.frames.buffer.slice(this.frames.offset, this.frames.offset + this.frames.length))
  }

  closed(): void {
    this.isClosed = true
    this.node.connections.delete(this)
  }

  close(): void {
    this.isClosed = true
    this.node.connections.delete(this)
    this.socket.destroy()
  }

  /** Sends bytes that are no answer. */
  sendRaw(bytes: Uint8Array): void {
    this.socket.write([bytes])
  }

  private take(frame: Uint8Array): void {
    const reader = new BytesReader(frame)
    const header = wire.readRequestHeader(reader)
    const api = servedApis.get(header.apiKey)
    if (api === undefined) throw new Error(`no API ${header.apiKey}`)
    const isTooNew = header.apiKey === 18 && header.apiVersion > this.node.cluster.versions.get(18)!.max
    const request: unknown = isTooNew ? {} : wire.codecFor(api.request, header.apiVersion).read(reader)
    const call: Call = {
      node: this.node, connection: this, api, version: header.apiVersion, clientId: header.clientId, request,
    }
    this.node.cluster.calls.push(call)
    const slot: { bytes: Uint8Array | undefined | null } = { bytes: undefined }
    this.waiting.push(slot)
    const reply = (response: object, version = header.apiVersion): void => {
      const writer = new BytesWriter()
      wire.writeResponseFrame(writer, api, { version, correlationId: header.correlationId }, response as never)
      slot.bytes = writer.finish()
      this.flush()
    }
    const deed = this.node.cluster.script?.(call)
    if (deed === 'close') this.close()
    else if (deed === 'handle and close') this.node.answer(call, () => { this.close() })
    else if (deed === 'handle and swallow') this.node.answer(call, () => undefined)
    else if (deed === 'swallow') return
    else if (deed !== undefined) reply(deed.respond)
    else if (header.apiKey === 0 && (request as wire.ProduceRequest).acks === 0) {
      this.node.cluster.produce(call)
      slot.bytes = null
      this.flush()
    } else this.node.answer(call, reply)
  }

  private flush(): void {
    while (this.waiting.length > 0 && this.waiting[0]!.bytes !== undefined) {
      const { bytes } = this.waiting.shift()!
      if (bytes !== null && !this.isClosed) this.socket.write([bytes!])
    }
  }
}

function listOffsets(cluster: FakeCluster, request: wire.ListOffsetsRequest): object {
  return { topics: request.topics.map(({ name, partitions }) => ({ name, partitions: partitions.map(({ partitionIndex, timestamp }) => {
    const log = cluster.topics.get(name)?.logs[partitionIndex]
    if (log === undefined) return { partitionIndex, errorCode: 3 }
    const { leaderEpoch } = log
    if (timestamp === -1) return { partitionIndex, errorCode: 0, offset: request.isolationLevel === 1 ? log.lastStableOffset ?? log.endOffset : log.endOffset, leaderEpoch }
    if (timestamp === -2) return { partitionIndex, errorCode: 0, offset: log.logStartOffset, leaderEpoch }
    return { partitionIndex, errorCode: 0, ...log.offsetAt(timestamp), leaderEpoch }
  }) })) }
}

function offsetsForEpochs(cluster: FakeCluster, request: wire.OffsetForLeaderEpochRequest): object {
  return { topics: request.topics.map(({ topic, partitions }) => ({ topic, partitions: partitions.map(({ partition, leaderEpoch }) => {
    const log = cluster.topics.get(topic)?.logs[partition]
    return log === undefined ? { errorCode: 3, partition } : { errorCode: 0, partition, ...log.endOfEpoch(leaderEpoch) }
  }) })) }
}
