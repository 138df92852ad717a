import { setTimeout as after } from 'node:timers/promises'
import { Prng } from '../../src/base/prng.ts'
import { createClient } from '../../src/client/index.ts'
import { freePorts } from '../../test/compat/kafka-broker.ts'
import { startMillrace } from '../../test/compat/millrace-broker.ts'
import { closedLoop } from '../kafka/closed-loop.ts'
import { startCpuMeter } from '../kafka/cpu.ts'

export type Durability = 'os' | 'fsync'

/** What producers wait for, in microseconds, at a fixed rate of requests of one record each, counted from when each was due. */
export interface Waits {
  readonly p50Us: number
  readonly p99Us: number
  readonly p999Us: number
  /** Whether the broker kept up. */
  readonly sustained: boolean
  /** What compaction read and wrote meanwhile, in bytes a second. */
  readonly cleanedPerSecond: number
  /** CPU of the broker, of each second. */
  readonly cpu: number
}

export interface BesideOptions {
  /** Of the table that is compacted. */
  readonly bytes: number
  readonly valueBytes: number
  /** Requests a second. */
  readonly rate: number
  readonly seconds: number
  /** Broker settings beside those of the bench. */
  readonly settings: readonly string[]
}

const table = 'table'
const keyOf = (index: number): string => `key-${String(index).padStart(12, '0')}`
const topicOf = (durability: Durability): string => `paced-${durability}`

/**
 * A broker with a table that is compacted again and again while `cleaning`: a segment of some records closes each second, and the table being due at any dirty share, a round reads
 * all of it, twice. The records are of keys all over the table, so that each of its segments loses some and is written anew.
 */
export class CleanedBroker {
  private readonly options: BesideOptions
  private readonly broker: Awaited<ReturnType<typeof startMillrace>>
  private readonly http: string
  private readonly client: ReturnType<typeof createClient>
  private readonly keys: number
  private readonly random = new Prng(7)
  private readonly producer: ReturnType<CleanedBroker['client']['producer']>
  private trickle: ReturnType<typeof setInterval> | undefined

  private constructor (options: BesideOptions, broker: CleanedBroker['broker'], http: string) {
    this.options = options
    this.keys = Math.ceil(options.bytes / (options.valueBytes + 30))
    this.broker = broker
    this.http = http
    this.client = createClient({ bootstrap: broker.bootstrap })
    this.producer = this.client.producer({ lingerMs: 5, batchBytesMax: 16_384 })
  }

  static async start (options: BesideOptions): Promise<CleanedBroker> {
    const [port] = await freePorts(1)
    const http = `127.0.0.1:${port}`
    const broker = await startMillrace({ args: ['--http', http, ...['log.cleaner.backoff.ms=50', ...options.settings].flatMap(setting => ['--set', setting])] })
    const made = new CleanedBroker(options, broker, http)
    try {
      await made.fill()
    } catch (error) {
      await made.stop()
      throw error
    }
    return made
  }

  async measure (durability: Durability, cleaning: boolean): Promise<Waits> {
    const { rate, seconds } = this.options
    await this.setCleaning(cleaning)
    const before = await this.cleanedBytes()
    const cpu = startCpuMeter(this.broker.pid)
    const began = performance.now()
    const { p50Us, p99Us, p999Us, perSecond } = await closedLoop(this.broker.bootstrap, topicOf(durability), { rate, warmup: 0.5, seconds })
    const tookMs = performance.now() - began
    const cpuMs = cpu() / 1e6
    // A round counts when it has ended.
    const cleaned = cleaning ? await this.untilIdle() - before : 0
    if (cleaning && cleaned === 0) throw new Error('nothing was compacted meanwhile')
    return { p50Us, p99Us, p999Us, sustained: perSecond >= rate * 0.98, cleanedPerSecond: cleaned / (performance.now() - began) * 1000, cpu: cpuMs / tookMs }
  }

  async stop (): Promise<void> {
    clearInterval(this.trickle)
    await this.client.close()
    await this.broker.stop()
  }

  private async fill (): Promise<void> {
    const { valueBytes } = this.options
    const admin = this.client.admin()
    const config = { 'cleanup.policy': 'compact', 'min.cleanable.dirty.ratio': '0', 'segment.ms': '1000', 'segment.bytes': String(64 << 20), durability: 'os' }
    await admin.createTopics([
      { name: table, partitions: 1, configs: config },
      ...(['os', 'fsync'] as const).map(durability => ({ name: topicOf(durability), partitions: 1, configs: { durability, 'retention.bytes': String(64 << 20) } })),
    ])
    const value = new Uint8Array(valueBytes)
    const records = this.keys
    for (let sent = 0; sent < records;) {
      const window: Promise<unknown>[] = []
      for (; window.length < 5000 && sent < records; sent++) window.push(this.producer.send({ topic: table, key: keyOf(sent), value }))
      await Promise.all(window)
    }
  }

  /** A record now and then is what makes the table dirty. */
  private async setCleaning (cleaning: boolean): Promise<void> {
    clearInterval(this.trickle)
    this.trickle = undefined
    if (!cleaning) {
      await this.untilIdle()
      return
    }
    this.trickle = setInterval(() => { void this.producer.send({ topic: table, key: keyOf(this.random.below(this.keys)), value: 'v' }).catch(() => undefined) }, 100)
    await after(1500)
  }

  /** What was read and written by then. */
  private async untilIdle (): Promise<number> {
    clearInterval(this.trickle)
    for (let before = await this.cleanedBytes(); ;) {
      await after(2000)
      const now = await this.cleanedBytes()
      if (now === before) return now
      before = now
    }
  }

  private async cleanedBytes (): Promise<number> {
    const text = await (await fetch(`http://${this.http}/metrics`)).text()
    const found = [...text.matchAll(/^millrace_log_cleaner_(?:read|written)_bytes_total(?:\{.*\})? (\S+)$/gm)]
    if (found.length !== 2) throw new Error('the broker has no figures of its cleaner')
    return found.reduce((sum, [, value]) => sum + Number(value), 0)
  }
}
