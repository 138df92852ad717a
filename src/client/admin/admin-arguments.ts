import { argumentError, isArray, isDate, isPlain, kindOf, shown, unknownName, type Synonyms } from '../arguments.ts'

/** What a field of an argument may be. Gives what is expected instead, or undefined where it is right. */
type Check = (value: unknown) => string | undefined

interface Shape {
  readonly required: Readonly<Record<string, Check>>
  readonly optional?: Readonly<Record<string, Check>>
  readonly synonyms?: Synonyms
  /** How one of them is written. */
  readonly example: string
}

const text: Check = value => typeof value === 'string' ? undefined : 'a text'
/** An empty name of a topic is the broker's to refuse, as any other that topics may not have. */
const name = text
const number: Check = value => typeof value === 'number' ? undefined : 'a number'
const anything: Check = () => undefined
const whole: Check = value => Number.isSafeInteger(value) ? undefined : 'a whole number'
const fromZero: Check = value => Number.isSafeInteger(value) && (value as number) >= 0 ? undefined : 'a whole number from 0'
const flag: Check = value => typeof value === 'boolean' ? undefined : 'true or false'
const oneOf = (...words: readonly string[]): Check => value => words.includes(value as string) ? undefined : `one of ${words.join(', ')}`
const signal: Check = value => typeof value === 'object' && value !== null && 'aborted' in value ? undefined : 'an AbortSignal'
const brokersOfPartitions: Check = value => isArray(value) && (value as readonly unknown[]).every(ids => isArray(ids) && (ids as readonly unknown[]).every(id => whole(id) === undefined))
  ? undefined : 'the node ids of each partition, such as [[1, 2], [2, 3]]'
const settings: Check = value => typeof value === 'object' && value !== null && isPlain(value) && Object.values(value).every(each => typeof each === 'string')
  ? undefined : 'an object of names and texts, such as { \'retention.ms\': \'60000\' }'
const place: Check = value => value === 'beginning' || value === 'end' || value === 'newest'
  || (typeof value === 'object' && value !== null && !isDate(value) && Number.isSafeInteger((value as { readonly timestamp: unknown }).timestamp))
  ? undefined : '\'beginning\', \'end\', \'newest\' or { timestamp }, a whole number of milliseconds since 1970 (Math.round(time), date.getTime())'
const changesOf: Check = value => isArray(value) ? undefined : 'an array: [{ name, operation: \'set\', value }]'

const topicSynonyms = { topic: 'name', topics: 'name', numPartitions: 'partitions', partitionCount: 'partitions', count: 'partitions', configEntries: 'configs', config: 'configs', replicaAssignment: 'assignments', replicas: 'replicationFactor' }

/** Numbers of partitions and replicas are checked by the calls themselves, with codes of their own. */
export const newTopic: Shape = {
  required: { name }, optional: { partitions: anything, replicationFactor: anything, assignments: brokersOfPartitions, configs: settings },
  synonyms: topicSynonyms, example: '{ name: \'orders\', partitions: 3, replicationFactor: 1, configs: { \'retention.ms\': \'60000\' } }',
}
export const morePartitions: Shape = {
  required: { name }, optional: { partitions: anything, assignments: brokersOfPartitions },
  synonyms: topicSynonyms, example: '{ name: \'orders\', partitions: 6 }',
}
const resourceSynonyms = { resourceType: 'type', resourceName: 'name', topic: 'type: \'topic\', name', broker: 'type: \'broker\', name', configs: 'changes', configEntries: 'changes', entries: 'changes' }
const resource = { type: oneOf('topic', 'broker'), name }
export const configResource: Shape = { required: resource, synonyms: resourceSynonyms, example: '{ type: \'topic\', name: \'orders\' }' }
const configChanges: Shape = {
  required: { ...resource, changes: changesOf }, synonyms: resourceSynonyms,
  example: '{ type: \'topic\', name: \'orders\', changes: [{ name: \'retention.ms\', operation: \'set\', value: \'60000\' }] }',
}
const configChange: Shape = {
  required: { name, operation: oneOf('set', 'delete', 'append', 'subtract') }, optional: { value: text }, synonyms: { op: 'operation', key: 'name', configOperation: 'operation' },
  example: '{ name: \'retention.ms\', operation: \'set\', value: \'60000\' }',
}
export const offsetWanted: Shape = {
  required: { topic: name, partition: fromZero, at: place }, synonyms: { timestamp: 'at: { timestamp }', offset: 'at', name: 'topic' },
  example: '{ topic: \'orders\', partition: 0, at: \'end\' }',
}
export const recordsToDelete: Shape = {
  required: { topic: name, partition: fromZero, beforeOffset: whole }, synonyms: { offset: 'beforeOffset', name: 'topic' },
  example: '{ topic: \'orders\', partition: 0, beforeOffset: 100 }',
}

const partitionSynonyms = { name: 'topic', partitions: 'partition', topicName: 'topic' }
export const partitionNamed: Shape = { required: { topic: name, partition: fromZero }, synonyms: partitionSynonyms, example: '{ topic: \'orders\', partition: 0 }' }
export const offsetToCommit: Shape = {
  required: { topic: name, partition: fromZero, offset: fromZero }, optional: { metadata: text, leaderEpoch: whole }, synonyms: partitionSynonyms,
  example: '{ topic: \'orders\', partition: 0, offset: 100 }',
}

const waiting = { timeoutMs: number, signal }
export const adminOptions: Shape = { required: {}, optional: waiting, example: '{ timeoutMs: 5000 }' }
export const changeOptions: Shape = { required: {}, optional: { ...waiting, validateOnly: flag }, example: '{ validateOnly: true }' }
export const listTopicsOptions: Shape = { required: {}, optional: { ...waiting, includeInternal: flag }, example: '{ includeInternal: true }' }
export const describeConfigsOptions: Shape = { required: {}, optional: { ...waiting, includeDocumentation: flag }, example: '{ includeDocumentation: true }' }
export const listOffsetsOptions: Shape = { required: {}, optional: { ...waiting, isolation: oneOf('read_committed', 'read_uncommitted') }, example: '{ isolation: \'read_committed\' }' }

const texts: Check = value => isArray(value) && (value as readonly unknown[]).every(each => typeof each === 'string') ? undefined : 'an array of texts'
export const listGroupsOptions: Shape = { required: {}, optional: { ...waiting, states: texts, types: texts }, example: '{ states: [\'Stable\'] }' }

/** Throws MR_CLIENT_SETTING. */
export function checkText(call: string, what: string, given: unknown): void {
  if (typeof given !== 'string') throw argumentError(call, `${what} is ${shown(given)}; it is a text`)
}

/** Throws MR_CLIENT_SETTING, naming what is expected, unless it is an array of such objects. */
export function checkList(call: string, given: unknown, shape: Shape): void {
  if (!isArray(given)) throw argumentError(call, `it was given ${shown(given)}; it takes an array: [${shape.example}]`)
  for (const [index, each] of (given as readonly unknown[]).entries()) checkShape(call, `[${index}]`, each, shape)
}

/** Throws MR_CLIENT_SETTING. */
export function checkNames(call: string, given: unknown): void {
  const wrong = isArray(given) ? (given as readonly unknown[]).find(each => typeof each !== 'string') : given
  if (!isArray(given) || wrong !== undefined || (given as readonly unknown[]).includes(undefined)) throw argumentError(call, `it was given ${shown(given)}; it takes an array of names: ['orders']`)
}

/** Throws MR_CLIENT_SETTING, also for a name that is unknown. */
export function checkShape(call: string, where: string, given: unknown, { required, optional = {}, synonyms, example }: Shape): void {
  if (typeof given !== 'object' || given === null || isArray(given)) throw argumentError(call, `${where} was given as ${shown(given)}; it takes an object: ${example}`)
  const all = { ...required, ...optional }
  const unknown = unknownName(given, Object.keys(all), synonyms)
  if (unknown !== undefined) throw argumentError(call, `${where}: ${unknown}`)
  for (const [field, check] of Object.entries(all)) {
    const value = (given as Readonly<Record<string, unknown>>)[field]
    if (value === undefined && !(field in required)) continue
    const expected = check(value)
    if (expected !== undefined) throw argumentError(call, `${where}: ${field} is ${typeof value === 'object' ? kindOf(value) : shown(value)}; it is ${expected}`)
  }
}

/** Throws MR_CLIENT_SETTING. */
export function checkChanges(call: string, given: readonly { readonly changes: readonly unknown[] }[]): void {
  checkList(call, given, configChanges)
  for (const [index, { changes }] of given.entries()) {
    for (const [at, change] of changes.entries()) checkShape(call, `[${index}].changes[${at}]`, change, configChange)
  }
}
