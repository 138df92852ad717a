/**
 * What it costs that an acknowledgement means on the disk, beside others that promise the same:
 *
 *   npx tsx bench/durable.ts [--rows NAME,…] [--rounds 3] [--scale 1]
 *
 * Candidates take turns within each row, another one first each round, on the same disk; a round before the counted ones warms up. millrace with
 * durability fsync; Kafka 4.4 with flush.messages=1; Redis with appendfsync=always (apt-get install redis-server), which appends the same bytes to
 * one stream; and a broker in C of the least that can be done (bench/kafka/floor.c), which serves the requests of closed-loop.c alone. Loads are
 * rdkafka_performance, closed-loop.c and redis-benchmark. Ratios are millrace's figure by the other's, of each round; medians.
 */
import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { scriptOptionsOrExit } from '../scripts/script-options.ts'
import { temporaryDir } from '../test/compat/peers.ts'
import { EndedWithUs } from '../test/compat/process.ts'
import { type BenchBroker, peers, startBenchBroker, unavailable } from './kafka/brokers.ts'
import { closedLoop, type ClosedLoopOptions, compiled } from './kafka/closed-loop.ts'
import { startCpuMeter } from './kafka/cpu.ts'
import { rdkafkaProduce } from './kafka/rdkafka-performance.ts'
import { redisAvailable, startRedis } from './kafka/redis.ts'


interface Load {
  readonly name: string
  readonly title: string
  readonly kind: 'bulk' | 'closed'
  readonly unit: 'msg/s' | 'µs'
  readonly bytes: number
  readonly options: ClosedLoopOptions
  /** Commands that Redis is given; none where it has nothing that compares. */
  readonly redisMessages: number
}

const closed = (name: string, title: string, options: ClosedLoopOptions & { readonly bytes?: number }, redisMessages = 0): Load =>
  ({ name, title, kind: 'closed', unit: options.rate === undefined ? 'msg/s' : 'µs', bytes: options.bytes ?? 100, options, redisMessages })

const loads: readonly Load[] = [
  { name: 'bulk-1024', title: 'bulk, 1 KiB, librdkafka', kind: 'bulk', unit: 'msg/s', bytes: 1024, options: {}, redisMessages: 150_000 },
  closed('large', '64 KiB a request, 16 in flight', { bytes: 65_536, inflight: 16 }),
  closed('1x64', 'one record a request, 64 in flight', { inflight: 64 }, 200_000),
  closed('16x1', '16 connections, one in flight each', { connections: 16, inflight: 1 }, 60_000),
  closed('64-partitions', '64 partitions, 64 in flight', { inflight: 64, partitions: 64 }),
  closed('512-partitions', '512 partitions, 512 in flight', { inflight: 512, partitions: 512 }),
  closed('512-on-one', '1 partition, 512 in flight', { inflight: 512 }),
  closed('latency', '1,000 a second, p50', { rate: 1000 }),
]

const usage = `Usage: npx tsx bench/durable.ts [OPTIONS]

What it costs that an acknowledgement means on the disk, beside others that promise the same.

  --rows NAME[,NAME…]   ${loads.map(({ name }) => name).join(', ')} (default: all)
  --rounds N            measured rounds (default: 3)
  --scale X             factor on counts and seconds (default: 1)`
const { numbers: { rounds, scale }, texts } = scriptOptionsOrExit(usage, {
  numbers: { rounds: 3, scale: 1 }, fractions: ['scale'], positive: ['rounds', 'scale'], texts: { rows: '' }, lists: { rows: loads.map(({ name }) => name) },
})

interface Sample {
  readonly value: number
  /** Of the broker, for each message that it took. */
  readonly cpuNs: number
}

interface Candidate {
  readonly name: string
  /** Undefined where the load does not apply. */
  run (load: Load): Promise<Sample | undefined>
  stop (): Promise<void>
}

async function closedLoad (bootstrap: string, topic: string, load: Load, pid: number): Promise<Sample> {
  const used = startCpuMeter(pid)
  const result = await closedLoop(bootstrap, topic, { bytes: load.bytes, warmup: scale, seconds: 3 * scale, ...load.options })
  const sustained = load.unit === 'msg/s' || result.perSecond >= load.options.rate! * 0.98
  const value = load.unit === 'µs' ? result.p50Us : result.perSecond
  return { value: sustained ? value : NaN, cpuNs: used() / (result.requests + result.warmupRequests) }
}

/** A broker may know the topic before each of its partitions takes records. */
async function untilLed (bootstrap: string, topic: string, partitions: number): Promise<void> {
  for (const until = Date.now() + 30_000; ;) {
    try {
      return void await closedLoop(bootstrap, topic, { partitions, inflight: partitions, warmup: 0, seconds: 0 })
    } catch (error) {
      if (Date.now() > until || !(error as Error).message.includes('error 6')) throw error
    }
  }
}

let topics = 0

function brokerCandidate (name: string, broker: BenchBroker, configs: Readonly<Record<string, string>>): Candidate {
  return {
    name,
    async run (load) {
      const topic = `durable-${++topics}`
      await broker.control.createTopic(topic, load.options.partitions ?? 1, { ...configs, 'file.delete.delay.ms': '1000' })
      try {
        await untilLed(broker.bootstrap, topic, load.options.partitions ?? 1)
        if (load.kind === 'closed') return await closedLoad(broker.bootstrap, topic, load, broker.pid)
        const messages = Math.round(400_000 * scale)
        const used = startCpuMeter(broker.pid)
        const { perSecond } = await rdkafkaProduce({ bootstrap: broker.bootstrap, topic, messages, bytes: load.bytes, acks: 'all' })
        return { value: perSecond, cpuNs: used() / messages }
      } finally {
        await broker.control.deleteTopic(topic)
      }
    },
    stop: () => broker.stop(),
  }
}

async function redisCandidate (): Promise<Candidate> {
  const redis = await startRedis()
  return {
    name: 'Redis',
    async run ({ redisMessages, bytes, options: { connections = 1, inflight = 256 } }) {
      if (redisMessages === 0) return undefined
      const messages = Math.round(redisMessages * scale)
      const used = startCpuMeter(redis.pid)
      const value = await redis.append({ messages, bytes, connections, inflight })
      return { value, cpuNs: used() / messages }
    },
    stop: () => redis.stop(),
  }
}

/** A new process for each load, so that its files are as new as the topics of the others. */
function floorCandidate (): Candidate {
  return {
    name: 'C floor',
    async run (load) {
      if (load.kind !== 'closed') return undefined
      const dir = temporaryDir('floor')
      const floor = new EndedWithUs(() => spawn(compiled('floor'), [dir, `partitions=${load.options.partitions ?? 1}`], { stdio: ['ignore', 'pipe', 'inherit'] }))
      try {
        const [line] = await new Promise<string[]>(resolve => createInterface(floor.child.stdout!).once('line', (...args: string[]) => resolve(args)))
        return await closedLoad(`127.0.0.1:${line!.split(' ')[1]}`, 'floor', load, floor.pid)
      } finally {
        await floor.end()
        rmSync(dir, { recursive: true, force: true })
      }
    },
    async stop () {},
  }
}

async function candidates (): Promise<Candidate[]> {
  const found: Candidate[] = []
  for (const { program, promise, topicConfig } of peers.filter(peer => peer.promise === 'fsync')) {
    const why = unavailable(program)
    if (why === undefined) found.push(brokerCandidate(program === 'kafka' ? 'Kafka' : 'millrace', await startBenchBroker(program), topicConfig))
    else console.error(`SKIPPED ${program} ${promise}: ${why}`)
  }
  if (redisAvailable()) found.push(await redisCandidate())
  else console.error('SKIPPED Redis: redis-server and redis-benchmark are not installed')
  return [...found, floorCandidate()]
}

const median = (numbers: readonly number[]): number => [...numbers].sort((a, b) => a - b)[numbers.length >> 1] ?? NaN
const shown = (value: number): string => value >= 1000 ? value.toLocaleString('en', { maximumFractionDigits: 0 }) : value.toFixed(value < 10 ? 2 : 0)
const spread = (numbers: readonly number[]): string => `±${((Math.max(...numbers) - Math.min(...numbers)) / 2 / median(numbers) * 100).toFixed(0)} %`

function cell (load: Load, ours: readonly Sample[], theirs: readonly Sample[] | undefined, isOurs: boolean): string {
  if (theirs === undefined || theirs.length === 0) return '–'
  const figures = theirs.map(({ value }) => value)
  if (figures.some(Number.isNaN)) return 'not sustained'
  const text = `${shown(median(figures))} ${load.unit} ${spread(figures)}, ${shown(median(theirs.map(({ cpuNs }) => cpuNs)) / 1000)} µs CPU`
  return isOurs ? text : `${text}, **${median(figures.map((value, round) => ours[round]!.value / value)).toFixed(2)}x**`
}

const chosen = loads.filter(({ name }) => texts['rows'] === '' || texts['rows']!.split(',').includes(name))
const all = await candidates()
const samples = new Map<string, Sample[]>()
try {
  for (let round = 0; round <= rounds; round++) {
    for (const load of chosen) {
      for (let turn = 0; turn < all.length; turn++) {
        const candidate = all[(turn + round) % all.length]!
        const sample = await candidate.run(load)
        if (sample === undefined) continue
        console.error(`${round === 0 ? 'warm-up' : `round ${round}`}: ${load.name} ${candidate.name}: ${shown(sample.value)} ${load.unit}`)
        const key = `${load.name} ${candidate.name}`
        if (round > 0) samples.set(key, [...samples.get(key) ?? [], sample])
      }
    }
  }
} finally {
  for (const candidate of all) await candidate.stop()
}
console.log(`| | ${all.map(({ name }) => name).join(' | ')} |\n|---|${all.map(() => '---:').join('|')}|`)
for (const load of chosen) {
  const ours = samples.get(`${load.name} millrace`) ?? []
  console.log(`| ${load.title} | ${all.map(({ name }) => cell(load, ours, samples.get(`${load.name} ${name}`), name === 'millrace')).join(' | ')} |`)
}
