import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'

import { type CompatClient } from './client.ts'
import { Control, offersGroups } from './control.ts'
import { type Dataset, makeDataset, verify } from './dataset.ts'
import { dumpCheck } from './dump-log-segments.ts'
import { franzGo } from './franz-go/client.ts'
import { checkClientGroups, clientGroupNames } from './groups/client-checks.ts'
import { groupRuns, runGroupScenario } from './groups/scenario.ts'
import { kafkaConsole } from './kafka-console/client.ts'
import { kafkaPython } from './kafka-python/client.ts'
import { kafkajs } from './kafkajs/client.ts'
import { kcat } from './kcat/client.ts'
import { librdkafka } from './librdkafka/client.ts'
import { ownClient } from './own-client/client.ts'
import { kafkaClassPath, repositoryDir, temporaryDir } from './peers.ts'
import { makePlan, type TopicPlan } from './plan.ts'
import { platformatic } from './platformatic/client.ts'
import { scriptOptionsOrExit } from '../../scripts/script-options.ts'
import { producerPerformance } from './producer-performance/client.ts'
import { type CheckResult, printed, type Report, tally } from './report.ts'
import { startSubject, type Subject } from './subject.ts'
import { timed } from './timed.ts'
import { compactedName, writeSampleLogs } from './write-sample-logs.ts'

const allClients: readonly CompatClient[] =
  [librdkafka, kcat, kafkaPython, kafkaConsole, franzGo, kafkajs, platformatic, producerPerformance, ownClient]

const usage = `usage: npm run compat -- [options]

  --peer millrace|kafka   the broker to start and test (default: this checkout's build)
  --preset NAME           composition of millrace to start (default single-node)
  --bootstrap HOST:PORT   test a broker that runs already
  --only NAME[,NAME…]     clients: ${allClients.map(({ name }) => name).join(', ')}; groups; clients-groups, all scenarios of
                          groups by one client, or one: ${clientGroupNames.join(', ')}
  --all                   all scenarios of groups by one client, rather than the quick ones
  --records N             records a topic (default 100000)
  --cross all|turns       who reads what others wrote: everybody all, or each other client once (default turns)
  --quick                 2000 records
  --no-install            do not run .ci/install-peers.sh before
  -o json                 machine-readable result on stdout
`

class CompatRun {
  readonly results: CheckResult[] = []
  readonly #datasets = new Map<string, Dataset>()
  readonly #bootstrap: string
  readonly #groups: boolean
  readonly #suffix = Date.now().toString(36)

  constructor (bootstrap: string, groups: boolean) {
    this.#bootstrap = bootstrap
    this.#groups = groups
  }

  #dataset ({ kind, records }: TopicPlan): Dataset {
    const key = `${kind}-${records}`
    const made = this.#datasets.get(key) ?? makeDataset(kind, records)
    this.#datasets.set(key, made)
    return made
  }

  #record (result: CheckResult): void {
    this.results.push(result)
    if (result.status === 'failed' || process.env.CI) {
      const { check, client, producer, codec, dataset, status, ms } = result
      console.error(`${status}  ${check} ${client}${producer ? ` of ${producer}` : ''} ${codec} ${dataset} ${(ms / 1000).toFixed(1)} s`)
    } else if (process.stderr.isTTY) {
      process.stderr.write(`\r\x1b[K${this.results.length} checks, ${result.client} ${result.check} ${result.codec ?? ''}`)
    }
  }

  /** Writes one topic and has it read back by each of its consumers. */
  async topic (plan: TopicPlan): Promise<void> {
    const { producer, codec, kind: dataset } = plan
    const topic = `${plan.topic}-${this.#suffix}`
    const missing = producer.missing()
    const skip = (reason: string): void => {
      this.#record({ check: 'produce', client: producer.name, codec, dataset, status: 'skipped', ms: 0, reason })
    }
    if (missing) return skip(missing)
    let counts: number[] = []
    const written = await timed({ check: 'produce', client: producer.name, codec, dataset }, async () => {
      await Control.with(this.#bootstrap, control => control.createTopic(topic, plan.partitions))
      await producer.produce!({ bootstrap: this.#bootstrap, topic, codec, dataset: this.#dataset(plan) })
      counts = await Control.with(this.#bootstrap, control => control.endOffsets(topic))
      const sum = counts.reduce((total, n) => total + n, 0)
      if (sum !== plan.records) throw new Error(`${plan.records} records written, the partitions end at ${counts.join(' + ')}`)
    })
    this.#record(written)
    for (const consumer of plan.consumers) await this.#consume(plan, topic, counts, consumer, written.status === 'passed')
  }

  async #consume (plan: TopicPlan, topic: string, counts: number[], consumer: CompatClient, written: boolean): Promise<void> {
    const check = {
      check: 'consume', client: consumer.name, producer: plan.producer.name, codec: plan.codec, dataset: plan.kind,
    } as const
    const reason = consumer.missing() ??
      (consumer.readsInGroup && !this.#groups ? 'reads in groups only, which the broker does not offer' : undefined) ??
      (written ? undefined : 'it was not written')
    if (reason) return this.#record({ ...check, status: 'skipped', ms: 0, reason })
    this.#record(await timed(check, async () => {
      const received = await consumer.consume!({ bootstrap: this.#bootstrap, topic, counts })
      const all = !consumer.readsOnePartition || counts.length === 1
      if (!all && received.length !== counts[0]) {
        throw new Error(`${received.length} records read of ${counts[0]} in partition 0`)
      }
      return verify(this.#dataset(plan), received, all)
    }))
  }
}

/** Groups of three under load, with members that come and go, and a broker that is killed. */
async function checkGroups (subject: Subject, only: readonly string[] | undefined): Promise<CheckResult[]> {
  const results: CheckResult[] = []
  for (const [index, members] of groupRuns.entries()) {
    const check = { check: 'group', client: [...new Set(members.map(({ name }) => name))].join('+') } as const
    if (only && !only.includes('groups')) continue
    const reason = members.map(member => member.missing()).find(text => text !== undefined)
    if (reason) results.push({ ...check, status: 'skipped', ms: 0, reason })
    else {
      const name = `${index}-${Date.now().toString(36)}`
      results.push(await timed(check, async () => ({ reason: await runGroupScenario({ bootstrap: subject.bootstrap, name, members, restart: subject.restart }) })))
    }
  }
  return results
}

async function checkFiles (subject: Subject): Promise<CheckResult[]> {
  if (!subject.dataDir) return []
  const check = { check: 'dump', client: subject.peer } as const
  if (!kafkaClassPath()) return [{ ...check, status: 'skipped', ms: 0, reason: "Kafka's jars could not be had" }]
  return [await timed(check, async () => {
    // Committed offsets are compacted while the clients are at work.
    const { files, batches, complaints } = await dumpCheck(subject.dataDir!, { skip: /__cluster_metadata/, compacted: /\/__consumer_offsets-\d+\//, deepBytesMax: 64e6 })
    if (complaints.length > 0) throw new Error(complaints.slice(0, 10).join('\n'))
    if (batches === 0) throw new Error(`no batch found in ${JSON.stringify(files)}`)
    return { reason: `${Object.entries(files).map(([suffix, n]) => `${n} ${suffix}`).join(', ')}, ${batches} batches` }
  })]
}

/** Logs of many kinds that our store writes without a broker, compacted ones among them, in which offsets have gaps. */
async function checkSamples (subject: Subject): Promise<CheckResult[]> {
  if (subject.peer !== 'millrace' || !subject.dataDir || !kafkaClassPath()) return []
  const directory = temporaryDir('samples')
  try {
    return [await timed({ check: 'dump', client: 'sample writer' }, async () => {
      await writeSampleLogs(directory)
      const { files, batches, complaints } = await dumpCheck(directory, { compacted: compactedName })
      if (complaints.length > 0) throw new Error(complaints.slice(0, 10).join('\n'))
      return { reason: `${Object.entries(files).map(([suffix, n]) => `${n} ${suffix}`).join(', ')}, ${batches} batches, compacted ones among them` }
    })]
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

const groupParts = ['groups', 'clients-groups']
/** Of the consumer protocol, which the broker chooses. */
const quickHeartbeats = { 'group.consumer.min.heartbeat.interval.ms': '300', 'group.consumer.heartbeat.interval.ms': '300' }

async function main (): Promise<number> {
  const { numbers, texts, flags } = scriptOptionsOrExit(usage, {
    numbers: { records: 0 }, flags: ['all', 'quick', 'no-install'],
    texts: { peer: 'millrace', preset: 'single-node', bootstrap: '', only: '', cross: 'turns', output: 'text' }, choices: { peer: ['millrace', 'kafka'], cross: ['all', 'turns'] },
    lists: { only: [...allClients.map(({ name }) => name), ...groupParts, ...clientGroupNames] },
  })
  const values = texts as Readonly<Record<'peer' | 'preset' | 'cross' | 'output', string>>
  const bootstrap = texts['bootstrap'] === '' ? undefined : texts['bootstrap']
  const only = texts['only'] === '' ? undefined : texts['only']!.split(',')
  if (!flags.has('no-install')) spawnSync('bash', [join(repositoryDir, '.ci', 'install-peers.sh')], { stdio: ['ignore', 2, 2] })

  const began = Date.now()
  const records = numbers.records === 0 ? (flags.has('quick') ? 2000 : 100_000) : numbers.records
  const clients = allClients.filter(({ name }) => !only || only.includes(name))
  const versions = Object.fromEntries(await Promise.all(
    clients.map(async client => [client.name, client.missing() ? '' : await client.version()] as const)))
  const clientGroups = await checkClientGroups({
    start: () => startSubject(values.peer, bootstrap, values.preset, quickHeartbeats), only, all: flags.has('all'), isShared: bootstrap !== undefined,
  })
  const results = clientGroups
  if (only?.every(name => name === 'clients-groups' || clientGroupNames.includes(name))) return report({ peer: values.peer, bootstrap: 'one for each scenario', records, versions, results, began, output: values.output })
  const subject = await startSubject(values.peer, bootstrap, values.preset)
  try {
    const run = new CompatRun(subject.bootstrap, await offersGroups(subject.bootstrap))
    for (const plan of makePlan({ clients, records, cross: values.cross === 'all' ? 'all' : 'turns' })) await run.topic(plan)
    const groups = await checkGroups(subject, only)
    await subject.end()
    results.push(...run.results, ...groups, ...await checkFiles(subject), ...await checkSamples(subject))
  } finally {
    await subject.remove()
  }
  return report({ peer: subject.peer, bootstrap: subject.bootstrap, records, versions, results, began, output: values.output })
}

function report ({ began, output, ...found }: Omit<Report, 'seconds'> & { began: number, output: string | undefined }): number {
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K')
  const whole = { ...found, seconds: Math.round((Date.now() - began) / 1000) }
  if (output === 'json') console.log(JSON.stringify(whole, null, 2))
  else console.log(`${printed(whole)}\n${tally(whole.results)}`)
  return whole.results.some(({ status }) => status === 'failed') ? 1 : 0
}

try {
  process.exitCode = await main()
} catch (error) {
  console.error(`compat: ${(error as Error).message}`)
  process.exitCode = 1
}
