import { describe, expect, it } from 'vitest'
import { brokerConfigTable, brokerConfigs } from '../../../../src/kernel/config/broker-config-table.ts'
import { checkConfig } from '../../../../src/kernel/config/check-config.ts'
import { type ConfigRow } from '../../../../src/kernel/config/config-row.ts'
import { topicConfigTable, topicConfigs } from '../../../../src/kernel/config/topic-config-table.ts'
import { kafkaFacts, type KafkaFact } from './kafka-facts.ts'

const ours = new Set(['durability', 'batch.check'])
const rowOf = (fact: KafkaFact): ConfigRow | undefined => (fact.scope === 'topic' ? topicConfigs : brokerConfigs).get(fact.name)

/** Kafka prints some durations and class names in their Java form; what a client sends and sees is compared. */
const kafkaDefault = (fact: KafkaFact): string | undefined => (fact.default === '<null>' || fact.default === '<required>' ? undefined : fact.default)

/** `[0,...]`, `[1,...,9] or -1`, `[a, b]`: Kafka's own way to print what it allows. */
function expectedRange(fact: KafkaFact): Partial<ConfigRow> {
  const range = /^\[(-?[\d.]+),\.\.\.(?:,(-?[\d.]+))?\](?: or (-?\d+))?$/.exec(fact.validator)
  if (range === null) return {}
  const [, min, max, also] = range
  return { min: Number(min), ...(max === undefined ? {} : { max: Number(max) }), ...(also === undefined ? {} : { also: Number(also) }) }
}

describe.each(['topic', 'broker'] as const)('the table of %s settings', (scope) => {
  const facts = kafkaFacts.filter((fact) => fact.scope === scope)
  const table: readonly ConfigRow[] = scope === 'topic' ? topicConfigTable : brokerConfigTable

  it('names every setting of Kafka 4.4, and nothing else but ours', () => {
    const names = table.map((row) => row.name)
    expect(names.filter((name) => !ours.has(name))).toEqual(facts.map((fact) => fact.name).sort())
    expect(new Set(names).size).toBe(names.length)
    expect(names).toEqual([...names].sort())
  })

  it('has the types of Kafka', () => {
    for (const fact of facts) expect(`${fact.name} ${rowOf(fact)?.type}`).toBe(`${fact.name} ${fact.type}`)
  })

  it('has the defaults of Kafka, or says why not', () => {
    for (const fact of facts) {
      const row = rowOf(fact)!
      if (row.differs === undefined) expect({ [fact.name]: row.default }).toEqual({ [fact.name]: kafkaDefault(fact) })
      else expect(row.default).not.toBe(kafkaDefault(fact))
    }
  })

  it('has the ranges of Kafka, or a narrower one and says why', () => {
    for (const fact of facts) {
      const { min, max, also, stricter } = rowOf(fact)!
      const expected = expectedRange(fact)
      if (stricter !== undefined) expect(min, fact.name).toBeGreaterThan(expected.min!)
      else if (Object.keys(expected).length > 0) expect({ name: fact.name, min, max, also }).toEqual({ name: fact.name, ...expected })
    }
  })

  it('has a least value for each number in effect, but for sizes that Kafka takes any negative number of as without bound', () => {
    const numbers = table.filter((row) => row.effect === 'works' && ['int', 'short', 'long', 'double'].includes(row.type))
    expect(numbers.filter((row) => row.min === undefined).map((row) => row.name)).toEqual([scope === 'topic' ? 'retention.bytes' : 'log.retention.bytes'])
  })

  it('has the values that Kafka lists', () => {
    for (const fact of facts) {
      const list = /^(?:\(case insensitive\) )?\[([\w, -]+)\]$/.exec(fact.validator)
      if (list === null || /^[\d.-]/.test(fact.validator.slice(1))) continue
      expect({ name: fact.name, values: [...rowOf(fact)!.values ?? []].sort() })
        .toEqual({ name: fact.name, values: list[1]!.split(', ').sort() })
    }
  })

  it('hides what Kafka hides', () => {
    for (const fact of facts) expect({ name: fact.name, internal: rowOf(fact)!.internal ?? false }).toEqual({ name: fact.name, internal: fact.internal })
  })

  it('has defaults that pass its own checks', () => {
    for (const row of table) if (row.default !== undefined) expect(checkConfig(row, row.default).text).toBe(row.default)
  })

  it('has a sentence for every setting', () => {
    for (const row of table) expect(row.doc, row.name).toMatch(/^\S.{10,200}\.$/)
  })
})

describe('broker settings', () => {
  it('have the update modes of Kafka', () => {
    for (const fact of kafkaFacts) {
      if (fact.scope === 'broker') expect({ name: fact.name, mode: brokerConfigs.get(fact.name)!.dynamic }).toEqual({ name: fact.name, mode: fact.mode })
    }
  })
})

describe('topic settings', () => {
  it('take their defaults from the settings of the broker that Kafka takes them from', () => {
    for (const fact of kafkaFacts) {
      if (fact.scope !== 'topic') continue
      expect({ name: fact.name, from: topicConfigs.get(fact.name)!.synonyms.map((synonym) => synonym.name) }).toEqual({ name: fact.name, from: fact.synonyms })
    }
  })

  it('default to what the broker\'s default comes to', () => {
    for (const row of topicConfigTable) {
      for (const { name, scale = 1 } of row.synonyms) {
        const value = brokerConfigs.get(name)!.default
        if (value !== undefined) expect(`${row.name}=${row.type === 'long' && scale > 1 ? Number(value) * scale : value}`).toBe(`${row.name}=${row.default}`)
      }
    }
  })
})
