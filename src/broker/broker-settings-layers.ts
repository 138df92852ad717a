import { MillraceError } from '../kernel/errors/millrace-error.ts'
import { BrokerSettingsMap, type SettingsLayer } from '../kernel/config/broker-settings-map.ts'
import { noLimits } from '../kernel/config/store-limits.ts'
import { type BrokerOptions, type PresetName } from './broker-options.ts'
import { throwFault, type FaultSink } from './config-fault.ts'
import { misplacedOption } from './options-check.ts'

export interface OptionLayers {
  readonly preset: PresetName
  readonly file?: BrokerOptions
  readonly environment?: SettingsLayer
  readonly commandLine?: BrokerOptions
}

/** Kafka's defaults are for clusters: copies on three brokers, and partitions to spread over them. */
const oneCopyOfGroups = [['offsets.topic.replication.factor', '1'], ['offsets.topic.num.partitions', '8']] as const

/** What a preset changes about Kafka's defaults. */
const presetLayers: Readonly<Record<PresetName, SettingsLayer>> = {
  'single-node': new Map([
    ['node.id', '1'], ['log.dirs', 'data'], ['listeners', 'PLAINTEXT://127.0.0.1:9092'], ...oneCopyOfGroups,
  ]),
  'memory': new Map([
    ['node.id', '1'], ['log.dirs', 'data'], ['listeners', 'PLAINTEXT://127.0.0.1:0'], ['durability', 'os'], ...oneCopyOfGroups,
    // Nobody is waited for who might come later.
    ['group.initial.rebalance.delay.ms', '0'],
  ]),
}

/** The broker's settings from all layers, checked. Short options (`data`, `listen`, …) become the settings they stand for. */
export function brokerSettings({ preset, file, environment, commandLine }: OptionLayers, onFault: FaultSink = throwFault, limits = noLimits): BrokerSettingsMap {
  const layers = { preset: presetLayers[preset], file: layerOf(file ?? {}, onFault), environment, commandLine: layerOf(commandLine ?? {}, onFault) }
  return new BrokerSettingsMap(layers, (error, layer) => {
    const key = String(error.details['key'])
    const isMisplaced = layer === 'file' && error.code === 'MR_CONFIG_UNKNOWN'
    const better = isMisplaced ? misplacedOption(key) : undefined
    onFault(better === undefined ? error : new MillraceError(error.code, { key, suggestion: better }), layer === 'environment' || layer === 'commandLine' ? key : `broker.${key}`)
  }, limits)
}

function layerOf(options: BrokerOptions, onFault: FaultSink): SettingsLayer {
  const layer = new Map<string, string>()
  for (const [name, value] of Object.entries(options.broker ?? {})) layer.set(name, String(value))
  const short = (option: keyof BrokerOptions, name: string, value: string | undefined): void => {
    if (value === undefined) return
    if (layer.has(name)) onFault(new MillraceError('MR_CONFIG_INVALID', { key: option, value, reason: `${name} is set beside it; keep one of the two` }), option)
    else layer.set(name, value)
  }
  const { data, listen, advertise, nodeId } = options
  short('data', 'log.dirs', typeof data === 'string' ? data : data?.join(','))
  short('listen', 'listeners', listen === undefined ? undefined : `PLAINTEXT://${listen}`)
  short('advertise', 'advertised.listeners', advertise === undefined ? undefined : `PLAINTEXT://${advertise}`)
  short('nodeId', 'node.id', nodeId?.toString())
  return layer
}
