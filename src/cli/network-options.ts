import { Option, type Command } from 'commander'
import type { Admin, Client, ConnectionSettings } from '../client/index.ts'
import { isMillraceError, MillraceError } from '../kernel/errors/index.ts'
import { connectionFromProperties } from './client-properties.ts'
import { UsageError, type OutputFormat } from './output.ts'
import { readSmallFile } from './small-file.ts'
import { unreadableReason } from './unreadable.ts'
import { TroubleLog } from './trouble-log.ts'

export interface NetworkFlags {
  readonly bootstrap?: string
  readonly commandConfig?: string
  readonly output: OutputFormat
}

const defaultBootstrap = '127.0.0.1:9092'

/** How long to look for a broker before the command gives up. */
const reachTimeoutMs = 5_000

export function outputOption(description = 'text for people, json for programs'): Option {
  return new Option('-o, --output <format>', description).choices(['text', 'json']).default('text')
}

/** The options of every command that talks to a cluster. */
export function addNetworkOptions(command: Command, outputDescription?: string): Command {
  return command
    .option('--bootstrap <host:port>', `broker to begin with, several separated by commas (default: $MILLRACE_BOOTSTRAP, else ${defaultBootstrap})`)
    .option('--command-config <file>', 'Kafka client properties: security.protocol, sasl.*, ssl.*')
    .addOption(outputOption(outputDescription))
}

/** Whom to talk to: --bootstrap goes before the environment, and this before bootstrap.servers of the file. */
export function connectionOf(flags: NetworkFlags, environment: Readonly<Record<string, string | undefined>>): ConnectionSettings {
  const { requestBytesMax: _ofProducers, ...fromFile } = flags.commandConfig === undefined ? {} : propertiesOf(flags.commandConfig)
  const bootstrap = flags.bootstrap ?? (environment['MILLRACE_BOOTSTRAP'] || fromFile.bootstrap || defaultBootstrap)
  return { clientId: 'millrace-cli', connectTimeoutMs: reachTimeoutMs / 2, ...fromFile, bootstrap }
}

/** `max.request.size` of the --command-config file, which is for producers alone. */
export function requestBytesMaxOf(flags: NetworkFlags): number | undefined {
  return flags.commandConfig === undefined ? undefined : propertiesOf(flags.commandConfig).requestBytesMax
}

function propertiesOf(path: string): Partial<ConnectionSettings> & { readonly requestBytesMax?: number } {
  let text: string
  try {
    text = readSmallFile(path)
  } catch (error) {
    throw new MillraceError('MR_CONFIG_FILE', { path, reason: `${unreadableReason(error)}; --command-config takes a file of Kafka client properties` }, error)
  }
  return connectionFromProperties(text, path, readSmallFile)
}

/** Runs `work` with a client of the cluster that the flags name, and closes it. */
export async function withClient<T>(flags: NetworkFlags, work: (client: Client, admin: Admin) => Promise<T>): Promise<T> {
  const connection = connectionOf(flags, process.env)
  const { createClient } = await import('../client/index.ts')
  const trouble = new TroubleLog()
  const client = clientOf(() => createClient({ ...connection, logger: trouble }), flags, process.env)
  try {
    const admin = client.admin()
    // One question first, so that an address where nobody answers is said at once, and not after each command's own patience.
    await admin.describeCluster({ timeoutMs: reachTimeoutMs }).catch((error: unknown) => { throw unreachable(error, connection) })
    trouble.isShown = true
    return await work(client, admin)
  } finally {
    await client.close()
  }
}

/** What is wrong with the address is said of where it was written. */
function clientOf(create: () => Client, flags: NetworkFlags, environment: Readonly<Record<string, string | undefined>>): Client {
  try {
    return create()
  } catch (error) {
    if (!isMillraceError(error, 'MR_CLIENT_SETTING') || error.details['key'] !== 'bootstrap') throw error
    const source = flags.bootstrap !== undefined ? '--bootstrap' : environment['MILLRACE_BOOTSTRAP'] ? 'MILLRACE_BOOTSTRAP' : 'bootstrap.servers in --command-config'
    throw new UsageError(`${source}: ${String(error.details['reason'])}`)
  }
}

const reasons: readonly (readonly [RegExp, string])[] = [
  [/ECONNREFUSED/, 'nobody listens there'],
  [/ENOTFOUND|EAI_AGAIN/, 'there is no host of that name'],
  [/EHOSTUNREACH|ENETUNREACH/, 'no way leads there'],
]

/** What to do about a first question that nobody answered. Other errors stay as they are. */
function unreachable(error: unknown, { bootstrap, tls }: ConnectionSettings): unknown {
  if (!isMillraceError(error)) return error
  const brokers = String(bootstrap)
  const remedy = '; start a broker with `millrace start`, or name another with --bootstrap HOST:PORT'
  switch (error.code) {
    case 'MR_NET_CONNECT':
    case 'MR_CLIENT_NO_BROKERS': {
      const reason = String(error.details['reason'] ?? '')
      if (tls !== undefined && /ECONNRESET/.test(reason)) {
        return new MillraceError('MR_CLIENT_NO_BROKERS', { brokers, reason: 'the connection was cut off before TLS was set up; does that port speak TLS? security.protocol in --command-config says so' }, error)
      }
      const known = reasons.find(([pattern]) => pattern.test(reason))
      return new MillraceError('MR_CLIENT_NO_BROKERS', { brokers, reason: `${known?.[1] ?? reason}${remedy}` }, error)
    }
    case 'MR_CLIENT_TLS':
      return new MillraceError('MR_CLIENT_TLS', { ...error.details, reason: `${String(error.details['reason'])} (ssl.truststore.location in --command-config names the PEM file of an authority)` }, error)
    case 'MR_PROTOCOL_FRAME_SIZE':
      return new MillraceError('MR_CLIENT_NO_BROKERS', { brokers, reason: 'who answers does not speak the Kafka protocol; is it a port for TLS (security.protocol=SSL in --command-config) or HTTP?' }, error)
    default:
      return error
  }
}
