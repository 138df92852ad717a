import { Control } from '../../test/compat/control.ts'
import { kafkaAvailable, shippedJvmOptions, startKafka } from '../../test/compat/kafka-broker.ts'
import { millraceAvailable, startMillrace } from '../../test/compat/millrace-broker.ts'
import { residentBytes } from './cpu.ts'

/**
 * A broker with a promise of durability. The two of one kind are compared: `os` acknowledges what is in the page
 * cache, as Kafka ships; `fsync` acknowledges what is on disk. Both promises of a broker are topics of one process.
 */
export interface Peer {
  readonly name: string
  readonly title: string
  readonly program: 'millrace' | 'kafka'
  readonly promise: 'os' | 'fsync'
  readonly topicConfig: Readonly<Record<string, string>>
}

export const peers: readonly Peer[] = [
  { name: 'millrace-os', title: 'millrace os', program: 'millrace', promise: 'os', topicConfig: { durability: 'os' } },
  { name: 'kafka', title: 'Kafka', program: 'kafka', promise: 'os', topicConfig: {} },
  { name: 'millrace-fsync', title: 'millrace fsync', program: 'millrace', promise: 'fsync', topicConfig: { durability: 'fsync' } },
  { name: 'kafka-flush', title: 'Kafka flush.messages=1', program: 'kafka', promise: 'fsync', topicConfig: { 'flush.messages': '1' } },
]

/** A running broker and the harness's own connection to it. */
export interface BenchBroker {
  readonly program: Peer['program']
  readonly bootstrap: string
  readonly pid: number
  readonly control: Control
  /** From the start of the process, on an empty folder, until it served clients. */
  readonly startMs: number
  /** Resident memory when it had started and served nothing yet. */
  readonly idleBytes: number
  end (): Promise<void>
  relaunch (): number
  stop (): Promise<void>
}

/** Why a program cannot be measured on this machine; undefined where it can. */
export function unavailable (program: Peer['program']): string | undefined {
  if (program === 'kafka') return kafkaAvailable() ? undefined : 'Apache Kafka could not be installed'
  return millraceAvailable() ? undefined : 'millrace is not built: npm run build'
}

/** Starts a broker with the options it ships with. */
export async function startBenchBroker (program: Peer['program']): Promise<BenchBroker> {
  const broker = program === 'kafka' ? await startKafka({ jvmOptions: shippedJvmOptions }) : await startMillrace()
  const control = await Control.connect(broker.bootstrap)
  return {
    program,
    bootstrap: broker.bootstrap,
    pid: broker.pid,
    control,
    startMs: broker.startMs,
    idleBytes: residentBytes(broker.pid).now,
    async end () {
      await control.close()
      await broker.end()
    },
    relaunch: () => broker.relaunch(),
    async stop () {
      await control.close()
      await broker.stop()
    },
  }
}
