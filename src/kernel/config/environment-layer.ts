import { suggestion } from '../../base/suggestion.ts'
import { MillraceError } from '../errors/millrace-error.ts'
import { brokerConfigTable } from './broker-config-table.ts'
import { type SettingsLayer } from './broker-settings-map.ts'

const prefix = 'MILLRACE_'

const namesByVariable: ReadonlyMap<string, string> = new Map(
  brokerConfigTable.map(({ name }) => [`${prefix}${name.toUpperCase().replaceAll('.', '_')}`, name]))

/** Who knows the flags looks for variables of their names. */
const flags: ReadonlyMap<string, string> = new Map([
  [`${prefix}DATA`, `; --data is ${prefix}LOG_DIRS here`],
  [`${prefix}LISTEN`, `; --listen is ${prefix}LISTENERS here, as in PLAINTEXT://127.0.0.1:9092`],
  [`${prefix}ADVERTISE`, `; --advertise is ${prefix}ADVERTISED_LISTENERS here, as in PLAINTEXT://broker:9092`],
  ...['CONFIG', 'HTTP', 'INSECURE', 'PRESET', 'LOG_LEVEL'].map((name): [string, string] => [prefix + name, '; there is a flag or an option of the configuration file for it, and no variable']),
])

/**
 * A broker's settings from environment variables: `MILLRACE_NUM_PARTITIONS` is `num.partitions`. A variable with the prefix that names no
 * setting, and is none of the `others` that have a meaning of their own, is refused with MR_CONFIG_UNKNOWN: it was meant to do something.
 */
export function environmentLayer(variables: Readonly<Record<string, string | undefined>>, others: ReadonlySet<string> = new Set()): SettingsLayer {
  const layer = new Map<string, string>()
  for (const [variable, value] of Object.entries(variables)) {
    if (!variable.startsWith(prefix) || value === undefined || others.has(variable)) continue
    const name = namesByVariable.get(variable)
    if (name === undefined) {
      throw new MillraceError('MR_CONFIG_UNKNOWN', { key: variable, suggestion: flags.get(variable) ?? (suggestion(variable, namesByVariable.keys()) || '; millrace config print --all lists the settings') })
    }
    layer.set(name, value)
  }
  return layer
}
