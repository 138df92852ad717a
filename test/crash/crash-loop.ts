import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Prng } from '../../src/base/prng.ts'
import { createClient, type Client, type ConsumerRecord, type Producer } from '../../src/client/index.ts'
import { startBroker, type BrokerProcess } from '../integration/broker-process.ts'
import { Acknowledged } from './acknowledged.ts'

export interface CrashLoopOptions {
  readonly runs: number
  readonly seed: number
  readonly durability: 'fsync' | 'os'
  /** Told after each run. */
  readonly report?: (run: number, records: number) => void
  /** Told of the data directory after the last run, before it is removed. */
  readonly inspect?: (directory: string) => Promise<void>
}

export interface CrashLoopResult {
  readonly runs: number
  readonly acknowledged: number
  readonly read: number
  readonly faults: readonly string[]
}

const partitions = 3
const topic = 'crash'
/** Small, so that rolls, indexes and snapshots are in the way of the kills. */
const settings = ['--set', 'log.segment.bytes=1048576', '--set', `num.partitions=${partitions}`, '--log-level', 'warn', '--no-warm-up']

/**
 * A real broker under the load of idempotent acks=all producers, ended with `kill -9` at a moment drawn from the seed, started again on the
 * same directory, and read from the beginning: everything acknowledged in any run must be there, at its offset, once.
 */
export async function crashLoop({ runs, seed, durability, report, inspect }: CrashLoopOptions): Promise<CrashLoopResult> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-crash-'))
  const random = new Prng(seed)
  const told = new Acknowledged()
  const faults: string[] = []
  let read = 0
  const start = (): Promise<BrokerProcess> => startBroker(['--data', directory, '--http', 'off', '--set', `durability=${durability}`, ...settings])
  try {
    let broker = await start()
    for (let run = 0; run < runs && faults.length === 0; run += 1) {
      await loadUntilKilled(broker, told, random, run)
      broker = await start()
      const records = await readAll(broker)
      read = records.length
      faults.push(...told.faultsOf(records).map((fault) => `seed ${seed}, run ${run}: ${fault}`))
      report?.(run, records.length)
    }
    await broker.end('SIGTERM')
    await inspect?.(directory)
    return { runs, acknowledged: told.count, read, faults: faults.slice(0, 20) }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

async function loadUntilKilled(broker: BrokerProcess, told: Acknowledged, random: Prng, run: number): Promise<void> {
  const client = createClient({ bootstrap: broker.bootstrap, requestTimeoutMs: 5_000 })
  const codecs = ['none', 'lz4', 'zstd', 'gzip', 'snappy'] as const
  const producers = [0, 1].map((each) => client.producer({ acks: 'all', compression: codecs[(run + each) % codecs.length], deliveryTimeoutMs: 3_000 }))
  const state = { alive: true, first: undefined as (() => void) | undefined }
  const acknowledgedOne = new Promise<void>((resolve) => { state.first = resolve })
  const sending = producers.map((producer, each) => send(producer, `r${run}p${each}`, told, random, state))
  await acknowledgedOne
  await new Promise((resolve) => { setTimeout(resolve, 5 + random.float() * 250) })
  const ended = broker.end('SIGKILL')
  state.alive = false
  await ended
  // What the dead broker had answered is in the producers by now or never will be: closing gives up on the rest.
  await Promise.all(producers.map((producer) => producer.close({ timeoutMs: 0 }).catch(() => undefined)))
  await Promise.all(sending)
  await client.close()
}

/** Sends in bursts of random sizes, to random partitions, until told to stop; notes what is acknowledged. */
async function send(producer: Producer, name: string, told: Acknowledged, random: Prng, state: { alive: boolean, first: (() => void) | undefined }): Promise<void> {
  const pending = new Set<Promise<void>>()
  for (let number = 0; state.alive;) {
    const burst = 1 + Math.floor(random.float() * 200)
    for (let each = 0; each < burst; each += 1, number += 1) {
      const value = `${name}/${number}/${'x'.repeat(Math.floor(random.float() * 300))}`
      const sent = producer.send({ topic, partition: Math.floor(random.float() * partitions), value }).then(({ partition, offset }) => {
        told.add(partition, offset, value)
        state.first?.()
      }, () => undefined)
      const done = sent.finally(() => { pending.delete(done) })
      pending.add(done)
    }
    await new Promise((resolve) => { setImmediate(resolve) })
    if (pending.size > 20_000) await Promise.race(pending)
  }
  await Promise.all(pending)
}

async function readAll(broker: BrokerProcess): Promise<ConsumerRecord[]> {
  const client: Client = createClient({ bootstrap: broker.bootstrap })
  const consumer = client.consumer()
  const all = Array.from({ length: partitions }, (_each, partition) => ({ topic, partition }))
  const ends = await consumer.endOffsets(all)
  consumer.assign(all.map((each) => ({ ...each, offset: 'beginning' as const })))
  const wanted = ends.reduce((sum, each) => sum + each.offset, 0)
  const records: ConsumerRecord[] = []
  while (records.length < wanted) {
    const polled = await consumer.poll({ maxRecords: 10_000, timeoutMs: 10_000 })
    if (polled.length === 0) throw new Error(`only ${records.length} of ${wanted} records could be read`)
    records.push(...polled)
  }
  await client.close()
  return records
}
