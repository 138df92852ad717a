import { repeated } from '../../../base/repeated.ts'
import { checkTopicConfigs, checkTopicTogether, topicConfigRow } from '../../../kernel/config/check-config.ts'
import { resolveTopicConfig } from '../../../kernel/config/resolve-topic-settings.ts'
import { isMillraceError, MillraceError } from '../../../kernel/errors/millrace-error.ts'
import { checkTopicName, isInternalTopic } from '../../../kernel/model/topic-name.ts'
import { type AlteredConfigs, type ConfigAlteration, type ConfigChange } from '../../../kernel/ports/controller.ts'
import { type Decision } from './decision.ts'
import { type MetadataImage } from './metadata-image.ts'
import { type MetadataRecord } from './metadata-records.ts'
import { alwaysSynced, type TopicRules } from './topic-commands.ts'

export type ConfigRules = Pick<TopicRules, 'brokerValue' | 'storeLimits'>

type Overrides = ReadonlyMap<string, string>

const noOverrides: Overrides = new Map()

/** By these somebody whose disk is full makes room. */
const freeing: ReadonlySet<string> = new Set(['retention.ms', 'retention.bytes', 'segment.ms', 'file.delete.delay.ms'])

/**
 * Changes the settings of the topics of which all changes are right; the others get an error each, and nothing of them is changed. What is set
 * already is no change. With `validateOnly` there are no records.
 */
export function decideConfigs(image: MetadataImage, alterations: readonly ConfigAlteration[], validateOnly: boolean, rules: ConfigRules): Decision<readonly AlteredConfigs[]> {
  const records: MetadataRecord[] = []
  const twice = repeated(alterations.map(({ topic }) => topic))
  const reply = alterations.map((alteration): AlteredConfigs => {
    const { topic: name } = alteration
    try {
      if (twice.has(name)) throw wrongChange(name, 'it is named more than once in the request; name it once')
      const { topic, after, warnings } = decideOne(image, alteration, rules)
      const changed = differences(topic.overrides, after)
      for (const change of changed) records.push({ type: 'topicConfigSet', topicId: topic.id, name: change.name, value: change.after })
      return { topic: name, error: undefined, changed, warnings }
    } catch (error) {
      if (isMillraceError(error)) return { topic: name, error, changed: [], warnings: [] }
      throw error
    }
  })
  return { records: validateOnly ? [] : records, reply }
}

/** Whether it may be what frees a full disk: then it has to be written there. */
export const mayFreeSpace = ({ replaces, changes }: ConfigAlteration): boolean =>
  !replaces && changes.every(({ name, operation }) => operation === 'delete' || freeing.has(name))

/** In Kafka's order of checks: the shape of the request, the values, and at last whether there is such a topic. */
function decideOne(image: MetadataImage, { topic: name, replaces, changes }: ConfigAlteration, rules: ConfigRules) {
  if (name === '') throw wrongChange('all topics', 'each topic has to be named; the defaults of all topics are settings of the broker')
  checkTopicName(name)
  checkShape(name, changes)
  const topic = image.topics.get(name)
  const before = topic?.overrides ?? noOverrides
  const given = new Map(changes.filter(({ operation }) => operation !== 'delete').map((change) => [change.name, resulting(change, before, rules)]))
  const { values, warnings } = checkTopicConfigs(given, rules.storeLimits)
  const after = new Map([...replaces ? noOverrides : before, ...values])
  for (const change of changes) if (change.operation === 'delete') after.delete(change.name)
  checkTopicTogether(after)
  const internal = isInternalTopic(name)
  if (internal && (values.get('durability') ?? 'fsync') !== 'fsync') {
    throw invalidValue('durability', values.get('durability')!, 'what the broker keeps for itself is synced before it is acknowledged')
  }
  if (topic === undefined) throw new MillraceError('MR_TOPIC_UNKNOWN', { topic: name })
  return { topic, after: internal ? alwaysSynced(after) : after, warnings }
}

function checkShape(topic: string, changes: readonly ConfigChange[]): void {
  const [twice] = repeated(changes.map(({ name }) => name))
  if (twice !== undefined) throw wrongChange(topic, `${twice} is there more than once; keep one of them`)
  const empty = changes.find(({ operation, value }) => operation !== 'delete' && value === null)
  if (empty !== undefined) throw wrongChange(topic, `${empty.name} has no value; delete it to go back to its default`)
}

/** The value that is to be set. Items that are there already are not added again, and those that are not there need not be taken out. */
function resulting({ name, operation, value }: ConfigChange, before: Overrides, { brokerValue }: ConfigRules): string {
  if (operation === 'set') return value!
  const row = topicConfigRow(name)
  if (row.type !== 'list') throw invalidValue(name, value!, 'it is no list: set it instead')
  const now = items(resolveTopicConfig(row, before, brokerValue).text)
  const given = items(value!)
  return (operation === 'append' ? [...new Set([...now, ...given])] : now.filter((item) => !given.includes(item))).join(',')
}

const items = (list: string): string[] => (list.trim() === '' ? [] : list.split(',').map((item) => item.trim()))

function differences(before: Overrides, after: Overrides): AlteredConfigs['changed'] {
  const names = new Set([...before.keys(), ...after.keys()])
  return [...names].filter((name) => before.get(name) !== after.get(name)).map((name) => ({ name, before: before.get(name), after: after.get(name) }))
}

const wrongChange = (resource: string, reason: string): MillraceError => new MillraceError('MR_CONFIG_CHANGE_INVALID', { resource, reason })

const invalidValue = (key: string, value: string, reason: string): MillraceError => new MillraceError('MR_CONFIG_INVALID', { key, value, reason })
