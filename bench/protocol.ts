/**
 * What the broker's request path costs: frames given to a connection as a socket would, handled by the real plugins over the memory store,
 * answers taken from its writes. No kernel, no peer: all CPU is the broker's. Run with `npx tsx bench/protocol.ts [--rounds N] [--only TEXT]`;
 * with `node --cpu-prof --import tsx bench/protocol.ts --only 'acks=1, 64'` it leaves a profile. Each figure is the median of the rounds, in
 * nanoseconds a request, beside the parts that no broker can leave out, measured in the same run: reading the request, CRC and structure of
 * the batch, the append, writing the answer.
 */
import { scriptOptionsOrExit } from '../scripts/script-options.ts'
import { BytesReader } from '../src/base/bytes-reader.ts'
import { BytesWriter } from '../src/base/bytes-writer.ts'
import { composeBroker } from '../src/broker/index.ts'
import { definePlugin, Network, type Listener, type Socket, type SocketHandler } from '../src/kernel/index.ts'
import { BatchBuilder } from '../src/kernel/record/batch-builder.ts'
import { BatchCheck } from '../src/kernel/record/batch-check.ts'
import {
  apiVersionsApi, codecFor, createTopicsApi, fetchApi, metadataApi, produceApi, readRequestHeader, writeRequestFrame, writeResponseFrame,
} from '../src/wire/index.ts'
import { topicSettings } from '../src/testkit/topic-settings.ts'
import { z } from 'zod'

const usage = `Usage: npx tsx bench/protocol.ts [OPTIONS]

What the broker's request path costs, without a kernel and a peer.

  --rounds N    measured rounds (default: 7)
  --only TEXT   rows with this in their names (default: all)`
const { numbers: { rounds }, texts } = scriptOptionsOrExit(usage, { numbers: { rounds: 7 }, positive: ['rounds'], texts: { only: '' } })
const only = texts['only']!

class BenchSocket implements Socket {
  readonly local = { host: '127.0.0.1', port: 9092 }
  readonly remote = { host: '127.0.0.1', port: 50_000 }
  readonly pendingBytes = 0
  handler!: SocketHandler
  answers = 0
  bytes = 0
  open(handler: SocketHandler): void { this.handler = handler }
  write(pieces: readonly Uint8Array[], written?: () => void): boolean {
    for (const piece of pieces) this.bytes += piece.length
    this.answers++
    written?.()
    return true
  }
  pause(): void {}
  resume(): void {}
  end(): void { this.handler.closed() }
  destroy(): void { this.handler.closed() }
}

let connect: (() => BenchSocket) | undefined
const benchNetwork = definePlugin({
  name: 'bench-network', contract: 1, summary: 'Sockets in the hands of the bench.', decorates: [{ port: Network, order: 1 }], config: z.object({}),
  register({ decorate }) {
    decorate(Network, [], (inner) => ({
      connect: (to, options) => inner.connect(to, options),
      listen: async (at, accept): Promise<Listener> => {
        connect = () => {
          const socket = new BenchSocket()
          accept(socket)
          return socket
        }
        return { endpoint: { host: at.host, port: at.port || 9092 }, close: async () => undefined }
      },
    }))
  },
})

function frames(count: number, write: (writer: BytesWriter, index: number) => void): Uint8Array {
  const writer = new BytesWriter(65_536)
  for (let index = 0; index < count; index++) write(writer, index)
  return writer.finish()
}

function batch(recordBytes = 100, records = 1): Uint8Array {
  const builder = new BatchBuilder()
  for (let index = 0; index < records; index++) builder.append(Date.now(), null, new Uint8Array(recordBytes).fill(65))
  return builder.finish()
}

interface Row {
  readonly name: string
  /** Runs so many requests. */
  readonly run: (requests: number) => Promise<void>
  readonly requests: number
}

/** Gives chunks of frames and lets each turn end before the next. */
function overSocket(name: string, perChunk: number, requests: number, write: (writer: BytesWriter, index: number) => void): Row {
  const chunk = frames(perChunk, write)
  const memory = new Uint8Array(chunk.length)
  const socket = connect!()
  return {
    name, requests,
    run: async (count) => {
      for (let done = 0; done < count; done += perChunk) {
        memory.set(chunk)
        socket.handler.data(memory, 0, memory.length)
        await Promise.resolve()
        await Promise.resolve()
      }
    },
  }
}

const envelope = (index: number, version: number) => ({ version, correlationId: index, clientId: 'bench-client' })

function produceRow(name: string, acks: number, perChunk: number, records: Uint8Array, requests = 200_000): Row {
  return overSocket(name, perChunk, requests, (writer, index) => {
    writeRequestFrame(writer, produceApi, envelope(index, 9), { transactionalId: null, acks, timeoutMs: 30_000, topicData: [{ name: 'bench', partitionData: [{ index: 0, records }] }] })
  })
}

function parts(): Row[] {
  const records = batch()
  const request = frames(1, (writer) => {
    writeRequestFrame(writer, produceApi, envelope(1, 9), { transactionalId: null, acks: 1, timeoutMs: 30_000, topicData: [{ name: 'bench', partitionData: [{ index: 0, records }] }] })
  })
  const reader = new BytesReader(request)
  const codec = codecFor(produceApi.request, 9)
  const check = new BatchCheck()
  const settings = topicSettings()
  const writer = new BytesWriter()
  const response = { responses: [{ name: 'bench', partitionResponses: [{ index: 0, errorCode: 0, baseOffset: 1, logAppendTimeMs: -1, logStartOffset: 0, recordErrors: [], errorMessage: null }] }] }
  const loop = (name: string, once: () => void): Row => ({ name, requests: 400_000, run: async (count) => { for (let index = 0; index < count; index++) once() } })
  return [
    loop('part: read the request', () => { reader.reset(request, 4); readRequestHeader(reader); codec.read(reader) }),
    loop('part: check the batch (CRC, structure)', () => { check.check(records, 0, records.length, settings, Date.now()) }),
    loop('part: write the answer', () => { writer.reset(); writeResponseFrame(writer, produceApi, envelope(1, 9), response) }),
  ]
}

const composed = await composeBroker({ file: { preset: 'memory', plugins: [benchNetwork], listen: '127.0.0.1:0', http: 'off', logLevel: 'silent' } as never })
const broker = composed.create()
await broker.start()
const control = connect!()
const created = frames(1, (writer) => {
  writeRequestFrame(writer, createTopicsApi, envelope(1, 7), {
    topics: ['bench', 'full'].map((name) => ({ name, numPartitions: 1, replicationFactor: 1, assignments: [], configs: [] })), timeoutMs: 1000,
  })
})
control.handler.data(created, 0, created.length)
await new Promise((resolve) => { setTimeout(resolve, 100) })
const fill = frames(1, (writer) => {
  writeRequestFrame(writer, produceApi, envelope(1, 9), { transactionalId: null, acks: 1, timeoutMs: 1000, topicData: [{ name: 'full', partitionData: [{ index: 0, records: batch(100, 1) }] }] })
})
control.handler.data(fill, 0, fill.length)

const rows: Row[] = [
  ...parts(),
  produceRow('produce 100 B, acks=1, 64 in a chunk', 1, 64, batch()),
  produceRow('produce 100 B, acks=all, 64 in a chunk', -1, 64, batch()),
  produceRow('produce 100 B, acks=1, one in a chunk', 1, 1, batch(), 100_000),
  produceRow('produce 100 B, acks=0, 64 in a chunk', 0, 64, batch()),
  produceRow('produce 100 x 100 B, acks=1, one in a chunk', 1, 1, batch(100, 100), 20_000),
  overSocket('fetch 1 record that is there, one in a chunk', 1, 100_000, (writer, index) => {
    writeRequestFrame(writer, fetchApi, envelope(index, 12), {
      maxWaitMs: 500, minBytes: 1, maxBytes: 1_000_000, forgottenTopicsData: [], topics: [{ topic: 'full', partitions: [{ partition: 0, fetchOffset: 0, partitionMaxBytes: 1_000_000 }] }],
    })
  }),
  overSocket('metadata of one topic', 1, 50_000, (writer, index) => { writeRequestFrame(writer, metadataApi, envelope(index, 12), { topics: [{ name: 'bench' }] }) }),
  overSocket('api versions', 1, 50_000, (writer, index) => { writeRequestFrame(writer, apiVersionsApi, envelope(index, 3), { clientSoftwareName: 'bench', clientSoftwareVersion: '1' }) }),
].filter(({ name }) => name.includes(only))

const figures = new Map<string, number[]>(rows.map(({ name }) => [name, []]))
for (const { run, requests } of rows) await run(requests / 4)
for (let round = 0; round < rounds; round++) {
  for (const { name, run, requests } of rows) {
    const from = process.cpuUsage()
    await run(requests)
    const { user, system } = process.cpuUsage(from)
    figures.get(name)!.push((user + system) * 1000 / requests)
  }
}
for (const [name, found] of figures) {
  const sorted = found.sort((a, b) => a - b)
  console.log(`${name.padEnd(50)} ${Math.round(sorted[sorted.length >> 1]!).toString().padStart(7)} ns   (${Math.round(sorted[0]!)} to ${Math.round(sorted.at(-1)!)})`)
}
await broker.stop()
