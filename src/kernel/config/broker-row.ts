import { type BrokerConfigRow, type ConfigEffect, type ConfigType, type DynamicMode, type RowExtras } from './config-row.ts'

/** One line of the broker's table. */
export const row = (name: string, type: ConfigType, value: string | undefined, dynamic: DynamicMode, effect: ConfigEffect, doc: string,
  extras: RowExtras = {}): BrokerConfigRow => ({ name, type, default: value, dynamic, effect, doc, ...extras })

/** Kafka's update modes, short. */
export const fixed = 'read-only'
export const perBroker = 'per-broker'
export const clusterWide = 'cluster-wide'
