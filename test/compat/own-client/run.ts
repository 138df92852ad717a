/**
 * The suite of our own client against Apache Kafka 4.4: plain, SASL with PLAIN and SCRAM, TLS, and both. `npx tsx test/compat/own-client/run.ts [--only TEXT] [--quick]`; with `--quick`
 * groups take the plain way and the last one alone, blocked event loops the last one.
 * Exit code 0: all passed; 1: some failed; 3: Kafka is not installed here (.ci/install-peers.sh).
 */
import { parseArgs } from 'node:util'
import { createClient, type ClientOptions, type SaslOptions } from '../../../src/client/index.ts'
import { kafkaAvailable, startKafka, type RunningKafka } from '../kafka-broker.ts'
import { blockedLoopChecks, shortSessions } from './blocked-loop-suite.ts'
import { allChecks, runCheck } from './client-suite.ts'
import { classicGroupChecks, consumerGroupChecks } from './group-suite.ts'

const { values: args } = parseArgs({ options: { only: { type: 'string' }, quick: { type: 'boolean' } } })
const users = { alice: 'alice-secret' }
const sasl = (mechanism: SaslOptions['mechanism'], password = users.alice): SaslOptions => ({ mechanism, username: 'alice', password })

function ways(kafka: RunningKafka): Readonly<Record<string, ClientOptions>> {
  const tls = { ca: kafka.caPem! }
  return {
    'plain': { bootstrap: kafka.bootstrap },
    'SASL PLAIN': { bootstrap: kafka.saslBootstrap!, sasl: sasl('PLAIN') },
    'SASL SCRAM-SHA-256': { bootstrap: kafka.saslBootstrap!, sasl: sasl('SCRAM-SHA-256') },
    'SASL SCRAM-SHA-512': { bootstrap: kafka.saslBootstrap!, sasl: sasl('SCRAM-SHA-512') },
    'TLS': { bootstrap: kafka.tlsBootstrap!, tls },
    'SASL SCRAM-SHA-512 over TLS': { bootstrap: kafka.saslTlsBootstrap!, tls, sasl: sasl('SCRAM-SHA-512') },
  }
}

/** Ways in that must be refused. */
function refusals(kafka: RunningKafka): Readonly<Record<string, readonly [ClientOptions, code: string]>> {
  return {
    'a wrong password with PLAIN': [{ bootstrap: kafka.saslBootstrap!, sasl: sasl('PLAIN', 'wrong') }, 'MR_CLIENT_AUTHENTICATION'],
    'a wrong password with SCRAM': [{ bootstrap: kafka.saslBootstrap!, sasl: sasl('SCRAM-SHA-256', 'wrong') }, 'MR_CLIENT_AUTHENTICATION'],
    'SASL on a port without': [{ bootstrap: kafka.bootstrap, sasl: sasl('PLAIN') }, 'MR_CLIENT_AUTHENTICATION'],
    'a certificate that nobody vouches for': [{ bootstrap: kafka.tlsBootstrap!, tls: true }, 'MR_CLIENT_TLS'],
    'TLS on a port without': [{ bootstrap: kafka.bootstrap, tls: true }, 'MR_NET_CONNECT'],
    'a certificate of another name': [{ bootstrap: kafka.tlsBootstrap!, tls: { ca: kafka.caPem!, serverName: 'other.example' } }, 'MR_CLIENT_TLS'],
  }
}

let [passes, failures] = [0, 0]

async function report(name: string, work: () => Promise<void>): Promise<void> {
  const startMs = performance.now()
  try {
    await work()
    passes++
    console.log(`passed  ${name}  ${(performance.now() - startMs).toFixed(0)} ms`)
  } catch (error) {
    failures++
    console.log(`FAILED  ${name}\n${error instanceof Error ? error.stack : String(error)}`)
  }
}

async function refused(options: ClientOptions, code: string): Promise<void> {
  const client = createClient({ ...options, requestTimeoutMs: 3000 })
  try {
    await client.admin().describeCluster()
  } catch (error) {
    if ((error as { code?: string }).code === code) return
    throw error
  } finally {
    await client.close()
  }
  throw new Error('it was let in')
}

if (!kafkaAvailable()) {
  console.error('!! Apache Kafka is not installed here: run .ci/install-peers.sh')
  console.log('0 passed, 0 failed, 1 skipped')
  process.exit(3)
}
// Sessions end soon, so that the suite lives through authenticating again.
const kafka = await startKafka({ users, tls: true, properties: {
  'connections.max.reauth.ms': '4000', 'group.consumer.min.heartbeat.interval.ms': '200', 'group.consumer.heartbeat.interval.ms': '200', ...shortSessions,
} })
try {
  const all = Object.entries(ways(kafka))
  for (const [index, [way, options]] of all.entries()) {
    const withGroups = args.quick !== true || index === 0 || index === all.length - 1
    const withThread = args.quick !== true || index === all.length - 1
    for (const check of [...allChecks, ...withGroups ? [...classicGroupChecks, ...consumerGroupChecks] : [], ...withThread ? blockedLoopChecks : []]) {
      const name = `${way}: ${check.name}`
      if (args.only === undefined || name.includes(args.only)) await report(name, () => runCheck(check, { ...options, metadataAgeMsMax: 1000 }))
    }
  }
  for (const [what, [options, code]] of Object.entries(refusals(kafka))) {
    const name = `refused: ${what}`
    if (args.only === undefined || name.includes(args.only)) await report(name, () => refused(options, code))
  }
} finally {
  await kafka.stop()
}
console.log(`${passes} passed, ${failures} failed`)
process.exitCode = failures === 0 ? 0 : 1
