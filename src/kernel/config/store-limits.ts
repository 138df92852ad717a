import { type Plugin } from '../plugin/define-plugin.ts'

/** Abilities that a plugin declares of the log store that it provides, and on which settings depend. */
export type StoreCapability = 'durable' | 'compaction'

/** What the log store of a composition is not able to do, each with the reason to give for a setting that needs it. Empty: nothing is missing. */
export type StoreLimits = Readonly<Partial<Record<StoreCapability, string>>>

/** A log store that does all that settings can ask of one. */
export const noLimits: StoreLimits = {}

/** Of the plugin that provides the log store, whosever it is: what it does not declare it does not have. Where there is no store there is nothing to say. */
export function storeLimits(store: Pick<Plugin, 'name' | 'capabilities'> | undefined): StoreLimits {
  if (store === undefined) return noLimits
  const lacks = (capability: StoreCapability): boolean => store.capabilities?.[capability] !== true
  return {
    ...(lacks('durable') ? { durable: `${store.name} keeps nothing that survives a power cut` } : {}),
    ...(lacks('compaction') ? { compaction: `${store.name} does not compact: it keeps every record` } : {}),
  }
}
