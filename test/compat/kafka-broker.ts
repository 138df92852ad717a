import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'

import { kafkaClassPath, temporaryDir } from './peers.ts'
import { EndedWithUs } from './process.ts'
import { waitUntilServing } from './wire-probe.ts'

const run = promisify(execFile)
const CERTIFICATE_PASSWORD = 'millrace-test'

export interface KafkaOptions {
  /** Port of the plaintext listener on 127.0.0.1; a free one unless given. */
  port?: number
  /** Added to, or put in place of, what `server.properties` would hold. */
  properties?: Record<string, string>
  /** Adds a SASL_PLAINTEXT listener with PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512 for these users and passwords. */
  users?: Record<string, string>
  /** Adds an SSL listener, and a SASL_SSL one if there are users, with a certificate for 127.0.0.1 and localhost. */
  tls?: boolean
  /** Options of the virtual machine; a small heap unless given. `shippedJvmOptions` are those of Kafka's own scripts. */
  jvmOptions?: readonly string[]
}

export interface RunningKafka {
  /** Plaintext listener, `HOST:PORT`. */
  readonly bootstrap: string
  readonly saslBootstrap?: string
  readonly tlsBootstrap?: string
  readonly saslTlsBootstrap?: string
  /** Certificate that clients of the TLS listeners must trust, PEM. */
  readonly caPem?: string
  /** Holds one folder a partition. Removed by `stop()`. */
  readonly dataDir: string
  readonly pid: number
  /** From the start of the broker's process (formatting not counted) until it served clients. */
  readonly startMs: number
  /** Ends the broker, cleanly unless a signal is given, and returns when its process is gone. Keeps the data. */
  end (signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>
  /** After `end()`: starts the broker again on the same data and ports, without waiting for it. Returns its process id. */
  relaunch (): number
  /** Ends the broker cleanly and removes its folder. */
  stop (): Promise<void>
}

/** What bin/kafka-server-start.sh and bin/kafka-run-class.sh of Kafka 4.4 pass to Java. */
export const shippedJvmOptions = [
  '-Xmx1G', '-Xms1G', '-server', '-XX:+UseG1GC', '-XX:MaxGCPauseMillis=20', '-XX:InitiatingHeapOccupancyPercent=35',
  '-XX:+ExplicitGCInvokesConcurrent', '-XX:MaxInlineLevel=15', '-Djava.awt.headless=true',
] as const

const smallJvmOptions = ['-Xmx512m', '-Xms128m', '-XX:+UseSerialGC', '-Djava.awt.headless=true'] as const

/** Ports of 127.0.0.1 that are free now. */
export async function freePorts (count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer())
  const ports = await Promise.all(servers.map(server => new Promise<number>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })))
  await Promise.all(servers.map(server => new Promise(resolve => server.close(resolve))))
  return ports
}

interface Layout { dir: string; dataDir: string; ports: number[]; listeners: string[] }

function serverProperties (layout: Layout, options: KafkaOptions): Record<string, string> {
  const { ports, listeners, dir, dataDir } = layout
  const controller = `CONTROLLER://127.0.0.1:${ports[0]}`
  const served = listeners.map((name, i) => `${name}://127.0.0.1:${ports[i + 1]}`).join(',')
  const properties: Record<string, string> = {
    'process.roles': 'broker,controller',
    'node.id': '1',
    'controller.quorum.bootstrap.servers': `127.0.0.1:${ports[0]}`,
    listeners: `${controller},${served}`,
    'advertised.listeners': served,
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'PLAINTEXT',
    'listener.security.protocol.map': `CONTROLLER:PLAINTEXT,${listeners.map(name => `${name}:${name}`).join(',')}`,
    'log.dirs': dataDir,
    'offsets.topic.replication.factor': '1',
    'offsets.topic.num.partitions': '4',
    'transaction.state.log.replication.factor': '1',
    'transaction.state.log.min.isr': '1',
    'transaction.state.log.num.partitions': '4',
    'share.coordinator.state.topic.replication.factor': '1',
    'share.coordinator.state.topic.min.isr': '1',
    'group.initial.rebalance.delay.ms': '0',
  }
  if (options.tls) {
    properties['ssl.keystore.type'] = 'PKCS12'
    properties['ssl.keystore.location'] = join(dir, 'server.p12')
    properties['ssl.keystore.password'] = CERTIFICATE_PASSWORD
  }
  if (options.users) {
    const known = Object.entries(options.users).map(([user, password]) => `user_${user}="${password}"`).join(' ')
    const security = 'org.apache.kafka.common.security'
    properties['sasl.enabled.mechanisms'] = 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512'
    for (const listener of listeners.filter(name => name.startsWith('SASL')).map(name => name.toLowerCase())) {
      const jaas = (mechanism: string): string => `listener.name.${listener}.${mechanism}.sasl.jaas.config`
      properties[jaas('plain')] = `${security}.plain.PlainLoginModule required ${known};`
      properties[jaas('scram-sha-256')] = `${security}.scram.ScramLoginModule required;`
      properties[jaas('scram-sha-512')] = `${security}.scram.ScramLoginModule required;`
    }
  }
  return { ...properties, ...options.properties }
}

/** Logs as the shipped configuration does, at level INFO into one file; without a file of its own log4j is mute. */
function loggingProperties (logFile: string): string {
  return `rootLogger.level = info
rootLogger.appenderRef.file.ref = file
appender.file.type = File
appender.file.name = file
appender.file.fileName = ${logFile}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = [%d] %p %m (%c)%n
`
}

async function makeCertificate (dir: string): Promise<string> {
  const store = ['-keystore', join(dir, 'server.p12'), '-storetype', 'PKCS12', '-storepass', CERTIFICATE_PASSWORD]
  await run('keytool', ['-genkeypair', '-alias', 'server', '-keyalg', 'RSA', '-keysize', '2048', '-validity', '30',
    '-dname', 'CN=localhost', '-ext', 'SAN=dns:localhost,ip:127.0.0.1', ...store])
  return (await run('keytool', ['-exportcert', '-rfc', '-alias', 'server', ...store])).stdout
}

async function format (classPath: string, dir: string, options: KafkaOptions): Promise<void> {
  const credentials = Object.entries(options.users ?? {}).flatMap(([user, password]) =>
    ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap(mechanism =>
      ['--add-scram', `${mechanism}=[name=${user},password=${password}]`]))
  await run('java', ['-Xmx128m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-cp', classPath,
    'kafka.tools.StorageTool', 'format', '--standalone', '-t', 'AAAAAAAAQAGAAAAAAAAAAQ',
    '-c', join(dir, 'server.properties'), ...credentials])
}

function launch (classPath: string, dir: string, jvmOptions: readonly string[]): ChildProcess {
  const output = openSync(join(dir, 'output.log'), 'w')
  const child = spawn('java', [...jvmOptions, `-Dlog4j2.configurationFile=${join(dir, 'log4j2.properties')}`,
    '-cp', classPath, 'kafka.Kafka', join(dir, 'server.properties')], { stdio: ['ignore', output, output] })
  closeSync(output)
  return child
}

function lastLines (dir: string): string {
  return ['output.log', 'server.log'].map(name => join(dir, name)).filter(file => existsSync(file))
    .map(file => readFileSync(file, 'utf8').trimEnd().split('\n').slice(-8).join('\n')).join('\n')
}

/** True where Java and Kafka's jars are here, so that `startKafka` can work. */
export function kafkaAvailable (): boolean {
  return kafkaClassPath() !== undefined
}

/**
 * Starts Apache Kafka 4.4 as one node in a folder of its own, and returns when it serves clients. It is ended with this
 * process at the latest. Throws where `.ci/install-peers.sh` could not install Kafka: ask `kafkaAvailable()` before.
 */
export async function startKafka (options: KafkaOptions = {}): Promise<RunningKafka> {
  const classPath = kafkaClassPath()
  if (!classPath) throw new Error('Apache Kafka is not installed: run .ci/install-peers.sh')
  const dir = temporaryDir('kafka')
  const dataDir = join(dir, 'data')
  const listeners = ['PLAINTEXT', ...options.users ? ['SASL_PLAINTEXT'] : [], ...options.tls ? ['SSL'] : [],
    ...options.users && options.tls ? ['SASL_SSL'] : []]
  const ports = await freePorts(listeners.length + 1)
  if (options.port) ports[1] = options.port
  const address = (listener: string): string | undefined => {
    const i = listeners.indexOf(listener)
    return i < 0 ? undefined : `127.0.0.1:${ports[i + 1]}`
  }
  const caPem = options.tls ? await makeCertificate(dir) : undefined
  const properties = serverProperties({ dir, dataDir, ports, listeners }, options)
  writeFileSync(join(dir, 'server.properties'), Object.entries(properties).map(([k, v]) => `${k}=${v}\n`).join(''))
  writeFileSync(join(dir, 'log4j2.properties'), loggingProperties(join(dir, 'server.log')))
  await format(classPath, dir, options)

  const began = Date.now()
  const server = new EndedWithUs(() => launch(classPath, dir, options.jvmOptions ?? smallJvmOptions))
  const bootstrap = address('PLAINTEXT')!
  try {
    await waitUntilServing(bootstrap, {
      pollMs: 20,
      alive: () => server.exitCode === null ? undefined : `Kafka ended by itself (${server.exitCode}):\n${lastLines(dir)}`,
    })
  } catch (error) {
    await server.end('SIGKILL')
    rmSync(dir, { recursive: true, force: true })
    throw error
  }
  return {
    bootstrap,
    saslBootstrap: address('SASL_PLAINTEXT'),
    tlsBootstrap: address('SSL'),
    saslTlsBootstrap: address('SASL_SSL'),
    caPem,
    dataDir,
    pid: server.pid,
    startMs: Date.now() - began,
    end: signal => server.end(signal),
    relaunch: () => server.launch(),
    async stop () {
      await server.end()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** `npx tsx test/compat/kafka-broker.ts [--port N] [--flush] [--shipped]`: Kafka until interrupted, for work by hand. */
async function main (): Promise<void> {
  const { values } = parseArgs({
    options: { port: { type: 'string' }, flush: { type: 'boolean' }, shipped: { type: 'boolean' } },
  })
  const kafka = await startKafka({
    port: values.port ? Number(values.port) : undefined,
    properties: values.flush ? { 'log.flush.interval.messages': '1' } : {},
    jvmOptions: values.shipped ? shippedJvmOptions : undefined,
  })
  console.log(`kafka ready kafka=${kafka.bootstrap} pid=${kafka.pid} data=${kafka.dataDir} in ${kafka.startMs} ms`)
  const stop = (): void => { void kafka.stop().then(() => process.exit(0)) }
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main()
