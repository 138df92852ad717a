import { type StoreLimits } from '../config/store-limits.ts'
import { token } from '../plugin/token.ts'
import { type TopicSettings } from '../model/topic-settings.ts'

/** A broker setting with the value that counts. */
export interface SettingEntry {
  /** In Kafka's spelling, where Kafka has it. */
  readonly name: string
  /** As text. */
  readonly value: string
  /** Where the value comes from: the command line, a file, the environment, the preset, or the default. */
  readonly source: 'command line' | 'file' | 'environment' | 'preset' | 'default'
}

/**
 * The settings of this broker that are not a plugin's own: those with Kafka's names (`num.partitions`, `log.segment.bytes`, …), checked
 * against `kernel/config/broker-config-table` before anything starts, and fixed from then on. Asking for a name that the table lacks, or for another type
 * than it has, is a bug (assert); no method throws otherwise.
 */
export interface BrokerSettings {
  /** `node.id` */
  readonly nodeId: number
  /** What the log store that these settings go with is not able to do, so that some of them have no effect. */
  readonly storeLimits: StoreLimits
  /** Value as text, in Kafka's spelling. */
  text(name: string): string
  /** Of an int, short or long setting; -1 where Kafka says so or has no value, Infinity for what is beyond 2^53 - 1. */
  integer(name: string): number
  /** A setting that is true or false; asking for one of another type is a broken invariant. */
  flag(name: string): boolean
  /** The items of a list, in order; none where it has no value. */
  list(name: string): readonly string[]
  /** Every setting, in the table's order; secrets that are set as `[hidden]`. */
  entries(): readonly SettingEntry[]
  /** What a topic with these overrides comes to under this broker's defaults. The overrides were checked before. */
  topicSettings(overrides: ReadonlyMap<string, string>): TopicSettings
}
export const BrokerSettings = token<BrokerSettings>('BrokerSettings', { text: true, integer: true, flag: true, list: true, entries: true, topicSettings: true })
