import {
  alterPartitionReassignmentsApi, createPartitionsApi, describeClusterApi, describeTopicPartitionsApi, electLeadersApi,
  findCoordinatorApi, listPartitionReassignmentsApi,
} from '../../../../src/wire/index.ts'
import { scenario, type Scenario, type Talk } from '../scenario.ts'

interface More { name: string; count: number; assignments?: { brokerIds: number[] }[] | null }

const byName = (a: { name: string | null }, b: { name: string | null }): number => String(a.name).localeCompare(String(b.name))

const partitionsAdded: Scenario['run'] = async (talk, version) => {
  const name = await talk.create('grows', 2)
  const other = await talk.create('other', 1)
  const more = async (step: string, topics: More[], validateOnly = true): Promise<void> => {
    await talk.ask(step, createPartitionsApi, version, {
      topics: topics.map(topic => ({ assignments: null, ...topic })), timeoutMs: 10_000, validateOnly,
    }, answer => [...answer.results].sort(byName))
  }
  await more('one more, validated', [{ name, count: 3 }])
  await more('one more', [{ name, count: 3 }], false)
  await more('as many', [{ name, count: 3 }])
  await more('fewer', [{ name, count: 2 }])
  await more('none', [{ name, count: 0 }])
  await more('below none', [{ name, count: -1 }])
  await more('11,000', [{ name, count: 11_000 }])
  await more('9,000 and 9,000', [{ name, count: 9000 }, { name: other, count: 9000 }])
  await more('2147483647', [{ name, count: 0x7fffffff }])
  await more('unknown', [{ name: talk.topic('missing'), count: 3 }])
  await more('a name that cannot be', [{ name: 'a b', count: 3 }])
  await more('no name', [{ name: '', count: 3 }])
  await more('a topic twice', [{ name, count: 4 }, { name, count: 5 }, { name: other, count: 2 }], false)
  await more('a topic twice that is unknown', [{ name: talk.topic('missing'), count: 4 }, { name: talk.topic('missing'), count: 5 }])
  await more('a good and a bad one', [{ name, count: 4 }, { name: talk.topic('missing'), count: 4 }], false)
  await more('no topics', [])
  const assigned = (step: string, count: number, ...brokers: number[][]): Promise<void> =>
    more(step, [{ name, count, assignments: brokers.map(brokerIds => ({ brokerIds })) }])
  await assigned('assigned', 5, [1])
  await assigned('assigned fewer than asked', 6, [1])
  await assigned('assigned more than asked', 5, [1], [1])
  await assigned('assigned to an unknown broker', 5, [7])
  await assigned('assigned to a negative broker', 5, [-1])
  await assigned('assigned twice to a broker', 5, [1, 1])
  await assigned('assigned to two brokers', 5, [1, 2])
  await assigned('assigned to nobody', 5, [])
  await assigned('no assignment', 5)
  await assigned('as many, assigned', 4, [1])
  await assigned('as many, no assignment', 4)
}

/** What decides which coordinator a group has. */
const offsetsTopic: Scenario['run'] = async (talk, version) => {
  await talk.quietly(findCoordinatorApi, 3, { key: 'differential', keyType: 0 })
  for (let attempt = 0; attempt < 100; attempt++) {
    const answer = await talk.quietly(describeTopicPartitionsApi, 0, { topics: [{ name: '__consumer_offsets' }] })
    if (typeof answer === 'string' || answer.topics[0]?.errorCode === 0) break
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  await talk.ask('more of __consumer_offsets, validated', createPartitionsApi, version, {
    topics: [{ name: '__consumer_offsets', count: 1000, assignments: null }], timeoutMs: 10_000, validateOnly: true,
  })
}

const topicPages: Scenario['run'] = async (talk, version) => {
  const [a, b, c] = [await talk.create('a', 3), await talk.create('b', 2), await talk.create('c', 1)]
  const missing = talk.topic('bmissing')
  const ask = async (step: string, names: string[], more: { responsePartitionLimit?: number; cursor?: { topicName: string; partitionIndex: number } | null } = {}): Promise<void> => {
    await talk.ask(step, describeTopicPartitionsApi, version, { topics: names.map(name => ({ name })), ...more })
  }
  await ask('one', [b])
  await ask('out of order', [c, a, b])
  await ask('one twice', [b, b])
  await ask('an unknown one between', [a, missing, b])
  await ask('names that cannot be', ['a b', '', '.'])
  for (const limit of [1, 2, 3, 4, 5, 6, 7, 2000, 2001, 0x7fffffff]) await ask(`limit ${limit}`, [a, b, c], { responsePartitionLimit: limit })
  for (const limit of [0, -1, -2_000_000_000]) await ask(`limit ${limit}`, [a, b, c], { responsePartitionLimit: limit })
  await ask('an unknown one behind the limit', [a, missing], { responsePartitionLimit: 3 })
  await ask('an unknown one at the limit', [missing, b], { responsePartitionLimit: 2 })
  const from = (step: string, names: string[], topicName: string, partitionIndex: number, responsePartitionLimit = 2000): Promise<void> =>
    ask(step, names, { responsePartitionLimit, cursor: { topicName, partitionIndex } })
  await from('from the middle of the first', [a, b, c], a, 1)
  await from('from the second', [a, b, c], b, 0)
  await from('from the second, limit 2', [a, b, c], b, 1, 2)
  await from('from the end of a topic', [a, b, c], b, 2)
  await from('from beyond a topic', [a, b, c], b, 99)
  await from('from below a topic', [a, b, c], b, -1)
  await from('from far below a topic', [a, b, c], b, -7, 1)
  await from('from a topic that is not asked for', [a, c], b, 0)
  await from('from a topic that is not there and is asked for', [a, missing, c], missing, 0)
  await from('from a topic that is not there', [a, b, c], missing, 1)
  await from('from a topic without name', [a, b, c], '', 0)
  const own = async (step: string, topicName: string, partitionIndex = 0, limit = 2000): Promise<void> => {
    await talk.ask(step, describeTopicPartitionsApi, version, { topics: [], responsePartitionLimit: limit, cursor: { topicName, partitionIndex } }, answer => ({
      ...answer, topics: answer.topics.filter(({ name }) => [a, b, c].includes(name ?? '')),
      nextCursor: answer.nextCursor !== null && [a, b, c].includes(answer.nextCursor.topicName) ? answer.nextCursor : '<other>',
    }))
  }
  await own('all from the first', a, 1, 3)
  await own('all from one that is not there', missing, 1, 3)
  await own('all from one that cannot be', 'a b', 0, 0x7fffffff)
  await own('all from a negative partition', b, -5, 2)
  await talk.ask('all that begin', describeTopicPartitionsApi, version, { topics: [] }, answer => answer.topics.filter(({ name }) => [a, b, c].includes(name ?? '')))
}

const elections: Scenario['run'] = async (talk, version) => {
  const name = await talk.create('led', 2)
  const types = version === 0 ? [0] : [0, 1, 2, -1]
  for (const electionType of types) {
    const ask = async (step: string, topicPartitions: { topic: string; partitions: number[] }[] | null): Promise<void> => {
      await talk.ask(`type ${electionType}: ${step}`, electLeadersApi, version, { ...version > 0 ? { electionType } : {}, topicPartitions, timeoutMs: 5000 }, answer => ({
        ...answer, replicaElectionResults: topicPartitions === null
          ? answer.replicaElectionResults.map(({ partitionResult }) => partitionResult.length).filter(count => count > 0)
          : [...answer.replicaElectionResults].sort((x, y) => x.topic.localeCompare(y.topic)),
      }))
    }
    await ask('all', null)
    await ask('none', [])
    await ask('one', [{ topic: name, partitions: [0] }])
    await ask('two', [{ topic: name, partitions: [1, 0] }])
    await ask('unknown ones', [{ topic: name, partitions: [0, 7, -1] }, { topic: talk.topic('missing'), partitions: [0] }])
    await ask('one twice', [{ topic: name, partitions: [0, 0] }])
    await ask('a topic twice', [{ topic: name, partitions: [0] }, { topic: name, partitions: [1] }])
    await ask('no partitions', [{ topic: name, partitions: [] }])
    await ask('names that cannot be', [{ topic: 'a b', partitions: [0] }, { topic: '', partitions: [0] }])
  }
}

const reassigned: Scenario['run'] = async (talk, version) => {
  const name = await talk.create('moved', 2)
  for (const allowReplicationFactorChange of version === 0 ? [true] : [true, false]) {
    const ask = async (step: string, topics: { name: string; partitions: { partitionIndex: number; replicas: number[] | null }[] }[]): Promise<void> => {
      await talk.ask(`factor may change ${allowReplicationFactorChange}: ${step}`, alterPartitionReassignmentsApi, version, {
        timeoutMs: 5000, topics, ...version > 0 ? { allowReplicationFactorChange } : {},
      })
    }
    const to = (step: string, replicas: number[] | null, partitionIndex = 0): Promise<void> => ask(step, [{ name, partitions: [{ partitionIndex, replicas }] }])
    await to('where it is', [1])
    await to('cancelled', null)
    await to('nowhere', [])
    await to('an unknown broker', [7])
    await to('a negative broker', [-1])
    await to('twice to a broker', [1, 1])
    await to('to two brokers', [1, 7])
    await to('an unknown partition', [1], 7)
    await to('an unknown partition, cancelled', null, 7)
    await to('a negative partition', [1], -1)
    await ask('an unknown topic', [{ name: talk.topic('missing'), partitions: [{ partitionIndex: 0, replicas: [1] }, { partitionIndex: 0, replicas: null }] }])
    await ask('names that cannot be', [{ name: 'a b', partitions: [{ partitionIndex: 0, replicas: [1] }] }, { name: '', partitions: [{ partitionIndex: 0, replicas: [1] }] }])
    await ask('one twice', [{ name, partitions: [{ partitionIndex: 0, replicas: [1] }, { partitionIndex: 0, replicas: [7] }] }])
    await ask('a topic twice', [{ name, partitions: [{ partitionIndex: 0, replicas: [1] }] }, { name, partitions: [{ partitionIndex: 1, replicas: [7] }] }])
    await ask('no partitions', [{ name, partitions: [] }])
    await ask('no topics', [])
  }
}

const underWay: Scenario['run'] = async (talk, version) => {
  const name = await talk.create('still', 2)
  const ask = async (step: string, topics: { name: string; partitionIndexes: number[] }[] | null): Promise<void> => {
    await talk.ask(step, listPartitionReassignmentsApi, version, { timeoutMs: 5000, topics })
  }
  await ask('all', null)
  await ask('none', [])
  await ask('one', [{ name, partitionIndexes: [0] }])
  await ask('unknown ones', [{ name, partitionIndexes: [7, -1] }, { name: talk.topic('missing'), partitionIndexes: [0] }, { name: 'a b', partitionIndexes: [0] }])
  await ask('one twice', [{ name, partitionIndexes: [0, 0] }, { name, partitionIndexes: [0] }])
}

const fenced: Scenario['run'] = async (talk: Talk, version) => {
  for (const includeFencedBrokers of [false, true]) {
    await talk.ask(`fenced ones ${includeFencedBrokers}`, describeClusterApi, version, { includeClusterAuthorizedOperations: false, includeFencedBrokers })
    for (const endpointType of [2, 9]) {
      await talk.ask(`endpoint type ${endpointType}, fenced ones ${includeFencedBrokers}`, describeClusterApi, version, { includeClusterAuthorizedOperations: false, endpointType, includeFencedBrokers })
    }
  }
}

export const administrationScenarios: readonly Scenario[] = [
  scenario(createPartitionsApi, 'partitions added', [0, 3], partitionsAdded),
  scenario(createPartitionsApi, 'the offsets of groups', [0, 3], offsetsTopic),
  scenario(describeTopicPartitionsApi, 'pages', [0, 0], topicPages),
  scenario(electLeadersApi, 'one node', [0, 2], elections),
  scenario(alterPartitionReassignmentsApi, 'one node', [0, 1], reassigned),
  scenario(listPartitionReassignmentsApi, 'nothing under way', [0, 0], underWay),
  scenario(describeClusterApi, 'fenced brokers', [2, 2], fenced),
]
