import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import kafkajs from 'kafkajs'

import { Control } from '../control.ts'
import { kafkaClassPath, peerFile } from '../peers.ts'
import { briefJvmOptions } from '../process.ts'

/** How a member of a group is started: a program that prints the lines of Kafka's VerifiableConsumer. */
export interface MemberKind {
  readonly name: string
  readonly missing: () => string | undefined
  readonly command: (bootstrap: string, topic: string, group: string) => readonly [program: string, ...args: string[]]
}

const java = (protocol: string): MemberKind => ({
  name: `kafka-${protocol}`,
  missing: () => kafkaClassPath() ? undefined : "Kafka's jars could not be had",
  command: (bootstrap, topic, group) => ['java', ...briefJvmOptions, '-cp', kafkaClassPath()!, 'org.apache.kafka.tools.VerifiableConsumer', '--bootstrap-server', bootstrap,
    '--topic', topic, '--group-id', group, '--group-protocol', protocol, '--reset-policy', 'earliest'],
})
const librdkafka = (protocol: string): MemberKind => ({
  name: `librdkafka-${protocol}`,
  missing: () => peerFile('librdkafka', 'member') ? undefined : 'librdkafka could not be built',
  command: (bootstrap, topic, group) => [peerFile('librdkafka', 'member')!, bootstrap, topic, group, `group.protocol=${protocol}`],
})

/** The members of each run, in the order in which they come. The second one leaves again. */
export const groupRuns: readonly (readonly MemberKind[])[] = [
  [java('consumer'), java('consumer'), java('consumer')],
  [librdkafka('consumer'), librdkafka('consumer'), librdkafka('consumer')],
  [java('consumer'), librdkafka('consumer'), librdkafka('consumer')],
  // Migration while it runs: there, and back when the only member of the consumer protocol leaves.
  [librdkafka('classic'), librdkafka('consumer'), librdkafka('classic')],
]

interface Line {
  readonly name: string
  readonly partitions?: readonly { readonly partition: number, readonly minOffset?: number, readonly maxOffset?: number }[]
  readonly offsets?: readonly { readonly partition: number, readonly offset: number }[]
  readonly success?: boolean
}

const partitions = 6
const patienceMs = 60_000

/** What the members of one group have read and committed, in the order in which they said so. */
class Ledger {
  readonly read = new Map<number, Set<number>>()
  readonly committed = new Map<number, number>()
  readonly wrong: string[] = []
  again = 0

  take({ name, partitions: read, offsets, success }: Line): void {
    if (name === 'records_consumed') for (const { partition, minOffset, maxOffset } of read!) for (let offset = minOffset!; offset <= maxOffset!; offset++) this.record(partition, offset)
    if (name === 'offsets_committed' && success === true) for (const { partition, offset } of offsets!) this.committed.set(partition, Math.max(offset, this.committed.get(partition) ?? 0))
  }

  /** Records are read again only from what is committed on. */
  private record(partition: number, offset: number): void {
    const seen = this.read.get(partition) ?? new Set<number>()
    this.read.set(partition, seen)
    if (seen.has(offset)) {
      this.again++
      if (offset < (this.committed.get(partition) ?? 0)) this.wrong.push(`${partition}:${offset} is read again though ${this.committed.get(partition)} is committed`)
    }
    seen.add(offset)
  }
}

class Member {
  readonly owned = new Set<number>()
  private readonly child: ChildProcess
  private said = ''

  constructor(kind: MemberKind, bootstrap: string, topic: string, group: string, ledger: Ledger) {
    const [program, ...args] = kind.command(bootstrap, topic, group)
    this.child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    this.child.stderr!.on('data', (chunk: Buffer) => { this.said = (this.said + chunk.toString()).slice(-2000) })
    createInterface(this.child.stdout!).on('line', text => {
      if (!text.startsWith('{')) return
      const line = JSON.parse(text) as Line
      ledger.take(line)
      if (line.name === 'partitions_assigned') for (const { partition } of line.partitions!) this.owned.add(partition)
      if (line.name === 'partitions_revoked') for (const { partition } of line.partitions!) this.owned.delete(partition)
    })
  }

  get problem(): string | undefined {
    return this.child.exitCode === null ? undefined : `a member has ended: ${this.said}`
  }

  end(): Promise<void> {
    return new Promise(resolve => {
      if (this.child.exitCode !== null) { resolve(); return }
      const forced = setTimeout(() => this.child.kill('SIGKILL'), 15_000)
      this.child.once('exit', () => { clearTimeout(forced); resolve() })
      this.child.kill('SIGTERM')
    })
  }
}

/** Looks again and again until it is so; there is no event for what foreign programs do. */
async function until(what: string, isSo: () => boolean, members: () => readonly Member[]): Promise<void> {
  const began = Date.now()
  while (!isSo()) {
    const problem = members().map(member => member.problem).find(text => text !== undefined)
    if (problem !== undefined) throw new Error(problem)
    if (Date.now() - began > patienceMs) throw new Error(`not within ${patienceMs / 1000} s: ${what}; members have ${members().map(({ owned }) => owned.size).join(', ')}`)
    await new Promise(resolve => setTimeout(resolve, 100))
  }
}

export interface GroupScenario {
  readonly bootstrap: string
  readonly name: string
  readonly members: readonly MemberKind[]
  /** Undefined where the broker is somebody else's. */
  readonly restart: (() => Promise<void>) | undefined
}

/**
 * A group of three under load: two come, a third one joins, the second leaves, the broker is killed and started again. Every record that was acknowledged is read, and
 * none again that was committed. Says what was counted.
 */
export async function runGroupScenario({ bootstrap, name, members: kinds, restart }: GroupScenario): Promise<string> {
  const topic = `compat-group-${name}`
  await Control.with(bootstrap, control => control.createTopic(topic, partitions))
  const ledger = new Ledger()
  const members: Member[] = []
  const living = (): readonly Member[] => members
  const load = new Load(bootstrap, topic)
  const add = (index: number): void => { members.push(new Member(kinds[index]!, bootstrap, topic, `group-${name}`, ledger)) }
  const shared = (): boolean => members.every(({ owned }) => owned.size >= Math.floor(partitions / members.length)) && new Set(members.flatMap(({ owned }) => [...owned])).size === partitions
  try {
    await load.start()
    add(0)
    await until('the first member has all', shared, living)
    add(1)
    await until('two members share', shared, living)
    add(2)
    await until('three members share', shared, living)
    await members.splice(1, 1)[0]!.end()
    await until('the others have what the second had', shared, living)
    const before = load.acknowledged
    await restart?.()
    await until('records are written again', () => load.acknowledged > before + 100, living)
    await load.stop()
    const isAllRead = (): boolean => [...load.ends].every(([partition, end]) => (ledger.read.get(partition)?.size ?? 0) >= end && (ledger.committed.get(partition) ?? 0) >= end)
    await until('all is read and committed', isAllRead, living)
    if (ledger.wrong.length > 0) throw new Error(ledger.wrong.slice(0, 5).join('; '))
    return `${load.acknowledged} records acknowledged, ${ledger.again} read again`
  } finally {
    await load.stop()
    await Promise.all(members.map(member => member.end()))
  }
}

/** A producer that goes on through a restart of the broker. */
class Load {
  acknowledged = 0
  /** Behind the last record that was acknowledged, by partition. */
  readonly ends = new Map<number, number>()
  private readonly producer
  private readonly topic: string
  private running = false
  private ended: Promise<void> = Promise.resolve()

  constructor(bootstrap: string, topic: string) {
    this.topic = topic
    this.producer = new kafkajs.Kafka({ brokers: [bootstrap], logLevel: kafkajs.logLevel.NOTHING, retry: { retries: 60, maxRetryTime: 1000 } }).producer()
  }

  async start(): Promise<void> {
    await this.producer.connect()
    this.running = true
    this.ended = this.work()
  }

  async stop(): Promise<void> {
    this.running = false
    await this.ended
    await this.producer.disconnect()
  }

  private async work(): Promise<void> {
    for (let count = 0; this.running; count++) {
      const answers = await this.producer.send({ topic: this.topic, acks: -1, messages: Array.from({ length: partitions }, (_, partition) => ({ partition, value: `record ${count}` })) }).catch(() => [])
      for (const { partition, baseOffset } of answers) {
        this.acknowledged++
        this.ends.set(partition, Number(baseOffset) + 1)
      }
      await new Promise(resolve => setTimeout(resolve, 20))
    }
  }
}
