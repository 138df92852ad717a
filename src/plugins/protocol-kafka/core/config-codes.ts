import { type ConfigType } from '../../../kernel/config/config-row.ts'
import { type ConfigSource } from '../../../kernel/config/describe-configs.ts'

/** Kafka's ConfigSource: where the value of a setting comes from. */
export const configSources: Readonly<Record<ConfigSource, number>> = {
  /** DYNAMIC_TOPIC_CONFIG */
  topic: 1,
  /** STATIC_BROKER_CONFIG */
  broker: 4,
  /** DEFAULT_CONFIG */
  default: 5,
}

/** Kafka's ConfigType. */
export const configTypes: Readonly<Record<ConfigType, number>> = {
  boolean: 1, string: 2, int: 3, short: 4, long: 5, double: 6, list: 7, class: 8, password: 9,
}

/** Kafka's ConfigResource.Type. */
export const resourceTypes = { topic: 2, broker: 4, brokerLogger: 8, clientMetrics: 16, group: 32 } as const
