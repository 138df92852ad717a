import { isMillraceError } from '../../../kernel/errors/index.ts'
import { decodeSubscription } from '../../../wire/consumer-protocol.ts'
import { metadataOf, type ClassicGroup } from './classic-group.ts'

/**
 * The topics that the members of a group of consumers read: the only look that is taken into their bytes. Undefined where it is not known: another
 * type of group, no protocol chosen yet, or bytes that cannot be read.
 */
export function subscribedTopics(group: ClassicGroup): Set<string> | undefined {
  if (group.protocolType !== 'consumer' || group.protocol === null) return undefined
  const topics = new Set<string>()
  try {
    for (const member of group.members.values()) for (const topic of decodeSubscription(metadataOf(member, group.protocol)).topics) topics.add(topic)
  } catch (error) {
    if (!isMillraceError(error)) throw error
    return undefined
  }
  return topics
}
