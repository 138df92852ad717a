import { type ClusterMetadata } from '../../../kernel/ports/cluster-metadata.ts'
import { type DirectoryStatus, type LogStore } from '../../../kernel/ports/log-store.ts'
import { type PartitionLog } from '../../../kernel/ports/partition-log.ts'
import { type Exchange, type ProtocolHandler } from '../../../kernel/ports/protocol-handler.ts'
import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { type describeLogDirsApi, type DescribeLogDirsRequest } from '../../../wire/messages/35-describe-log-dirs.ts'
import { type ResponseDraftOf } from '../../../wire/schema/message.ts'
import { rangeOf } from '../core/version-ranges.ts'

type Response = ResponseDraftOf<typeof describeLogDirsApi>
type Result = Response['results'][number]
type Partition = Result['topics'][number]['partitions'][number]

/** Clients cannot read a null, and an empty path looks like a mistake. */
const memory = '(memory)'

/**
 * DescribeLogDirs v1-5: the data directories of the broker that is asked, each with the logs in it that were asked for and their sizes, null for all. A partition that
 * is not here is left out; a directory that is out of service has KAFKA_STORAGE_ERROR, and its logs are not told. From v4 on with what its disk has in all and free, -1
 * where nobody knows. A store in memory is one directory of the name `(memory)`.
 */
export class DescribeLogDirsHandler implements ProtocolHandler {
  readonly apiKey = 35
  readonly minVersion = rangeOf(35).min
  readonly maxVersion = rangeOf(35).max
  private readonly store: Pick<LogStore, 'directories'>
  private readonly metadata: ClusterMetadata

  constructor(store: Pick<LogStore, 'directories'>, metadata: ClusterMetadata) {
    this.store = store
    this.metadata = metadata
  }

  handle({ topics }: DescribeLogDirsRequest, exchange: Exchange): void {
    const asked = topics === null ? undefined : askedOf(topics)
    const results = this.store.directories().map((directory) => this.describe(directory, asked))
    exchange.reply({ throttleTimeMs: 0, errorCode: kafkaErrors.NONE, results } satisfies Response)
  }

  failure(_request: DescribeLogDirsRequest, errorCode: number): Response {
    return { throttleTimeMs: 0, errorCode, results: [] }
  }

  private describe({ path, offline, logs, space }: DirectoryStatus, asked: Asked | undefined): Result {
    const logDir = path === '' ? memory : path
    if (offline !== undefined) return { errorCode: kafkaErrors.KAFKA_STORAGE_ERROR, logDir, topics: [] }
    const byTopic = new Map<string, Partition[]>()
    if (asked === undefined || asked.size > 0) {
      for (const log of logs()) {
        const { topic, partition } = log.id
        if (asked !== undefined && asked.get(topic)?.has(partition) !== true) continue
        if (!this.isCurrent(log)) continue
        const partitions = byTopic.get(topic)
        const answer: Partition = { partitionIndex: partition, partitionSize: log.sizeBytes, offsetLag: 0, isFutureKey: false }
        if (partitions === undefined) byTopic.set(topic, [answer])
        else partitions.push(answer)
      }
    }
    const figures = space?.()
    return {
      errorCode: kafkaErrors.NONE, logDir, topics: Array.from(byTopic, ([name, partitions]) => ({ name, partitions })),
      totalBytes: figures?.totalBytes ?? -1, usableBytes: figures?.freeBytes ?? -1, isCordoned: false,
    }
  }

  /** The log of a topic that was deleted may stand for a while beside that of another topic of its name. */
  private isCurrent({ id }: PartitionLog): boolean {
    return this.metadata.image().topics.get(id.topic)?.id === id.topicId
  }
}

type Asked = ReadonlyMap<string, ReadonlySet<number>>

function askedOf(topics: NonNullable<DescribeLogDirsRequest['topics']>): Asked {
  const asked = new Map<string, Set<number>>()
  for (const { topic, partitions } of topics) {
    const known = asked.get(topic) ?? new Set()
    for (const partition of partitions) known.add(partition)
    asked.set(topic, known)
  }
  return asked
}
