import { spawnSync } from 'node:child_process'
import { cpus, release, totalmem } from 'node:os'

import { scriptOptionsOrExit } from '../scripts/script-options.ts'
import { type BenchBroker, type Peer, peers as allPeers, startBenchBroker, unavailable } from './kafka/brokers.ts'
import { markdown, type RowSamples } from './kafka/markdown.ts'
import { type Bench, type Row, rows as allRows, type Sample } from './kafka/rows.ts'

const usage = `usage: npm run bench -- [options]

  --peers NAME[,NAME…]   ${allPeers.map(({ name }) => name).join(', ')} (default: all)
  --rows NAME[,NAME…]    ${allRows.map(({ name }) => name).join(', ')} (default: all)
  --rounds N             measured rounds (default 3); one more before them is not counted
  --scale X              factor on counts and seconds (default 1)
  -o json                every sample, on stdout

Prints the tables of docs/performance.md. Install the load generators first: .ci/install-peers.sh
`

function chosen<T extends { name: string }> (all: readonly T[], names: string): T[] {
  const wanted = names === '' ? all.map(({ name }) => name) : names.split(',')
  return all.filter(({ name }) => wanted.includes(name))
}

function say (text: string): void {
  process.stderr.write(`${text}\n`)
}

class BenchRun {
  readonly samples = new Map<string, Map<string, Sample[]>>()
  readonly #benches: readonly Bench[]

  constructor (benches: readonly Bench[]) {
    this.#benches = benches
  }

  async prepare (rows: readonly Row[]): Promise<void> {
    for (const row of rows) for (const bench of this.#benches) await row.prepare?.(bench)
  }

  /** One round of one row: each peer in turn, another one first each round. */
  async round (row: Row, round: number, counted: boolean): Promise<void> {
    const first = round % this.#benches.length
    for (const bench of [...this.#benches.slice(first), ...this.#benches.slice(0, first)]) {
      const sample = await row.measure(bench).catch((error: unknown) => {
        say(`${row.name} on ${bench.peer.name} FAILED: ${(error as Error).message}`)
        process.exitCode = 1
        return undefined
      })
      if (!sample) continue
      const cpu = sample.cpuNsPerMessage === undefined ? '' : `, ${sample.cpuNsPerMessage.toFixed(0)} ns of CPU a message`
      say(`${counted ? `round ${round}` : 'warm-up'}: ${row.name} ${bench.peer.name}: ` +
        `${sample.values.map(value => value.toLocaleString('en', { maximumFractionDigits: 2 })).join(', ')}${cpu}`)
      if (!counted) continue
      const byPeer = this.samples.get(row.name) ?? new Map<string, Sample[]>()
      this.samples.set(row.name, byPeer)
      byPeer.set(bench.peer.name, [...byPeer.get(bench.peer.name) ?? [], sample])
    }
  }
}

function firstLine (command: string, args: string[]): string {
  const { stdout, stderr } = spawnSync(command, args)
  return (stdout.toString() || stderr.toString()).split('\n')[0]!
}

function conditions (rounds: number, scale: number): string {
  const processor = cpus()
  return `Measured ${new Date().toISOString().slice(0, 10)} on ${processor.length} cores (${processor[0]!.model.trim()}), ` +
    `${(totalmem() / 2 ** 30).toFixed(0)} GiB, Linux ${release()}, Node ${process.version}, ${firstLine('java', ['-version'])}.\n` +
    `${rounds} rounds after one that is not counted, scale ${scale}; medians, ± half the spread. The brokers run side by side ` +
    'and take turns within each row, another one first each round; load and broker share the cores. acks=all everywhere. ' +
    'Each round writes a new topic, after as many bytes of memory have been touched as it will fill, since first touches ' +
    'of memory are slow on a virtual machine and would otherwise fall on some rounds only; fetches read resident pages. ' +
    'Kafka runs with the options of its own scripts (1 GiB of heap, G1). CPU is of all threads of the broker, by the ' +
    "kernel's schedstat, warm-up requests included."
}

async function startBrokers (peers: readonly Peer[]): Promise<Map<Peer['program'], BenchBroker>> {
  const brokers = new Map<Peer['program'], BenchBroker>()
  for (const { program } of peers) {
    if (!brokers.has(program)) brokers.set(program, await startBenchBroker(program))
  }
  return brokers
}

function withoutMissing<T extends { name: string }> (items: readonly T[], missing: (item: T) => string | undefined): T[] {
  return items.filter(item => {
    const why = missing(item)
    if (why) say(`SKIPPED ${item.name}: ${why}`)
    return !why
  })
}

async function main (): Promise<void> {
  const { numbers: { rounds, scale }, texts } = scriptOptionsOrExit(usage, {
    numbers: { rounds: 3, scale: 1 }, fractions: ['scale'], positive: ['rounds', 'scale'], texts: { peers: '', rows: '', output: 'text' },
    lists: { peers: allPeers.map(({ name }) => name), rows: allRows.map(({ name }) => name) },
  })
  const peers = withoutMissing(chosen(allPeers, texts['peers']!), ({ program }) => unavailable(program))
  const rows = withoutMissing(chosen(allRows, texts['rows']!), row => row.missing?.())
  const brokers = await startBrokers(peers)
  const run = new BenchRun(peers.map(peer => ({ peer, broker: brokers.get(peer.program)!, scale })))
  try {
    await run.prepare(rows)
    for (let round = 0; round <= rounds; round++) {
      for (const row of rows.filter(({ once }) => !once)) await run.round(row, round, round > 0)
    }
    for (const row of rows.filter(({ once }) => once)) await run.round(row, 0, true)
  } finally {
    for (const broker of brokers.values()) await broker.stop()
  }
  const samples: ReadonlyMap<string, RowSamples> = run.samples
  if (texts['output'] === 'json') {
    const plain = Object.fromEntries([...samples].map(([row, byPeer]) => [row, Object.fromEntries(byPeer)]))
    return console.log(JSON.stringify({ conditions: conditions(rounds, scale), samples: plain }, null, 2))
  }
  console.log(`${markdown(rows, samples, peers)}\n\n${conditions(rounds, scale)}`)
}

try {
  await main()
} catch (error) {
  say((error as Error).message)
  process.exitCode = 1
}
