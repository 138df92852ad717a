import { MillraceError } from '../errors/millrace-error.ts'

/** Leaves room for the suffixes of directory names within 255 characters, as in Kafka. */
export const topicNameLengthMax = 249

const legal = /^[a-zA-Z0-9._-]+$/

/** Kept by the broker for itself, by name, as Kafka's clients know them. */
const internalNames: ReadonlySet<string> = new Set(['__consumer_offsets', '__transaction_state', '__share_group_state'])

/** Of Kafka's metadata log, which is no topic: clients take what has this name for it, and so do tools that read a data directory. */
const reservedNames: ReadonlySet<string> = new Set(['__cluster_metadata'])

/** Refuses what Kafka refuses, with MR_TOPIC_NAME_INVALID. */
export function checkTopicName(name: string): void {
  const reason = topicNameFault(name)
  if (reason !== undefined) throw new MillraceError('MR_TOPIC_NAME_INVALID', { topic: name, reason })
}

/** The same as a question: nothing is thrown, which would be dear for a request with thousands of bad names. */
export const isTopicName = (name: string): boolean => topicNameFault(name) === undefined

/** Refuses a name that no topic may be given, with MR_TOPIC_NAME_INVALID or MR_TOPIC_NAME_RESERVED. */
export function checkNewTopicName(name: string): void {
  checkTopicName(name)
  if (reservedNames.has(name)) throw new MillraceError('MR_TOPIC_NAME_RESERVED', { topic: name })
}

/** Whether a topic is kept by the brokers for themselves, by its name: `__consumer_offsets` and its like. */
export const isInternalTopic = (name: string): boolean => internalNames.has(name)

/**
 * Names that differ only in '.' and '_' fall together where metrics replace one by the other, so Kafka takes only the first of them.
 * Equal keys collide.
 */
export const collisionKey = (name: string): string => name.replaceAll('.', '_')

/** Why a topic may not have this name; undefined when it may. */
export function topicNameFault(name: string): string | undefined {
  if (name === '') return 'it is empty'
  if (name === '.' || name === '..') return 'it would be a directory above'
  if (name.length > topicNameLengthMax) return `it has ${name.length} characters, at most ${topicNameLengthMax} are allowed`
  if (!legal.test(name)) return 'only letters, digits, ".", "_" and "-" are allowed'
  return undefined
}
