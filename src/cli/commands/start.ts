import { dirname } from 'node:path'
import { type Command } from 'commander'
import { deferred } from '../../base/deferred.ts'
import type { Broker, BrokerOptions, ComposedBroker } from '../../broker/index.ts'
import type { MillraceError } from '../../kernel/errors/index.ts'
import { keepYoungMemorySmall } from '../../platform/young-memory.ts'
import { collect, collectSettings, endpoint, wholeNumber, type Pair } from '../option-values.ts'
import { outputOption } from '../network-options.ts'
import { print, printError, printJson, UsageError, type OutputFormat } from '../output.ts'

/** So long after the start young memory stays small: the warm-up is over by then. */
const startMemoryMs = 2000

export interface StartFlags {
  readonly config?: string
  readonly data?: readonly string[]
  readonly listen?: string
  readonly advertise?: string
  readonly http?: string
  readonly nodeId?: number
  readonly voters?: string
  readonly preset?: 'single-node' | 'memory'
  readonly set?: readonly Pair[]
  readonly logLevel?: BrokerOptions['logLevel']
  readonly insecure?: boolean
  readonly warmUp?: boolean
}

/** The options that say how a broker is composed; shared by `start` and `config`. */
export function addCompositionOptions(command: Command): Command {
  return command
    .option('--config <file>', 'configuration: millrace.config.ts, .mjs, .js, .json, .yaml or .yml (default: the one in this folder, if there is one)')
    .option('--data <dir>', 'data directory, made if it is not there; several: --data a,b, or repeated (default: data)', collect)
    .option('--listen <host:port>', 'address of the Kafka protocol; port 0 takes a free one (default: 127.0.0.1:9092)', endpoint('--listen'))
    .option('--advertise <host:port>', 'address that clients are told, where it differs from the one above', endpoint('--advertise'))
    .option('--http <host:port>', 'address of metrics and health, or off (default: 127.0.0.1:9080)', endpoint('--http', 'off'))
    .option('--node-id <n>', 'id of this broker (default: 1)', wholeNumber('--node-id'))
    .option('--voters <list>', 'id@host:port,… of a cluster (not available yet: one broker is a cluster of its own)')
    .option('--preset <name>', 'single-node (on disk) or memory (nothing survives) (default: single-node)')
    .option('--set <key=value>', 'a broker setting by its Kafka name; may be repeated', collectSettings('--set'))
    .option('--log-level <level>', 'debug, info, warn, error or silent (default: info)')
    .option('--insecure', 'allow listening beyond this machine without authentication')
    .option('--no-warm-up', 'skip the warm-up of the compiler after the start')
}

export function startCommand(program: Command): void {
  addCompositionOptions(program.command('start').summary('run a broker').description('Runs a broker in this process until SIGTERM or SIGINT.'))
    .addOption(outputOption('of the line that says when clients may connect: text, or json'))
    .addHelpText('after', `
Examples
  millrace start                                   data in ./data, clients at 127.0.0.1:9092
  millrace start --data /disk1/millrace,/disk2/millrace
  millrace start --preset memory --listen 127.0.0.1:0
  millrace start --set num.partitions=8 --set auto.create.topics.enable=false

One line on standard output says when clients may connect; the log is JSON lines on standard error.`)
    .action(async (flags: StartFlags & { output: OutputFormat }) => { await run(flags) })
}

async function run(flags: StartFlags & { readonly output: OutputFormat }): Promise<void> {
  const startedMs = performance.now()
  const letMemoryGrow = keepYoungMemorySmall()
  const composed = await composeFromFlags(flags)
  const broker = composed.create()
  const signals = stopOnSignals(broker)
  try {
    await broker.start()
  } catch (error) {
    // A broker that is told to stop while it starts does not get there, which is then no failure.
    if (!signals.asked) throw error
  }
  if (!signals.asked) {
    sayReady(broker, Math.round(performance.now() - startedMs), flags.output)
    setTimeout(letMemoryGrow, startMemoryMs).unref()
  }
  const outcome = await Promise.race([signals.stopped, broker.failed.then((error) => ({ error }))])
  if (outcome === 'stopped') return
  printError(outcome.error)
  process.exit(1)
}

function sayReady({ kafka, http, identity: { nodeId } }: Broker, readyMs: number, output: OutputFormat): void {
  const [kafkaAt, httpAt] = [kafka, http].map((at) => at === undefined ? null : shownEndpoint(at))
  if (output === 'json') printJson({ ready: true, kafka: kafkaAt ?? null, http: httpAt ?? null, nodeId, readyMs })
  else print(`millrace ready kafka=${kafkaAt ?? 'off'} http=${httpAt ?? 'off'} node=${nodeId} in ${readyMs} ms`)
}

const shownEndpoint = ({ host, port }: { readonly host: string, readonly port: number }): string => `${host.includes(':') ? `[${host}]` : host}:${port}`

interface StopSignals {
  asked: boolean
  /** Resolves when a signal has stopped the broker. */
  readonly stopped: Promise<'stopped'>
}

/** SIGTERM and SIGINT stop the broker; a second one ends the process at once. */
function stopOnSignals(broker: Broker): StopSignals {
  const stopped = deferred<'stopped'>()
  const signals: StopSignals = { asked: false, stopped: stopped.promise }
  const stop = (signal: NodeJS.Signals): void => {
    if (signals.asked) process.exit(1)
    signals.asked = true
    process.stderr.write(`millrace: ${signal}, stopping (again to end at once)\n`)
    void broker.stop().then((problems) => {
      for (const problem of problems) printError(problem)
      process.exitCode = problems.length === 0 ? 0 : 1
      stopped.resolve('stopped')
      // Whatever still holds the process has been told to let go.
      setTimeout(() => { process.exit() }, 1_000).unref()
    })
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  return signals
}

/** What the command takes where a configuration says nothing. */
export const commandDefaults = { http: '127.0.0.1:9080', logLevel: 'info' } as const

/** Environment variables that are no broker settings: of the commands, and of the scripts of a checkout. */
const variablesOfOurs = new Set(['MILLRACE_BOOTSTRAP', 'MILLRACE_PEERS', 'MILLRACE_NODES'])

export async function composeFromFlags(flags: StartFlags): Promise<ComposedBroker & { readonly configPath?: string }> {
  if (flags.voters !== undefined) {
    throw new UsageError('--voters: clusters of several brokers are not available yet; leave it out to run one broker')
  }
  const commandLine = optionsOf(flags)
  // Loaded here and not above: the commands that are clients start faster without a broker.
  const [{ examineComposition }, { findConfigFile, inFile, loadConfigFile }, { NodeFileSystem }, { environmentLayer }] = await Promise.all([
    import('../../broker/create-broker.ts'), import('../../broker/config-file.ts'), import('../../platform/node-file-system.ts'),
    import('../../kernel/config/environment-layer.ts'),
  ])
  const directory = process.cwd()
  const files = new NodeFileSystem()
  const faults: MillraceError[] = []
  const onFault = (error: MillraceError): void => { faults.push(error) }
  const loaded = flags.config === undefined ? await findConfigFile(files, directory, onFault) : await loadConfigFile(files, flags.config, directory, onFault)
  const environment = environmentLayer(process.env, variablesOfOurs)
  const composed = await examineComposition({
    file: loaded?.options, environment, commandLine,
    // What a file says of plugins holds wherever the broker is started; data directories are where it is started.
    directory: loaded === undefined ? directory : dirname(loaded.path),
    defaults: commandDefaults, warmUp: flags.warmUp ?? true,
  }, (error, key) => { onFault(loaded !== undefined && isOfFile(key, loaded.options, commandLine, environment) ? inFile(loaded.path, error) : error) })
  throwAll(faults)
  return loaded === undefined ? composed : { ...composed, configPath: loaded.path }
}

/** Whether what is wrong under a key was said by the file, and not by the environment or the command line over it. */
function isOfFile(key: string | null, file: BrokerOptions, commandLine: BrokerOptions, environment: ReadonlyMap<string, unknown>): boolean {
  const [option = '', ...rest] = (key ?? '').split('.')
  const name = rest.join('.')
  if (!Object.hasOwn(file, option)) return false
  if (option === 'broker') return Object.hasOwn(file.broker ?? {}, name) && !Object.hasOwn(commandLine.broker ?? {}, name) && !environment.has(name)
  return !Object.hasOwn(commandLine, option)
}

/** One line for each mistake: the last is thrown, as what ends the command. */
function throwAll(faults: readonly MillraceError[]): void {
  for (const fault of faults.slice(0, -1)) printError(fault)
  if (faults.length > 0) throw faults.at(-1)!
}

function optionsOf(flags: StartFlags): BrokerOptions {
  const { data, listen, advertise, http, nodeId, preset, logLevel, insecure } = flags
  if (preset !== undefined && preset !== 'single-node' && preset !== 'memory') {
    throw new UsageError(`--preset ${String(preset)}: there are single-node and memory`)
  }
  if (logLevel !== undefined && !['debug', 'info', 'warn', 'error', 'silent'].includes(logLevel)) {
    throw new UsageError(`--log-level ${String(logLevel)}: there are debug, info, warn, error and silent`)
  }
  const given = { data, listen, advertise, http, nodeId, preset, logLevel, insecure, broker: flags.set === undefined ? undefined : Object.fromEntries(flags.set) }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}
