import { type ClusterImage, type ClusterMetadata, type MetadataChange } from '../../../kernel/ports/cluster-metadata.ts'
import { type Uuid } from '../../../kernel/model/ids.ts'
import { type TopicDirectory } from '../core/consumer/topic-directory.ts'

/** The topics of the cluster for the groups that read them. */
export class ClusterTopics implements TopicDirectory {
  private readonly metadata: ClusterMetadata
  private readonly counts = new Map<Uuid, number>()
  private current = 0

  constructor(metadata: ClusterMetadata) {
    this.metadata = metadata
  }

  get version(): number {
    return this.current
  }

  byName(name: string): { readonly id: Uuid, readonly partitions: number } | undefined {
    const topic = this.metadata.image().topics.get(name)
    return topic === undefined ? undefined : { id: topic.id, partitions: topic.partitions.length }
  }

  nameOf(id: Uuid): string | undefined {
    return this.metadata.image().topicsById.get(id)?.name
  }

  /** By name, without those that are the brokers' own: a group that reads its own commits would never come to rest. */
  names(): string[] {
    return Array.from(this.metadata.image().topics.values()).filter(({ internal }) => !internal).map(({ name }) => name)
  }

  /** Leaders and settings are nothing to a group. */
  follow({ index }: ClusterImage, { created, deleted, changed }: MetadataChange): void {
    for (const { id } of deleted) if (this.counts.delete(id)) this.current = index
    for (const { id, partitions } of [...created, ...changed]) {
      if (this.counts.get(id) === partitions.length) continue
      this.counts.set(id, partitions.length)
      this.current = index
    }
  }
}
