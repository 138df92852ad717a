import { isUuid, zeroUuid, type Uuid } from '../../../base/uuid.ts'
import { wholeNumber } from '../../../kernel/log/checkpoint-text.ts'

/** The text of `partition.metadata`, which binds a partition directory to its topic. No newline at the end, as Kafka writes it. */
export function formatPartitionMetadata(topicId: Uuid): string {
  return `version: 0\ntopic_id: ${topicId}`
}

/** The topic id; undefined when the text is not whole. Later versions are read too, like Kafka does. */
export function parsePartitionMetadata(text: string): Uuid | undefined {
  const fields = new Map(text.split('\n').map(line => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()] as const
  }))
  const topicId = fields.get('topic_id') ?? ''
  if (wholeNumber(fields.get('version') ?? '') === undefined || !isUuid(topicId) || topicId === zeroUuid) return undefined
  return topicId
}
