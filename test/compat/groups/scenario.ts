import kafkajs from 'kafkajs'

import { Control } from '../control.ts'
import { kafkaClassPath, peerFile } from '../peers.ts'
import { briefJvmOptions } from '../process.ts'
import { Ledger } from './ledger.ts'
import { LineProgram, until } from './member.ts'

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

const partitions = 6

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
  // The members of C print no times, and those that migrate are seen late: who owned what at once is judged by the scenario of the clients.
  const ledger = new Ledger(() => true)
  const members = new Map<string, LineProgram>()
  const load = new Load(bootstrap, topic)
  const add = (index: number): string => {
    const member = `${kinds[index]!.name}#${index + 1}`
    const [program, ...args] = kinds[index]!.command(bootstrap, topic, `group-${name}`)
    members.set(member, new LineProgram({ program, args }, false, (line, atMs) => ledger.take(member, line, atMs)))
    return member
  }
  const leave = async (member: string): Promise<void> => {
    const program = members.get(member)!
    members.delete(member)
    await program.end()
    ledger.gone(member, Date.now())
  }
  const owned = (): ReadonlySet<number>[] => [...members.keys()].map(member => ledger.owned(member))
  const shared = (): boolean => owned().every(({ size }) => size >= Math.floor(partitions / members.size)) && new Set(owned().flatMap(each => [...each])).size === partitions
  const wait = (what: string, isSo: () => boolean): Promise<void> => until(what, isSo, () => [...members.values()], () => `members have ${owned().map(({ size }) => size).join(', ')}; not read: ${ledger.missing(load.ends).join(', ')}`)
  try {
    await load.start()
    add(0)
    await wait('the first member has all', shared)
    const second = add(1)
    await wait('two members share', shared)
    add(2)
    await wait('three members share', shared)
    await leave(second)
    await wait('the others have what the second had', shared)
    const before = load.acknowledged
    await restart?.()
    await wait('records are written again', () => load.acknowledged > before + 100)
    await load.stop()
    await wait('all is read and committed', () => ledger.missing(load.ends).length === 0 && [...load.ends].every(([partition, end]) => (ledger.committed.get(partition) ?? 0) >= end))
    if (ledger.faults.length > 0) throw new Error(ledger.faults.slice(0, 5).join('; '))
    return `${load.acknowledged} records acknowledged, ${ledger.again} read again`
  } finally {
    await load.stop()
    await Promise.all([...members.keys()].map(leave))
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
