import { describeLogDirsApi, describeProducersApi, initProducerIdApi, produceApi } from '../../../../src/wire/index.ts'
import { batch, madeAt } from '../batches.ts'
import { scenario, type Scenario } from '../scenario.ts'

const byName = (a: { name: string | null }, b: { name: string | null }): number => String(a.name).localeCompare(String(b.name))

const sizes = (answer: { results: readonly { errorCode: number; topics: readonly { name: string; partitions: readonly { partitionIndex: number }[] }[] }[] }, prefix: string): unknown => ({
  ...answer,
  results: answer.results.map(result => ({
    ...result, logDir: '<path>', totalBytes: '<bytes>', usableBytes: '<bytes>',
    topics: result.topics.filter(({ name }) => name.startsWith(prefix)).sort(byName).map(topic => ({ ...topic, partitions: [...topic.partitions].sort((x, y) => x.partitionIndex - y.partitionIndex) })),
  })),
})

const logDirs: Scenario['run'] = async (talk, version) => {
  const [a, b] = [await talk.create('a', 3), await talk.create('b', 1)]
  await talk.quietly(produceApi, 7, { transactionalId: null, acks: -1, timeoutMs: 5000, topicData: [{ name: a, partitionData: [{ index: 1, records: batch() }] }] })
  const ask = async (step: string, topics: { topic: string; partitions: number[] }[] | null): Promise<void> => {
    await talk.ask(step, describeLogDirsApi, version, { topics }, answer => sizes(answer, talk.topic('')))
  }
  await ask('all', null)
  await ask('none', [])
  await ask('one', [{ topic: a, partitions: [1] }])
  await ask('a topic without partitions', [{ topic: a, partitions: [] }])
  await ask('unknown ones', [{ topic: a, partitions: [0, 7, -1] }, { topic: talk.topic('missing'), partitions: [0] }, { topic: b, partitions: [0] }])
  await ask('one twice', [{ topic: a, partitions: [0, 0] }, { topic: a, partitions: [0] }])
  await ask('names that cannot be', [{ topic: 'a b', partitions: [0] }, { topic: '', partitions: [0] }])
}

const producers: Scenario['run'] = async (talk, version) => {
  const name = await talk.create('written', 2)
  const given = await talk.quietly(initProducerIdApi, 4, { transactionalId: null, transactionTimeoutMs: 60_000 })
  if (typeof given === 'string') throw new Error(given)
  const sent = (baseSequence: number): Uint8Array => batch({ producerId: Number(given.producerId), producerEpoch: given.producerEpoch, baseSequence, timestamp: madeAt + baseSequence })
  for (const sequence of [0, 1]) await talk.quietly(produceApi, 7, { transactionalId: null, acks: -1, timeoutMs: 5000, topicData: [{ name, partitionData: [{ index: 0, records: sent(sequence) }] }] })
  const ask = async (step: string, topics: { name: string; partitionIndexes: number[] }[]): Promise<void> => {
    await talk.ask(step, describeProducersApi, version, { topics })
  }
  await ask('one producer', [{ name, partitionIndexes: [0] }])
  await ask('none', [{ name, partitionIndexes: [1] }])
  await ask('unknown ones', [{ name, partitionIndexes: [0, 7, -1] }, { name: talk.topic('missing'), partitionIndexes: [0] }])
  await ask('one twice', [{ name, partitionIndexes: [0, 0] }, { name, partitionIndexes: [0] }])
  await ask('names that cannot be', [{ name: 'a b', partitionIndexes: [0] }, { name: '', partitionIndexes: [0] }])
  await ask('no partitions', [{ name, partitionIndexes: [] }])
  await ask('no topics', [])
}

export const logScenarios: readonly Scenario[] = [
  scenario(describeLogDirsApi, 'sizes', [1, 5], logDirs),
  scenario(describeProducersApi, 'producers', [0, 0], producers),
]
