import { fetchApi, initProducerIdApi, metadataApi, produceApi } from '../../../../src/wire/index.ts'
import { batch, batchFields, type BatchOptions, withByte, withInt16, withInt32 } from '../batches.ts'
import { scenario, type Scenario, type Talk } from '../scenario.ts'

interface Target { name: string; partition?: number; acks?: number }

/** Produces one batch to one partition and notes the answer. */
async function produce (talk: Talk, version: number, step: string, target: Target, records: Uint8Array | null): Promise<void> {
  await talk.ask(step, produceApi, version, {
    acks: target.acks ?? -1,
    timeoutMs: 5000,
    topicData: [{ name: target.name, partitionData: [{ index: target.partition ?? 0, records }] }],
  })
}

/** Notes all that the log holds now. */
async function readBack (talk: Talk, name: string): Promise<void> {
  await talk.ask('what is stored', fetchApi, 8, {
    maxWaitMs: 0, minBytes: 0, sessionEpoch: -1,
    topics: [{ topic: name, partitions: [{ partition: 0, fetchOffset: 0, partitionMaxBytes: 1 << 20 }] }],
  }, answer => answer.responses)
}

async function producerId (talk: Talk): Promise<number> {
  const answer = await talk.quietly(initProducerIdApi, 1, { transactionalId: null, transactionTimeoutMs: 0 })
  if (typeof answer === 'string') throw new Error(`no producer id: ${answer}`)
  return answer.producerId
}

const good: Scenario['run'] = async (talk, version) => {
  const name = await talk.create('good', 2)
  await produce(talk, version, 'acks all', { name }, batch({ count: 3 }))
  await produce(talk, version, 'acks 1', { name, acks: 1 }, batch())
  await produce(talk, version, 'acks 2', { name, acks: 2 }, batch())
  await produce(talk, version, 'acks -2', { name, acks: -2 }, batch())
  await produce(talk, version, 'base offset that is not 0', { name }, batch({ baseOffset: 77 }))
  await produce(talk, version, 'leader epoch of the client', { name }, batch({ leaderEpoch: 9 }))
  await produce(talk, version, 'no timestamps', { name }, batch({ timestamp: -1 }))
  await produce(talk, version, 'no key', { name }, batch({ key: null }))
  await talk.ask('two partitions and an unknown one', produceApi, version, {
    acks: -1, timeoutMs: 5000,
    topicData: [{ name, partitionData: [{ index: 1, records: batch() }, { index: 7, records: batch() }, { index: 0, records: batch() }] }],
  }, answer => answer.responses.map(topic => [...topic.partitionResponses].sort((a, b) => a.index - b.index)))
  await produce(talk, version, 'unknown topic', { name: talk.topic('unknown') }, batch())
  await produce(talk, version, 'negative partition', { name, partition: -1 }, batch())
  await talk.ask('no topic at all', produceApi, version, { acks: -1, timeoutMs: 5000, topicData: [] })
  await readBack(talk, name)
}

const bad: Scenario['run'] = async (talk, version) => {
  const name = await talk.create('bad')
  const whole = batch({ count: 3 })
  const cases: [string, Uint8Array | null][] = [
    ['null records', null],
    ['empty records', new Uint8Array(0)],
    ['two batches', Buffer.concat([batch(), batch()])],
    ['magic 1', withByte(whole, batchFields.magic, 1)],
    ['magic 3', withByte(whole, batchFields.magic, 3)],
    ['wrong checksum', withInt32(whole, batchFields.crc, 12345, false)],
    ['flipped byte', withByte(whole, whole.length - 3, 1, false)],
    ['count too large', withInt32(whole, batchFields.count, 4)],
    ['count too small', withInt32(whole, batchFields.count, 2)],
    ['count 0', withInt32(whole, batchFields.count, 0)],
    ['negative count', withInt32(whole, batchFields.count, -1)],
    ['last offset delta too large', withInt32(whole, batchFields.lastOffsetDelta, 5)],
    ['last offset delta too small', withInt32(whole, batchFields.lastOffsetDelta, 1)],
    ['codec 5', withInt16(whole, batchFields.attributes, 5)],
    ['codec gzip over plain bytes', withInt16(whole, batchFields.attributes, 1)],
    ['codec snappy over plain bytes', withInt16(whole, batchFields.attributes, 2)],
    ['codec lz4 over plain bytes', withInt16(whole, batchFields.attributes, 3)],
    ['codec zstd over plain bytes', withInt16(whole, batchFields.attributes, 4)],
    ['control batch', withInt16(whole, batchFields.attributes, 0x20)],
    ['log append time by the client', withInt16(whole, batchFields.attributes, 0x08)],
    ['unused attribute bits', withInt16(whole, batchFields.attributes, 0x100)],
    ['cut off', whole.subarray(0, whole.length - 5)],
    ['bytes behind the batch', Buffer.concat([whole, Buffer.alloc(5)])],
    ['length too small', withInt32(whole, batchFields.length, 40, false)],
    ['length too large', withInt32(whole, batchFields.length, 4000, false)],
    ['negative length', withInt32(whole, batchFields.length, -1, false)],
    ['transactional without transaction', batch({ transactional: true })],
    ['transactional with a producer id', batch({ transactional: true, producerId: 5, producerEpoch: 0, baseSequence: 0 })],
    ['delta of record offsets wrong', withByte(batch(), 64, 2)],
  ]
  for (const [step, records] of cases) await produce(talk, version, step, { name }, records)
}

const limits: Scenario['run'] = async (talk, version) => {
  const small = await talk.create('small', 1, { 'max.message.bytes': '500' })
  await produce(talk, version, 'below max.message.bytes', { name: small }, batch({ valueBytes: 400 }))
  await produce(talk, version, 'above max.message.bytes', { name: small }, batch({ valueBytes: 500 }))
  const compacted = await talk.create('compacted', 1, { 'cleanup.policy': 'compact' })
  await produce(talk, version, 'no key on a compacted topic', { name: compacted }, batch({ key: null, count: 2 }))
  await produce(talk, version, 'keys on a compacted topic', { name: compacted }, batch({ count: 2 }))
  const stamped = await talk.create('stamped', 1, { 'message.timestamp.type': 'LogAppendTime' })
  await produce(talk, version, 'LogAppendTime', { name: stamped }, batch())
  const strict = await talk.create('strict', 1, { 'message.timestamp.before.max.ms': '1000', 'message.timestamp.after.max.ms': '1000' })
  await produce(talk, version, 'too old', { name: strict }, batch())
  await produce(talk, version, 'too new', { name: strict }, batch({ timestamp: 4_000_000_000_000 }))
  await readBack(talk, small)
}

const idempotent: Scenario['run'] = async (talk, version) => {
  const name = await talk.create('idempotent')
  const id = await producerId(talk)
  const send = (step: string, options: BatchOptions): Promise<void> =>
    produce(talk, version, step, { name }, batch({ producerId: id, producerEpoch: 0, ...options }))
  await send('first sequence', { baseSequence: 0, count: 2 })
  await send('next', { baseSequence: 2 })
  await send('the last one again', { baseSequence: 2 })
  await send('the one before again', { baseSequence: 0, count: 2 })
  await send('a gap', { baseSequence: 5 })
  await send('overlaps the last', { baseSequence: 2, count: 2 })
  for (let i = 3; i < 8; i++) await send(`sequence ${i}`, { baseSequence: i })
  await send('duplicate beyond the last five', { baseSequence: 0, count: 2 })
  await send('new epoch, sequence not 0', { producerEpoch: 1, baseSequence: 8 })
  await send('new epoch, sequence 0', { producerEpoch: 1, baseSequence: 0 })
  await send('old epoch', { producerEpoch: 0, baseSequence: 8 })
  const other = await producerId(talk)
  await send('unknown producer, sequence not 0', { producerId: other, baseSequence: 7 })
  await send('its next', { producerId: other, baseSequence: 8 })
  await send('producer id without sequence', { baseSequence: -1 })
  await send('sequence wraps', { producerId: await producerId(talk), baseSequence: 0x7fffffff, count: 2 })
  await readBack(talk, name)
}

const unacknowledged: Scenario['run'] = async (talk, version) => {
  const name = await talk.create('acks-0')
  await produce(talk, version, 'acks 0', { name, acks: 0 }, batch())
  await talk.ask('the connection after an error with acks 0', metadataApi, 1, { topics: [] }, answer => answer.brokers.length)
  await readBack(talk, name)
}

export const produceScenarios: readonly Scenario[] = [
  scenario(produceApi, 'what is appended', [3, 11], good),
  scenario(produceApi, 'what is refused', [3, 11], bad),
  scenario(produceApi, 'rules of topics', [3, 11], limits),
  scenario(produceApi, 'sequences', [3, 11], idempotent),
  scenario(produceApi, 'acks 0', [3, 11], unacknowledged),
]
