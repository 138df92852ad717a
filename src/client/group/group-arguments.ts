import { argumentError, isArray, kindOf, shown, unknownName } from '../arguments.ts'
import { checkPartition } from '../consumer/consumer-arguments.ts'
import { type OffsetToCommit } from '../cluster/group-offsets.ts'

const listenerNames = ['onAssigned', 'onRevoked', 'onLost'] as const
const listenerSynonyms = { onAssign: 'onAssigned', onPartitionsAssigned: 'onAssigned', onRevoke: 'onRevoked', onPartitionsRevoked: 'onRevoked', onPartitionsLost: 'onLost', listener: 'onAssigned, onRevoked and onLost' }
const offsetNames = ['topic', 'partition', 'offset', 'leaderEpoch', 'metadata']

/** Throws MR_CLIENT_SETTING unless it is what one can subscribe to. */
export function checkSubscription(topics: unknown, listeners: unknown): void {
  const call = 'consumer.subscribe'
  if (isArray(topics)) {
    const wrong = (topics as readonly unknown[]).find(each => typeof each !== 'string' || each === '')
    if ((topics as readonly unknown[]).length === 0) throw argumentError(call, 'it was given no topic; unsubscribe() leaves the group')
    if (wrong instanceof RegExp) throw argumentError(call, `the array has the RegExp ${shown(wrong)}; give it by itself, not in an array: subscribe(${shown(wrong)})`)
    if (wrong !== undefined) throw argumentError(call, `${shown(wrong)} is no name of a topic`)
  } else if (!(topics instanceof RegExp) && !isRe2(topics)) {
    throw argumentError(call, `it was given ${topics instanceof Object ? kindOf(topics) : shown(topics)}; it takes an array of names, a RegExp, or { re2: '…' }`)
  }
  if (typeof listeners !== 'object' || listeners === null) throw argumentError(call, `the listeners are ${shown(listeners)}; they are an object with ${listenerNames.join(', ')}`)
  const unknown = unknownName(listeners, listenerNames, listenerSynonyms)
  if (unknown !== undefined) throw argumentError(call, unknown)
  for (const name of listenerNames) {
    const listener = (listeners as Readonly<Record<string, unknown>>)[name]
    if (listener !== undefined && typeof listener !== 'function') throw argumentError(call, `${name} is ${shown(listener)}; it is a function`)
  }
}

function isRe2(topics: unknown): topics is { readonly re2: string } {
  return typeof topics === 'object' && topics !== null && typeof (topics as { readonly re2?: unknown }).re2 === 'string'
}

/** Throws MR_CLIENT_SETTING. */
export function checkOffsets(call: string, given: unknown): asserts given is readonly OffsetToCommit[] {
  if (!isArray(given)) throw argumentError(call, `it was given ${shown(given)}; it takes an array: [{ topic, partition, offset }]`)
  for (const [index, each] of (given as readonly unknown[]).entries()) {
    checkPartition({ call, index }, each, offsetNames)
    const { offset, metadata, leaderEpoch } = each as { readonly offset: unknown, readonly metadata?: unknown, readonly leaderEpoch?: unknown }
    if (typeof offset !== 'number' || !Number.isSafeInteger(offset) || offset < 0) {
      throw argumentError(call, `[${index}]: offset is ${shown(offset)}; it is a number from 0: that of the record to go on with, which is one more than that of the last one done`)
    }
    if (metadata !== undefined && typeof metadata !== 'string') throw argumentError(call, `[${index}]: metadata is ${shown(metadata)}; it is a text`)
    if (leaderEpoch !== undefined && !Number.isSafeInteger(leaderEpoch)) throw argumentError(call, `[${index}]: leaderEpoch is ${shown(leaderEpoch)}; it is a whole number`)
  }
}
