import { deleteRecordsApi, fetchApi, listOffsetsApi, offsetForLeaderEpochApi, produceApi } from '../../../../src/wire/index.ts'
import { batch, madeAt } from '../batches.ts'
import { scenario, type Scenario, type Talk } from '../scenario.ts'

type Draft = Parameters<typeof ask>[4]

/** Three batches of 3, 2 and 4 records at offsets 0, 3 and 5, each 1000 ms younger. */
async function filled (talk: Talk, label: string, configs: Readonly<Record<string, string>> = {}): Promise<string> {
  const name = await talk.create(label, 2, configs)
  for (const [i, count] of [3, 2, 4].entries()) {
    await talk.quietly(produceApi, 8, {
      acks: -1, timeoutMs: 5000,
      topicData: [{ name, partitionData: [{ index: 0, records: batch({ count, timestamp: madeAt + 1000 * i }) }] }],
    })
  }
  return name
}

interface Asked { partition?: number; fetchOffset?: number; partitionMaxBytes?: number; currentLeaderEpoch?: number; lastFetchedEpoch?: number; logStartOffset?: number }

interface FetchOptions { maxWaitMs?: number; minBytes?: number; maxBytes?: number; isolationLevel?: number; sessionId?: number; sessionEpoch?: number; replicaId?: number }

async function ask (
  talk: Talk, version: number, step: string, topic: { topic: string } | { topicId: string }, partitions: Asked[], options: FetchOptions = {},
): Promise<void> {
  await talk.ask(step, fetchApi, version, {
    maxWaitMs: 50, minBytes: 1, sessionEpoch: -1, ...options,
    topics: [{ ...topic, partitions: partitions.map(p => ({ partition: 0, fetchOffset: 0, partitionMaxBytes: 1 << 20, ...p })) }],
  }, answer => options.sessionEpoch === 0 ? { ...answer, sessionId: '<any>' } : answer)
}

const fetches: Scenario['run'] = async (talk, version) => {
  const name = await filled(talk, 'fetch')
  const topic = version >= 13 ? { topicId: await talk.topicId(name) } : { topic: name }
  const fetch = (step: string, partitions: Draft, options?: FetchOptions): Promise<void> =>
    ask(talk, version, step, topic, partitions, options)
  await fetch('all', [{}])
  await fetch('in the middle of a batch', [{ fetchOffset: 4 }])
  await fetch('at the end', [{ fetchOffset: 9 }])
  await fetch('beyond the end', [{ fetchOffset: 10 }])
  await fetch('negative offset', [{ fetchOffset: -1 }])
  await fetch('one byte of a partition', [{ partitionMaxBytes: 1 }])
  await fetch('no byte of a partition', [{ partitionMaxBytes: 0 }])
  await fetch('one byte in all', [{}], { maxBytes: 1 })
  await fetch('no wait, more than there is', [{}], { minBytes: 1 << 20, maxWaitMs: 0 })
  await fetch('two partitions, one empty', [{ partition: 1 }, { partition: 0 }])
  await fetch('unknown partition', [{ partition: 9 }])
  await fetch('unknown partition beside a good one', [{ partition: 9 }, {}])
  await fetch('one partition twice', [{}, { fetchOffset: 5 }])
  await fetch('read committed', [{}], { isolationLevel: 1 })
  await fetch('isolation level 9', [{}], { isolationLevel: 9 })
  await fetch('negative wait', [{}], { maxWaitMs: -1 })
  await fetch('no partitions', [])
  const missing = version >= 13 ? { topicId: 'AAAAAAAAAAAAAAAAAAAAEA' } : { topic: talk.topic('missing') }
  await ask(talk, version, 'unknown topic', missing, [{}])
  await talk.ask('nothing at all', fetchApi, version, { maxWaitMs: 0, minBytes: 0, sessionEpoch: -1, topics: [] })
  if (version < 7) return
  await fetch('a session is asked for', [{}], { sessionEpoch: 0 })
  await fetch('an unknown session', [{}], { sessionId: 12_345, sessionEpoch: 1 })
  await fetch('an unknown session is closed', [{}], { sessionId: 12_345, sessionEpoch: -1 })
  if (version < 9) return
  await fetch('the current epoch', [{ currentLeaderEpoch: 0 }])
  await fetch('an epoch of the future', [{ currentLeaderEpoch: 5 }])
  if (version < 12) return
  await fetch('an epoch that was read', [{ fetchOffset: 9, lastFetchedEpoch: 0 }])
  await fetch('an epoch that diverges', [{ fetchOffset: 9, lastFetchedEpoch: 3 }])
}

const offsets: Scenario['run'] = async (talk, version) => {
  const name = await filled(talk, 'offsets')
  const list = async (step: string, partitions: { partitionIndex?: number; timestamp?: number; currentLeaderEpoch?: number }[], topic = name, isolationLevel = 0): Promise<void> => {
    await talk.ask(step, listOffsetsApi, version, {
      replicaId: -1, isolationLevel: version >= 2 ? isolationLevel : 0,
      topics: [{ name: topic, partitions: partitions.map(p => ({ partitionIndex: 0, timestamp: -1, ...p })) }],
    })
  }
  for (const timestamp of [-1, -2, -3, -4, -5, -6, -7, -100]) await list(`timestamp ${timestamp}`, [{ timestamp }])
  for (const [step, timestamp] of Object.entries({
    'before all': 0, 'the first': madeAt, 'between batches': madeAt + 500, 'inside a batch': madeAt + 1001,
    'the last': madeAt + 2003, 'after all': madeAt + 2004,
  })) await list(step, [{ timestamp }])
  for (const timestamp of [-1, -2, -3, madeAt]) await list(`empty partition, timestamp ${timestamp}`, [{ partitionIndex: 1, timestamp }])
  await list('unknown partition', [{ partitionIndex: 9 }])
  await list('unknown topic', [{}], talk.topic('missing'))
  await list('one partition twice', [{ timestamp: -1 }, { timestamp: -2 }])
  await list('no partitions', [])
  if (version >= 2) await list('read committed', [{}], name, 1)
  if (version < 4) return
  await list('the current epoch', [{ currentLeaderEpoch: 0 }])
  await list('an epoch of the future', [{ currentLeaderEpoch: 5 }])
}

const epochs: Scenario['run'] = async (talk, version) => {
  const name = await filled(talk, 'epochs')
  const list = async (step: string, partition: { partition?: number; leaderEpoch: number; currentLeaderEpoch?: number }, topic = name): Promise<void> => {
    await talk.ask(step, offsetForLeaderEpochApi, version, { topics: [{ topic, partitions: [{ partition: 0, ...partition }] }] })
  }
  await list('the current epoch', { leaderEpoch: 0 })
  await list('a later epoch', { leaderEpoch: 4 })
  await list('epoch -1', { leaderEpoch: -1 })
  await list('fenced', { leaderEpoch: 0, currentLeaderEpoch: 5 })
  await list('not fenced', { leaderEpoch: 0, currentLeaderEpoch: 0 })
  await list('empty partition', { partition: 1, leaderEpoch: 0 })
  await list('unknown partition', { partition: 9, leaderEpoch: 0 })
  await list('unknown topic', { leaderEpoch: 0 }, talk.topic('missing'))
}

const deletions: Scenario['run'] = async (talk, version) => {
  const name = await filled(talk, 'deletions')
  const remove = async (step: string, partitions: { partitionIndex?: number; offset: number }[], topic = name): Promise<void> => {
    await talk.ask(step, deleteRecordsApi, version, { topics: [{ name: topic, partitions: partitions.map(p => ({ partitionIndex: 0, ...p })) }], timeoutMs: 5000 },
      // Kafka answers in an order of its own
      answer => answer.topics.flatMap(t => [...t.partitions].sort((a, b) => a.partitionIndex - b.partitionIndex)))
    await talk.ask(`${step}, and the start of the log`, listOffsetsApi, 2, { replicaId: -1, topics: [{ name: topic, partitions: [{ partitionIndex: 0, timestamp: -2 }] }] })
    await talk.ask(`${step}, and what a fetch gives`, fetchApi, 11, {
      maxWaitMs: 0, minBytes: 0, sessionEpoch: -1, topics: [{ topic, partitions: [{ partition: 0, fetchOffset: 1, partitionMaxBytes: 1 << 20 }] }],
    }, answer => answer.responses.flatMap(t => t.partitions.map(({ errorCode, logStartOffset, highWatermark }) => ({ errorCode, logStartOffset, highWatermark }))))
  }
  await remove('nothing', [{ offset: 0 }])
  await remove('within a batch', [{ offset: 2 }])
  await remove('below the start', [{ offset: 1 }])
  await remove('above the end', [{ offset: 10 }])
  for (const offset of [-2, -100]) await remove(`to ${offset}`, [{ offset }])
  await remove('unknown partition beside a good one', [{ partitionIndex: 9, offset: 1 }, { offset: 4 }])
  await remove('an empty partition', [{ partitionIndex: 1, offset: -1 }])
  await remove('no partitions', [])
  await remove('all', [{ offset: -1 }])
  await remove('unknown topic', [{ offset: 1 }], talk.topic('missing'))
  await remove('compacted and deleted', [{ offset: 1 }], await talk.create('both', 1, { 'cleanup.policy': 'compact,delete' }))
  await remove('compacted', [{ offset: 0 }], await talk.create('compacted', 1, { 'cleanup.policy': 'compact' }))
}

export const readScenarios: readonly Scenario[] = [
  scenario(fetchApi, 'what is read', [4, 16], fetches),
  scenario(listOffsetsApi, 'offsets by end and time', [1, 9], offsets),
  scenario(deleteRecordsApi, 'starts of logs raised', [0, 2], deletions),
  scenario(offsetForLeaderEpochApi, 'ends of epochs', [2, 4], epochs),
]
