import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

import { offersGroups } from '../../test/compat/control.ts'
import { kafkaClassPath, temporaryDir } from '../../test/compat/peers.ts'
import { type BenchBroker, type Peer, startBenchBroker } from './brokers.ts'
import { closedLoop, closedLoopAvailable, firstAck } from './closed-loop.ts'
import { consumerPerformance } from './consumer-performance.ts'
import { residentBytes, startCpuMeter } from './cpu.ts'
import { summarize } from './markdown.ts'
import { producerPerformance } from './producer-performance.ts'
import { rdkafkaConsume, rdkafkaPerformanceAvailable, rdkafkaProduce } from './rdkafka-performance.ts'

export interface Bench {
  readonly peer: Peer
  readonly broker: BenchBroker
  /** Factor on the counts and durations. */
  readonly scale: number
}

export interface Column {
  readonly label: string
  readonly unit: 'msg/s' | 'µs' | 'MB' | 's'
  /** What the ratio of millrace to Kafka should be. */
  readonly aim?: string
}

/** One value for each column; NaN where the peer did not keep up with the pace. */
export interface Sample {
  readonly values: readonly number[]
  readonly cpuNsPerMessage?: number
}

export interface Row {
  readonly name: string
  readonly columns: readonly Column[]
  /** Why it cannot be measured on this machine. */
  missing? (): string | undefined
  /** Runs once for each peer before the first round. */
  prepare? (bench: Bench): Promise<void>
  /** Measured once, after all rounds. */
  readonly once?: boolean
  /** Undefined where the row does not apply to that peer. */
  measure (bench: Bench): Promise<Sample | undefined>
}

let topics = 0

function topicConfig (peer: Peer): Record<string, string> {
  return { ...peer.topicConfig, 'file.delete.delay.ms': '1000' }
}

async function withTopic<T> ({ broker, peer }: Bench, act: (topic: string) => Promise<T>): Promise<T> {
  const topic = `bench-${++topics}`
  await broker.control.createTopic(topic, 1, topicConfig(peer))
  try {
    return await act(topic)
  } finally {
    await broker.control.deleteTopic(topic)
  }
}

/**
 * Makes the kernel own pages that have been touched: on a virtual machine whose host takes back freed memory, the first
 * touch of a page costs several times a write, so that a growing file is fast or slow by chance.
 */
function warmPages (bytes: number): void {
  const dir = temporaryDir('warm')
  const file = openSync(join(dir, 'pages'), 'w')
  const chunk = Buffer.alloc(1 << 20, 1)
  for (let written = 0; written < bytes; written += chunk.length) writeSync(file, chunk)
  closeSync(file)
  rmSync(dir, { recursive: true })
}

async function metered (bench: Bench, act: () => Promise<{ values: number[]; messages: number }>): Promise<Sample> {
  const used = startCpuMeter(bench.broker.pid)
  const { values, messages } = await act()
  return { values, cpuNsPerMessage: used() / messages }
}

const needsRdkafka = (): string | undefined => rdkafkaPerformanceAvailable() ? undefined : 'rdkafka_performance could not be built'
const needsJava = (): string | undefined => kafkaClassPath() ? undefined : "Kafka's tools could not be had"
const needsGcc = (): string | undefined => closedLoopAvailable() ? undefined : 'no gcc for the closed-loop client'

/** Some seconds of a bulk load: what a client does before it flows must not count for much. */
const messagesOf = (bytes: number, scale: number): number => Math.round((bytes <= 100 ? 5_000_000 : 1_000_000) * scale)

function produceRow (bytes: number): Row {
  return {
    name: `produce-${bytes}`,
    columns: [{ label: `produce ${bytes} B, bulk, librdkafka`, unit: 'msg/s', aim: '≥ 1.0x' }],
    missing: needsRdkafka,
    measure: bench => withTopic(bench, topic => {
      const messages = messagesOf(bytes, bench.scale)
      warmPages(messages * bytes * 1.2)
      return metered(bench, async () => {
        const rate = await rdkafkaProduce({ bootstrap: bench.broker.bootstrap, topic, messages, bytes, acks: 'all' })
        return { values: [rate.perSecond], messages }
      })
    }),
  }
}

function javaProduceRow (bytes: number): Row {
  return {
    name: `java-produce-${bytes}`,
    columns: [{ label: `produce ${bytes} B, Java client's defaults`, unit: 'msg/s', aim: '≥ 1.0x' }],
    missing: needsJava,
    measure: bench => withTopic(bench, topic => {
      // Small batches with a sync each are slow on a disk that is: bounded, so that a run ends in minutes
      const messages = Math.round((bytes <= 100 ? 1_000_000 : 250_000) * bench.scale * (bench.peer.promise === 'fsync' ? 0.2 : 1))
      const warmupMessages = Math.round(messages / 2)
      warmPages((messages + warmupMessages) * bytes * 1.2)
      return metered(bench, async () => {
        const rate = await producerPerformance({ bootstrap: bench.broker.bootstrap, topic, messages, bytes, warmupMessages })
        return { values: [rate.perSecond], messages: messages + warmupMessages }
      })
    }),
  }
}

const filled = (peer: Peer, bytes: number): string => `bench-filled-${peer.promise}-${bytes}`

/** Reading does not depend on the promise, so it is measured for `os` alone. */
function fetchRow (bytes: number): Row {
  return {
    name: `fetch-${bytes}`,
    columns: [{ label: `fetch ${bytes} B, librdkafka`, unit: 'msg/s', aim: '≥ 1.0x' }],
    missing: needsRdkafka,
    async prepare ({ peer, broker, scale }) {
      if (peer.promise !== 'os') return
      const topic = filled(peer, bytes)
      await broker.control.createTopic(topic, 1, topicConfig(peer))
      await rdkafkaProduce({ bootstrap: broker.bootstrap, topic, messages: messagesOf(bytes, scale), bytes, acks: 'all' })
    },
    async measure (bench) {
      if (bench.peer.promise !== 'os') return undefined
      const messages = messagesOf(bytes, bench.scale)
      return metered(bench, async () => {
        const rate = await rdkafkaConsume({ bootstrap: bench.broker.bootstrap, topic: filled(bench.peer, bytes), messages })
        return { values: [rate.perSecond], messages }
      })
    },
  }
}

/** Kafka's consumer benchmark over the topic of `fetch-1024`; only where the broker offers groups. */
const javaFetchRow: Row = {
  name: 'java-fetch-1024',
  columns: [{ label: 'fetch 1024 B, Java client in a group', unit: 'msg/s', aim: '≥ 1.0x' }],
  missing: needsJava,
  async measure (bench) {
    if (bench.peer.promise !== 'os' || !await offersGroups(bench.broker.bootstrap)) return undefined
    const messages = messagesOf(1024, bench.scale)
    return metered(bench, async () => {
      const rate = await consumerPerformance({ bootstrap: bench.broker.bootstrap, topic: filled(bench.peer, 1024), messages })
      return { values: [rate.perSecond], messages }
    })
  },
}

const singleRow: Row = {
  name: 'single-64',
  columns: [{ label: 'one record a request, 64 in flight', unit: 'msg/s', aim: '≥ 2.0x' }],
  missing: needsGcc,
  measure: bench => withTopic(bench, topic => metered(bench, async () => {
    const result = await closedLoop(bench.broker.bootstrap, topic,
      { inflight: 64, warmup: 1.5 * bench.scale, seconds: 3 * bench.scale })
    return { values: [result.perSecond], messages: result.requests + result.warmupRequests }
  })),
}

const PACE = 1000

const latencyRow: Row = {
  name: 'latency',
  columns: [
    { label: 'latency at 1,000 msg/s, p50', unit: 'µs', aim: '≤ 0.5x' },
    { label: 'latency at 1,000 msg/s, p99', unit: 'µs', aim: '≤ 0.5x' },
  ],
  missing: needsGcc,
  measure: bench => withTopic(bench, topic => metered(bench, async () => {
    const result = await closedLoop(bench.broker.bootstrap, topic,
      { rate: PACE, warmup: 1.5 * bench.scale, seconds: 8 * bench.scale })
    const values = result.perSecond < PACE * 0.98 ? [NaN, NaN] : [result.p50Us, result.p99Us]
    return { values, messages: result.requests + result.warmupRequests }
  })),
}

const megabytes = (bytes: number): number => bytes / 1e6

/** A process serves both promises, so that its memory is that of both. */
const memoryRow: Row = {
  name: 'memory',
  once: true,
  columns: [
    { label: 'memory after start', unit: 'MB', aim: '≤ 0.2x' },
    { label: 'memory, peak of this run', unit: 'MB', aim: '≤ 0.2x' },
  ],
  async measure ({ peer, broker }) {
    if (peer.promise !== 'os') return undefined
    return { values: [megabytes(broker.idleBytes), megabytes(residentBytes(broker.pid).peak)] }
  },
}

const START_TOPIC = 'bench-start'
const STARTS = 3

/** The first start of an empty broker until it serves, and starts on a folder that was closed cleanly up to the first acknowledgement. */
const startRow: Row = {
  name: 'start',
  once: true,
  columns: [
    { label: 'first start until it serves', unit: 's', aim: '≤ 0.2x' },
    { label: 'restart until the first ack', unit: 's', aim: '≤ 0.2x' },
  ],
  missing: needsGcc,
  async prepare ({ peer, broker }) {
    if (peer.promise === 'os') await broker.control.createTopic(START_TOPIC, 1, topicConfig(peer))
  },
  async measure ({ peer, broker }) {
    if (peer.promise !== 'os') return undefined
    await broker.end()
    const [fresh, again]: number[][] = [[], []]
    for (let i = 0; i < STARTS; i++) {
      const other = await startBenchBroker(peer.program)
      fresh!.push(other.startMs / 1000)
      await other.stop()
    }
    for (let i = 0; i < STARTS; i++) {
      const began = performance.now()
      broker.relaunch()
      await firstAck(broker.bootstrap, START_TOPIC)
      again!.push((performance.now() - began) / 1000)
      await broker.end()
    }
    return { values: [summarize(fresh!)!.median, summarize(again!)!.median] }
  },
}

/** In the order in which they are measured; `start` last, since it ends the brokers. */
export const rows: readonly Row[] = [
  produceRow(100), produceRow(1024), javaProduceRow(100), javaProduceRow(1024),
  fetchRow(100), fetchRow(1024), javaFetchRow, singleRow, latencyRow, memoryRow, startRow,
]
