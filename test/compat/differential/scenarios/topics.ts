import { createTopicsApi, deleteTopicsApi, metadataApi } from '../../../../src/wire/index.ts'
import { scenario, type Scenario, type Talk } from '../scenario.ts'

interface Wanted {
  name: string
  numPartitions?: number
  replicationFactor?: number
  assignments?: { partitionIndex: number; brokerIds: number[] }[]
  configs?: { name: string; value: string | null }[]
}

const byName = (a: { name: string | null }, b: { name: string | null }): number => String(a.name).localeCompare(String(b.name))

async function create (talk: Talk, version: number, step: string, topics: Wanted[], validateOnly = false): Promise<void> {
  await talk.ask(step, createTopicsApi, version, {
    topics: topics.map(topic => ({ numPartitions: 1, replicationFactor: 1, assignments: [], configs: [], ...topic })),
    timeoutMs: 10_000, validateOnly,
  }, answer => [...answer.topics].sort(byName).map(topic => ({
    ...topic, configs: topic.configs && Object.fromEntries(topic.configs.map(config => [config.name, { ...config, name: '' }])),
  })))
}

const one = (name: string, value: string | null): Wanted['configs'] => [{ name, value }]

const created: Scenario['run'] = async (talk, version) => {
  const topic = (label: string): string => talk.topic(label)
  await create(talk, version, 'a topic', [{ name: topic('a'), numPartitions: 3 }])
  await create(talk, version, 'the same again', [{ name: topic('a') }])
  await create(talk, version, 'the same, validated', [{ name: topic('a') }], true)
  await create(talk, version, 'validated alone', [{ name: topic('b') }], true)
  await create(talk, version, 'after the validation', [{ name: topic('b') }])
  await create(talk, version, 'one name twice', [{ name: topic('c') }, { name: topic('c') }, { name: topic('d') }])
  for (const [step, name] of Object.entries({
    'empty name': '', 'name .': '.', 'name ..': '..', 'name with a blank': 'a b', 'name with a slash': 'a/b', 'name with an umlaut': 'ü',
    'name of 249 letters': 'n'.repeat(249), 'name of 250 letters': 'n'.repeat(250),
  })) await create(talk, version, step, [{ name }], true)
  await create(talk, version, 'name that collides', [{ name: topic('x.y') }])
  await create(talk, version, 'its twin', [{ name: topic('x_y') }])
  for (const numPartitions of [0, -1, -2]) await create(talk, version, `${numPartitions} partitions`, [{ name: topic('p'), numPartitions }], true)
  for (const replicationFactor of [0, -1, -2, 2]) {
    await create(talk, version, `replication factor ${replicationFactor}`, [{ name: topic('r'), replicationFactor }], true)
  }
  const assign = (step: string, assignments: Wanted['assignments'], counts = -1): Promise<void> =>
    create(talk, version, step, [{ name: topic('s'), numPartitions: counts, replicationFactor: counts, assignments }], true)
  await assign('assigned', [{ partitionIndex: 0, brokerIds: [1] }, { partitionIndex: 1, brokerIds: [1] }])
  await assign('assigned and counted', [{ partitionIndex: 0, brokerIds: [1] }], 1)
  await assign('assigned to an unknown broker', [{ partitionIndex: 0, brokerIds: [7] }])
  await assign('assigned twice to a broker', [{ partitionIndex: 0, brokerIds: [1, 1] }])
  await assign('assigned to nobody', [{ partitionIndex: 0, brokerIds: [] }])
  await assign('assigned with a gap', [{ partitionIndex: 0, brokerIds: [1] }, { partitionIndex: 2, brokerIds: [1] }])
  await assign('one partition assigned twice', [{ partitionIndex: 0, brokerIds: [1] }, { partitionIndex: 0, brokerIds: [1] }])
}

const configured: Scenario['run'] = async (talk, version) => {
  const check = (step: string, configs: Wanted['configs']): Promise<void> =>
    create(talk, version, step, [{ name: talk.topic('configured'), configs }], true)
  await check('retention.ms', one('retention.ms', '1000'))
  await check('retention.ms -1', one('retention.ms', '-1'))
  await check('retention.ms -2', one('retention.ms', '-2'))
  await check('retention.ms text', one('retention.ms', 'soon'))
  await check('null value', one('retention.ms', null))
  await check('blanks around a value', one('retention.ms', ' 1000 '))
  await check('unknown setting', one('no.such.setting', '1'))
  await check('empty name', one('', '1'))
  await check('one setting twice', [...one('retention.ms', '1000')!, ...one('retention.ms', '2000')!])
  await check('cleanup.policy', one('cleanup.policy', 'compact'))
  await check('cleanup.policy of two', one('cleanup.policy', 'compact,delete'))
  await check('cleanup.policy unknown', one('cleanup.policy', 'shred'))
  await check('compression.type', one('compression.type', 'zstd'))
  await check('compression.type unknown', one('compression.type', 'brotli'))
  await check('max.message.bytes -1', one('max.message.bytes', '-1'))
  await check('min.insync.replicas 0', one('min.insync.replicas', '0'))
  await check('min.insync.replicas 2', one('min.insync.replicas', '2'))
  await check('segment.bytes too small', one('segment.bytes', '10'))
  await check('message.timestamp.type', one('message.timestamp.type', 'LogAppendTime'))
  await check('message.timestamp.type unknown', one('message.timestamp.type', 'Never'))
  await check('min.cleanable.dirty.ratio 2', one('min.cleanable.dirty.ratio', '2'))
  await check('preallocate text', one('preallocate', 'yes'))
}

const deleted: Scenario['run'] = async (talk, version) => {
  const name = await talk.create('deleted')
  const other = await talk.create('other')
  const view = (answer: { readonly responses: readonly { name: string | null }[] }): unknown => [...answer.responses].sort(byName)
  const remove = async (step: string, names: string[]): Promise<void> => {
    await talk.ask(step, deleteTopicsApi, version, {
      ...version >= 6 ? { topics: names.map(n => ({ name: n })) } : { topicNames: names }, timeoutMs: 10_000,
    }, view)
  }
  await remove('unknown', [talk.topic('missing')])
  await remove('a topic and an unknown one', [name, talk.topic('missing')])
  await remove('again', [name])
  await remove('one name twice', [other, other])
  await remove('nothing', [])
  if (version < 6) return
  const byId = await talk.create('by-id')
  const topicId = await talk.topicId(byId)
  const topics = async (step: string, wanted: { name?: string | null; topicId?: string }[]): Promise<void> => {
    await talk.ask(step, deleteTopicsApi, version, { topics: wanted, timeoutMs: 10_000 }, view)
  }
  await topics('unknown id', [{ topicId: 'AAAAAAAAAAAAAAAAAAAAEA' }])
  await topics('id and name', [{ name: byId, topicId }])
  await topics('neither', [{}])
  await topics('by id', [{ topicId }])
}

const described: Scenario['run'] = async (talk, version) => {
  const name = await talk.create('described', 2)
  const ask = async (step: string, topics: { name: string | null; topicId?: string }[] | null, more: object = {}): Promise<void> => {
    await talk.ask(step, metadataApi, version, { topics, ...version >= 4 ? { allowAutoTopicCreation: false } : {}, ...more }, answer => ({
      ...answer, topics: answer.topics.filter(topic => topics !== null && topics.length > 0 || topic.name === name).sort(byName),
    }))
  }
  await ask('a topic', [{ name }])
  await ask('a topic twice', [{ name }, { name }])
  await ask('no topic', [])
  if (version >= 1) await ask('all topics', null)
  await ask('a name that cannot be', [{ name: 'a b' }, { name: '' }])
  if (version >= 4) await ask('unknown', [{ name: talk.topic('missing') }, { name }])
  if (version >= 8) await ask('with operations', [{ name }], { includeTopicAuthorizedOperations: true })
  if (version >= 8 && version <= 10) await ask('with operations of the cluster', [{ name }], { includeClusterAuthorizedOperations: true })
  if (version < 12) return
  const topicId = await talk.topicId(name)
  await ask('by id', [{ name: null, topicId }])
  await ask('unknown id', [{ name: null, topicId: 'AAAAAAAAAAAAAAAAAAAAEA' }])
  await ask('neither', [{ name: null }])
}

const autoCreated: Scenario['run'] = async (talk, version) => {
  const name = talk.topic('auto')
  await talk.ask('first time', metadataApi, version, { topics: [{ name }] }, answer => answer.topics)
  for (let i = 0; i < 100; i++) {
    const answer = await talk.quietly(metadataApi, version, { topics: [{ name }] })
    if (typeof answer !== 'string' && answer.topics[0]!.errorCode === 0 && answer.topics[0]!.partitions.every(p => p.leaderId >= 0)) break
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  await talk.ask('in the end', metadataApi, version, { topics: [{ name }] }, answer => answer.topics)
}

export const topicScenarios: readonly Scenario[] = [
  scenario(createTopicsApi, 'topics', [2, 7], created),
  scenario(createTopicsApi, 'settings', [2, 7], configured),
  scenario(deleteTopicsApi, 'topics', [1, 6], deleted),
  scenario(metadataApi, 'topics', [0, 12], described),
  scenario(metadataApi, 'topics made by asking', [0, 12], autoCreated),
]
