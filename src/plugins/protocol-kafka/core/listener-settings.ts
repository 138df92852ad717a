import { MillraceError } from '../../../kernel/errors/index.ts'

/** One entry of `listeners` or `advertised.listeners`. */
export interface ListenerAddress {
  /** Upper case, as in Kafka. */
  readonly name: string
  /** Empty: all addresses of the machine. */
  readonly host: string
  readonly port: number
}

/** A listener, with the address that clients are told. */
export interface ListenerPlan {
  readonly listen: ListenerAddress
  /** Undefined: the address that it is bound to. A port of 0 stands for the port that it is bound to. */
  readonly advertised: ListenerAddress | undefined
}

/** What `planListeners` reads, as it is set. */
export interface ListenerSettings {
  readonly listeners: readonly string[]
  readonly advertised: readonly string[]
  /** `listener.security.protocol.map`: NAME:PROTOCOL, separated by commas. */
  readonly protocols: string
  /** Whether listeners may reach beyond this machine. */
  readonly insecure: boolean
}

/** Protocols that are not there, and names that promise one: nobody must believe that a connection is encrypted when it is not. */
const unservedProtocols: ReadonlySet<string> = new Set(['SSL', 'SASL_PLAINTEXT', 'SASL_SSL'])
const onlyPlaintext = 'every listener is PLAINTEXT'

const entryPattern = /^([A-Za-z0-9_.-]+):\/\/(\[[0-9A-Fa-f:.]+\]|[^:/[\]]*):(-?\d+)$/

/**
 * Reads the settings of listeners and checks them together. Throws MR_CONFIG_INVALID, MR_CONFIG_UNSUPPORTED, or
 * MR_NET_INSECURE for a listener beyond this machine that `insecure` does not allow.
 */
export function planListeners({ listeners, advertised, protocols, insecure }: ListenerSettings): ListenerPlan[] {
  const bound = parseAddresses('listeners', listeners)
  const told = parseAddresses('advertised.listeners', advertised)
  for (const { name } of told) {
    if (!bound.some((address) => address.name === name)) {
      throw invalid('advertised.listeners', advertised.join(','), `no listener is named ${name}`)
    }
  }
  checkProtocols(bound, protocols)
  for (const address of bound) {
    if (!insecure && !isLoopback(address.host)) throw new MillraceError('MR_NET_INSECURE', { host: address.host === '' ? 'all addresses' : address.host })
  }
  return bound.map((listen) => {
    const advertisedAs = told.find((address) => address.name === listen.name)
    if (isWildcard((advertisedAs ?? listen).host)) throw unreachable(listen, advertisedAs, advertised)
    return { listen, advertised: advertisedAs }
  })
}

/** Every listener is PLAINTEXT, so that none may be mapped to anything else. A name that is not in the map is taken for it. */
function checkProtocols(bound: readonly ListenerAddress[], text: string): void {
  const key = 'listener.security.protocol.map'
  const protocols = new Map<string, string>()
  for (const entry of text.split(',').map((each) => each.trim())) {
    const [name, protocol, more] = entry.split(':').map((part) => part.trim().toUpperCase())
    if (entry === '') continue
    if (name === '' || protocol === undefined || more !== undefined) throw invalid(key, text, `${entry} does not read NAME:PROTOCOL`)
    if (protocol !== 'PLAINTEXT' && !unservedProtocols.has(protocol)) throw invalid(key, text, `${protocol} is no protocol; there are PLAINTEXT, ${Array.from(unservedProtocols).join(', ')}`)
    if (protocols.has(name!)) throw invalid(key, text, `${name} is in it twice; leave one out`)
    protocols.set(name!, protocol)
  }
  for (const { name } of bound) {
    const protocol = protocols.get(name) ?? 'PLAINTEXT'
    if (protocol !== 'PLAINTEXT') {
      throw new MillraceError('MR_CONFIG_UNSUPPORTED', {
        key, value: text, reason: `there is no ${protocol} yet, ${onlyPlaintext}; map ${name} to PLAINTEXT if its network is trusted, or take it out of listeners`,
      })
    }
  }
}

/** Clients are sent to the advertised address, or to that of the listener: it must be one that they can connect to. */
function unreachable(listen: ListenerAddress, advertisedAs: ListenerAddress | undefined, advertised: readonly string[]): MillraceError {
  const { host, port } = advertisedAs ?? listen
  const value = advertisedAs === undefined ? `${listen.name}://${host}:${port}` : advertised.join(',')
  const remedy = `say with --advertise HOST:PORT (advertise: 'HOST:PORT', or advertised.listeners) where they reach ${listen.name}`
  return invalid(advertisedAs === undefined ? 'listeners' : 'advertised.listeners', value, `clients can not be sent to ${host || 'all addresses'}; ${remedy}`)
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
}

function isWildcard(host: string): boolean {
  return host === '' || host === '0.0.0.0' || host === '::'
}

function parseAddresses(key: string, entries: readonly string[]): ListenerAddress[] {
  const addresses: ListenerAddress[] = []
  for (const entry of entries) {
    const found = entryPattern.exec(entry)
    if (found === null) throw invalid(key, entry, 'it must read NAME://HOST:PORT')
    const name = found[1]!.toUpperCase()
    const host = found[2]!.startsWith('[') ? found[2]!.slice(1, -1) : found[2]!
    const port = Number(found[3])
    if (port < 0 || port > 65_535) throw invalid(key, entry, 'a port is a number from 0 to 65535')
    if (unservedProtocols.has(name)) {
      throw new MillraceError('MR_CONFIG_UNSUPPORTED', { key, value: entry, reason: `there is no ${name} yet, ${onlyPlaintext}; name it PLAINTEXT if its network is trusted, or leave it out` })
    }
    if (addresses.some((other) => other.name === name)) throw invalid(key, entry, `two listeners are named ${name}`)
    if (key === 'listeners' && port !== 0 && addresses.some((other) => other.port === port && overlap(other.host, host))) {
      throw invalid(key, entry, `two listeners share port ${port}`)
    }
    addresses.push({ name, host, port })
  }
  return addresses
}

function overlap(left: string, right: string): boolean {
  return left === right || isWildcard(left) || isWildcard(right)
}

const invalid = (key: string, value: string, reason: string): MillraceError => new MillraceError('MR_CONFIG_INVALID', { key, value, reason })
