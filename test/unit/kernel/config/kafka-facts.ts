import { readFileSync } from 'node:fs'

export interface KafkaFact {
  readonly scope: 'broker' | 'topic'
  readonly name: string
  readonly type: string
  readonly default: string
  readonly validator: string
  /** Of a broker's setting. */
  readonly mode: string
  /** Of a topic's setting: the broker's that supply the default. */
  readonly synonyms: readonly string[]
  readonly internal: boolean
}

/** What Kafka 4.4.0 prints about its own settings. */
export const kafkaFacts: readonly KafkaFact[] = readFileSync(new URL('./fixtures/kafka-4.4.tsv', import.meta.url), 'utf8')
  .split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => {
    const [scope, name, type, value, validator, last, internal] = line.split('\t') as [string, string, string, string, string, string, string]
    return {
      scope: scope as KafkaFact['scope'], name, type: type.toLowerCase(), default: value, validator, mode: last,
      synonyms: scope === 'topic' && last !== '' ? last.split(',') : [], internal: internal === 'internal',
    }
  })
