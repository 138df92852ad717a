import { alterConfigsApi, describeConfigsApi, incrementalAlterConfigsApi, listConfigResourcesApi } from '../../../../src/wire/index.ts'
import { scenario, type Scenario, type Talk } from '../scenario.ts'

const topicType = 2
const brokerType = 4
const [set, remove, append, subtract] = [0, 1, 2, 3]

interface Altered {
  readonly errorCode: number
  readonly resourceType: number
  readonly resourceName: string
}

type Change = readonly [name: string, operation: number, value: string | null]
type Resource = readonly [type: number, name: string, ...changes: Change[]]

/** Kafka answers in the order of a hash table. */
const view = ({ responses }: { readonly responses: readonly Altered[] }): unknown => {
  const key = ({ resourceType, resourceName, errorCode }: Altered): string => `${resourceType} ${resourceName} ${errorCode}`
  return [...responses].sort((a, b) => key(a).localeCompare(key(b)))
}

/** A setting of another topic that is altered, and then asked for until it is told: Kafka answers before its broker knows what was altered. */
async function settled (talk: Talk): Promise<void> {
  const resourceName = talk.topic('settled')
  const value = String(++settlings)
  await talk.quietly(incrementalAlterConfigsApi, 1, {
    resources: [{ resourceType: topicType, resourceName, configs: [{ name: 'segment.ms', configOperation: set!, value }] }], validateOnly: false,
  })
  for (let attempt = 0; attempt < 200; attempt++) {
    const answer = await talk.quietly(describeConfigsApi, 4, { resources: [{ resourceType: topicType, resourceName, configurationKeys: ['segment.ms'] }] })
    if (typeof answer !== 'string' && answer.results[0]!.configs[0]?.value === value) return
    await new Promise(resolve => setTimeout(resolve, 10))
  }
  throw new Error('an altered setting is not told')
}

let settlings = 0

/** What somebody has set for the topic. */
async function noteOverrides (talk: Talk, step: string, topic: string): Promise<void> {
  await settled(talk)
  await talk.ask(`${step}: what is set`, describeConfigsApi, 4, { resources: [{ resourceType: topicType, resourceName: topic, configurationKeys: null }] }, answer =>
    Object.fromEntries(answer.results[0]!.configs.filter(({ configSource }) => configSource === 1).map(({ name, value }) => [name, value])))
}

/** An operation that nobody knows is not among them: the controller of Kafka 4.4 fails at it, and steps down. */
const incremental: Scenario['run'] = async (talk, version) => {
  await talk.create('settled')
  const topic = await talk.create('altered')
  const other = await talk.create('other')
  const ask = async (step: string, resources: readonly Resource[], validateOnly = false): Promise<void> => {
    await talk.ask(step, incrementalAlterConfigsApi, version, {
      resources: resources.map(([resourceType, resourceName, ...changes]) => ({
        resourceType, resourceName, configs: changes.map(([name, configOperation, value]) => ({ name, configOperation, value })),
      })),
      validateOnly,
    }, view)
  }
  const alter = async (step: string, ...changes: Change[]): Promise<void> => {
    await ask(step, [[topicType, topic, ...changes]])
    await noteOverrides(talk, step, topic)
  }
  await alter('set', ['retention.ms', set!, '1000'])
  await alter('set again', ['retention.ms', set!, '1000'])
  await alter('set to the default', ['retention.ms', set!, '604800000'])
  await alter('set two', ['retention.ms', set!, '2000'], ['segment.bytes', set!, '2097152'])
  await alter('blanks around a value', ['retention.ms', set!, ' 3000 '])
  await alter('delete one, set another', ['retention.ms', remove!, null], ['segment.ms', set!, '5000'])
  await alter('delete with a value', ['segment.ms', remove!, '7'])
  await alter('delete what is not set', ['retention.ms', remove!, null])
  await alter('delete an unknown setting', ['no.such.setting', remove!, null])
  await alter('an unknown setting', ['no.such.setting', set!, '1'])
  await alter('an empty name', ['', set!, '1'])
  await alter('a wrong value', ['retention.ms', set!, 'soon'])
  await alter('a good one and a wrong one', ['retention.ms', set!, '9'], ['segment.ms', set!, 'soon'])
  await alter('a setting twice', ['retention.ms', set!, '1'], ['retention.ms', set!, '2'])
  await alter('a setting set and deleted', ['retention.ms', set!, '1'], ['retention.ms', remove!, null])
  await alter('null', ['retention.ms', set!, null])
  await alter('append null', ['cleanup.policy', append!, null])
  await alter('append to what is no list', ['retention.ms', append!, '1'])
  await alter('subtract from what is no list', ['retention.ms', subtract!, '1'])
  await alter('append to an unknown setting', ['no.such.setting', append!, '1'])
  await alter('append to a default', ['cleanup.policy', append!, 'compact'])
  await alter('append what is there', ['cleanup.policy', append!, 'compact'])
  await alter('append what cannot be', ['cleanup.policy', append!, 'shred'])
  await alter('subtract what is not there', ['cleanup.policy', subtract!, 'shred'])
  await alter('subtract', ['cleanup.policy', subtract!, 'compact'])
  await alter('subtract the last', ['cleanup.policy', subtract!, 'delete'])
  await alter('append to nothing', ['cleanup.policy', append!, 'compact,delete'])
  await alter('subtract two', ['cleanup.policy', subtract!, 'delete,compact'])
  await alter('append with blanks', ['cleanup.policy', append!, ' compact , delete '])
  await alter('append nothing', ['cleanup.policy', append!, ''])
  await alter('set to nothing', ['cleanup.policy', set!, ''])
  await alter('append nothing to nothing', ['cleanup.policy', append!, ''])
  await alter('append one twice', ['cleanup.policy', append!, 'compact,compact'])
  await alter('back to the default', ['cleanup.policy', remove!, null])
  await alter('append to an empty default', ['leader.replication.throttled.replicas', append!, '0:1'])
  await alter('append another', ['leader.replication.throttled.replicas', append!, '0:2,0:3'])
  await alter('subtract some', ['leader.replication.throttled.replicas', subtract!, '0:3,0:1,0:9'])
  await alter('no changes')
  await alter('a longest lag', ['max.compaction.lag.ms', set!, '10'])
  await alter('a least lag above it', ['min.compaction.lag.ms', set!, '20'])
  await alter('flush.messages', ['flush.messages', set!, '1'])
  await alter('min.insync.replicas above the replicas', ['min.insync.replicas', set!, '2'])
  await alter('a format of old', ['message.format.version', set!, '3.0'])
  await ask('validated', [[topicType, topic, ['retention.ms', set!, '77']]], true)
  await ask('validated, wrong', [[topicType, topic, ['retention.ms', set!, 'soon']]], true)
  await ask('validated, unknown topic', [[topicType, talk.topic('missing'), ['retention.ms', set!, '7']]], true)
  await noteOverrides(talk, 'validated', topic)
  await ask('two topics, one wrong', [[topicType, topic, ['retention.ms', set!, 'soon']], [topicType, other, ['retention.ms', set!, '5']]])
  await noteOverrides(talk, 'two topics, one wrong', other)
  await ask('one topic twice', [[topicType, topic, ['retention.ms', set!, '11']], [topicType, topic, ['segment.ms', set!, '12']], [topicType, other, ['segment.ms', set!, '13']]])
  await noteOverrides(talk, 'one topic twice', topic)
  await noteOverrides(talk, 'beside one twice', other)
  await ask('an unknown topic', [[topicType, talk.topic('missing'), ['retention.ms', set!, '5']]])
  await ask('an unknown topic and a wrong value', [[topicType, talk.topic('missing'), ['retention.ms', set!, 'soon']]])
  await ask('an unknown topic without changes', [[topicType, talk.topic('missing')]])
  await ask('a topic name that cannot be', [[topicType, 'a b', ['retention.ms', set!, '5']]])
  await ask('a topic name that cannot be and a wrong value', [[topicType, 'a b', ['retention.ms', set!, 'soon']]])
  await ask('no topic name', [[topicType, '', ['retention.ms', set!, '5']]])
  await ask('no resources', [])
  await ask('another broker', [[brokerType, '7', ['log.retention.ms', set!, '5']]])
  await ask('a broker name that cannot be', [[brokerType, 'one', ['log.retention.ms', set!, '5']]])
  for (const type of [0, 1, 3, 77]) await ask(`resource type ${type}`, [[type, topic, ['retention.ms', set!, '5']]])
}

const replacing: Scenario['run'] = async (talk, version) => {
  await talk.create('settled')
  const topic = await talk.create('replaced', 1, { 'retention.ms': '1000', 'cleanup.policy': 'compact' })
  const other = await talk.create('other')
  const ask = async (step: string, resources: readonly (readonly [type: number, name: string, ...configs: [string, string | null][]])[], validateOnly = false): Promise<void> => {
    await talk.ask(step, alterConfigsApi, version, {
      resources: resources.map(([resourceType, resourceName, ...configs]) => ({ resourceType, resourceName, configs: configs.map(([name, value]) => ({ name, value })) })),
      validateOnly,
    }, view)
  }
  const alter = async (step: string, ...configs: [string, string | null][]): Promise<void> => {
    await ask(step, [[topicType, topic, ...configs]])
    await noteOverrides(talk, step, topic)
  }
  await alter('one of two', ['retention.ms', '2000'])
  await alter('another', ['segment.ms', '3000'])
  await alter('the same', ['segment.ms', '3000'])
  await alter('null', ['segment.ms', null])
  await alter('one of them null', ['retention.ms', '1'], ['segment.ms', null])
  await alter('an unknown setting', ['no.such.setting', '1'])
  await alter('a good one and a wrong one', ['retention.ms', '1'], ['segment.ms', 'soon'])
  await alter('a setting twice', ['retention.ms', '1'], ['retention.ms', '2'])
  await alter('none')
  await alter('a longest lag', ['max.compaction.lag.ms', '10'])
  await alter('a least lag instead', ['min.compaction.lag.ms', '20'])
  await ask('validated', [[topicType, topic, ['retention.ms', '77']]], true)
  await noteOverrides(talk, 'validated', topic)
  await ask('two topics, one wrong', [[topicType, topic, ['retention.ms', 'soon']], [topicType, other, ['retention.ms', '5']]])
  await ask('one topic twice', [[topicType, topic, ['retention.ms', '11']], [topicType, topic, ['segment.ms', '12']], [topicType, other, ['segment.ms', '13']]])
  await noteOverrides(talk, 'one topic twice', topic)
  await noteOverrides(talk, 'beside one twice', other)
  await ask('an unknown topic', [[topicType, talk.topic('missing'), ['retention.ms', '5']]])
  await ask('an unknown topic and a wrong value', [[topicType, talk.topic('missing'), ['retention.ms', 'soon']]])
  await ask('a topic name that cannot be', [[topicType, 'a b', ['retention.ms', '5']]])
  await ask('no topic name', [[topicType, '', ['retention.ms', '5']]])
  await ask('no resources', [])
  await ask('another broker', [[brokerType, '7', ['log.retention.ms', '5']]])
  for (const type of [0, 8, 77]) await ask(`resource type ${type}`, [[type, topic, ['retention.ms', '5']]])
}

const listed: Scenario['run'] = async (talk, version) => {
  const topic = await talk.create('listed', 1, { 'retention.ms': '1000' })
  const other = await talk.create('unset')
  const ask = async (step: string, resourceTypes: number[]): Promise<void> => {
    await talk.ask(step, listConfigResourcesApi, version, version === 0 ? {} : { resourceTypes }, ({ configResources, ...more }) => ({
      ...more,
      // There are topics of others; Kafka has them in the order of a hash table
      resources: configResources.filter(({ resourceType, resourceName }) => resourceType !== topicType || resourceName === topic || resourceName === other)
        .map(({ resourceType, resourceName }) => `${resourceType} ${resourceName}`).sort(),
      types: [...new Set(configResources.map(({ resourceType }) => resourceType))],
    }))
  }
  await ask('all', [])
  if (version === 0) return
  await ask('topics', [2])
  await ask('brokers', [4])
  await ask('loggers', [8])
  await ask('client metrics', [16])
  await ask('groups', [32])
  await ask('topics twice and brokers', [2, 4, 2])
  await ask('an unknown type', [77])
  await ask('type 0', [0])
  await ask('topics and an unknown type', [2, 77])
}

export const configScenarios: readonly Scenario[] = [
  scenario(incrementalAlterConfigsApi, 'topics', [0, 1], incremental),
  scenario(alterConfigsApi, 'topics', [0, 2], replacing),
  scenario(listConfigResourcesApi, 'resources', [0, 1], listed),
]
