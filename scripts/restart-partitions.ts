/**
 * How long a broker takes to come back after kill -9 under load, with much on the disk in many partitions:
 *
 *   npx tsx scripts/restart-partitions.ts [--gibibytes 10] [--partitions 1000] [--rounds 3] [--kafka]
 *
 * Records of 1 KiB go to all partitions in turn, with durability fsync; the broker is killed while they come. A start is measured up to the ready line, and
 * to the first acknowledgement of a record in the last partition; then the broker is killed again under load, so that each round is a recovery. With --kafka Apache
 * Kafka 4.4 as it ships (.ci/install-peers.sh) does the same. Beside both stands a plain read of all the bytes by dd.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '../src/client/index.ts'
import { shippedJvmOptions, startKafka } from '../test/compat/kafka-broker.ts'
import { startMillrace } from '../test/compat/millrace-broker.ts'
import { scriptOptionsOrExit } from './script-options.ts'

const usage = `Usage: npx tsx scripts/restart-partitions.ts [OPTIONS]

How long a broker takes to come back after kill -9 under load, with much on the disk in many partitions.

  --gibibytes N    so much is on the disk (default: 10)
  --partitions N   in so many partitions (default: 1000)
  --rounds N       kills that are measured (default: 3)
  --kafka          Apache Kafka 4.4 too (.ci/install-peers.sh installs it)`
const { numbers: { gibibytes, partitions, rounds }, flags } = scriptOptionsOrExit(usage, {
  numbers: { gibibytes: 10, partitions: 1000, rounds: 3 }, fractions: ['gibibytes'], flags: ['kafka'],
})
const TOPIC = 'many'
const RECORDS_PER_BATCH = 64
const value = new Uint8Array(1000).fill(120)

interface Broker {
  readonly bootstrap: string
  readonly dataDir: string
  end (signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>
  relaunch (): number
  stop (): Promise<void>
}

/** One batch for each partition, `times` over. */
async function write (bootstrap: string, times: number, from = 0): Promise<void> {
  const client = createClient({ bootstrap })
  const producer = client.producer({ lingerMs: 0, batchBytesMax: RECORDS_PER_BATCH * 1100 })
  for (let time = 0; time < times; time++) {
    for (let partition = from; partition < partitions; partition += 50) {
      const records = Array.from({ length: Math.min(50, partitions - partition) * RECORDS_PER_BATCH }, (_, i) =>
        ({ topic: TOPIC, partition: partition + Math.floor(i / RECORDS_PER_BATCH), value }))
      await producer.sendMany(records)
    }
  }
  await client.close()
}

/** Kills the broker while records come, and returns when its process is gone. */
async function killUnderLoad (broker: Broker): Promise<void> {
  const load = write(broker.bootstrap, 1000).catch(() => undefined)
  await write(broker.bootstrap, 1)
  await broker.end('SIGKILL')
  // The load has a broker that is gone: it ends when its deliveries do, and is not waited for
  void load
}

async function firstAckMs (broker: Broker, began: number): Promise<number> {
  const client = createClient({ bootstrap: broker.bootstrap })
  const producer = client.producer({ deliveryTimeoutMs: 600_000 })
  await producer.send({ topic: TOPIC, partition: partitions - 1, value })
  const took = performance.now() - began
  await client.close()
  return took
}

function logBytes (dir: string): { bytes: number, files: string[] } {
  const files = readdirSync(dir).filter(name => name.startsWith(`${TOPIC}-`))
    .flatMap(name => readdirSync(join(dir, name)).filter(file => file.endsWith('.log')).map(file => join(dir, name, file)))
  return { bytes: files.reduce((sum, file) => sum + statSync(file).size, 0), files }
}

async function measure (name: string, broker: Broker, configs: Readonly<Record<string, string>>): Promise<void> {
  try {
    const client = createClient({ bootstrap: broker.bootstrap })
    await client.admin().createTopics([{ name: TOPIC, partitions, configs }])
    await client.close()
    const times = Math.ceil(gibibytes * 2 ** 30 / (partitions * RECORDS_PER_BATCH * 1010))
    await write(broker.bootstrap, times)
    await killUnderLoad(broker)
    const { bytes, files } = logBytes(broker.dataDir)
    const readBegan = performance.now()
    spawnSync('sh', ['-c', `for f in "$0"/${TOPIC}-*/*.log; do dd if="$f" of=/dev/null bs=1M status=none; done`, broker.dataDir])
    const readMs = performance.now() - readBegan
    console.log(`${name}: ${(bytes / 2 ** 30).toFixed(1)} GiB in ${files.length} segments of ${partitions} partitions; read by dd in ${(readMs / 1000).toFixed(2)} s`)
    for (let round = 1; round <= rounds; round++) {
      const began = performance.now()
      broker.relaunch()
      const ms = await firstAckMs(broker, began)
      console.log(`  round ${round}: ${(ms / 1000).toFixed(2)} s from the start of the process to the first acknowledgement, ${(ms / readMs).toFixed(2)}x of reading`)
      if (round < rounds) await killUnderLoad(broker)
    }
  } finally {
    await broker.stop()
  }
}

const dataDir = mkdtempSync(join(tmpdir(), 'millrace-restart-'))
try {
  await measure('millrace, durability fsync', await startMillrace({ dataDir }), { durability: 'fsync' })
} finally {
  rmSync(dataDir, { recursive: true, force: true })
}
if (flags.has('kafka')) await measure('Kafka, as it ships', await startKafka({ jvmOptions: shippedJvmOptions }), {})
process.exit(0)
