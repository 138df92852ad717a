import { type Plugin } from '../kernel/plugin/define-plugin.ts'

/** The compositions to begin with: on one disk, or in memory, where nothing survives the process. */
export type PresetName = 'single-node' | 'memory'

/** A plugin by the name of its package, by a path (`./plugin.mjs`), or as an object; in place of one of the preset's where it says so. */
export type PluginChoice = string | Plugin | {
  readonly use: string | Plugin
  /** The name of the preset's plugin that it replaces. */
  readonly instead: string
}

/** What a configuration file exports and `createBroker` takes. Everything has a default. */
export interface BrokerOptions {
  /** `single-node` (default): durable, on disk. `memory`: nothing survives, `durability` defaults to `os`. */
  readonly preset?: PresetName
  /** Plugins beside the preset's, or in place of them. */
  readonly plugins?: readonly PluginChoice[]
  /** Names of the preset's plugins to leave out. */
  readonly without?: readonly string[]
  /** Settings of plugins, by plugin name. */
  readonly settings?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** Broker settings by Kafka's names. */
  readonly broker?: Readonly<Record<string, string | number | boolean>>
  /** Data directory; short for `log.dirs`. Default `./data`. */
  readonly data?: string | readonly string[]
  /** `HOST:PORT` of the Kafka protocol, port 0 for a free one; short for `listeners`. Default `127.0.0.1:9092`. */
  readonly listen?: string
  /** `HOST:PORT` that clients are told; short for `advertised.listeners`. */
  readonly advertise?: string
  /** `HOST:PORT` of the operators' HTTP, or `off`. Default `127.0.0.1:9080` as a command, `off` embedded. */
  readonly http?: string
  /** `node.id` */
  readonly nodeId?: number
  /** Allows listening beyond this machine without authentication. */
  readonly insecure?: boolean
  /** Default `info` as a command, `warn` embedded. */
  readonly logLevel?: 'debug' | 'info' | 'warn' | 'error' | 'silent'
}

/** Types a configuration file; returns its argument. */
export function defineConfig(options: BrokerOptions): BrokerOptions {
  return options
}
