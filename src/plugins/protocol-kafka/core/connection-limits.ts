import { MillraceError } from '../../../kernel/errors/index.ts'
import { type BrokerSettings } from '../../../kernel/ports/broker-settings.ts'

export interface ConnectionLimits {
  readonly connectionsMax: number
  readonly perAddressMax: number
  /** Other limits for some addresses. */
  readonly overrides: ReadonlyMap<string, number>
}

/** Reads `max.connections` and its kin. Throws MR_CONFIG_INVALID for an override that is none. */
export function connectionLimits(settings: BrokerSettings): ConnectionLimits {
  const key = 'max.connections.per.ip.overrides'
  const overrides = new Map<string, number>()
  for (const entry of settings.text(key).split(',').map((text) => text.trim()).filter((text) => text !== '')) {
    const found = /^(.+):(\d{1,9})$/.exec(entry)
    if (found === null) throw new MillraceError('MR_CONFIG_INVALID', { key, value: entry, reason: 'it must read ADDRESS:NUMBER' })
    overrides.set(found[1]!.replace(/^\[(.*)\]$/, '$1'), Number(found[2]))
  }
  return { connectionsMax: settings.integer('max.connections'), perAddressMax: settings.integer('max.connections.per.ip'), overrides }
}
