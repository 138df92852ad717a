import { type StoreCapability } from './store-limits.ts'

/** Kafka's types of settings (ConfigDef.Type). */
export type ConfigType = 'boolean' | 'string' | 'int' | 'short' | 'long' | 'double' | 'list' | 'class' | 'password'

/**
 * What a setting does here. `works`: as Kafka means it. `none`: any valid value is accepted and changes nothing, for the reason given; a
 * value other than the default is answered with a warning. `refused`: only the `allowed` values are accepted, since any other would
 * promise what is not kept.
 */
export type ConfigEffect =
  | 'works'
  | { readonly none: string }
  | { readonly refused: string, readonly allowed: readonly string[] }

/** A setting. Rows are data: parsing and checking them is in `parse-config-value` and `check-config`. */
export interface ConfigRow {
  readonly name: string
  readonly type: ConfigType
  /** In Kafka's spelling. Undefined: no value, Kafka's null. */
  readonly default: string | undefined
  /** One sentence for an operator. */
  readonly doc: string
  readonly effect: ConfigEffect
  /** Least and largest number, both allowed. */
  readonly min?: number
  readonly max?: number
  /** A number outside the range that is allowed too. */
  readonly also?: number
  /** The only texts allowed; of a list, the only items. */
  readonly values?: readonly string[]
  readonly anyCase?: true
  /** A string or list that must not be empty. */
  readonly filled?: true
  /** `PARTITION:BROKER` pairs, or `*`. */
  readonly replicaList?: true
  /** Said as a warning when a value other than these (and the default) is set. */
  readonly caveat?: { readonly text: string, readonly unless: readonly string[] }
  /** Ability of the log store without which every value but these has no effect. */
  readonly needs?: { readonly capability: StoreCapability, readonly unless: readonly string[] }
  /** Why the default is not Kafka's. */
  readonly differs?: string
  /** Why a number that Kafka accepts is out of range here. */
  readonly stricter?: string
  /** For tests and experiments: accepted, and left out of descriptions. */
  readonly internal?: true
}

/** A broker's setting that gives a topic's setting its default, and how many of its units make one of the topic's. */
export interface BrokerSynonym {
  readonly name: string
  /** The broker's number is multiplied by it: hours and minutes to milliseconds. */
  readonly scale?: number
}

/** A setting of topics. */
export interface TopicConfigRow extends ConfigRow {
  readonly default: string
  /** The first that is set counts. */
  readonly synonyms: readonly BrokerSynonym[]
}

/** Kafka's update modes. Nothing can be changed while the broker runs yet; the mode says what a later release may allow. */
export type DynamicMode = 'read-only' | 'per-broker' | 'cluster-wide'

/** A setting of brokers. */
export interface BrokerConfigRow extends ConfigRow {
  readonly dynamic: DynamicMode
}

/** What may follow the fixed columns of a row. */
export type RowExtras = Partial<Omit<ConfigRow, 'name' | 'type' | 'default' | 'doc' | 'effect'>>

export const works = 'works' as const
export const none = (reason: string): ConfigEffect => ({ none: reason })
export const refused = (reason: string, ...allowed: string[]): ConfigEffect => ({ refused: reason, allowed })

/** Largest values of Kafka's number types. */
export const longMax = '9223372036854775807'
export const intMax = '2147483647'

/** Stands for a secret wherever a value is printed, logged or sent. */
export const hiddenValue = '[hidden]'

/** Whether descriptions list it: a setting for tests and experiments only when somebody has set it. */
export const isDescribed = (row: ConfigRow, isSet: boolean): boolean => row.internal === undefined || isSet

/** Whether the value is a secret. */
export const isSensitive = (row: ConfigRow): boolean => row.type === 'password'
