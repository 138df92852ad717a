/**
 * What the hot codecs cost: Produce requests read and responses written, Fetch requests read and responses written. Run with
 * `npx tsx bench/wire-codec.ts [--rounds N]`. Each figure is the median of the rounds, beside the cost of decoding the topic's name alone
 * with TextDecoder in the same round, which is the price of one string on this machine.
 */
import { scriptOptionsOrExit } from '../scripts/script-options.ts'
import { BytesReader } from '../src/base/bytes-reader.ts'
import { BytesWriter } from '../src/base/bytes-writer.ts'
import {
  codecFor, fetchApi, produceApi, type ProduceResponse, readRequestHeader, writeRequestHeader, writeResponseFrame,
} from '../src/wire/index.ts'

const usage = `Usage: npx tsx bench/wire-codec.ts [OPTIONS]

What the hot codecs cost: Produce and Fetch, requests and responses.

  --rounds N   measured rounds (default: 7)`
const { numbers: { rounds } } = scriptOptionsOrExit(usage, { numbers: { rounds: 7 }, positive: ['rounds'] })
const iterations = 400_000
let sink = 0

interface Case { name: string; run: () => number }

const records = new Uint8Array(300).fill(7)
const topicId = 'mKYwH6x0QDuRL3bZ1OyCmA'
const topic = 'payments.settled'

function produceRequest(version: number, partitions: number): Uint8Array {
  const writer = new BytesWriter()
  writeRequestHeader(writer, { apiKey: 0, apiVersion: version, correlationId: 1, clientId: 'bench-producer-1' })
  codecFor(produceApi.request, version).write(writer, {
    acks: -1,
    timeoutMs: 30_000,
    topicData: [{
      name: topic, topicId, partitionData: Array.from({ length: partitions }, (_, index) => ({ index, records })),
    }],
  })
  return writer.finish()
}

function fetchRequest(version: number, partitions: number): Uint8Array {
  const writer = new BytesWriter()
  writeRequestHeader(writer, { apiKey: 1, apiVersion: version, correlationId: 1, clientId: 'bench-consumer-1' })
  codecFor(fetchApi.request, version).write(writer, {
    maxWaitMs: 500, minBytes: 1, isolationLevel: 0,
    topics: [{
      topic, topicId,
      partitions: Array.from({ length: partitions }, (_, partition) => ({ partition, fetchOffset: 123_456_789, partitionMaxBytes: 1_048_576 })),
    }],
  })
  return writer.finish()
}

function reading(name: string, api: typeof produceApi.request | typeof fetchApi.request, version: number, bytes: Uint8Array): Case {
  const codec = codecFor(api as typeof produceApi.request, version)
  const reader = new BytesReader(bytes)
  return {
    name,
    run: () => {
      reader.reset(bytes)
      const header = readRequestHeader(reader)
      codec.read(reader)
      return header.correlationId + reader.position
    },
  }
}

function produceResponse(partitions: number): ProduceResponse {
  const currentLeader = { leaderId: -1, leaderEpoch: -1 }
  return {
    responses: [{
      name: topic,
      topicId,
      partitionResponses: Array.from({ length: partitions }, (_, index) => ({
        index, errorCode: 0, baseOffset: 123_456_789_012, logAppendTimeMs: -1, logStartOffset: 0, recordErrors: [], errorMessage: null, currentLeader,
      })),
    }],
    throttleTimeMs: 0,
    nodeEndpoints: [],
  }
}

function writingProduce(name: string, version: number, partitions: number): Case {
  const writer = new BytesWriter(1024)
  const response = produceResponse(partitions)
  return {
    name,
    run: () => {
      writer.reset()
      writeResponseFrame(writer, produceApi, { version, correlationId: 1 }, response)
      return writer.position
    },
  }
}

function writingFetch(name: string, version: number, partitions: number, bytesEach: number): Case {
  const writer = new BytesWriter(64 * 1024)
  const data = new Uint8Array(bytesEach)
  const draft = {
    responses: [{
      topic,
      topicId,
      partitions: Array.from({ length: partitions }, (_, partitionIndex) => ({
        partitionIndex, errorCode: 0, highWatermark: 123_456_789, lastStableOffset: 123_456_789, logStartOffset: 0, abortedTransactions: null, records: data,
      })),
    }],
  }
  return {
    name,
    run: () => {
      writer.reset()
      writeResponseFrame(writer, fetchApi, { version, correlationId: 1 }, draft)
      return writer.length
    },
  }
}

const topicBytes = new TextEncoder().encode(topic)
const decoder = new TextDecoder()
const cases: Case[] = [
  { name: `TextDecoder, ${topic.length} bytes`, run: () => decoder.decode(topicBytes).length },
  reading('read Produce v9 request, 1 partition, with header', produceApi.request, 9, produceRequest(9, 1)),
  reading('read Produce v13 request, 1 partition, with header', produceApi.request, 13, produceRequest(13, 1)),
  reading('read Produce v9 request, 16 partitions, with header', produceApi.request, 9, produceRequest(9, 16)),
  writingProduce('write Produce v9 response, 1 partition, framed', 9, 1),
  writingProduce('write Produce v13 response, 1 partition, framed', 13, 1),
  writingProduce('write Produce v9 response, 16 partitions, framed', 9, 16),
  reading('read Fetch v12 request, 1 partition, with header', fetchApi.request, 12, fetchRequest(12, 1)),
  reading('read Fetch v16 request, 16 partitions, with header', fetchApi.request, 16, fetchRequest(16, 16)),
  writingFetch('write Fetch v16 response, 1 partition of 300 B, framed', 16, 1, 300),
  writingFetch('write Fetch v16 response, 1 partition of 64 KiB, framed', 16, 1, 65_536),
  writingFetch('write Fetch v16 response, 16 partitions of 64 KiB, framed', 16, 16, 65_536),
]

function nanosecondsEach(one: Case): number {
  const start = process.hrtime.bigint()
  for (let index = 0; index < iterations; index++) sink += one.run()
  return Number(process.hrtime.bigint() - start) / iterations
}

for (const one of cases) nanosecondsEach(one)
const measured = cases.map(one => ({ one, all: [] as number[] }))
for (let round = 0; round < rounds; round++) {
  for (const { one, all } of measured) all.push(nanosecondsEach(one))
}
const median = (values: number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!
console.log(`node ${process.version}, median of ${rounds} rounds of ${iterations}`)
for (const { one, all } of measured) console.log(`${median(all).toFixed(0).padStart(7)} ns  ${one.name}`)
if (sink === 0) console.log('nothing ran')
