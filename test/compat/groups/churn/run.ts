/**
 * Members of a group that come and go at random: `npx tsx test/compat/groups/churn/run.ts [--seconds 120] [--members 20] [--partitions 100] [--peer millrace,kafka] [--client own,java]
 * [--protocol eager,cooperative,consumer] [--seed N]`. No record is lost or read again below a commit, no partition has two owners; and how long partitions had no owner, as a table.
 * Exit code 0: all held; 1: something did not.
 */
import Table from 'cli-table3'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import kafkajs from 'kafkajs'

import { Prng } from '../../../../src/base/prng.ts'
import { Control } from '../../control.ts'
import { kafkaAvailable } from '../../kafka-broker.ts'
import { compatDir, kafkaClassPath } from '../../peers.ts'
import { startSubject } from '../../subject.ts'
import { type Gap, Ledger } from '../ledger.ts'
import { type Command, LineProgram, until } from '../member.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '120' }, members: { type: 'string', default: '20' }, partitions: { type: 'string', default: '100' }, seed: { type: 'string', default: '1' },
    peer: { type: 'string', default: 'millrace,kafka' }, client: { type: 'string', default: 'own,java' }, protocol: { type: 'string', default: 'eager,cooperative,consumer' },
  },
})
const [seconds, membersMax, partitions, seed] = [values.seconds, values.members, values.partitions, values.seed].map(Number) as [number, number, number, number]

/** One heartbeat interval for all: the consumer protocol has it from the broker, members of the classic one are told. */
const brokerSettings = { 'group.consumer.min.heartbeat.interval.ms': '500', 'group.consumer.heartbeat.interval.ms': '500', 'group.initial.rebalance.delay.ms': '0' }
const turnMs = 1000
const writeEveryMs = 200

function hostOf (client: string, args: readonly string[]): Command {
  const dir = join(compatDir, 'groups', 'churn')
  if (client === 'own') return { program: process.execPath, args: ['--import', 'tsx', join(dir, 'own-members.ts'), ...args] }
  return { program: 'java', args: ['-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-cp', kafkaClassPath()!, join(dir, 'Members.java'), ...args] }
}

interface Churned {
  readonly changes: number
  readonly acknowledged: number
  readonly again: number
  readonly gaps: readonly Gap[]
}

/** Writes one record to each partition now and then; says where the partitions end. */
class Load {
  readonly ends = new Map<number, number>()
  acknowledged = 0
  private readonly producer
  private running = true
  private readonly done: Promise<void>

  constructor (bootstrap: string, topic: string) {
    this.producer = new kafkajs.Kafka({ brokers: [bootstrap], logLevel: kafkajs.logLevel.NOTHING }).producer()
    this.done = this.work(topic)
  }

  async stop (): Promise<void> {
    this.running = false
    await this.done
    await this.producer.disconnect()
  }

  private async work (topic: string): Promise<void> {
    await this.producer.connect()
    while (this.running) {
      const answers = await this.producer.send({ topic, acks: -1, messages: Array.from({ length: partitions }, (_, partition) => ({ partition, value: 'churn' })) })
      for (const { partition, baseOffset } of answers) this.ends.set(partition, Number(baseOffset) + 1)
      this.acknowledged += answers.length
      await new Promise(resolve => setTimeout(resolve, writeEveryMs))
    }
  }
}

async function churn (bootstrap: string, client: string, protocol: string): Promise<Churned> {
  const topic = `churn-${client}-${protocol}`
  await Control.with(bootstrap, control => control.createTopic(topic, partitions))
  const ledger = new Ledger()
  const there = new Set<string>()
  const host = new LineProgram(hostOf(client, [bootstrap, topic, `group-${topic}`, protocol]), true, (line, atMs) => {
    const { member } = line as unknown as { member: string }
    if (line.name === 'shutdown_complete') ledger.gone(member, line.timestamp!)
    else ledger.take(member, line, atMs)
  })
  const random = new Prng(seed)
  let [named, changes] = [0, 0]
  const come = (): void => {
    const name = `m${++named}`
    there.add(name)
    host.command(`join ${name}`)
  }
  const go = (): void => {
    const name = [...there][random.below(there.size)]!
    there.delete(name)
    host.command(`leave ${name}`)
  }
  const state = (): string => `${there.size} members; not read: ${ledger.missing(load.ends).slice(0, 5).join(', ')}; ${ledger.faults.slice(0, 3).join('; ')}; ${host.errors.slice(0, 1500)}`
  const wait = (what: string, isSo: () => boolean): Promise<void> => until(what, isSo, () => [host], state)
  const load = new Load(bootstrap, topic)
  try {
    for (let count = 0; count < membersMax / 2; count++) come()
    await wait('every partition has an owner', () => ledger.ownedPartitions() === partitions)
    const beganMs = Date.now()
    for (; Date.now() - beganMs < seconds * 1000; changes++) {
      if (there.size < membersMax && (there.size < 2 || random.below(2) === 0)) come()
      else go()
      await new Promise(resolve => setTimeout(resolve, turnMs / 2 + random.below(turnMs)))
    }
    await load.stop()
    await wait('all is read and committed', () => ledger.missing(load.ends).length === 0 && [...load.ends].every(([partition, end]) => (ledger.committed.get(partition) ?? 0) >= end))
  } finally {
    await load.stop()
    await host.end()
  }
  const faults = [...ledger.faults, ...ledger.overlaps()]
  if (faults.length > 0) throw new Error(`${faults.length} faults: ${faults.slice(0, 5).join('; ')}`)
  return { changes, acknowledged: load.acknowledged, again: ledger.again, gaps: ledger.gaps() }
}

const percentile = (sorted: readonly number[], share: number): string => sorted.length === 0 ? '-' : String(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))])

function row (protocol: string, client: string, peer: string, { changes, acknowledged, again, gaps }: Churned): string[] {
  const msOf = (wanted: (gap: Gap) => boolean): number[] => gaps.filter(wanted).map(({ ms }) => ms).sort((left, right) => left - right)
  const moved = msOf(({ isMoved }) => isMoved)
  const kept = msOf(({ isMoved }) => !isMoved)
  return [protocol, client, peer, String(changes), String(moved.length), percentile(moved, 0.5), percentile(moved, 0.99), percentile(moved, 1), String(kept.length), percentile(kept, 0.5), `${acknowledged}`, String(again)]
}

const table = new Table({ head: ['protocol', 'client', 'broker', 'changes', 'moved', 'ms p50', 'p99', 'max', 'stopped', 'ms p50', 'records', 'read again'], style: { head: [], border: [] } })
let failures = 0
console.log(`seed ${seed}: up to ${membersMax} members, ${partitions} partitions, ${seconds} s each`)
for (const protocol of values.protocol.split(',')) {
  for (const client of values.client.split(',')) {
    for (const peer of values.peer.split(',')) {
      if ((client === 'java' && kafkaClassPath() === undefined) || (peer === 'kafka' && !kafkaAvailable())) {
        console.log(`SKIPPED ${protocol} ${client} ${peer}: Kafka's jars are not installed; .ci/install-peers.sh installs them`)
        continue
      }
      const subject = await startSubject(peer, undefined, 'single-node', brokerSettings)
      try {
        const cells = row(protocol, client, peer, await churn(subject.bootstrap, client, protocol))
        console.error(cells.join('  '))
        table.push(cells)
      } catch (error) {
        failures++
        console.log(`FAILED ${protocol} ${client} ${peer}: ${(error as Error).message}`)
      } finally {
        await subject.remove()
      }
    }
  }
}
console.log(table.toString())
process.exitCode = failures === 0 ? 0 : 1
