import { kafkaAvailable, startKafka } from './kafka-broker.ts'
import { startMillrace } from './millrace-broker.ts'

/** A broker under test. */
export interface Subject {
  readonly peer: string
  readonly bootstrap: string
  /** Folder that may be read once the broker has ended; absent for a broker that somebody else runs. */
  readonly dataDir?: string
  /** Kills it and starts it again on the same data; absent where that cannot be. */
  readonly restart?: () => Promise<void>
  end (): Promise<void>
  remove (): Promise<void>
}

/** Starts a broker with these settings, or takes one that runs already. */
export async function startSubject (peer: string, bootstrap: string | undefined, preset: string, settings: Readonly<Record<string, string>> = {}): Promise<Subject> {
  const nothing = async (): Promise<void> => {}
  if (bootstrap) return { peer: 'broker', bootstrap, end: nothing, remove: nothing }
  if (peer !== 'kafka' && peer !== 'millrace') throw new Error(`unknown peer ${peer}: millrace or kafka`)
  if (peer === 'kafka' && !kafkaAvailable()) throw new Error('Apache Kafka could not be installed')
  if (peer === 'kafka') {
    const broker = await startKafka({ properties: settings })
    const restart = async (): Promise<void> => { await broker.end('SIGKILL'); broker.relaunch() }
    return { peer, bootstrap: broker.bootstrap, dataDir: broker.dataDir, restart, end: () => broker.end(), remove: () => broker.stop() }
  }
  const broker = await startMillrace({ args: ['--preset', preset, ...Object.entries(settings).flatMap(([name, value]) => ['--set', `${name}=${value}`])] })
  const own = { peer, bootstrap: broker.bootstrap, end: () => broker.end(), remove: () => broker.stop() }
  if (preset === 'memory') return own
  return { ...own, dataDir: broker.dataDir, restart: async () => { await broker.end('SIGKILL'); broker.relaunch() } }
}
