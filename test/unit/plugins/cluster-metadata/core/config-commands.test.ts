import { describe, expect, it } from 'vitest'
import { BrokerSettingsMap } from '../../../../../src/kernel/config/broker-settings-map.ts'
import { brokerValuesOf } from '../../../../../src/kernel/config/describe-configs.ts'
import { type ConfigAlteration, type ConfigChange } from '../../../../../src/kernel/ports/controller.ts'
import { benchWithBrokers, type ControllerBench, newTopic } from './metadata-fixtures.ts'

const set = (name: string, value: string | null): ConfigChange => ({ name, operation: 'set', value })
const unset = (name: string): ConfigChange => ({ name, operation: 'delete', value: null })
const append = (name: string, value: string | null): ConfigChange => ({ name, operation: 'append', value })
const subtract = (name: string, value: string): ConfigChange => ({ name, operation: 'subtract', value })

const alteration = (topic: string, changes: readonly ConfigChange[], replaces = false): ConfigAlteration => ({ topic, replaces, changes })

function alter(bench: ControllerBench, topic: string, changes: readonly ConfigChange[], replaces = false) {
  return bench.run({ type: 'alterConfigs', alterations: [alteration(topic, changes, replaces)], validateOnly: false })[0]!
}

function benchWith(configs: Readonly<Record<string, string>> = {}): ControllerBench {
  const bench = benchWithBrokers(1)
  bench.create(newTopic('t', { configs: new Map(Object.entries(configs)) }), 'other')
  return bench
}

const overridesOf = (bench: ControllerBench, topic = 't') => Object.fromEntries(bench.image.topics.get(topic)!.overrides)

describe('changing settings of topics one by one', () => {
  it.each<[string, Readonly<Record<string, string>>, readonly ConfigChange[], Readonly<Record<string, string>>]>([
    ['sets', {}, [set('retention.ms', '7')], { 'retention.ms': '7' }],
    ['sets over what is set', { 'retention.ms': '1' }, [set('retention.ms', ' 7 ')], { 'retention.ms': '7' }],
    ['keeps the others', { 'segment.ms': '5' }, [set('retention.ms', '7')], { 'segment.ms': '5', 'retention.ms': '7' }],
    ['goes back to the default', { 'retention.ms': '1', 'segment.ms': '5' }, [unset('retention.ms')], { 'segment.ms': '5' }],
    ['a setting that is not set, or that nobody knows, is gone already', {}, [unset('retention.ms'), unset('no.such.setting')], {}],
    ['a value with a deletion does not count', { 'retention.ms': '1' }, [{ name: 'retention.ms', operation: 'delete', value: '9' }], {}],
    ['appends to what is set', { 'cleanup.policy': 'compact' }, [append('cleanup.policy', 'delete')], { 'cleanup.policy': 'compact,delete' }],
    ['appends to the default', {}, [append('cleanup.policy', 'compact')], { 'cleanup.policy': 'delete,compact' }],
    ['appends what is there, once', { 'cleanup.policy': 'compact' }, [append('cleanup.policy', ' compact , compact ')], { 'cleanup.policy': 'compact' }],
    ['appends to an empty list', { 'cleanup.policy': '' }, [append('cleanup.policy', 'compact,delete')], { 'cleanup.policy': 'compact,delete' }],
    ['subtracts', { 'cleanup.policy': 'compact,delete' }, [subtract('cleanup.policy', 'compact')], { 'cleanup.policy': 'delete' }],
    ['subtracts what is not there', { 'cleanup.policy': 'compact' }, [subtract('cleanup.policy', 'shred')], { 'cleanup.policy': 'compact' }],
    ['subtracts the last', {}, [subtract('cleanup.policy', 'delete')], { 'cleanup.policy': '' }],
    ['no change at all', { 'retention.ms': '1' }, [], { 'retention.ms': '1' }],
  ])('%s', (_title, before, changes, after) => {
    const bench = benchWith(before)
    expect(alter(bench, 't', changes).error).toBeUndefined()
    expect(overridesOf(bench)).toEqual(after)
    expect(overridesOf(bench, 'other')).toEqual({})
  })

  it.each<[string, string, readonly ConfigChange[], number]>([
    ['an unknown setting', 't', [set('retention.mss', '1')], 40],
    ['a wrong value', 't', [set('retention.ms', 'soon')], 40],
    ['what is not supported', 't', [set('remote.storage.enable', 'true')], 40],
    ['one of several', 't', [set('retention.ms', '1'), set('segment.ms', 'soon')], 40],
    ['appending to what is no list', 't', [append('retention.ms', '1')], 40],
    ['subtracting from what nobody knows', 't', [subtract('no.such.setting', '1')], 40],
    ['appending what the list cannot have', 't', [append('cleanup.policy', 'shred')], 40],
    ['a setting that is there twice', 't', [set('retention.ms', '1'), unset('retention.ms')], 42],
    ['no value', 't', [set('retention.ms', null)], 42],
    ['nothing to append', 't', [append('cleanup.policy', null)], 42],
    ['settings that exclude one another', 't', [set('min.compaction.lag.ms', '100')], 40],
    ['an unknown topic', 'nobody', [set('retention.ms', '1')], 3],
    ['a wrong value, before it is found that there is no topic', 'nobody', [set('retention.ms', 'soon')], 40],
    ['a topic name that cannot be', 'a b', [set('retention.ms', 'soon')], 17],
    ['all topics', '', [set('retention.ms', '1')], 42],
  ])('%s is refused, and changes nothing of the topic', (_title, topic, changes, code) => {
    const bench = benchWith({ 'max.compaction.lag.ms': '10' })
    const { records, reply } = bench.decide({ type: 'alterConfigs', alterations: [alteration(topic, changes)], validateOnly: false })
    expect([records, reply[0]!.error?.row.kafka, reply[0]!.changed]).toEqual([[], code, []])
  })

  it('each topic by itself: what is wrong with one holds up no other, and one that is there twice is refused twice', () => {
    const bench = benchWith()
    bench.create('third')
    const reply = bench.run({
      type: 'alterConfigs', validateOnly: false,
      alterations: [alteration('t', [set('retention.ms', '1')]), alteration('nobody', []), alteration('other', [set('retention.ms', '2')]), alteration('t', []), alteration('third', [unset('x')])],
    })
    expect(reply.map(({ topic, error }) => [topic, error?.row.kafka])).toEqual([['t', 42], ['nobody', 3], ['other', undefined], ['t', 42], ['third', undefined]])
    expect([overridesOf(bench), overridesOf(bench, 'other')]).toEqual([{}, { 'retention.ms': '2' }])
  })

  it('what is set already is no change, and writes nothing', () => {
    const bench = benchWith({ 'retention.ms': '7' })
    const { records, reply } = bench.decide({ type: 'alterConfigs', alterations: [alteration('t', [set('retention.ms', '7'), unset('segment.ms')])], validateOnly: false })
    expect([records, reply[0]]).toEqual([[], { topic: 't', error: undefined, changed: [], warnings: [] }])
  })

  it('a list is changed from what counts, also where the broker gives the default', () => {
    const settings = new BrokerSettingsMap({ file: new Map([['log.cleanup.policy', 'compact']]) })
    const bench = benchWithBrokers(1, { brokerValue: brokerValuesOf(settings) })
    bench.create('t')
    expect(alter(bench, 't', [append('cleanup.policy', 'delete')]).changed).toEqual([{ name: 'cleanup.policy', before: undefined, after: 'compact,delete' }])
  })

  it('only checked, it tells the same and writes nothing', () => {
    const bench = benchWith()
    const alterations = [alteration('t', [set('retention.ms', '1')]), alteration('other', [set('retention.ms', 'soon')])]
    const checked = bench.decide({ type: 'alterConfigs', alterations, validateOnly: true })
    expect([checked.records, checked.reply]).toEqual([[], bench.decide({ type: 'alterConfigs', alterations, validateOnly: false }).reply])
  })

  it('warns of what has no effect among the changes, and not of what was set before', () => {
    const bench = benchWith({ 'flush.ms': '5' })
    expect(alter(bench, 't', [set('retention.ms', '1')]).warnings).toEqual([])
    expect(alter(bench, 't', [set('preallocate', 'true')]).warnings).toEqual([expect.stringMatching(/^preallocate has no effect here/)])
  })
})

describe('replacing all settings of a topic', () => {
  it('what is not named goes back to its default, and nothing is held against what is replaced', () => {
    const bench = benchWith({ 'retention.ms': '1', 'max.compaction.lag.ms': '10' })
    expect(alter(bench, 't', [set('min.compaction.lag.ms', '100')], true)).toMatchObject({
      error: undefined,
      changed: [
        { name: 'retention.ms', before: '1', after: undefined }, { name: 'max.compaction.lag.ms', before: '10', after: undefined },
        { name: 'min.compaction.lag.ms', before: undefined, after: '100' },
      ],
    })
    alter(bench, 't', [], true)
    expect(overridesOf(bench)).toEqual({})
  })
})

describe('topics that the broker keeps for itself', () => {
  it('stay synced, whatever is changed', () => {
    const bench = benchWithBrokers(1)
    bench.create(newTopic('__consumer_offsets', { configs: new Map([['cleanup.policy', 'compact']]) }))
    const altered = alter(bench, '__consumer_offsets', [set('durability', 'os')])
    expect([altered.error?.row.kafka, altered.error?.message]).toEqual([40, expect.stringContaining('synced before it is acknowledged')])
    expect(alter(bench, '__consumer_offsets', [unset('durability'), set('segment.ms', '5')]).error).toBeUndefined()
    expect(alter(bench, '__consumer_offsets', [set('cleanup.policy', 'compact')], true).error).toBeUndefined()
    expect(overridesOf(bench, '__consumer_offsets')).toEqual({ 'cleanup.policy': 'compact', durability: 'fsync' })
  })
})
