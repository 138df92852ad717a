import { describe, expect, it } from 'vitest'
import { BrokerSettingsMap } from '../../../../src/kernel/config/broker-settings-map.ts'
import { brokerValuesOf, describeBrokerConfigs, describeTopicConfigs, documentation, limitsSaid } from '../../../../src/kernel/config/describe-configs.ts'
import { topicConfigTable } from '../../../../src/kernel/config/topic-config-table.ts'
import { noLimits, storeLimits } from '../../../../src/kernel/config/store-limits.ts'
import { kafkaFacts } from './kafka-facts.ts'

const broker = (file: Record<string, string> = {}, preset: Record<string, string> = {}) =>
  brokerValuesOf(new BrokerSettingsMap({ file: new Map(Object.entries(file)), preset: new Map(Object.entries(preset)) }))

const topicEntry = (name: string, overrides: Record<string, string>, values = broker()) =>
  describeTopicConfigs(new Map(Object.entries(overrides)), values, noLimits).find((entry) => entry.name === name)!

describe('a description of a topic', () => {
  it('quirk 21: lists every setting of Kafka, with default, source, synonyms and type, and not only those that were set', () => {
    const entries = describeTopicConfigs(new Map(), broker(), noLimits)
    const names = new Set(entries.map((entry) => entry.name))
    for (const fact of kafkaFacts) if (fact.scope === 'topic' && !fact.internal) expect(names.has(fact.name), fact.name).toBe(true)
    expect(entries.every((entry) => entry.source === 'default' && !entry.readOnly && !entry.sensitive)).toBe(true)
    expect(topicEntry('cleanup.policy', {})).toMatchObject({
      value: 'delete', type: 'list', source: 'default', synonyms: [{ name: 'log.cleanup.policy', value: 'delete', source: 'default' }],
    })
  })

  it('a value of the topic\'s own goes before those of the broker, which stay to be seen', () => {
    expect(topicEntry('retention.ms', { 'retention.ms': '5' }, broker({ 'log.retention.hours': '2' }))).toMatchObject({
      value: '5', source: 'topic', synonyms: [
        { name: 'retention.ms', value: '5', source: 'topic' },
        { name: 'log.retention.hours', value: '2', source: 'broker' },
        { name: 'log.retention.hours', value: '168', source: 'default' },
      ],
    })
  })

  it('a value of the broker is converted to the topic\'s unit', () => {
    expect(topicEntry('retention.ms', {}, broker({ 'log.retention.hours': '2' }))).toMatchObject({ value: '7200000', source: 'broker' })
    expect(topicEntry('retention.ms', {}, broker({ 'log.retention.minutes': '-1' }))).toMatchObject({ value: '-1', source: 'broker' })
  })

  it('a preset counts as set by the broker, through the port too', () => {
    expect(topicEntry('durability', {}, broker({}, { durability: 'os' }))).toMatchObject({ value: 'os', source: 'broker' })
  })

  it('durability shows what flush.messages=1 means', () => {
    expect(topicEntry('durability', { 'flush.messages': '1' }, broker({ durability: 'os' }))).toMatchObject({ value: 'fsync', source: 'topic' })
    expect(topicEntry('flush.messages', { 'flush.messages': '1' })).toMatchObject({ value: '1', source: 'topic' })
  })

  it('the documentation says what is missing here', () => {
    expect(topicEntry('preallocate', {}).documentation).toContain('No effect here')
    expect(topicEntry('remote.storage.enable', {}).documentation).toContain('Only false is accepted here')
    expect(topicEntry('segment.bytes', {}).documentation).not.toContain('here')
  })

  it('the documentation says what the store cannot keep, whatever the value is, and nothing of it over one that can', () => {
    const limits = storeLimits({ name: 'acme-store', capabilities: { durable: false, compaction: true } })
    const limited = [...describeTopicConfigs(new Map(), broker(), limits), ...describeBrokerConfigs(broker(), limits)].filter((entry) => entry.documentation.includes('acme-store'))
    expect(limited.map((entry) => entry.name)).toEqual(['durability', 'flush.messages', 'durability', 'log.flush.interval.messages'])
    for (const entry of limited) expect(entry.documentation).toMatch(/\. No effect here: acme-store keeps nothing that survives a power cut\.$/)
    expect(topicEntry('durability', { durability: 'fsync' }).documentation).not.toContain('here')
  })

  it('its documentation tells a client the limits of the store that it was made for', () => {
    for (const limits of [noLimits, storeLimits({ name: 'acme-store', capabilities: {} })]) {
      for (const row of topicConfigTable) expect(limitsSaid(row, documentation(row, limits)), row.name).toEqual(row.needs === undefined ? noLimits : { ...limits[row.needs.capability] === undefined ? {} : { [row.needs.capability]: limits[row.needs.capability] } })
    }
    expect(limitsSaid(topicConfigTable.find((row) => row.name === 'durability')!, null)).toEqual(noLimits)
  })

  it('internal settings are shown only where they are set', () => {
    expect(topicEntry('internal.segment.bytes', {})).toBeUndefined()
    expect(topicEntry('internal.segment.bytes', { 'internal.segment.bytes': '2048' })).toMatchObject({ value: '2048', source: 'topic' })
  })
})

describe('a description of a broker', () => {
  const entry = (name: string, file: Record<string, string> = {}) => describeBrokerConfigs(broker(file), noLimits).find((one) => one.name === name)!

  it('quirk 21: lists every setting of Kafka, read-only', () => {
    const names = new Set(describeBrokerConfigs(broker(), noLimits).map((one) => one.name))
    for (const fact of kafkaFacts) if (fact.scope === 'broker' && !fact.internal) expect(names.has(fact.name), fact.name).toBe(true)
    expect(entry('num.partitions')).toMatchObject({ value: '1', source: 'default', readOnly: true, type: 'int' })
    expect(entry('num.partitions', { 'num.partitions': '4' })).toMatchObject({
      value: '4', source: 'broker', synonyms: [{ name: 'num.partitions', value: '4', source: 'broker' }, { name: 'num.partitions', value: '1', source: 'default' }],
    })
  })

  it('never shows a secret', () => {
    const secret = 'hunter2'
    const set = entry('ssl.key.password', { 'ssl.key.password': secret })
    expect(set).toMatchObject({ value: null, sensitive: true, source: 'broker' })
    expect(JSON.stringify(describeBrokerConfigs(broker({ 'ssl.key.password': secret }), noLimits))).not.toContain(secret)
  })

  it('gives no value as null', () => {
    expect(entry('broker.rack')).toMatchObject({ value: null, synonyms: [] })
  })
})

it('every description is a sentence in which nothing is left out', () => {
  const entries = [...describeBrokerConfigs(broker(), noLimits), ...describeTopicConfigs(new Map(), broker(), noLimits)]
  expect(entries.map((entry) => entry.documentation).filter((text) => !/^[A-Z].*\.$/.test(text) || /  | ,|Only is|undefined/.test(text))).toEqual([])
  expect(entries.find((entry) => entry.name === 'authorizer.class.name')!.documentation).toContain('Only no value is accepted here')
})
