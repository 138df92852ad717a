import { type ConsumerRules } from '../../../../src/plugins/coordinator-group/core/consumer/consumer-commands.ts'
import { type TopicDirectory } from '../../../../src/plugins/coordinator-group/core/consumer/topic-directory.ts'

export const consumerRules: ConsumerRules = {
  sessionTimeoutMs: 10_000, heartbeatIntervalMs: 1000, groupSizeMax: 8, assignors: ['uniform', 'range'], assignmentIntervalMs: 0, regexRefreshIntervalMs: 600_000,
  canUpgrade: true, canDowngrade: true,
}

/** Topics that a test makes. */
export class FakeTopics implements TopicDirectory {
  version = 1
  private readonly topics = new Map<string, { readonly id: string, readonly partitions: number }>()
  private made = 0

  set(name: string, partitions: number): void {
    const id = this.topics.get(name)?.id ?? `topic${String(++this.made).padStart(4, '0')}AAAAAAAAAAAAA`.slice(0, 21) + 'A'
    this.topics.set(name, { id, partitions })
    this.version++
  }

  delete(name: string): void {
    this.topics.delete(name)
    this.version++
  }

  byName(name: string): { readonly id: string, readonly partitions: number } | undefined {
    return this.topics.get(name)
  }

  nameOf(id: string): string | undefined {
    for (const [name, topic] of this.topics) if (topic.id === id) return name
    return undefined
  }

  names(): string[] {
    return [...this.topics.keys()]
  }
}
