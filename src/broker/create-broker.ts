import { deferred } from '../base/deferred.ts'
import { uuidFromBytes } from '../base/uuid.ts'
import { type BrokerSettingsMap, type SettingsLayer } from '../kernel/config/broker-settings-map.ts'
import { storeLimits } from '../kernel/config/store-limits.ts'
import { type Plugin } from '../kernel/plugin/define-plugin.ts'
import { createHost, type PluginHost } from '../kernel/plugin/plugin-host.ts'
import { Random } from '../kernel/ports/clock.ts'
import { FileSystem } from '../kernel/ports/file-system.ts'
import { type BrokerIdentity } from '../kernel/ports/broker-identity.ts'
import { LogStore } from '../kernel/ports/log-store.ts'
import { Logger } from '../kernel/ports/telemetry.ts'
import { realPath, workingDirectory } from '../platform/module-loader.ts'
import { Broker, type BrokerLife } from './broker.ts'
import { type BrokerOptions, type PresetName } from './broker-options.ts'
import { brokerSettings } from './broker-settings-layers.ts'
import { drawnClusterId, findCluster, type FoundCluster } from './cluster-id.ts'
import { describeComposition, type CompositionDescription } from './composition-description.ts'
import { copiesWarnings } from './copies-warnings.ts'
import { faultOf, throwFirst, type ConfigFault, type FaultSink } from './config-fault.ts'
import { checkDirectoriesDiffer } from './data-directories.ts'
import { refuseEmptyData, refuseLostIdentity } from './lost-identity.ts'
import { clusterOfMetadata } from './metadata-inquiry.ts'
import { checkOptions } from './options-check.ts'
import { loadPlugins } from './plugin-catalog.ts'
import { pluginSettingsOf, withoutFaults, type LayeredPluginSettings } from './plugin-settings-layers.ts'
import { rootPlugin } from './root-plugin.ts'
import { checkAddressesDiffer } from './same-address.ts'

/** How a broker is put together beyond its options; `createBroker` fills it for embedding, the command line and the tests in other ways. */
export interface Composition {
  /** Options of the configuration file, and those that go before them. */
  readonly file?: BrokerOptions
  readonly commandLine?: BrokerOptions
  /** Broker settings from environment variables; they go between the two. */
  readonly environment?: SettingsLayer
  /** Where paths and packages of plugins are resolved from: the folder of the configuration. Default: where the process was started, as data directories are. */
  readonly directory?: string
  /** The world: clock, files, network, … Default: this machine's. */
  readonly platform?: Plugin
  readonly defaults?: Pick<BrokerOptions, 'http' | 'logLevel'>
  /** Drives the compiler warm before the first client comes; false where the command line says so, nothing where nobody does. */
  readonly warmUp?: boolean
}

/** A composition that is checked and loaded, and not made yet. */
export interface ComposedBroker {
  readonly settings: BrokerSettingsMap
  readonly plugins: readonly Plugin[]
  readonly pluginSettings: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** Of each plugin, where the values of its settings come from; what is not there stands at the plugin's own default. */
  readonly pluginSources: LayeredPluginSettings['sources']
  /** What it is made of, in words, and who said so. */
  readonly composition: CompositionDescription
  /** What is set and has no effect, or one that nobody wants; a sentence each. */
  readonly warnings: readonly string[]
  /** `also`: plugins beside those of the composition. */
  create(also?: readonly Plugin[]): Broker
}

/**
 * A broker in this process. Nothing runs until `start`. Rejects with one MillraceError that names the option, the plugin or the
 * setting that is wrong, and what to do about it.
 */
export async function createBroker(options: BrokerOptions = {}): Promise<Broker> {
  const composed = await composeBroker({ file: checkOptions(options), defaults: { http: 'off', logLevel: 'warn' } })
  return composed.create()
}

/** Rejects with the first mistake, which says how many there are. */
export async function composeBroker(composition: Composition): Promise<ComposedBroker> {
  const faults: ConfigFault[] = []
  const composed = await examineComposition(composition, (error, key) => { faults.push({ key, error }) })
  throwFirst(faults)
  return composed
}

/** The composition without what is wrong in it, each of which `onFault` is told of. */
export async function examineComposition(composition: Composition, onFault: FaultSink): Promise<ComposedBroker> {
  const { file = {}, commandLine = {}, directory = workingDirectory() } = composition
  const preset = commandLine.preset ?? file.preset ?? 'single-node'
  const pluginFaults: ConfigFault[] = []
  const loaded = await loadPlugins({ ...file, ...commandLine, preset }, directory, (error, key) => { pluginFaults.push({ key, error }) })
  const chosen = loaded.map(({ plugin }) => plugin)
  const limits = storeLimits(chosen.find(({ provides }) => provides?.includes(LogStore)))
  const settings = brokerSettings({ preset, file, environment: composition.environment, commandLine }, onFault, limits)
  if (composition.platform === undefined) faultOf(() => { checkDirectoriesDiffer(settings.list('log.dirs'), (path) => realPath(workingDirectory(), path)) }, 'broker.log.dirs', onFault)
  const platform = composition.platform ?? (await import('../platform/node-platform-plugin.ts')).nodePlatform
  for (const { error, key } of pluginFaults) onFault(error, key)
  const plugins = [platform, ...chosen]
  const { defaults = {}, warmUp } = composition
  const { given: configured, sources: pluginSources } = pluginSettingsOf({ preset, file, commandLine, defaults, warmUp, isThisMachine: composition.platform === undefined }, plugins)
  const pluginSettings = withoutFaults(configured, plugins, (error, key) => {
    // Settings may be for a plugin that could not be loaded; one that is to be left out, and is not there, is none of these.
    if (!pluginFaults.some((fault) => fault.key?.startsWith('without.') !== true) || error.code !== 'MR_HOST_PLUGIN_NOT_FOUND') onFault(error, key)
  })
  checkAddressesDiffer(settings, pluginSettings['admin-http']?.['listen'], onFault)
  const warnings = [...settings.warnings, ...unusedDirectories(settings, plugins, configured), ...copiesWarnings(settings, plugins)]
  return {
    settings, plugins, pluginSettings, pluginSources, warnings, composition: describeComposition(file, commandLine, platform, loaded),
    create: (also = []) => make({ settings, plugins: [...plugins, ...also], pluginSettings, preset, warnings }),
  }
}

/** Who names a directory believes that something is kept in it. */
function unusedDirectories(settings: BrokerSettingsMap, plugins: readonly Plugin[], pluginSettings: Parts['pluginSettings']): string[] {
  const has = (plugin: string): boolean => plugins.some(({ name }) => name === plugin)
  const isNamed = settings.entries().some(({ name, source }) => name === 'log.dirs' && source !== 'default' && source !== 'preset')
  if (!isNamed || !has('storage-memory')) return []
  const hasMetadata = has('coordination-single') && pluginSettings['coordination-single']?.['path'] === undefined
  return hasMetadata ? ['log.dirs has the metadata alone: storage-memory keeps no records on disk, and after a restart the topics are there, empty']
    : ['log.dirs has no effect here: storage-memory keeps nothing on disk']
}

interface Parts extends Omit<ComposedBroker, 'create' | 'pluginSources' | 'composition'> {
  readonly preset: PresetName
}

function make({ settings, plugins, pluginSettings, preset, warnings }: Parts): Broker {
  const world = createHost({ plugins: [plugins[0]!] })
  const random = world.get(Random)
  const directories = settings.list('log.dirs').length > 0 ? settings.list('log.dirs') : settings.list('log.dir')
  const cluster: FoundCluster = preset === 'memory' ? { clusterId: drawnClusterId(random), drawn: true, partition: undefined }
    : findCluster(world.get(FileSystem), random, directories)
  let { clusterId } = cluster
  const identity: BrokerIdentity = {
    get clusterId() { return clusterId },
    nodeId: settings.nodeId,
    incarnationId: uuidFromBytes(random.bytes(16)),
    foundPartition: cluster.partition,
  }
  const failed = deferred<unknown>()
  const life: BrokerLife = { ready: false, failed: failed.promise, warnings, inquiry: undefined }
  const root = rootPlugin({
    settings, identity,
    state: { ready: () => life.ready },
    fatalErrors: {
      fatal: (error, where) => {
        life.ready = false
        host.get(Logger).error('the broker ends: something it must not survive has happened', { where, error })
        void host.stop().then(() => { failed.resolve(error) })
      },
    },
  })
  const host: PluginHost = createHost({ plugins: [root, ...plugins], settings: pluginSettings })
  const { drawn, partition } = cluster
  const inquiry = { plugins: [root, ...plugins], pluginSettings, onHost: (asked: BrokerLife['inquiry']) => { life.inquiry = asked } }
  const lost = { ...inquiry, directories }
  const metadata = pluginSettings['coordination-single']?.['path']
  const check = async (): Promise<void> => {
    if (!drawn || preset === 'memory') return
    if (!keepsIdentity(plugins)) {
      clusterId = await clusterOfMetadata(inquiry) ?? clusterId
      return
    }
    if (partition !== undefined) await refuseLostIdentity({ ...lost, partition })
    if (typeof metadata === 'string') await refuseEmptyData({ ...lost, metadata, files: world.get(FileSystem) })
  }
  return new Broker(host, identity, life, check)
}

/** The log store says in the data directories whose they are: where none does, they have lost it or are new. */
const keepsIdentity = (plugins: readonly Plugin[]): boolean => plugins.some(({ provides, capabilities }) => provides?.includes(LogStore) === true && capabilities?.['identity'] === true)
