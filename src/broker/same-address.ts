import { type BrokerSettingsMap } from '../kernel/config/broker-settings-map.ts'
import { MillraceError } from '../kernel/errors/millrace-error.ts'
import { type FaultSink } from './config-fault.ts'

interface Address {
  readonly host: string
  readonly port: string
}

/** Refuses HTTP on the address of a Kafka listener (MR_CONFIG_INVALID): the system would say that somebody else has it. */
export function checkAddressesDiffer(settings: Pick<BrokerSettingsMap, 'list'>, http: unknown, onFault: FaultSink): void {
  const wanted = typeof http === 'string' ? addressOf(http) : undefined
  if (wanted === undefined) return
  const listener = settings.list('listeners').find((each) => meet(wanted, addressOf(each.replace(/^[^:]*:\/\//, ''))))
  if (listener === undefined) return
  const reason = `the Kafka protocol listens there already (${listener}); choose another port for one of the two, or 0 for a free one`
  onFault(new MillraceError('MR_CONFIG_INVALID', { key: 'http', value: String(http), reason }), 'http')
}

function addressOf(text: string): Address | undefined {
  const found = /^(.*):(\d+)$/.exec(text)
  return found === null ? undefined : { host: found[1]!.replace(/^localhost$/i, '127.0.0.1'), port: String(Number(found[2])) }
}

const everywhere = new Set(['', '0.0.0.0', '[::]'])

function meet(one: Address, other: Address | undefined): boolean {
  if (other === undefined || one.port === '0' || one.port !== other.port) return false
  return one.host === other.host || everywhere.has(one.host) || everywhere.has(other.host)
}
