import { argumentError, isArray, isDate, kindOf, shown, unknownName } from '../arguments.ts'
import { type Start } from './assigned-partition.ts'

const partitionNames = ['topic', 'partition']
const assignmentNames = [...partitionNames, 'offset']
const synonyms = { position: 'offset', at: 'offset', from: 'offset', timestamp: 'offset: { timestamp }', partitions: 'partition', topics: 'topic' }
const words: Readonly<Record<string, string>> = { earliest: 'beginning', latest: 'end', start: 'beginning' }

/** Whose argument it is, and its place in a list: for the beginning of a message. */
interface Where {
  readonly call: string
  readonly index?: number
}

/** Throws MR_CLIENT_SETTING unless each is a partition. What a partition has besides (the offset of a record, say) is nobody's mistake. */
export function checkPartitions(call: string, given: unknown): void {
  for (const [index, each] of listOf(call, given, '[{ topic, partition }]').entries()) checkPartition({ call, index }, each)
}

/** Throws MR_CLIENT_SETTING. */
export function checkPartition(where: Where, given: unknown, known = partitionNames): void {
  if (typeof given !== 'object' || given === null) refuse(where, `it was given ${shown(given)}; it takes { ${known.join(', ')} }`)
  const { topic, partition } = given as { readonly topic: unknown, readonly partition: unknown }
  // A name that is missing may stand there in other letters.
  const unknown = topic === undefined || partition === undefined ? unknownName(given as object, known, synonyms) : undefined
  if (unknown !== undefined) refuse(where, unknown)
  if (typeof topic !== 'string' || topic === '') refuse(where, `topic is ${shown(topic)}; the name of a topic is a text, not empty`)
  if (typeof partition !== 'number' || !Number.isInteger(partition) || partition < 0) refuse(where, `partition is ${shown(partition)}; it is a whole number from 0`)
}

/** Throws MR_CLIENT_SETTING. Without an offset a name that is unknown is refused: it may be the offset. */
export function checkAssignments(call: string, given: unknown): void {
  for (const [index, each] of listOf(call, given, '[{ topic, partition, offset }]').entries()) {
    checkPartition({ call, index }, each, assignmentNames)
    const { offset } = each as { readonly offset: unknown }
    const unknown = offset === undefined ? unknownName(each as object, assignmentNames, synonyms) : undefined
    if (unknown !== undefined) refuse({ call, index }, unknown)
    if (offset !== undefined) checkStart({ call, index }, offset)
  }
}

/** Throws MR_CLIENT_SETTING: a seek has to say where to. */
export function checkSeek(given: unknown): void {
  const where = { call: 'consumer.seek' }
  checkPartition(where, given, assignmentNames)
  const { offset } = given as { readonly offset: unknown }
  if (offset === undefined) refuse(where, unknownName(given as object, assignmentNames, synonyms) ?? `offset is missing; ${places}`)
  checkStart(where, offset)
}

/** Throws MR_CLIENT_SETTING. */
export function checkSeekToTime(partition: unknown, timestampMs: unknown): void {
  const where = { call: 'consumer.seekToTime' }
  checkPartition(where, partition)
  if (timestampMs === undefined) refuse(where, 'the time is missing; it is the second argument: seekToTime({ topic, partition }, timestampMs)')
  checkTime(where, timestampMs)
}

/** Throws MR_CLIENT_SETTING. */
export function checkTimes(call: string, given: unknown): void {
  for (const [index, each] of listOf(call, given, '[{ topic, partition, timestamp }]').entries()) {
    checkPartition({ call, index }, each)
    const { timestamp } = each as { readonly timestamp: unknown }
    // The ends of a log and its newest record have negative numbers in the protocol.
    if (!Number.isSafeInteger(timestamp) || (timestamp as number) < -3) checkTime({ call, index }, timestamp)
  }
}

/** Throws MR_CLIENT_SETTING for an option that does not exist, and for a time or a signal that is none. */
export function checkWait(call: string, given: unknown, known: readonly string[]): void {
  if (typeof given !== 'object' || given === null) throw argumentError(call, `the options are ${shown(given)}; they are an object with ${known.join(', ')}`)
  const unknown = unknownName(given, known)
  if (unknown !== undefined) throw argumentError(call, unknown)
  const { timeoutMs, signal, maxRecords } = given as { readonly timeoutMs?: unknown, readonly signal?: unknown, readonly maxRecords?: unknown }
  if (timeoutMs !== undefined && (typeof timeoutMs !== 'number' || Number.isNaN(timeoutMs))) throw argumentError(call, `timeoutMs is ${shown(timeoutMs)}; it is a number of milliseconds`)
  if (maxRecords !== undefined && !(typeof maxRecords === 'number' && maxRecords >= 1)) throw argumentError(call, `maxRecords is ${shown(maxRecords)}; it is a number from 1`)
  if (signal !== undefined && !(typeof signal === 'object' && signal !== null && 'aborted' in signal)) throw argumentError(call, `signal is ${kindOf(signal)}; it is an AbortSignal`)
}

const places = 'give an offset, \'beginning\', \'end\' or { timestamp } in milliseconds'

function checkStart(where: Where, offset: unknown): asserts offset is Start {
  if (offset === 'beginning' || offset === 'end') return
  if (typeof offset === 'object' && offset !== null && !isDate(offset)) {
    checkTime(where, (offset as { readonly timestamp: unknown }).timestamp)
    return
  }
  if (typeof offset === 'number' && Number.isSafeInteger(offset) && offset >= 0) return
  const hint = typeof offset === 'string' && Object.hasOwn(words, offset) ? `did you mean '${words[offset]}'?`
    : typeof offset === 'bigint' || (typeof offset === 'string' && /^\d+$/.test(offset)) ? `offsets are numbers: Number(${shown(offset)})`
      : isDate(offset) ? 'for a time give { timestamp: date.getTime() }' : places
  refuse(where, `offset ${shown(offset)} is no place to begin; ${hint}`)
}

function checkTime(where: Where, timestamp: unknown): void {
  if (typeof timestamp === 'number' && Number.isSafeInteger(timestamp) && timestamp >= 0) return
  refuse(where, `timestamp ${shown(timestamp)} is no time; it is a whole number of milliseconds since 1970${timeRemedy(timestamp)}`)
}

function listOf(call: string, given: unknown, example: string): readonly unknown[] {
  if (isArray(given)) return given as readonly unknown[]
  throw argumentError(call, `it was given ${shown(given)}; it takes an array: ${example}`)
}

function refuse({ call, index }: Where, reason: string): never {
  throw argumentError(call, index === undefined ? reason : `[${index}]: ${reason}`)
}

function timeRemedy(timestamp: unknown): string {
  if (isDate(timestamp)) return ': take getTime() of the Date'
  if (typeof timestamp !== 'number') return ''
  return Number.isFinite(timestamp) && timestamp >= 0 ? ': take Math.round() of it' : ': for the first record say \'beginning\', for the last \'end\''
}
